//! What was found in each cell of a merged sweep.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use gumdp::stats::Summary;

use super::{CellResult, Manifest, Plan, SweepError};
use crate::Task;

/// Each cell with its summary, in order: that of all possible runs where it is known, else of those that were played. Only the
/// costs of one cell are in memory at a time.
///
/// # Errors
/// If the sweep is not merged, or a file is not what was written.
pub fn summaries(
    plan: &Plan,
    folder: &Path,
    mut each: impl FnMut(&CellResult, Summary) -> Result<(), SweepError>,
) -> Result<(), SweepError> {
    let manifest = Manifest::of_folder(folder)?;
    let path = folder.join("samples.csv");
    let damaged = |what: String| SweepError::Damaged { path: path.clone(), what };
    if manifest.fingerprint != plan.fingerprint {
        return Err(SweepError::Mixed { path: folder.join("manifest.json") });
    }
    let file = BufReader::new(File::open(&path).map_err(|source| SweepError::read(&path, source))?);
    let mut lines = file.lines().skip(1);
    let (mut task, mut costs): (Option<Task>, Vec<f64>) = (None, Vec::new());
    for found in &manifest.cells {
        let cell = &found.cell;
        costs.clear();
        for run in 0..cell.runs {
            let line = lines.next().transpose().map_err(|source| SweepError::read(&path, source))?;
            let cost = line.as_deref().and_then(|line| {
                let rest = line.strip_prefix(&*cell.id)?.strip_prefix(',')?;
                rest.rsplit_once(',')?.1.parse::<f64>().ok()
            });
            costs.push(cost.ok_or_else(|| damaged(format!("run {run} of {} is not where it should be", cell.id)))?);
        }
        if let Some(exact) = found.exact {
            each(found, exact)?;
            continue;
        }
        if task.as_ref().is_none_or(|task| task.name != cell.task) {
            task = Some(plan.task(folder, &cell.task)?);
        }
        let Some(task) = &task else { continue };
        let summary = Summary::of(&costs, cell.risk, task.problem.objective().bounds(), cell.seed);
        each(found, summary.map_err(|error| damaged(error.to_string()))?)?;
    }
    Ok(())
}
