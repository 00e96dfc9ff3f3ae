//! What planners make of simulators: the built-in tasks with nothing but samples shown, and goals that are far away.
//!
//! All play the same episodes (same seeds outside), at the same number of simulations for a decision. `better` and `worse` say whether a test is sure that
//! the risk of the learning planner is lower or higher than that of the published one: the bet on paired runs of `study`, whose false alarms in a whole table
//! have probability 1 % at most.

mod hidden;
mod moving;
mod sparse;

use std::io;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use gumdp::words::short;
use gumdp::{
    BlackBoxPlanner, Bounds, Budget, Decision, Erm, GuidedPlanner, GuidedSettings, LearningPlanner, LearningSettings,
    PlannerSettings, Problem, Risk, SimulatedProblem, Simulator, Situation, experiment, rng::Rng,
};
use gumdp_files::{Task, tasks};
use gumdp_plot::Table;
use rayon::prelude::*;

use crate::study::evidence;
use hidden::Hidden;
use moving::{Balance, Valley};

/// Compare planners for simulators, on built-in tasks of which only samples are shown and on far goals.
#[derive(Clone, Debug, Args)]
pub struct SimulatorsArgs {
    /// Only these problems.
    #[arg(value_name = "NAME")]
    only: Vec<String>,
    /// Who plays.
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["published", "default", "tables"])]
    players: Vec<Player>,
    /// Simulations for each decision: those of a task, or 500, times each of these.
    #[arg(long, value_delimiter = ',', default_value = "1", value_parser = clap::value_parser!(u64).range(1..=1000))]
    times: Vec<u64>,
    /// The caution of the default planner and its variants.
    #[arg(long, value_name = "X")]
    caution: Option<f64>,
    /// Episodes for each row.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    runs: u64,
    /// Seed of all episodes.
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// No rows on stderr while others are still played.
    #[arg(skip)]
    quiet: bool,
    /// Use this many threads (default: all cores). Results do not depend on it.
    #[arg(long, value_name = "T")]
    threads: Option<usize>,
}

/// Who plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Player {
    /// ERM-MCTS.
    Published,
    /// The default planner for simulators.
    Default,
    /// The same without what was learned.
    NoTable,
    /// The same without the lattice over sums of features.
    NoLattice,
    /// The same without simulations to what is unknown.
    NoFrontier,
    /// The same without a tree where states recur.
    NoTree,
    /// The same without plans.
    NoPlans,
    /// The same with a tree at every decision.
    Tree,
    /// The default planner for tables, which knows the probabilities.
    Tables,
}

impl Player {
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    fn settings(self, caution: Option<f64>) -> LearningSettings {
        let default = LearningSettings::default();
        let default = LearningSettings { caution: caution.unwrap_or(default.caution), ..default };
        match self {
            Self::NoTable => LearningSettings { table: false, ..default },
            Self::NoLattice => LearningSettings { lattice: false, ..default },
            Self::NoFrontier => LearningSettings { frontier: false, ..default },
            Self::NoTree => LearningSettings { reach: 0.0, ..default },
            Self::NoPlans => LearningSettings { plans: false, ..default },
            Self::Tree => LearningSettings { reach: f64::INFINITY, ..default },
            _ => default,
        }
    }
}

/// Measures and prints.
pub fn simulators(args: &SimulatorsArgs, quiet: bool) -> Result<()> {
    let args = &SimulatorsArgs { quiet, ..args.clone() };
    crate::on_threads(args.threads, || {
        let mut rows = Vec::new();
        let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|known| known == name);
        for name in tasks::NAMES.into_iter().filter(|name| wanted(name)) {
            let task = tasks::get(name).context("a built-in task")?;
            for &beta in &task.defaults.betas {
                rows.extend(of_task(args, &task, beta)?);
            }
        }
        for (name, problem) in sparse::all().into_iter().filter(|(name, _)| wanted(name)) {
            rows.extend(of_simulator(args, name, &problem, Erm::new(1.0)?, 500, None, None)?);
        }
        if wanted("balance") {
            rows.extend(of_simulator(args, "balance", &Balance::problem(), Erm::new(3.0)?, 60, None, None)?);
        }
        if wanted("valley") {
            rows.extend(of_simulator(args, "valley", &Valley::problem(), Erm::new(1.0)?, 300, None, None)?);
        }
        let headers = ["problem", "beta", "simulations", "player", "risk", "seconds", "against published"];
        let mut table = Table::new(&headers, &[0, 3, 6]);
        for row in rows {
            table.row(row.to_vec());
        }
        table.print_markdown(&mut io::stdout().lock())?;
        Ok(())
    })
}

