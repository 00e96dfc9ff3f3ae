//! `gumdp`: parse → validated settings → library call → output. Data goes to stdout, talk to stderr.

mod args;
mod brought;
mod commands;
mod comparison;
mod draw;
mod exact;
mod failure;
mod frontier;
mod interrupt;
mod manifest;
mod number;
mod outcome;
mod paper_report;
mod played;
mod progress;
mod published;
mod results;
mod side_by_side;
mod slurm;
mod store;
mod talk;
mod trial;
mod trials;

use std::io;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use commands::Cli;
use failure::{BadInput, Interrupted, Refused};

fn main() -> ExitCode {
    let given = Cli::command().get_matches();
    let Cli { command, quiet, allow_files } = Cli::from_arg_matches(&given).unwrap_or_else(|error| error.exit());
    interrupt::install();
    talk::set_quiet(quiet);
    commands::allow_files(allow_files);
    let task = given.subcommand().and_then(|(_, given)| given.try_get_one::<String>("task").ok()?);
    match command.chosen().run().map_err(|error| commands::clarified(error, task)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => explain(&error),
    }
}

/// One line that says what is wrong, one that says what to do about it, and the exit code.
fn explain(error: &anyhow::Error) -> ExitCode {
    let is_broken_pipe = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if error.chain().any(|cause| cause.downcast_ref().is_some_and(is_broken_pipe)) {
        return ExitCode::SUCCESS;
    }
    if error.is::<Interrupted>() {
        interrupt::explain();
        return ExitCode::from(interrupt::EXIT_CODE as u8);
    }
    if error.is::<Refused>() {
        return ExitCode::from(2);
    }
    talk::complain(format_args!("error: {error:#}"));
    let Some(bad) = error.downcast_ref::<BadInput>() else { return ExitCode::FAILURE };
    if let Some(hint) = &bad.hint {
        talk::complain(format_args!("hint: {hint}"));
    }
    ExitCode::from(2)
}
