//! Who plays. The same policies, settings and random streams as those of the command line.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use gumdp::{Agent, Budget, Markov, Risk, Scripted, Spec, Stop, Uniform, Who};
use gumdp_files::{PolicyTable, Preset, Saved, SavedPlanner, SavedPolicy, Task};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::background::in_pool;
use crate::errors::{unread, wrong};
use crate::function::{Chooser, Functions, watched};
use crate::model::Named;
use crate::play::{Solution, read_risk};
use crate::problem::Problem;
use crate::turns::Turns;

/// A time limit in seconds.
pub fn duration(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    seconds.map(Duration::try_from_secs_f64).transpose().map_err(wrong)
}

/// A planner from the words of a user; with `auto` the exact optimum instead, if that is soon found. Without a time limit it has
/// the task's simulations unless others are given.
pub fn spec(
    task: &Task,
    measure: Risk,
    preset: &str,
    (simulations, time_limit): (Option<u64>, Option<f64>),
    seed: u64,
    auto: bool,
) -> PyResult<Spec> {
    let defaults = &task.defaults;
    let time_limit = duration(time_limit)?;
    let usual = time_limit.is_none().then_some(defaults.simulations);
    let who = match preset {
        "default" if auto => Who::Auto(defaults.guided.clone()),
        "default" => Who::Guided(defaults.guided.clone()),
        "paper" => Who::Published(defaults.published()),
        other => return Err(wrong(format!("preset is {other:?}; it must be \"default\" or \"paper\""))),
    };
    let budget = Some(Budget { simulations: simulations.or(usual), time_limit });
    Ok(Spec { budget, seed, ..Spec::new(who, measure) })
}

/// A policy for a problem.
#[pyclass(frozen, module = "gumdp._native")]
pub struct Policy {
    pub making: Arc<Making>,
    /// What it is for.
    task: Arc<Task>,
    /// Python functions that it asks.
    pub functions: Functions,
    /// Whether its actions depend on the clock.
    pub timed: bool,
}

/// How a player comes to be.
pub enum Making {
    Ready(Agent),
    /// When it is first needed: exact optima and pilot episodes take long.
    Later {
        made: OnceLock<Agent>,
        turns: Turns<()>,
        spec: Box<Spec>,
        task: Arc<Task>,
        threads: Option<usize>,
    },
}

impl Making {
    /// Refuses a function that is asked in the making.
    pub fn check(&self) -> PyResult<()> {
        match self {
            Self::Ready(_) => Ok(()),
            Self::Later { turns, .. } => turns.check(),
        }
    }

    /// The player, which may have to be made.
    pub fn made(&self, py: Python<'_>, functions: &Functions) -> PyResult<&Agent> {
        let (made, turns, spec, task, threads) = match self {
            Self::Ready(agent) => return Ok(agent),
            Self::Later { made, turns, spec, task, threads } => (made, turns, spec, task, threads),
        };
        if let Some(agent) = made.get() {
            return Ok(agent);
        }
        let _turn = turns.take(py)?;
        if let Some(agent) = made.get() {
            return Ok(agent);
        }
        let (mut spec, task) = (Spec::clone(spec), Arc::clone(task));
        let work = move |stop: &Stop| {
            spec.limits.stop = stop.clone();
            Agent::new(&task.problem, &spec)
        };
        let agent = in_pool(py, functions.again(py), *threads, work)?.map_err(wrong)?;
        Ok(made.get_or_init(|| agent))
    }
}

impl Policy {
    fn of(problem: &Problem, policy: impl Into<Box<dyn gumdp::Policy>>, what: impl Into<String>) -> Self {
        Self::made_by(problem, Making::Ready(Agent::given(policy, what)))
    }

    fn made_by(problem: &Problem, making: Making) -> Self {
        Self {
            making: Arc::new(making),
            task: Arc::clone(&problem.task),
            functions: Functions::default(),
            timed: false,
        }
    }

    /// Who plays, which may have to be found out first.
    pub fn player(&self, py: Python<'_>) -> PyResult<Box<dyn gumdp::Policy>> {
        Ok(self.making.made(py, &self.functions)?.policy().boxed())
    }
}

/// The text of a file with a planner and what it decides first, as `gumdp plan --save` writes it.
#[pyfunction]
pub fn saved_planner(
    py: Python<'_>,
    problem: &Problem,
    measure: &str,
    preset: &str,
    simulations: Option<u64>,
    seed: u64,
    first: (String, String),
) -> PyResult<String> {
    let (task, measure, defaults) = (Arc::clone(&problem.task), read_risk(measure)?, &problem.task.defaults);
    let (preset, exploration) =
        if preset == "paper" { (Preset::Paper, defaults.exploration) } else { (Preset::Default, 0.0) };
    let simulations = simulations.unwrap_or(defaults.simulations);
    let (first_state, first_action) = first;
    let planner = SavedPlanner { preset, simulations, exploration, seed, first_state, first_action };
    watched(problem.functions.again(py), |_| Ok(SavedPolicy::text_of_planner(&task, measure, &planner)))
}

/// Probabilities by pair: one row, or one for each time.
pub fn markov(problem: &Problem, probabilities: PyReadonlyArray2<f64>) -> PyResult<Markov> {
    let rows = match probabilities.shape()[1] {
        0 => Vec::new(),
        pairs => probabilities.as_slice()?.chunks(pairs).map(<[f64]>::to_vec).collect(),
    };
    Markov::stochastic(&problem.task.problem, rows).map_err(wrong)
}