type Row = [String; 7];

fn of_task(args: &SimulatorsArgs, task: &Task, beta: f64) -> Result<Vec<Row>> {
    let published = task.defaults.published();
    let bounds = task.problem.objective().bounds();
    let tables = (&task.problem, bounds);
    of_simulator(
        args,
        &task.name,
        &Hidden::problem(&task.problem),
        Erm::new(beta)?,
        task.defaults.simulations,
        Some(&published),
        Some(tables),
    )
}

/// The rows of one problem.
fn of_simulator<S: Simulator<Error = std::convert::Infallible> + Sync + Send>(
    args: &SimulatorsArgs,
    name: &str,
    problem: &Arc<SimulatedProblem<S>>,
    erm: Erm,
    simulations: u64,
    published: Option<&PlannerSettings>,
    tables: Option<(&Problem, Bounds)>,
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for &times in &args.times {
        let budget = Budget::simulations(simulations * times);
        let published =
            PlannerSettings { budget, ..published.cloned().unwrap_or_else(PlannerSettings::paper_illustrative) };
        let mut first: Option<Vec<f64>> = None;
        for &player in &args.players {
            let started = std::time::Instant::now();
            let costs: Vec<f64> = match (player, tables) {
                (Player::Tables, None) => continue,
                (Player::Tables, Some((tables, _))) => {
                    let settings = GuidedSettings { budget, ..GuidedSettings::default() };
                    let planner = GuidedPlanner::new(tables, erm, settings)?;
                    let runs = experiment(tables, &planner, args.seed, 0..args.runs)?;
                    runs.iter().map(|run| run.episode.cost).collect()
                }
                _ => (0..args.runs)
                    .into_par_iter()
                    .map(|run| play(args, problem, player, erm, budget, &published, run))
                    .collect::<Result<_>>()?,
            };
            let seconds = started.elapsed().as_secs_f64() * rayon::current_num_threads() as f64 / args.runs as f64;
            let against = match (&first, tables) {
                (Some(first), Some((_, bounds))) if player != Player::Tables => {
                    let risk = Risk::from(erm);
                    let sure = 100.0_f64.ln() + 100.0_f64.ln();
                    if evidence::of_lower(&costs, first, risk, bounds) > sure {
                        "better"
                    } else if evidence::of_lower(first, &costs, risk, bounds) > sure {
                        "worse"
                    } else {
                        ""
                    }
                }
                _ => "",
            };
            let risk = erm.of_samples(&costs);
            if !args.quiet {
                eprintln!(
                    "{name}, beta {}, {} simulations, {}: {risk:.4}",
                    erm.beta(),
                    simulations * times,
                    player.name()
                );
            }
            rows.push([
                name.to_owned(),
                short(erm.beta()),
                (simulations * times).to_string(),
                player.name(),
                format!("{risk:.4}"),
                format!("{seconds:.3}"),
                against.to_owned(),
            ]);
            if player == Player::Published {
                first = Some(costs);
            }
        }
    }
    Ok(rows)
}

/// The cost of one episode.
fn play<S: Simulator<Error = std::convert::Infallible>>(
    args: &SimulatorsArgs,
    problem: &Arc<SimulatedProblem<S>>,
    player: Player,
    erm: Erm,
    budget: Budget,
    published: &PlannerSettings,
    run: u64,
) -> Result<f64> {
    let Ok(cost) = if player == Player::Published {
        let mut planner = BlackBoxPlanner::new(problem, erm, published.clone())?;
        episode(problem, |at, rng| planner.decide(at, rng), args.seed, run)
    } else {
        let mut planner =
            LearningPlanner::new(problem, erm, LearningSettings { budget, ..player.settings(args.caution) })?;
        episode(problem, |at, rng| planner.decide(at, rng), args.seed, run)
    };
    Ok(cost)
}

fn episode<S: Simulator>(
    problem: &SimulatedProblem<S>,
    mut decide: impl FnMut(&Situation<S::State>, &mut Rng) -> Result<Decision, S::Error>,
    seed: u64,
    run: u64,
) -> Result<f64, S::Error> {
    let end = problem.play(|at, rng| Ok(decide(at, rng)?.action), seed, run)?;
    problem.simulator().cost(&end.features)
}
