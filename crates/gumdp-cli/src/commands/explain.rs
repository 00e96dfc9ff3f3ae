//! `gumdp explain`: the optimal or planned behaviour as a small decision tree.

use std::io::{self, Write};

use anyhow::Result;
use gumdp::oracle;
use gumdp::{Auto, Erm, GuidedPlanner};
use serde::Serialize;

use super::{heading, limits, load, output_folder, print_json, with_threads};
use crate::args::{ExplainArgs, PolicyName};
use crate::cells::Cell;
use crate::draw;
use crate::explain::{self, Exact, Planned, Situation, Wanted};
use crate::failure::BadInput;
use crate::number::{beta, short};
use crate::player::Who;
use crate::progress::Progress;
use crate::store::write_atomically;

/// The behaviour of a task for one β.
#[derive(Debug, Serialize)]
pub struct Explanation {
    /// Name of the task.
    pub task: String,
    /// Attitude to risk.
    #[serde(with = "crate::number")]
    pub beta: f64,
    /// Whether behaviour and values are exact.
    pub exact: bool,
    /// How they were found.
    pub origin: String,
    /// The tree from the start on.
    pub tree: Situation,
}

/// Explains, prints, writes and draws.
pub fn explain(args: &ExplainArgs, quiet: bool) -> Result<()> {
    let task = load(&args.task)?;
    let erm = Erm::new(args.beta)?;
    if let Some(dir) = &args.out {
        output_folder(dir)?;
    }
    let wanted = Wanted { depth: args.depth, nodes: args.nodes };
    let limits = limits(PolicyName::Auto, args.max_states);
    let explanation = with_threads(args.threads, || {
        let cell = Cell::new(&task, erm, Who::Default, args.seed).with(None, args.simulations);
        let spinner = Progress::spinner("solving", quiet);
        let solved = oracle::optimum(&task.problem, erm, &limits);
        let planner = || GuidedPlanner::new(&task.problem, erm, cell.guided_settings(&task));
        let auto = Auto::of(solved, planner).map_err(BadInput::new)?;
        let said = auto.to_string();
        let (exact, tree, origin) = match auto {
            Auto::Solved(solution) => {
                let mut exact = Exact::new(&task.problem, erm, limits, &solution, &task.name);
                (true, explain::grow(&task.problem, erm, &mut exact, wanted)?, said)
            }
            Auto::Planning { planner, .. } => {
                drop(spinner);
                let progress = Progress::situations(args.nodes, quiet);
                let (seed, runs) = (args.seed, args.runs);
                let planner = *planner;
                let mut planned = Planned { problem: &task.problem, erm, planner, seed, runs, progress: &progress };
                let tree = explain::grow(&task.problem, erm, &mut planned, wanted)?;
                let simulations = cell.simulations;
                let origin = format!("{said} ({simulations} simulations); values from {runs} episodes each");
                (false, tree, origin)
            }
        };
        Ok(Explanation { task: task.name.clone(), beta: args.beta, exact, origin, tree })
    })?;
    let mut text = Vec::new();
    writeln!(text, "{}", heading(&task))?;
    let (erm, mean) = (short(explanation.tree.erm), short(explanation.tree.mean));
    writeln!(text, "policy auto: {}", explanation.origin)?;
    writeln!(text, "beta = {}: ERM {erm}, mean {mean}; lower is better\n", beta(args.beta))?;
    explain::print(&explanation.tree, &mut text)?;
    if let Some(dir) = &args.out {
        let mut json = serde_json::to_vec_pretty(&explanation)?;
        json.push(b'\n');
        write_atomically(&dir.join("tree.json"), &json)?;
        write_atomically(&dir.join("tree.txt"), &text)?;
        draw::draw_explanation(dir, &task, &explanation, &String::from_utf8_lossy(&text))?;
        if !quiet {
            eprintln!("tree.svg, tree.html, tree.txt and tree.json are in {}", dir.display());
        }
    }
    if args.json {
        return print_json(&explanation);
    }
    Ok(io::stdout().lock().write_all(&text)?)
}
