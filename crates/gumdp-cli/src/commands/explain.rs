//! `gumdp explain`: the optimal or planned behaviour as a small decision tree.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use gumdp::oracle::{self, OracleError};
use gumdp::{Agent, Erm, MAX_SIMULATIONS, Risk, experiment};
use gumdp_files::Task;
use serde::Serialize;

use super::Run;
use super::solve::OuterJson;
use super::{heading, load, print_json, with_threads};
use crate::args::{AttitudeArgs, RandomArgs, quick_limits, whole};
use crate::draw;
use crate::exact::{Solver, first_decision, unsolved};
use crate::explain::{self, Exact, Planned, Situation, Wanted};
use crate::failure::BadInput;
use crate::number::short;
use crate::player::Who;
use crate::progress::Progress;
use crate::store::{Store, write_atomically};
use crate::trial::Trial;

/// Show the optimal or planned behaviour as a small decision tree.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp explain rooms --beta 50\n  gumdp explain msee --beta 0.1 --depth 4 --out why\n  gumdp explain rooms --risk cvar:0.95\n  gumdp explain grid-msee --beta 1 --runs 20\n\nThe variable that CVaR and EVaR are minima over is fixed at its best value."
)]
pub struct ExplainArgs {
    /// Name of a built-in task, or a problem file.
    pub task: String,
    /// The attitude to risk.
    #[command(flatten)]
    pub attitude: AttitudeArgs,
    /// Show this many turns of chance, one after the other.
    #[arg(long, value_name = "D", default_value_t = 3, allow_negative_numbers = true, value_parser = whole(0, 100))]
    pub depth: u64,
    /// Show at most this many situations; the most likely come first.
    #[arg(long, value_name = "N", default_value_t = 24, allow_negative_numbers = true, value_parser = whole(1, 10_000))]
    pub nodes: u64,
    /// Solve the problem exactly if it has at most this many occupancy states (default: 20000000, within 256 MiB); else plan.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, u64::MAX))]
    pub max_states: Option<u64>,
    /// Simulations per decision of the planner (default: the task's).
    #[arg(long, value_name = "n", allow_negative_numbers = true, value_parser = whole(1, MAX_SIMULATIONS))]
    pub simulations: Option<u64>,
    /// Episodes played on from each situation to estimate its risk, where the problem is planned and not solved.
    #[arg(long, value_name = "N", default_value_t = 30, allow_negative_numbers = true, value_parser = whole(1, 1_000_000))]
    pub runs: u64,
    /// Random numbers and threads.
    #[command(flatten)]
    pub random: RandomArgs,
    /// Folder for the tree as SVG, HTML, text and JSON.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// A JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

impl Run for ExplainArgs {
    fn run(&self) -> Result<()> {
        explain(self)
    }
}

/// The behaviour of a task for one attitude to risk.
#[derive(Debug, Serialize)]
pub struct Explanation {
    /// Name of the task.
    pub task: String,
    /// Attitude to risk.
    pub risk: String,
    /// Its β, if the measure is entropic.
    #[serde(serialize_with = "crate::number::optional::serialize")]
    pub beta: Option<f64>,
    /// The outer variable, if the measure is a minimum over one.
    pub outer: Option<OuterJson>,
    /// Whether behaviour and values are exact.
    pub exact: bool,
    /// How they were found.
    pub origin: String,
    /// The measure of the whole episode: exact, or of sampled episodes.
    pub value: f64,
    /// It is not lower; `null` if episodes were sampled.
    pub low: Option<f64>,
    /// It is not higher.
    pub high: Option<f64>,
    /// What the risks of situations are of: the measure with its outer variable fixed, or an entropic one that stands in for it.
    pub estimate_of: String,
    /// Whether the risk of the second best first action is an upper bound only.
    pub upper_bounds: bool,
    /// The tree from the start on.
    pub tree: Situation,
}

impl Explanation {
    /// What the risk in a situation is called.
    pub fn measure(&self) -> &'static str {
        let entropic = self.estimate_of.parse().is_ok_and(|risk: Risk| risk.beta().is_some());
        if entropic { "ERM" } else { "risk" }
    }
}

