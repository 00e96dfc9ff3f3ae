//! `gumdp replay`: one saved episode, step by step.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;
use gumdp::{Pair, Risk};
use gumdp_files::Scene;

use super::show;
use crate::failure::BadInput;
use crate::number;
use crate::results::{self, Experiment, Finished};
use crate::store::Store;

/// Prints a saved run of the cell that fits the given names, or the first.
pub fn replay(dir: &Path, run: u64, task: Option<&str>, risk: Option<Risk>, preset: Option<&str>) -> Result<()> {
    let store = Store::open(dir).map_err(|error| BadInput::new(format!("{error:#}")))?;
    let (_, experiments) = results::load(&store)?;
    let cells = experiments.iter().flat_map(|experiment| experiment.finished.iter().map(move |f| (experiment, f)));
    let fits = |finished: &Finished| {
        task.is_none_or(|task| finished.cell.task == task)
            && risk.is_none_or(|risk| finished.cell.risk == risk)
            && preset.is_none_or(|preset| finished.cell.preset.to_string() == preset)
    };
    let Some((experiment, finished)) = cells.clone().find(|(_, finished)| fits(finished)) else {
        let known: Vec<String> = cells
            .map(|(_, f)| {
                let option = if f.cell.risk.beta().is_some() { "beta" } else { "risk" };
                format!("--task {} --{option} {} --preset {}", f.cell.task, number::risk(f.cell.risk), f.cell.preset)
            })
            .collect();
        return Err(BadInput::new(format!("{} holds no such results", dir.display()))
            .hint(format!("it holds {}", known.join("; ")))
            .into());
    };
    let Some(record) = finished.records.iter().find(|record| record.run == run) else {
        let last = finished.cell.runs - 1;
        return Err(BadInput::new(format!("there is no run {run}; it must lie in [0, {last}]")).into());
    };
    let mut out = io::stdout().lock();
    let cell = &finished.cell;
    writeln!(
        out,
        "{}, {}, {}, run {run}: cost {}",
        cell.task,
        number::risk_label(cell.risk),
        cell.preset,
        record.cost
    )?;
    print_steps(experiment, &record.path, &mut out)?;
    Ok(())
}

fn print_steps(experiment: &Experiment, path: &[u32], out: &mut impl Write) -> Result<()> {
    let problem = &experiment.task.problem;
    let mdp = problem.mdp();
    let on_map = matches!(experiment.task.scene, Scene::Grid(_));
    let width = mdp.states().map(|state| mdp.state_name(state).chars().count()).max().unwrap_or(0);
    let (digits, width) = if on_map { (0, 0) } else { (problem.horizon().to_string().len(), width) };
    for (time, pair) in path.iter().map(|&pair| Pair::from(pair)).enumerate() {
        let state = mdp.state(pair);
        if on_map || time == 0 {
            writeln!(out)?;
        }
        let (place, action) = (mdp.state_name(state), mdp.action_name(mdp.action(pair)));
        writeln!(out, "t = {time:<digits$}  {place:<width$}  → {action}")?;
        if let Scene::Grid(grid) = &experiment.task.scene {
            write!(out, "{}", show::map(grid, grid.cell_of_state[state.index()]))?;
        }
    }
    Ok(())
}
