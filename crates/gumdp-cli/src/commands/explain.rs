//! `gumdp explain`: the optimal or planned behaviour as a small decision tree.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use gumdp::explain::{self, ExplainError, Explanation, Node, Wanted};
use gumdp::oracle::Limits;
use gumdp::{AgentError, Budget, MAX_SIMULATIONS, Risk, Spec, Who};
use gumdp_files::Task;
use serde::Serialize;

use super::Run;
use super::solve::OuterJson;
use super::{heading, load, print_json, with_threads};
use crate::args::{AttitudeArgs, EffortArgs, RandomArgs, whole};
use crate::draw;
use crate::exact::unsolved;
use crate::failure::{BadInput, Interrupted};
use crate::interrupt;
use crate::number::short;
use crate::progress::Progress;
use crate::store::{Store, write_atomically};

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
    /// What an exact solution may take.
    #[command(flatten)]
    pub effort: EffortArgs,
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

/// What `--json` prints; the names of the fields are a contract.
#[derive(Debug, Serialize)]
struct Json<'a> {
    task: &'a str,
    risk: String,
    #[serde(serialize_with = "crate::number::optional::serialize")]
    beta: Option<f64>,
    outer: Option<OuterJson>,
    exact: bool,
    origin: &'a str,
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
    estimate_of: String,
    upper_bounds: bool,
    tree: &'a Node,
}

impl<'a> Json<'a> {
    fn new(task: &'a str, of: &'a Explanation) -> Self {
        Self {
            task,
            risk: of.risk.to_string(),
            beta: of.risk.beta(),
            outer: of.outer.map(OuterJson::from),
            exact: of.exact,
            origin: &of.origin,
            value: of.value,
            low: of.bounds.map(|(low, _)| low),
            high: of.bounds.map(|(_, high)| high),
            estimate_of: of.estimate_of.to_string(),
            upper_bounds: of.upper_bounds,
            tree: &of.tree,
        }
    }
}

/// Explains, prints, writes and draws.
fn explain(args: &ExplainArgs) -> Result<()> {
    let task = load(&args.task)?;
    let risk = args.attitude.risk(&task)?;
    if let Some(dir) = &args.out {
        Store::folder(dir)?;
    }
    let explanation = with_threads(args.random.threads, || grown(args, &task, risk))?;
    let mut text = Vec::new();
    writeln!(text, "{}", heading(&task))?;
    let (value, mean) = (short(explanation.value), short(explanation.tree.mean));
    let label = args.attitude.naming(&task).label(risk);
    writeln!(text, "policy auto: {}", explanation.origin)?;
    let (name, measure) = (if risk.beta().is_some() { "ERM" } else { "risk" }, explanation.measure());
    writeln!(text, "{label}: {name} {value}, mean {mean}; lower is better")?;
    if let Some(fixed) = explanation.outer {
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
    write!(text, "\n{explanation}")?;
    let data = Json::new(&task.name, &explanation);
    if let Some(dir) = &args.out {
        let mut json = serde_json::to_vec_pretty(&data)?;
        json.push(b'\n');
        write_atomically(&dir.join("tree.json"), &json)?;
        write_atomically(&dir.join("tree.txt"), &text)?;
        draw::draw_explanation(dir, &task, &explanation, &String::from_utf8_lossy(&text))?;
        crate::talk::say!("tree.svg, tree.html, tree.txt and tree.json are in {}", dir.display());
    }
    if args.json {
        return print_json(&data);
    }
    Ok(io::stdout().lock().write_all(&text)?)
}

/// The behaviour of the exact optimum, or of the planner if that is not to be had.
fn grown(args: &ExplainArgs, task: &Task, risk: Risk) -> Result<Explanation> {
    let defaults = &task.defaults;
    let spec = Spec {
        budget: Some(Budget::simulations(args.simulations.unwrap_or(defaults.simulations))),
        limits: Limits { stop: interrupt::stop().clone(), ..args.effort.limits() },
        seed: args.random.seed,
        ..Spec::new(Who::Auto(defaults.guided.clone()), risk)
    };
    let failed = |error| match error {
        error if ExplainError::is_stopped(&error) => Interrupted.into(),
        ExplainError::Agent(AgentError::Oracle(error)) | ExplainError::Oracle(error) => unsolved(&task.name, &error),
        ExplainError::Episode(error) => error.into(),
        ExplainError::Run(error) => error.into(),
        error => BadInput::new(error).into(),
    };
    let mut progress = Progress::spinner("solving");
    let agent = explain::agent(&task.problem, &spec).map_err(failed)?;
    if agent.solution().is_none() {
        progress = Progress::situations(args.nodes);
    }
    let wanted = Wanted { depth: args.depth, nodes: args.nodes, runs: args.runs };
    explain::explain(&task.problem, &agent, &spec, &wanted, &progress).map_err(failed)
}
