//! `gumdp explain`: the optimal or planned behaviour as a small decision tree.

use std::io::{self, Write};

use anyhow::Result;
use gumdp::oracle::{self, OracleError, OuterVariable};
use gumdp::{Auto, Erm, FixedRisk, GuidedPlanner, Risk, Task, fix_outer};
use serde::Serialize;

use super::solve::Outer;
use super::{heading, limits, load, one_naming, one_risk, output_folder, print_json, with_threads};
use crate::args::{ExplainArgs, PolicyName};
use crate::cells::Cell;
use crate::draw;
use crate::explain::{self, Exact, Planned, Situation, Wanted};
use crate::failure::BadInput;
use crate::number::short;
use crate::player::Who;
use crate::progress::Progress;
use crate::store::write_atomically;

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
    pub outer: Option<Outer>,
    /// Whether behaviour and values are exact.
    pub exact: bool,
    /// How they were found.
    pub origin: String,
    /// The tree from the start on.
    pub tree: Situation,
}

impl Explanation {
    /// What the risk in a situation is called.
    pub fn measure(&self) -> &'static str {
        if self.outer.is_some() { "risk" } else { "ERM" }
    }
}

/// Explains, prints, writes and draws.
pub fn explain(args: &ExplainArgs, quiet: bool) -> Result<()> {
    let task = load(&args.task)?;
    let risk = one_risk(&args.attitude, &task)?;
    if let Some(dir) = &args.out {
        output_folder(dir)?;
    }
    let (explanation, fixed) = with_threads(args.luck.threads, || grown(args, &task, risk, quiet))?;
    let mut text = Vec::new();
    writeln!(text, "{}", heading(&task))?;
    let (value, mean) = (short(explanation.tree.erm), short(explanation.tree.mean));
    let label = one_naming(&args.attitude, &task).label(risk);
    writeln!(text, "policy auto: {}", explanation.origin)?;
    let measure = explanation.measure();
    writeln!(text, "{label}: {measure} {value}, mean {mean}; lower is better")?;
    if let Some(fixed) = fixed {
        writeln!(text, "with {fixed}, fixed at the first decision; risks further on are as it sees them")?;
    }
    writeln!(text)?;
    explain::print(&explanation.tree, measure, &mut text)?;
    if let Some(dir) = &args.out {
        let mut json = serde_json::to_vec_pretty(&explanation)?;
        json.push(b'\n');
        write_atomically(&dir.join("tree.json"), &json)?;
        write_atomically(&dir.join("tree.txt"), &text)?;
        draw::draw_explanation(dir, &task, &explanation, &String::from_utf8_lossy(&text))?;
        if !quiet {
            crate::talk::say!("tree.svg, tree.html, tree.txt and tree.json are in {}", dir.display());
        }
    }
    if args.json {
        return print_json(&explanation);
    }
    Ok(io::stdout().lock().write_all(&text)?)
}

/// The behaviour, and the outer variable in words.
fn grown(args: &ExplainArgs, task: &Task, risk: Risk, quiet: bool) -> Result<(Explanation, Option<String>)> {
    let wanted = Wanted { depth: args.depth, nodes: args.nodes };
    let limits = limits(PolicyName::Auto, args.max_states);
    let problem = &task.problem;
    let spinner = Progress::spinner("solving", quiet);
    let refused = match oracle::minimise(problem, risk, &limits) {
        Ok(solution) => {
            let erm = match solution.outer {
                None => risk.as_erm().unwrap_or(Erm::MEAN),
                Some(OuterVariable::Lambda(_)) => Erm::MEAN,
                Some(OuterVariable::Beta(beta)) => Erm::new(beta)?,
            };
            let mut exact = Exact::new(problem, limits, &solution, &task.name);
            let tree = explain::grow(problem, erm, &mut exact, wanted)?;
            let origin = Auto::Solved(solution.inner().clone()).to_string();
            let fixed = solution.outer.map(|outer| outer.to_string());
            return Ok((explanation(task, risk, solution.outer, (true, origin), tree), fixed));
        }
        Err(error @ OracleError::NotFinite) => return Err(error.into()),
        Err(error) => error,
    };
    let cell = Cell::new(task, risk, Who::Default, args.luck.seed).with(None, args.simulations);
    let player = |fixed: FixedRisk| GuidedPlanner::new(problem, fixed, cell.guided_settings(task));
    let fixed = fix_outer(problem, risk, args.luck.seed, player).map_err(BadInput::new)?;
    drop(spinner);
    let progress = Progress::situations(args.nodes, quiet);
    let price =
        if let (Risk::Evar(evar), FixedRisk::Erm(erm)) = (risk, fixed) { evar.price() / erm.beta() } else { 0.0 };
    let planner = player(fixed).map_err(BadInput::new)?;
    let (seed, runs) = (args.luck.seed, args.runs);
    let mut planned = Planned { problem, fixed, price, planner, seed, runs, progress: &progress };
    let tree = explain::grow(problem, fixed.erm(), &mut planned, wanted)?;
    let simulations = cell.simulations;
    let said = refused.in_short();
    let origin = format!("{said}, planning ({simulations} simulations); values from {runs} episodes each");
    let outer = risk.as_erm().is_none().then(|| match fixed {
        FixedRisk::Erm(erm) => OuterVariable::Beta(erm.beta()),
        FixedRisk::Threshold { lambda, .. } => OuterVariable::Lambda(lambda),
    });
    let fixed = outer.map(|_| fixed.to_string());
    Ok((explanation(task, risk, outer, (false, origin), tree), fixed))
}

fn explanation(
    task: &Task,
    risk: Risk,
    outer: Option<OuterVariable>,
    (exact, origin): (bool, String),
    tree: Situation,
) -> Explanation {
    let (beta, outer) = (risk.beta(), outer.map(Outer::from));
    Explanation { task: task.name.clone(), risk: risk.to_string(), beta, outer, exact, origin, tree }
}
