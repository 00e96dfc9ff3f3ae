//! The native half of the Python package `gumdp`.
//!
//! Here: conversions between Python and the library, and work that leaves Python free to run and to be interrupted. Nothing
//! here computes. The other half, `python/gumdp`, has all that users see: names, checks of types, documentation.

#![expect(clippy::needless_pass_by_value, reason = "what comes from Python is owned")]

mod agent;
mod attitudes;
mod background;
mod batch;
mod errors;
mod foreign;
mod function;
mod model;
mod objective;
mod play;
mod policy;
mod problem;
mod simulator;
mod sweep;
mod trials;
mod turns;
mod vector;
mod walk;

use pyo3::prelude::*;

/// The native half of the package `gumdp`; use that.
#[pymodule]
mod _native {
    use super::{Bound, PyAnyMethods, PyModule, PyModuleMethods, PyResult};

    #[pymodule_export]
    use super::agent::Agent;
    #[pymodule_export]
    use super::attitudes::{explain, frontier};
    #[pymodule_export]
    use super::batch::BatchAgent;
    #[pymodule_export]
    use super::errors::TooLarge;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::objective::Objective;
    #[pymodule_export]
    use super::play::{Solution, distribution, evaluate, interval, measures, risk, risk_of, solve, summary};
    #[pymodule_export]
    use super::policy::{Policy, saved_planner};
    #[pymodule_export]
    use super::problem::{Problem, write};
    #[pymodule_export]
    use super::simulator::SimulatorAgent;
    #[pymodule_export]
    use super::sweep::{sweep_merge, sweep_open, sweep_play, sweep_status};
    #[pymodule_export]
    use super::trials::{bound, evaluate_trials, saved_table, solve_trials};
    #[pymodule_export]
    use super::vector::Walks;
    #[pymodule_export]
    use super::walk::Walk;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let finish = pyo3::wrap_pyfunction!(super::background::finish, module)?;
        module.py().import("atexit")?.call_method1("register", (finish,))?;
        module.add("SWEPT", super::attitudes::swept())?;
        module.add("TASKS", gumdp_files::tasks::NAMES.to_vec())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
