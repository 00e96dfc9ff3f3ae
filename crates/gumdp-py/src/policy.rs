//! Who plays. The same policies, settings and random streams as those of the command line.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use gumdp::oracle::{self, Distribution, Limits, OptimalPolicy, OracleError, distribution};
use gumdp::rng::Rng;
use gumdp::{
    Action, Budget, Decision, ExplicitPolicy, Exploration, FixedRisk, GuidedPlanner, GuidedSettings, Markov,
    OccupancyState, Planner, PlannerError, PlannerSettings, Risk, Scripted, Uniform, fix_outer,
};
use gumdp_files::{PlannerVariant, PolicyTable, Task};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::background::in_pool;
use crate::errors::{unread, wrong};
use crate::function::{Chooser, Functions, watched};
use crate::model::Named;
use crate::play::{Solution, risk};
use crate::problem::Problem;
use crate::turns::Turns;

/// One that plays.
#[derive(Clone)]
pub enum Player {
    /// The published algorithm.
    Paper(Box<Planner>),
    /// The default planner.
    Guided(Box<GuidedPlanner>),
    /// By chance.
    Uniform(Uniform),
    /// Knows the optimum; clones share it.
    Exact(OptimalPolicy),
    /// By time and state, or by time alone.
    Table(PolicyTable),
    /// A function of Python.
    Chooser(Chooser),
}

impl gumdp::Policy for Player {
    fn act(&mut self, at: &OccupancyState, rng: &mut Rng) -> Action {
        match self {
            Self::Paper(planner) => planner.act(at, rng),
            Self::Guided(planner) => planner.act(at, rng),
            Self::Uniform(policy) => policy.act(at, rng),
            Self::Exact(policy) => policy.act(at, rng),
            Self::Table(policy) => policy.act(at, rng),
            Self::Chooser(policy) => policy.act(at),
        }
    }

    fn begin_episode(&mut self) {
        match self {
            Self::Paper(planner) => planner.begin_episode(),
            Self::Guided(planner) => planner.begin_episode(),
            _ => {}
        }
    }

    fn simulated_steps(&self) -> u64 {
        match self {
            Self::Paper(planner) => planner.simulated_steps(),
            Self::Guided(planner) => planner.simulated_steps(),
            _ => 0,
        }
    }

    fn has_failed(&self) -> bool {
        match self {
            Self::Paper(planner) => planner.has_failed(),
            Self::Guided(planner) => planner.has_failed(),
            _ => false,
        }
    }
}

impl Player {
    /// An action; of a planner, with its reasons.
    pub fn decide(&mut self, at: &OccupancyState, rng: &mut Rng) -> (Action, Option<Decision>) {
        let decision = match self {
            Self::Paper(planner) => planner.decide(at, rng),
            Self::Guided(planner) => planner.decide(at, rng),
            _ => return (gumdp::Policy::act(self, at, rng), None),
        };
        (decision.action, Some(decision))
    }

    /// The exact law of the cost, or why it is not known; `None` for those that can only be played.
    pub fn law(&self, problem: &gumdp::Problem, limits: &Limits) -> Option<Result<Distribution, OracleError>> {
        match self {
            Self::Uniform(policy) => Some(distribution(problem, policy, limits)),
            Self::Exact(policy) => Some(distribution(problem, policy, limits)),
            Self::Table(policy) => Some(distribution(problem, policy, limits)),
            Self::Paper(_) | Self::Guided(_) | Self::Chooser(_) => None,
        }
    }
}

/// A time limit that somebody gave, in seconds.
pub fn limit(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    let Some(seconds) = seconds else { return Ok(None) };
    if seconds > 0.0 && seconds <= 86_400.0 {
        return Ok(Some(Duration::from_secs_f64(seconds)));
    }
    Err(wrong(format!("time_limit is {seconds}; it must lie in (0, 86400] seconds")))
}

/// How a planner plans.
#[derive(Clone)]
pub struct Plan {
    pub paper: bool,
    pub simulations: Option<u64>,
    pub time_limit: Option<Duration>,
    pub seed: u64,
}

impl Plan {
    /// From the words of a user.
    pub fn new(preset: &str, simulations: Option<u64>, time_limit: Option<f64>, seed: u64) -> PyResult<Self> {
        let paper = match preset {
            "default" => false,
            "paper" => true,
            other => return Err(wrong(format!("preset is {other:?}; it must be \"default\" or \"paper\""))),
        };
        Ok(Self { paper, simulations, time_limit: limit(time_limit)?, seed })
    }

