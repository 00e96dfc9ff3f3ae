//! What those who work on the planners measure: `study` (what they earn), `simulators` (the same where there are only samples), `speed` (how fast they are) and `decisions` (what a decision costs).

mod decisions;
mod families;
mod race;
mod simulators;
mod speed;
mod study;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

/// Study and time the planners of gumdp.
#[derive(Debug, Parser)]
#[command(name = "gumdp-lab", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// No talk on stderr.
    #[arg(long, short, global = true)]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Decisions(decisions::DecisionsArgs),
    Simulators(simulators::SimulatorsArgs),
    Speed(speed::SpeedArgs),
    Study(study::StudyArgs),
}

fn main() -> ExitCode {
    let Arguments { command, quiet } = Arguments::parse();
    let done = match command {
        Command::Decisions(arguments) => decisions::decisions(&arguments, quiet),
        Command::Simulators(arguments) => simulators::simulators(&arguments, quiet),
        Command::Speed(arguments) => speed::speed(&arguments),
        Command::Study(arguments) => study::study(&arguments, quiet),
    };
    if let Err(error) = done {
        eprintln!("error: {error:#}");
        return ExitCode::from(2);
    }
    ExitCode::SUCCESS
}

/// Does the work on so many threads, or on all cores.
fn on_threads<T: Send>(threads: Option<usize>, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    pool.context("cannot start threads")?.install(work)
}

/// Writes a file that is never half written.
fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> Result<()> {
    let (path, unfinished) = (folder.join(name), folder.join(format!(".{name}.tmp")));
    let written = std::fs::write(&unfinished, content).and_then(|()| std::fs::rename(&unfinished, &path));
    written.with_context(|| format!("cannot write {}", path.display()))
}