/// Refuses what was made for another problem.
fn same(py: Python<'_>, what: &str, own: (&gumdp::Problem, &Functions), problem: &Problem) -> PyResult<()> {
    let fingerprints = |_: &_| Ok((own.0.fingerprint(), problem.task.problem.fingerprint()));
    let (own, given) = watched(own.1.and(py, &problem.functions), fingerprints)?;
    if own == given { Ok(()) } else { Err(wrong(format!("the {what} is one of another problem"))) }
}

#[pymethods]
impl Policy {
    /// Every action equally likely.
    #[staticmethod]
    fn uniform(problem: &Problem) -> Self {
        Self::of(problem, Uniform::new(&problem.task.problem), "uniform")
    }

    /// One action after the other.
    #[staticmethod]
    fn script(problem: &Problem, actions: Vec<Named>) -> PyResult<Self> {
        let mdp = problem.task.problem.mdp();
        let actions = actions.iter().map(|action| action.action(mdp)).collect::<PyResult<Vec<_>>>()?;
        let script = Scripted::new(&problem.task.problem, actions).map_err(wrong)?;
        Ok(Self::of(problem, script, "script"))
    }

    /// Probabilities by pair: one row, or one for each time.
    #[staticmethod]
    fn markov(problem: &Problem, probabilities: PyReadonlyArray2<f64>) -> PyResult<Self> {
        Ok(Self::of(problem, markov(problem, probabilities)?, "table"))
    }

    /// A table in a file.
    #[staticmethod]
    fn table(problem: &Problem, path: PathBuf) -> PyResult<Self> {
        let table = PolicyTable::load(&path, &problem.task.problem).map_err(|error| unread(&path, &error))?;
        Ok(Self::of(problem, table.into_policy(), format!("table {}", path.display())))
    }

    /// One that was saved, and the measure it is for.
    #[staticmethod]
    fn saved(py: Python<'_>, problem: &Problem, path: PathBuf) -> PyResult<(Self, String)> {
        let (task, functions) = (Arc::clone(&problem.task), problem.functions.again(py));
        let load = |_: &_| SavedPolicy::load(&path, &task).map_err(|error| unread(&path, &error));
        let SavedPolicy { risk, policy, .. } = watched(functions.again(py), load)?;
        let making = match policy {
            Saved::Decisions(policy) => Making::Ready(Agent::given(policy, format!("policy {}", path.display()))),
            Saved::Planner(planner) => {
                let (turns, spec) = (Turns::new("planner", ()), Box::new(planner.spec(&task, risk)));
                Making::Later { made: OnceLock::new(), turns, spec, task, threads: None }
            }
        };
        Ok((Self { functions, ..Self::made_by(problem, making) }, risk.to_string()))
    }

    /// A function of Python.
    #[staticmethod]
    fn function(problem: &Problem, callable: Py<PyAny>, what: String) -> Self {
        let (chooser, functions) = Chooser::new(callable, &problem.task);
        Self { functions, ..Self::of(problem, chooser, what) }
    }

    /// The optimal policy of a solution.
    #[staticmethod]
    fn exact(py: Python<'_>, problem: &Problem, solution: &Solution) -> PyResult<Self> {
        let agent = Agent::from(solution.inner.clone());
        if let Some(of) = agent.policy().problem() {
            same(py, "solution", (of, &solution.functions), problem)?;
        }
        let functions = solution.functions.again(py);
        Ok(Self { functions, ..Self::made_by(problem, Making::Ready(agent)) })
    }

    /// A planner; with `auto` the exact optimum, if that is soon found.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "one for each thing a user may say")]
    fn planner(
        py: Python<'_>,
        problem: &Problem,
        measure: &str,
        preset: &str,
        simulations: Option<u64>,
        time_limit: Option<f64>,
        seed: u64,
        threads: Option<usize>,
        auto: bool,
    ) -> PyResult<Self> {
        let (task, measure) = (Arc::clone(&problem.task), read_risk(measure)?);
        let functions = problem.functions.again(py);
        let spec = spec(&task, measure, preset, (simulations, time_limit), seed, auto)?;
        // What cannot be planned is refused at once; the measure makes no difference to that.
        let is_quick = !auto && measure.as_erm().is_some();
        let who = match &spec.who {
            Who::Auto(settings) => Who::Guided(settings.clone()),
            other => other.clone(),
        };
        let quick = Spec { who, risk: if is_quick { measure } else { Risk::MEAN }, ..spec.clone() };
        let made = watched(functions.again(py), |_| Agent::new(&task.problem, &quick).map_err(wrong))?;
        let making = if is_quick {
            Making::Ready(made)
        } else {
            let turns = Turns::new("planner", ());
            Making::Later { made: OnceLock::new(), turns, spec: Box::new(spec), task, threads }
        };
        Ok(Self { functions, timed: time_limit.is_some(), ..Self::made_by(problem, making) })
    }

    /// What it is, for people.
    #[getter]
    fn what(&self, py: Python<'_>) -> PyResult<String> {
        let agent = self.making.made(py, &self.functions)?;
        let outer = agent.outer().map_or_else(String::new, |outer| format!(", {outer}"));
        Ok(format!("{}{outer}", agent.what()))
    }

    /// The outer variable of the risk measure, if a planner has one.
    #[getter]
    fn outer(&self, py: Python<'_>) -> PyResult<Option<&str>> {
        Ok(self.making.made(py, &self.functions)?.outer())
    }

    /// Refuses another problem than its own.
    fn check(&self, py: Python<'_>, problem: &Problem) -> PyResult<()> {
        if Arc::ptr_eq(&self.task, &problem.task) {
            return Ok(());
        }
        same(py, "policy", (&self.task.problem, &self.functions), problem)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.functions.show(&visit)
    }
}