    /// Without a time limit, the task's simulations unless others are given.
    fn budget(&self, task: &Task) -> Budget {
        let usual = self.time_limit.is_none().then_some(task.defaults.simulations);
        Budget { simulations: self.simulations.or(usual), time_limit: self.time_limit }
    }

    /// The planner for a task, and the outer variable of the risk measure, if it has one.
    pub fn player(&self, task: &Task, risk: Risk) -> Result<(Player, Option<String>), PlannerError> {
        let (problem, defaults, budget) = (&task.problem, &task.defaults, self.budget(task));
        let outer = |fixed: FixedRisk| fixed.outer().map(|outer| outer.to_string());
        if self.paper {
            let variant = match defaults.variant {
                PlannerVariant::Illustrative => PlannerSettings::paper_illustrative(),
                PlannerVariant::Grid => PlannerSettings::paper_grid(),
            };
            let exploration = Exploration::Constant(defaults.exploration);
            let settings = PlannerSettings { budget, exploration, ..variant };
            let planner = |fixed| Planner::new(problem, fixed, settings.clone());
            let fixed = fix_outer(problem, risk, self.seed, planner)?;
            return Ok((Player::Paper(Box::new(planner(fixed)?)), outer(fixed)));
        }
        let settings = GuidedSettings { budget, ..defaults.guided.clone() };
        let planner = |fixed| GuidedPlanner::new(problem, fixed, settings.clone());
        let fixed = fix_outer(problem, risk, self.seed, planner)?;
        Ok((Player::Guided(Box::new(planner(fixed)?)), outer(fixed)))
    }
}

/// A policy for a problem.
#[pyclass(frozen, module = "gumdp._native")]
pub struct Policy {
    pub making: Arc<Making>,
    /// What it is for.
    task: Arc<Task>,
    /// Python functions that it asks.
    pub functions: Functions,
}

/// A player.
pub struct Made {
    pub player: Player,
    /// What it is, for people.
    what: String,
    /// The outer variable of the risk measure, if a planner has one.
    outer: Option<String>,
}

/// How a player comes to be.
pub enum Making {
    Ready(Made),
    /// When it is first needed: exact optima and pilot episodes take long.
    Later {
        made: OnceLock<Made>,
        turns: Turns<()>,
        planned: Box<Planned>,
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
    pub fn made(&self, py: Python<'_>, functions: &Functions) -> PyResult<&Made> {
        let (made, turns, planned) = match self {
            Self::Ready(made) => return Ok(made),
            Self::Later { made, turns, planned } => (made, turns, planned),
        };
        if let Some(made) = made.get() {
            return Ok(made);
        }
        let _turn = turns.take(py)?;
        match made.get() {
            Some(made) => Ok(made),
            None => planned.make_in_pool(py, functions).map(|new| made.get_or_init(|| new)),
        }
    }
}

/// A planner to be made; with `auto` the exact optimum instead, if that is soon found.
#[derive(Clone)]
pub struct Planned {
    task: Arc<Task>,
    plan: Plan,
    measure: Risk,
    auto: bool,
    threads: Option<usize>,
    /// What it is, for people.
    what: String,
}

impl Planned {
    fn make(&self, what: &str) -> Result<Made, PlannerError> {
        let (player, outer) = self.plan.player(&self.task, self.measure)?;
        let what = outer.as_ref().map_or(what.to_owned(), |outer| format!("{what}, {outer}"));
        Ok(Made { player, what, outer })
    }

    fn make_in_pool(&self, py: Python<'_>, functions: &Functions) -> PyResult<Made> {
        let own = self.clone();
        let work = move |_: &_| match own.auto.then(|| oracle::solve(&own.task.problem, own.measure, &Limits::QUICK)) {
            Some(Ok(solution)) => {
                Ok(Made { player: Player::Exact(solution.policy()), what: "solved exactly".to_owned(), outer: None })
            }
            Some(Err(because)) => own.make(&format!("{}, planning", because.in_short())),
            None => own.make(&own.what),
        };
        in_pool(py, functions.again(py), self.threads, work)?.map_err(wrong)
    }
}

impl Policy {
    fn of(problem: &Problem, player: Player, what: impl Into<String>) -> Self {
        let made = Made { player, what: what.into(), outer: None };
        Self::made_by(problem, Making::Ready(made))
    }

    fn made_by(problem: &Problem, making: Making) -> Self {
        Self { making: Arc::new(making), task: Arc::clone(&problem.task), functions: Functions::default() }
    }

