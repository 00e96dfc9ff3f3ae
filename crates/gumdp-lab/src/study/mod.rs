//! Studies of the default planner: rows that are measured once and kept, and what is printed and drawn from them.
//!
//! | study | question |
//! |---|---|
//! | [`ablation`] | what does each ingredient earn? |
//! | [`worlds`] | does it hold on worlds nobody tuned on? |
//! | [`convergence`] | do more simulations lead to the optimum? |
//!
//! Not here: the worlds themselves (see [`crate::worlds`]).

mod ablation;
mod book;
mod convergence;
mod variant;
mod worlds;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use gumdp::words::{beta, interval, short};
use gumdp_files::Task;
use gumdp_plot::{Dot, Table};

use book::{Book, Row};
use variant::Variant;

/// Measure what each ingredient of the default planner earns, on built-in tasks and on worlds it was not tuned on.
#[derive(Debug, Args)]
pub struct StudyArgs {
    /// Which studies (default: all).
    #[arg(value_enum)]
    studies: Vec<StudyName>,
    /// Only this task or world; can be given several times.
    #[arg(long, value_name = "NAME")]
    task: Vec<String>,
    /// Episodes for each row (default: some hundreds, fewer where they take long).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    runs: Option<u64>,
    /// Seed of all random numbers.
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Use this many threads (default: all cores). Results do not depend on it.
    #[arg(long, value_name = "T")]
    threads: Option<usize>,
    /// Folder for rows and figures; rows that it holds are not measured again.
    #[arg(long, value_name = "DIR", default_value = "gumdp-out/study")]
    out: PathBuf,
}

/// What is studied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StudyName {
    /// The default planner with one ingredient off or changed, on the built-in tasks.
    Ablation,
    /// Both planners on generated worlds that nobody tuned on.
    Worlds,
    /// Both planners with 1, 10 and 100 times the simulations, where the optimum is known.
    Convergence,
}

impl StudyName {
    fn jobs(self) -> Result<Vec<Job>> {
        match self {
            Self::Ablation => ablation::jobs(),
            Self::Worlds => worlds::jobs(),
            Self::Convergence => Ok(convergence::jobs()),
        }
    }

    fn findings(self, rows: &[Row]) -> Findings {
        match self {
            Self::Ablation => ablation::findings(rows),
            Self::Worlds => worlds::findings(rows),
            Self::Convergence => convergence::findings(rows),
        }
    }
}

/// Measures what is missing, prints a table for each study and draws it.
pub fn study(args: &StudyArgs, quiet: bool) -> Result<()> {
    let studies = chosen(args)?;
    std::fs::create_dir_all(&args.out).with_context(|| format!("cannot create {}", args.out.display()))?;
    let mut book = Book::open(&args.out, args.seed)?;
    let mut out = io::stdout().lock();
    for (number, (study, jobs)) in studies.into_iter().enumerate() {
        let name = study.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        let rows = crate::on_threads(args.threads, || book.measure(&name, &jobs, quiet))?;
        let findings = study.findings(&rows);
        crate::write(&args.out, &format!("{name}.svg"), findings.picture)?;
        if number > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}\n", findings.introduction)?;
        findings.table.print_markdown(&mut out)?;
    }
    if !quiet {
        eprintln!("rows and pictures are in {}", args.out.display());
    }
    Ok(())
}

/// The studies that are asked for with their rows; those without any are left out.
fn chosen(args: &StudyArgs) -> Result<Vec<(StudyName, Vec<Job>)>> {
    let asked = |study: &&StudyName| args.studies.is_empty() || args.studies.contains(study);
    let studies = StudyName::value_variants().iter().filter(asked).map(|&study| Ok((study, study.jobs()?)));
    let mut studies: Vec<(StudyName, Vec<Job>)> = studies.collect::<Result<_>>()?;
    let mut known: Vec<&str> = studies.iter().flat_map(|(_, jobs)| jobs).map(Job::task).collect();
    known.dedup();
    if let Some(unknown) = args.task.iter().find(|task| !known.contains(&task.as_str())) {
        bail!("no study has a task \"{unknown}\"\nhint: there are {}", known.join(", "));
    }
    for (_, jobs) in &mut studies {
        jobs.retain(|job| args.task.is_empty() || args.task.iter().any(|task| task == job.task()));
        for job in jobs {
            job.runs = args.runs.unwrap_or(job.runs);
        }
    }
    studies.retain(|(_, jobs)| !jobs.is_empty());
    Ok(studies)
}

/// What a study shows.
#[derive(Debug)]
struct Findings {
    /// Said before the table.
    introduction: String,
    /// The numbers.
    table: Table,
    /// The picture, an SVG document.
    picture: String,
}

/// One row to be measured.
#[derive(Clone, Debug)]
struct Job {
    task: Arc<Task>,
    beta: f64,
    variant: Variant,
    simulations: u64,
    runs: u64,
}

impl Job {
    /// A row with the simulations of its task.
    fn new(task: &Arc<Task>, beta: f64, variant: Variant, runs: u64) -> Self {
        Self { task: Arc::clone(task), beta, variant, simulations: task.defaults.simulations, runs }
    }

    /// The name of its task or world.
    fn task(&self) -> &str {
        &self.task.name
    }
}

/// The rows of one task and β.
#[derive(Debug)]
struct Block<'a>(Vec<&'a Row>);

impl<'a> Block<'a> {
    /// Rows in the order of their jobs, by task and β.
    fn all(rows: &'a [Row]) -> Vec<Self> {
        rows.chunk_by(|a, b| a.task == b.task && a.beta == b.beta).map(|rows| Self(rows.iter().collect())).collect()
    }

    fn find(&self, variant: Variant) -> Option<&'a Row> {
        self.0.iter().copied().find(|row| row.variant == variant)
    }

    /// How a variant compares with another.
    fn verdict(&self, variant: Variant, other: Variant) -> Option<Verdict> {
        Some(Verdict::of(self.find(variant)?, self.find(other)?))
    }

    fn first(&self) -> &'a Row {
        self.0[0]
    }

    fn label(&self) -> String {
        format!("{}, β = {}", self.first().task, beta(self.first().beta))
    }

    /// The optimum, else the lowest risk of all variants.
    fn best_known(&self) -> f64 {
        let lowest = self.0.iter().map(|row| row.erm).fold(f64::INFINITY, f64::min);
        self.first().optimum.unwrap_or(lowest)
    }
}

/// Where each block belongs: blocks of one task share a number.
fn groups(blocks: &[Block]) -> Vec<usize> {
    let mut met = BTreeSet::new();
    let group = |block: &Block| {
        met.insert(block.first().task.clone());
        met.len()
    };
    blocks.iter().map(group).collect()
}

/// How a row compares with another: by their 95 % intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Better,
    Equal,
    Worse,
}

impl Verdict {
    fn of(row: &Row, other: &Row) -> Self {
        if row.erm_high < other.erm_low {
            Self::Better
        } else if row.erm_low > other.erm_high {
            Self::Worse
        } else {
            Self::Equal
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Equal => "equal",
            Self::Worse => "worse",
        }
    }
}

/// The risk of a row with its interval, as text.
fn with_interval(row: &Row) -> String {
    format!("{} ({})", short(row.erm), interval(row.erm_low, row.erm_high))
}

/// The risk of a row, less `base`, with its interval.
fn dot(row: &Row, base: f64) -> Dot {
    Dot { value: row.erm - base, interval: Some((row.erm_low - base, row.erm_high - base)) }
}
