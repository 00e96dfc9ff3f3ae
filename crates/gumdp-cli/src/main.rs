//! `gumdp`: parse → validated settings → library call → output. Data goes to stdout, talk to stderr.

mod args;
mod brought;
mod cells;
mod commands;
mod comparison;
mod draw;
mod exact;
mod explain;
mod failure;
mod frontier;
mod interrupt;
mod manifest;
mod measures;
mod number;
mod outcome;
mod paper_report;
mod player;
mod progress;
mod results;
mod side_by_side;
mod store;
mod talk;

use std::io;
use std::process::ExitCode;

use clap::Parser;

use commands::Cli;
use failure::BadInput;
use interrupt::Interrupted;

fn main() -> ExitCode {
    let Cli { command, quiet } = Cli::parse();
    interrupt::install(quiet);
    talk::set_quiet(quiet);
    let chosen = command.chosen();
    match chosen.run(quiet).map_err(|error| commands::clarified(error, chosen.task())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => explain(&error),
    }
}

/// One line that says what is wrong, one that says what to do about it, and the exit code.
fn explain(error: &anyhow::Error) -> ExitCode {
    if error
        .chain()
        .any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe))
    {
        return ExitCode::SUCCESS;
    }
    if error.is::<Interrupted>() {
        interrupt::explain();
        return ExitCode::from(interrupt::EXIT_CODE as u8);
    }
    if error.is::<commands::check::Refused>() {
        return ExitCode::from(2);
    }
    crate::talk::say!("error: {error:#}");
    match error.downcast_ref::<BadInput>() {
        Some(bad) => {
            if let Some(hint) = bad.hint_text() {
                crate::talk::say!("hint: {hint}");
            }
            ExitCode::from(2)
        }
        None => ExitCode::FAILURE,
    }
}
