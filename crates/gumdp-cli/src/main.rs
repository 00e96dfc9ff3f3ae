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
mod measures;
mod number;
mod outcome;
mod paper_report;
mod player;
mod progress;
mod results;
mod saved_policy;
mod side_by_side;
mod store;
mod study;
mod table;
mod talk;
mod worlds;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use commands::reproduce::Chosen;
use failure::BadInput;
use interrupt::Interrupted;

fn main() -> ExitCode {
    let cli = Cli::parse();
    interrupt::install(cli.quiet);
    talk::set_quiet(cli.quiet);
    let task = cli.command.task().map(str::to_owned);
    match dispatch(cli).map_err(|error| commands::clarified(error, task.as_deref())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => explain(&error),
    }
}

fn dispatch(cli: Cli) -> Result<()> {
    let quiet = cli.quiet;
    match cli.command {
        Command::List { json } => commands::list::list(json),
        Command::Show { task, toml, svg } => commands::show::show(&task, toml, svg.as_deref()),
        Command::Check { file, json } => commands::check::check(&file, json),
        Command::Convert { task, out, rewards, force } => commands::convert::convert(&task, &out, rewards, force),
        Command::Run(args) => commands::run::run(&args, quiet),
        Command::Compare(args) => commands::compare::compare(&args, quiet),
        Command::Solve(args) => commands::solve::solve(&args, quiet),
        Command::Frontier(args) => commands::frontier::frontier(&args, quiet),
        Command::Explain(args) => commands::explain::explain(&args, quiet),
        Command::Evaluate(args) => commands::evaluate::evaluate(&args, quiet),
        Command::Plan(args) => commands::plan::plan(&args, quiet),
        Command::Reproduce { figures, runs, paper_only, luck, out } => {
            let chosen = Chosen { figures: &figures, runs, paper_only, seed: luck.seed };
            commands::reproduce::reproduce(&chosen, luck.threads, &out, quiet)
        }
        Command::Report { dir } => commands::report::report(&dir, quiet),
        Command::Replay { dir, run, task, beta, risk, preset } => {
            let risk = beta.map(commands::entropic).or(risk);
            commands::replay::replay(&dir, run, task.as_deref(), risk, preset.as_deref())
        }
        Command::Speed { out, seconds, runs } => commands::speed::speed(&out, seconds, runs),
        Command::Study(args) => commands::study::study(&args, quiet),
        Command::Completions { shell } => {
            // Not straight to stdout: the generator panics if the pipe is closed.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "gumdp", &mut script);
            Ok(io::stdout().lock().write_all(&script)?)
        }
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