    /// Who plays, which may have to be found out first.
    pub fn player(&self, py: Python<'_>) -> PyResult<Player> {
        Ok(self.making.made(py, &self.functions)?.player.clone())
    }
}

/// Refuses what was made for another problem.
fn same(py: Python<'_>, what: &str, own: (&gumdp::Problem, &Functions), problem: &Problem) -> PyResult<()> {
    let fingerprints = || Ok((own.0.fingerprint(), problem.task.problem.fingerprint()));
    let (own, given) = watched(own.1.and(py, &problem.functions), fingerprints)?;
    if own == given { Ok(()) } else { Err(wrong(format!("the {what} is one of another problem"))) }
}

#[pymethods]
impl Policy {
    /// Every action equally likely.
    #[staticmethod]
    fn uniform(problem: &Problem) -> Self {
        Self::of(problem, Player::Uniform(Uniform::new(&problem.task.problem)), "uniform")
    }

    /// One action after the other.
    #[staticmethod]
    fn script(problem: &Problem, actions: Vec<Named>) -> PyResult<Self> {
        let mdp = problem.task.problem.mdp();
        let actions = actions.iter().map(|action| action.action(mdp)).collect::<PyResult<Vec<_>>>()?;
        let script = Scripted::new(&problem.task.problem, actions).map_err(wrong)?;
        Ok(Self::of(problem, Player::Table(PolicyTable::Script(script)), "script"))
    }

    /// Probabilities by pair: one row, or one for each time.
    #[staticmethod]
    fn markov(problem: &Problem, probabilities: PyReadonlyArray2<f64>) -> PyResult<Self> {
        let rows = match probabilities.shape()[1] {
            0 => Vec::new(),
            pairs => probabilities.as_slice()?.chunks(pairs).map(<[f64]>::to_vec).collect(),
        };
        let markov = Markov::stochastic(&problem.task.problem, rows).map_err(wrong)?;
        Ok(Self::of(problem, Player::Table(PolicyTable::Markov(markov)), "table"))
    }

    /// A table in a file.
    #[staticmethod]
    fn table(problem: &Problem, path: PathBuf) -> PyResult<Self> {
        let table = PolicyTable::load(&path, &problem.task.problem).map_err(|error| unread(&path, &error))?;
        Ok(Self::of(problem, Player::Table(table), format!("table {}", path.display())))
    }

    /// A function of Python.
    #[staticmethod]
    fn function(problem: &Problem, callable: Py<PyAny>, what: String) -> Self {
        let (chooser, functions) = Chooser::new(callable, &problem.task);
        Self { functions, ..Self::of(problem, Player::Chooser(chooser), what) }
    }

    /// The optimal policy of a solution.
    #[staticmethod]
    fn exact(py: Python<'_>, problem: &Problem, solution: &Solution) -> PyResult<Self> {
        let policy = solution.inner.policy();
        same(py, "solution", (policy.problem(), &solution.functions), problem)?;
        let functions = solution.functions.again(py);
        Ok(Self { functions, ..Self::of(problem, Player::Exact(policy), "solved exactly") })
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
        let (task, measure) = (Arc::clone(&problem.task), risk(measure)?.0);
        let (plan, functions) = (Plan::new(preset, simulations, time_limit, seed)?, problem.functions.again(py));
        let is_quick = !auto && measure.as_erm().is_some();
        let planned = Planned { task, plan, measure, auto, threads, what: format!("planner, preset {preset}") };
        // What cannot be planned is refused at once; the measure makes no difference to that.
        let quick = Planned { measure: if is_quick { measure } else { Risk::MEAN }, ..planned.clone() };
        let made = watched(functions.again(py), || quick.make(&quick.what).map_err(wrong))?;
        let making = if is_quick {
            Making::Ready(made)
        } else {
            Making::Later { made: OnceLock::new(), turns: Turns::new("planner", ()), planned: Box::new(planned) }
        };
        Ok(Self { functions, ..Self::made_by(problem, making) })
    }

    /// What it is, for people.
    #[getter]
    fn what(&self, py: Python<'_>) -> PyResult<&str> {
        Ok(&self.making.made(py, &self.functions)?.what)
    }

    /// The outer variable of the risk measure, if a planner has one.
    #[getter]
    fn outer(&self, py: Python<'_>) -> PyResult<Option<&str>> {
        Ok(self.making.made(py, &self.functions)?.outer.as_deref())
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