/// Explains, prints, writes and draws.
fn explain(args: &ExplainArgs) -> Result<()> {
    let task = load(&args.task)?;
    let risk = args.attitude.risk(&task)?;
    if let Some(dir) = &args.out {
        Store::folder(dir)?;
    }
    let (explanation, fixed) = with_threads(args.random.threads, || grown(args, &task, risk))?;
    let mut text = Vec::new();
    writeln!(text, "{}", heading(&task))?;
    let (value, mean) = (short(explanation.value), short(explanation.tree.mean));
    let label = args.attitude.naming(&task).label(risk);
    writeln!(text, "policy auto: {}", explanation.origin)?;
    let (name, measure) = (if explanation.beta.is_some() { "ERM" } else { "risk" }, explanation.measure());
    writeln!(text, "{label}: {name} {value}, mean {mean}; lower is better")?;
    if let Some(fixed) = fixed {
        let sees = match (measure == name, explanation.upper_bounds) {
            (false, _) => "situations show the ERM at it, which is what is minimised",
            (true, false) => {
                "risks further on are what a situation contributes to the first, and may exceed every cost"
            }
            (true, true) => {
                "risks further on are what a situation contributes to the first, and may exceed every cost; the next best first \
                 action may cost less"
            }
        };
        writeln!(text, "with {fixed}, fixed at the first decision; {sees}")?;
    }
    writeln!(text)?;
    explain::print(&explanation.tree, measure, &mut text)?;
    if let Some(dir) = &args.out {
        let mut json = serde_json::to_vec_pretty(&explanation)?;
        json.push(b'\n');
        write_atomically(&dir.join("tree.json"), &json)?;
        write_atomically(&dir.join("tree.txt"), &text)?;
        draw::draw_explanation(dir, &task, &explanation, &String::from_utf8_lossy(&text))?;
        crate::talk::say!("tree.svg, tree.html, tree.txt and tree.json are in {}", dir.display());
    }
    if args.json {
        return print_json(&explanation);
    }
    Ok(io::stdout().lock().write_all(&text)?)
}

/// The behaviour, and the outer variable in words.
fn grown(args: &ExplainArgs, task: &Task, risk: Risk) -> Result<(Explanation, Option<String>)> {
    let wanted = Wanted { depth: args.depth, nodes: args.nodes };
    let limits = quick_limits(args.max_states);
    let problem = &task.problem;
    let spinner = Progress::spinner("solving");
    let refused = match oracle::solve(problem, risk, &limits) {
        Ok(solution) => {
            let first = first_decision(&solution, &limits).map_err(|error| unsolved(&task.name, &error))?;
            let upper_bounds = solution.outer.is_some() && first.as_ref().is_none_or(|first| !first.certain);
            let mut exact = Exact::new(problem, limits, &solution, &task.name).with_first(first);
            let tree = explain::grow(problem, solution.fixed().erm(), &mut exact, wanted)?;
            let fixed = solution.outer.map(|outer| outer.to_string());
            let explanation = Explanation {
                task: task.name.clone(),
                risk: risk.to_string(),
                beta: risk.beta(),
                outer: solution.outer.map(OuterJson::from),
                exact: true,
                origin: Agent::from(solution.clone()).what().to_owned(),
                value: solution.high,
                low: Some(solution.low),
                high: Some(solution.high),
                estimate_of: solution.fixed().measure().to_string(),
                upper_bounds,
                tree,
            };
            return Ok((explanation, fixed));
        }
        Err(error @ OracleError::NotFinite) => return Err(error.into()),
        Err(error) => error,
    };
    let trial = Trial::new(task, risk, Who::Default, args.random.seed).with(None, args.simulations);
    let agent = trial.agent(task, &mut Solver::new(problem, limits))?;
    let fixed = agent.fixed().unwrap_or(Erm::MEAN.into());
    drop(spinner);
    let progress = Progress::situations(args.nodes);
    let (seed, runs) = (args.random.seed, args.runs);
    // The measure itself is that of whole episodes.
    let value = if risk.fixed().is_some() {
        None
    } else {
        let runs = experiment(problem, agent.policy(), seed, 0..runs).map_err(BadInput::new)?;
        let costs: Vec<f64> = runs.iter().map(|run| run.episode.cost).collect();
        Some(risk.of_samples(&costs)?)
    };
    let mut planned = Planned { problem, fixed, planner: agent.policy().boxed(), seed, runs, progress: &progress };
    let tree = explain::grow(problem, fixed.erm(), &mut planned, wanted)?;
    let simulations = trial.simulations;
    let said = refused.in_short();
    let explanation = Explanation {
        task: task.name.clone(),
        risk: risk.to_string(),
        beta: risk.beta(),
        outer: fixed.outer().map(OuterJson::from),
        exact: false,
        origin: format!("{said}, planning ({simulations} simulations); values from {runs} episodes each"),
        value: value.unwrap_or(tree.erm),
        low: None,
        high: None,
        estimate_of: fixed.measure().to_string(),
        upper_bounds: false,
        tree,
    };
    Ok((explanation, fixed.outer().map(|outer| outer.to_string())))
}
