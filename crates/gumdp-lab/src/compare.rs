//! Planners on families of problems with known optima: how far from the optimum, and who is better.

use std::io::{self, Write};

use anyhow::{Context, Result};
use clap::Args;
use gumdp::oracle::{self, Limits};
use gumdp::{Agent, Budget, GuidedSettings, Problem, Risk, Spec, Who, experiment};
use gumdp_files::Task;
use rayon::prelude::*;

use crate::families::{self, Cell};

/// Compare the planners on families of generated problems whose optimum is known.
#[derive(Debug, Args)]
pub struct FamiliesArgs {
    /// Only these families or cells (parts of their names).
    #[arg(value_name = "NAME")]
    only: Vec<String>,
    /// Another seed, other problems.
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Simulations for each decision.
    #[arg(long, value_name = "n", default_value_t = 500)]
    simulations: u64,
    /// Episodes for each number.
    #[arg(long, value_name = "N", default_value_t = 400)]
    runs: u64,
    /// Write the problem files to this folder instead.
    #[arg(long, value_name = "DIR")]
    write: Option<std::path::PathBuf>,
    /// Leave out the published planner.
    #[arg(long)]
    alone: bool,
}

/// What was measured of a cell.
struct Measured {
    optimum: f64,
    uniform: f64,
    default: f64,
    published: f64,
    cpu: [f64; 2],
    what: String,
}

impl Measured {
    /// The part of what can be gained that is not.
    fn gap(&self, risk: f64) -> f64 {
        (risk - self.optimum) / (self.uniform - self.optimum)
    }
}

/// Measures, prints a line for each cell and a summary for each family.
pub fn compare(args: &FamiliesArgs) -> Result<()> {
    let wanted = |cell: &Cell| {
        args.only.is_empty()
            || args.only.iter().any(|part| cell.family.contains(part.as_str()) || cell.name.contains(part.as_str()))
    };
    let cells: Vec<Cell> = families::cells(args.seed).into_iter().filter(wanted).collect();
    if let Some(folder) = &args.write {
        std::fs::create_dir_all(folder)?;
        for cell in &cells {
            std::fs::write(folder.join(format!("{}.toml", cell.name)), &cell.text)?;
        }
        return Ok(());
    }
    let mut out = io::stdout().lock();
    let mut all: Vec<(Cell, Measured)> = Vec::new();
    for cell in cells {
        let Some(measured) = measure(&cell, args).with_context(|| cell.name.clone())? else { continue };
        writeln!(
            out,
            "{:10} {:20} {:16} opt {:9.4} uni {:9.4} default {:7.3} published {:7.3} ms {:6.2} {:6.2} {}",
            cell.family,
            cell.name,
            cell.risk,
            measured.optimum,
            measured.uniform,
            measured.gap(measured.default),
            measured.gap(measured.published),
            1e3 * measured.cpu[0],
            1e3 * measured.cpu[1],
            measured.what
        )?;
        out.flush()?;
        all.push((cell, measured));
    }
    let mut names: Vec<&str> = all.iter().map(|(cell, _)| cell.family).collect();
    names.dedup();
    for family in names.into_iter().chain([""]) {
        let own: Vec<&Measured> =
            all.iter().filter(|(cell, _)| family.is_empty() || cell.family == family).map(|(_, m)| m).collect();
        let gaps = |of: fn(&Measured) -> f64| {
            let mut gaps: Vec<f64> = own.iter().map(|m| m.gap(of(m))).collect();
            gaps.sort_by(f64::total_cmp);
            gaps
        };
        let line = |gaps: &[f64]| {
            let at = |q: f64| gaps[((gaps.len() - 1) as f64 * q).round() as usize];
            let above = gaps.iter().filter(|gap| **gap > 0.1).count();
            format!("median {:.3}, 90 % {:.3}, worst {:.3}, above .1: {above}", at(0.5), at(0.9), at(1.0))
        };
        let wins = own.iter().filter(|m| m.gap(m.default) < m.gap(m.published) - 0.02).count();
        let losses = own.iter().filter(|m| m.gap(m.default) > m.gap(m.published) + 0.02).count();
        let (default, published) = (gaps(|m| m.default), gaps(|m| m.published));
        if default.is_empty() {
            continue;
        }
        let family = if family.is_empty() { "all" } else { family };
        writeln!(
            out,
            "{family:10} {:3} cells  default: {};  published: {};  wins {wins}, losses {losses}",
            own.len(),
            line(&default),
            line(&published)
        )?;
    }
    Ok(())
}

fn measure(cell: &Cell, args: &FamiliesArgs) -> Result<Option<Measured>> {
    let task = Task::parse(&cell.name, &cell.text)?;
    let problem = &task.problem;
    let risk: Risk = cell.risk.parse()?;
    let limits = Limits::default();
    let Ok(solution) = oracle::solve(problem, risk, &limits) else {
        eprintln!("{}: no optimum", cell.name);
        return Ok(None);
    };
    let optimum = 0.5 * (solution.low + solution.high);
    let (uniform, _) = played(problem, &Spec::new(Who::Uniform, risk), 4 * args.runs, risk)?;
    let bounds = problem.objective().bounds();
    if uniform - optimum < 0.05 * (bounds.high - bounds.low).min(1e6) {
        eprintln!("{}: little to gain ({optimum} {uniform})", cell.name);
        return Ok(None);
    }
    let budget = Some(Budget::simulations(args.simulations));
    let guided = Spec { budget, ..Spec::new(Who::Guided(GuidedSettings::default()), risk) };
    let published = Spec { budget, ..Spec::new(Who::Published(task.defaults.published()), risk) };
    let (default, first) = played(problem, &guided, args.runs, risk)?;
    let (published, second) = if args.alone { (f64::NAN, 0.0) } else { played(problem, &published, args.runs, risk)? };
    Ok(Some(Measured { optimum, uniform, default, published, cpu: [first, second], what: String::new() }))
}

/// The risk of so many episodes, and the CPU seconds of one.
fn played(problem: &Problem, spec: &Spec, runs: u64, risk: Risk) -> Result<(f64, f64)> {
    let started = std::time::Instant::now();
    let agent = Agent::new(problem, spec)?;
    let costs: Vec<f64> =
        experiment(problem, agent.policy(), 7, 0..runs)?.into_par_iter().map(|run| run.episode.cost).collect();
    let threads = rayon::current_num_threads() as f64;
    Ok((problem.measure(risk).of_samples(&costs)?, started.elapsed().as_secs_f64() * threads / runs as f64))
}
