//! `gumdp study`: what the default planner earns, as tables and pictures from rows that are measured once.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::{Run, output_folder, with_threads};
use crate::args::{LuckArgs, MAX_RUNS, whole};
use crate::failure::BadInput;
use crate::results::distinct;
use crate::store::write_atomically;
use crate::study::{Book, Job, ablation, convergence, worlds};

/// Measure what each ingredient of the default planner earns, on built-in tasks and on worlds it was not tuned on.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp study\n  gumdp study ablation --task msee --task grid-mo\n  gumdp study worlds --runs 16 --out quick"
)]
pub struct StudyArgs {
    /// Which studies (default: all).
    #[arg(value_enum)]
    pub studies: Vec<StudyName>,
    /// Only this task or world; can be given several times.
    #[arg(long, value_name = "NAME")]
    pub task: Vec<String>,
    /// Episodes for each row (default: some hundreds, fewer where they take long).
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, MAX_RUNS))]
    pub runs: Option<u64>,
    /// Random numbers and threads.
    #[command(flatten)]
    pub luck: LuckArgs,
    /// Folder for rows and figures; rows that it holds are not measured again.
    #[arg(long, value_name = "DIR", default_value = "gumdp-out/study")]
    pub out: PathBuf,
}

impl Run for StudyArgs {
    fn run(&self, quiet: bool) -> Result<()> {
        study(self, quiet)
    }
}

/// What is studied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StudyName {
    /// The default planner with one ingredient off or changed, on the built-in tasks.
    Ablation,
    /// Both planners on generated worlds that nobody tuned on.
    Worlds,
    /// Both planners with 1, 10 and 100 times the simulations, where the optimum is known.
    Convergence,
}

/// Measures what is missing, prints a table for each study and draws it.
fn study(args: &StudyArgs, quiet: bool) -> Result<()> {
    let studies = chosen(args)?;
    output_folder(&args.out)?;
    let mut book = Book::open(&args.out, args.luck.seed)?;
    let mut out = io::stdout().lock();
    for (number, (study, jobs)) in studies.into_iter().enumerate() {
        let name = study.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        let rows = with_threads(args.luck.threads, || book.measure(&name, &jobs, quiet))?;
        let findings = match study {
            StudyName::Ablation => ablation::findings(&rows),
            StudyName::Worlds => worlds::findings(&rows),
            StudyName::Convergence => convergence::findings(&rows),
        };
        write_atomically(&args.out.join(format!("{name}.svg")), findings.picture.as_bytes())?;
        if number > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}\n", findings.introduction)?;
        findings.table.print_markdown(&mut out)?;
    }
    if !quiet {
        crate::talk::say!("rows and pictures are in {}", args.out.display());
    }
    Ok(())
}

/// The studies that are asked for with their rows; those without any are left out.
fn chosen(args: &StudyArgs) -> Result<Vec<(StudyName, Vec<Job>)>> {
    let names = if args.studies.is_empty() { StudyName::value_variants() } else { &args.studies };
    let mut studies = Vec::new();
    for study in distinct(names.iter().copied()) {
        let jobs = match study {
            StudyName::Ablation => ablation::jobs()?,
            StudyName::Worlds => worlds::jobs()?,
            StudyName::Convergence => convergence::jobs(),
        };
        studies.push((study, jobs));
    }
    let known = distinct(studies.iter().flat_map(|(_, jobs)| jobs).map(Job::task));
    if let Some(unknown) = args.task.iter().find(|task| !known.contains(&task.as_str())) {
        let hint = format!("there are {}", known.join(", "));
        return Err(BadInput::new(format!("no study has a task \"{unknown}\"")).hint(hint).into());
    }
    let is_wanted = |job: &Job| args.task.is_empty() || args.task.iter().any(|task| task == job.task());
    let wanted = |(study, jobs): (StudyName, Vec<Job>)| {
        let jobs: Vec<Job> = jobs.into_iter().filter(is_wanted).map(|job| job.with(args.runs)).collect();
        (study, jobs)
    };
    Ok(studies.into_iter().map(wanted).filter(|(_, jobs)| !jobs.is_empty()).collect())
}
