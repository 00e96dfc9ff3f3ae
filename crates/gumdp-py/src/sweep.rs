//! Sweeps: the parts that an executor of Python hands to its workers.

use std::path::PathBuf;

use gumdp::Stop;
use gumdp_files::sweep::{self, Plan, Shard, SweepError};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::background::in_pool;
use crate::function::Functions;

fn refused(error: SweepError) -> PyErr {
    match (&error, error.hint()) {
        (SweepError::Stopped, _) => PyKeyboardInterrupt::new_err(()),
        (SweepError::Write { .. } | SweepError::Read { .. }, _) => PyOSError::new_err(error.to_string()),
        (_, Some(hint)) => PyValueError::new_err(format!("{error} (hint: {hint})")),
        (_, None) => PyValueError::new_err(error.to_string()),
    }
}

fn shard(index: u64, count: u64) -> PyResult<Shard> {
    format!("{index}/{count}").parse().map_err(|must| PyValueError::new_err(format!("shard {index}/{count}: {must}")))
}

/// Makes or opens the folder of a sweep: number of cells, of runs, and of units of about two minutes.
#[pyfunction]
pub fn sweep_open(file: PathBuf, folder: PathBuf, allow_files: bool) -> PyResult<(usize, u64, usize)> {
    let plan = Plan::open(&file, allow_files, &folder).map_err(refused)?;
    Ok((plan.cells.len(), plan.runs(), plan.units(1).len()))
}

/// Runs played and runs known before of a shard, and the cells that failed, each with its reason.
type Played = (u64, u64, Vec<(String, String)>);

/// Plays what is missing of a shard.
#[pyfunction]
pub fn sweep_play(py: Python<'_>, folder: PathBuf, index: u64, count: u64, threads: Option<usize>) -> PyResult<Played> {
    let shard = shard(index, count)?;
    let work = move |stop: &Stop| {
        let plan = Plan::of_folder(&folder)?;
        sweep::play(&plan, &folder, shard, stop, &())
    };
    let played = in_pool(py, Functions::default(), threads, work)?.map_err(refused)?;
    Ok((played.runs, played.known, played.failed))
}

/// Runs that are there, runs of all cells, and the shards of so many that are not complete.
#[pyfunction]
pub fn sweep_status(folder: PathBuf, count: Option<u64>) -> PyResult<(u64, u64, Vec<u64>)> {
    let plan = Plan::of_folder(&folder).map_err(refused)?;
    let status = sweep::status(&plan, &folder, count).map_err(refused)?;
    let missing = status.shards.iter().filter(|shard| shard.done < shard.runs).map(|shard| shard.shard.index).collect();
    Ok((status.done, status.runs, missing))
}

/// Puts the shards together: cells, runs, and runs that were played more than once.
#[pyfunction]
pub fn sweep_merge(py: Python<'_>, folder: PathBuf) -> PyResult<(usize, u64, u64)> {
    let work = move |_: &Stop| sweep::merge(&Plan::of_folder(&folder)?, &folder);
    let merged = in_pool(py, Functions::default(), None, work)?.map_err(refused)?;
    Ok((merged.cells, merged.runs, merged.repeated))
}
