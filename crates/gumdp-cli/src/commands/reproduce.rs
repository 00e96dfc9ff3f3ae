//! `gumdp reproduce`: every experiment of the paper with its settings, and its numbers beside ours.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use gumdp::oracle::Limits;
use gumdp_files::{Task, tasks};

use super::{Run, load, use_threads};
use crate::args::{FiguresArgs, MAX_RUNS, RandomArgs, whole};
use crate::comparison::{self, Comparison, Tally, Verdict};
use crate::exact::Solver;
use crate::failure::BadInput;
use crate::manifest::{self, Manifest};
use crate::number::{self, known};
use crate::paper_report;
use crate::progress::Progress;
use crate::published::{Departure, Published};
use crate::results::TaskResults;
use crate::side_by_side::{Both, both};
use crate::store::Store;
use crate::talk::say;
use crate::trial::Trial;
use gumdp_files::Player;
use gumdp_plot::{Field, Table};

/// Regenerate the paper's experiments with its settings and ours; can be resumed.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp reproduce\n  gumdp reproduce grid-mo mdp --runs 32\n  gumdp reproduce --paper-only --out paper"
)]
pub struct ReproduceArgs {
    /// Which experiments (default: all): the names of the built-in tasks.
    #[arg(value_name = "FIGURE")]
    pub figures: Vec<String>,
    /// Runs per β (default: the paper's 100 and 128).
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, MAX_RUNS))]
    pub runs: Option<u64>,
    /// Leave out the runs of the default planner, which take as long again, and the section on them.
    #[arg(long)]
    pub paper_only: bool,
    /// Random numbers and threads.
    #[command(flatten)]
    pub random: RandomArgs,
    /// Folder for results, figures and report.
    #[arg(long, value_name = "DIR", default_value = "gumdp-out/reproduce")]
    pub out: PathBuf,
    /// Formats of the figures.
    #[command(flatten)]
    pub figures_as: FiguresArgs,
}

impl Run for ReproduceArgs {
    /// Plays what is missing, writes results, figures and report, prints the comparison.
    fn run(&self) -> Result<()> {
        let started = Instant::now();
        use_threads(self.random.threads)?;
        let tasks = tasks_of(&self.figures)?;
        let store = Store::create(&self.out)?.drawing(&self.figures_as);
        let trials: Vec<Vec<Trial>> = tasks.iter().map(|task| self.trials(task)).collect();
        let progress = Progress::new(trials.iter().flatten().map(|trial| trial.runs).sum());
        let play = |(task, trials): (Task, Vec<Trial>)| {
            let mut solver = Solver::new(&task.problem, Limits::QUICK);
            TaskResults::play(task, trials, Some(&store), &progress, &mut solver)
        };
        let experiments = tasks.into_iter().zip(trials).map(play).collect::<Result<Vec<TaskResults>>>()?;
        drop(progress);
        let manifest = manifest::save(&store, "reproduce", &experiments, started.elapsed())?;
        write_report(&store, &manifest, &experiments)?;
        say!("results, figures, comparison.json and report.html are in {}", self.out.display());
        Ok(())
    }
}

impl ReproduceArgs {
    /// The paper's planner for each β, ERM-BI beside it where the objective is linear, and the default planner. The
    /// motivating example is exact and needs no runs.
    fn trials(&self, task: &Task) -> Vec<Trial> {
        let linear = task.problem.objective().as_linear().is_some();
        let policies =
            [(Player::Paper, true), (Player::BackwardInduction, linear), (Player::Default, !self.paper_only)];
        let policies =
            policies.into_iter().filter_map(|(who, plays)| (plays && task.scripts.is_empty()).then_some(who));
        Trial::grid(task, policies, &task.defaults.risks(), self.random.seed, self.runs, None)
    }
}

/// Draws figures and report from finished experiments and prints the comparison.
pub fn write_report(store: &Store, manifest: &Manifest, experiments: &[TaskResults]) -> Result<()> {
    let published = Published::new()?;
    let comparisons = comparison::compare(&published, experiments)?;
    store.write_json("comparison.json", &comparisons)?;
    paper_report::write(store, manifest, experiments, &published, &comparisons)?;
    let mut out = crate::talk::stdout();
    print_comparisons(&comparisons, &mut out)?;
    print_departures(&published, experiments, &mut out)?;
    print_planners(&both(experiments), &mut out)?;
    match experiments.iter().find_map(TaskResults::mark_note) {
        Some(note) => Ok(writeln!(out, "{note}")?),
        None => Ok(()),
    }
}

fn tasks_of(figures: &[String]) -> Result<Vec<Task>> {
    if figures.is_empty() {
        return tasks::NAMES.into_iter().map(load).collect();
    }
    let mut chosen: Vec<Task> = Vec::new();
    for name in figures {
        if !tasks::NAMES.contains(&name.as_str()) {
            return Err(BadInput::new(format!("unknown figure \"{name}\""))
                .hint(format!("the figures are {}", tasks::NAMES.join(", ")))
                .into());
        }
        if !chosen.iter().any(|task| task.name == *name) {
            chosen.push(load(name)?);
        }
    }
    Ok(chosen)
}

fn print_comparisons(comparisons: &[Comparison], out: &mut impl Write) -> Result<()> {
    let tally = Tally::of(comparisons);
    if tally.all() > 0 {
        let open = tally.open();
        let rest = if open.is_empty() { String::new() } else { format!("; {open}") };
        writeln!(out, "{} of {} published numbers agree at 99 %{rest}\n", tally.agree, tally.all())?;
    }
    Table::of(comparisons, |c| c.fields("beta")).print(out)?;
    for c in comparisons.iter().filter(|c| c.verdict == Verdict::Differs || c.why.is_some()) {
        let why = c.why.as_deref().unwrap_or("no reason is known");
        writeln!(out, "\n{} beta = {} {}: {why}", c.task, number::beta(c.beta), c.statistic)?;
    }
    Ok(())
}

/// Where what is played departs from the paper's text.
fn print_departures(published: &Published, experiments: &[TaskResults], out: &mut impl Write) -> Result<()> {
    let departures: Vec<&Departure> = published.departures(experiments).collect();
    if !departures.is_empty() {
        writeln!(out, "\nDepartures from the paper's text")?;
    }
    for Departure { task, what, why } in departures {
        writeln!(out, "  {task}: {what}; {why}")?;
    }
    Ok(())
}

/// The default planner beside the paper's, where both were played.
fn print_planners(trials: &[Both], out: &mut impl Write) -> Result<()> {
    if trials.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nThe paper's settings and ours, and the exact optimum where it can be computed\n")?;
    let fields = |Both { paper, default, optimum, risks: [paper_risk, our_risk], .. }: &Both| {
        vec![
            Field::text("task", &paper.trial.task),
            Field::number("beta", number::risk(paper.trial.risk)),
            Field::number("paper ERM", paper_risk),
            Field::number("95% interval", paper.interval()),
            Field::number("default ERM", our_risk),
            Field::number("95% interval", default.interval()),
            Field::number("optimum", known(*optimum)),
            Field::number("paper CPU ms/run", format!("{:.2}", paper.cpu_milliseconds_per_run())),
            Field::number("default CPU ms/run", format!("{:.2}", default.cpu_milliseconds_per_run())),
        ]
    };
    Ok(Table::of(trials, fields).print(out)?)
}
