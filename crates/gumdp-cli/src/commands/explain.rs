//! `gumdp explain`: the optimal or planned behaviour as a small decision tree.

use std::io::Write as _;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use gumdp::explain::{self, ExplainError, Explanation, Node, Wanted};
use gumdp::frontier::{self, Frontier};
use gumdp::oracle::Limits;
use gumdp::{AgentError, Budget, Risk, Spec, Who};
use gumdp_files::Task;
use serde::Serialize;

use super::Run;
use super::solve::OuterJson;
use super::{heading, load, print_json, use_threads};
use crate::args::{AttitudeArgs, CommonArgs, EffortArgs, whole};
use crate::draw;
use crate::exact::unsolved;
use crate::failure::{BadInput, Interrupted};
use crate::frontier::TradeOff;
use crate::interrupt;
use crate::number::{Attitude, short};
use crate::progress::{Preparing, Progress};
use crate::store::Store;

/// Show the optimal or planned behaviour as a small decision tree.
#[derive(Debug, Args)]
#[command(mut_arg("out", |out| out.help("Folder for the tree as SVG, HTML, text and JSON")))]
#[command(
    after_help = "Examples:\n  gumdp explain rooms --beta 50\n  gumdp explain msee --beta 0.1 --depth 4 --out why\n  gumdp explain rooms --risk cvar:0.95\n  gumdp explain grid-msee --beta 1 --runs 20\n  gumdp explain mdp --beta 5 --json\n\nThe variable that CVaR and EVaR are minima over is fixed at its best value."
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
    /// Episodes played on from each situation to estimate its risk, where the problem is planned and not solved.
    #[arg(long, value_name = "N", default_value_t = 30, allow_negative_numbers = true, value_parser = whole(1, 1_000_000))]
    pub runs: u64,
    /// How it is played, and what becomes of it.
    #[command(flatten)]
    pub common: CommonArgs,
}

/// What `--json` prints; the names of the fields are a contract.
#[derive(Debug, Serialize)]
struct Json<'a> {
    task: &'a str,
    #[serde(flatten)]
    attitude: Attitude,
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
            attitude: of.risk.into(),
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

impl Run for ExplainArgs {
    /// Explains, prints, writes and draws.
    fn run(&self) -> Result<()> {
        use_threads(self.common.random.threads)?;
        let task = load(&self.task)?;
        let risk = self.attitude.risk(&task)?;
        let store = self.common.out.as_deref().map(Store::folder).transpose()?;
        let store = store.map(|store| store.drawing(&self.common.figures));
        let explanation = grown(self, &task, risk)?;
        let mut text = Vec::new();
        writeln!(text, "{}", heading(&task))?;
        let (value, mean) = (short(explanation.value), short(explanation.tree.mean));
        let label = self.attitude.naming(&task).label(risk);
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
        if let Some(store) = &store {
            store.write_json("tree.json", &data)?;
            store.write("tree.txt", &text)?;
            let others = other_attitudes(self, &task, &explanation);
            draw::draw_explanation(store, &task, &explanation, &String::from_utf8_lossy(&text), others.as_ref())?;
            let figures = self.common.figures.files("tree").join(", ");
            crate::talk::say!("{figures}, tree.html, tree.txt and tree.json are in {}", store.dir().display());
        }
        if self.common.json {
            return print_json(&data);
        }
        Ok(crate::talk::stdout().write_all(&text)?)
    }
}

/// What optimal behaviour comes to at a few other levels of the measure, if each can be solved as fast as this one.
fn other_attitudes(args: &ExplainArgs, task: &Task, explanation: &Explanation) -> Option<(TradeOff, Frontier)> {
    let (form, _) = explanation.risk.swept().filter(|_| explanation.exact)?;
    let _spinner = Progress::spinner("solving for other attitudes");
    let (problem, defaults) = (&task.problem, &task.defaults);
    let mut risks = frontier::few(problem, form, &defaults.own_risks(), defaults.curve);
    if !risks.contains(&explanation.risk) {
        risks.push(explanation.risk);
    }
    let level = |risk: &Risk| risk.swept().map_or(f64::NAN, |(_, level)| level);
    risks.sort_by(|a, b| level(a).total_cmp(&level(b)));
    let limits = Limits { stop: interrupt::stop().clone(), ..args.effort.limits() };
    let found = frontier::exact(problem, &risks, &[], &limits, Duration::ZERO, |_, _| ()).ok()?;
    Some((TradeOff::new(task, form, &found), found))
}

/// The behaviour of the exact optimum, or of the planner if that is not to be had.
fn grown(args: &ExplainArgs, task: &Task, risk: Risk) -> Result<Explanation> {
    let defaults = &task.defaults;
    let preparing = Preparing::new();
    let spec = Spec {
        tell: Some(preparing.tell()),
        budget: Some(Budget::simulations(args.common.simulations.unwrap_or(defaults.simulations))),
        limits: Limits { stop: interrupt::stop().clone(), ..args.effort.limits() },
        seed: args.common.random.seed,
        ..Spec::new(Who::Auto(defaults.guided.clone()), risk)
    };
    let failed = |error| match error {
        error if ExplainError::is_stopped(&error) => Interrupted.into(),
        ExplainError::Agent(AgentError::Oracle(error)) | ExplainError::Oracle(error) => unsolved(&task.name, &error),
        ExplainError::Episode(error) => error.into(),
        ExplainError::Run(error) => error.into(),
        error => BadInput::new(error).into(),
    };
    let agent = explain::agent(&task.problem, &spec).map_err(failed)?;
    drop(preparing);
    let progress = match agent.solution() {
        Some(_) => Progress::spinner("explaining"),
        None => Progress::bar(args.nodes, "situations"),
    };
    let wanted = Wanted { depth: args.depth, nodes: args.nodes, runs: args.runs };
    explain::explain(&task.problem, &agent, &spec, &wanted, &progress).map_err(failed)
}
