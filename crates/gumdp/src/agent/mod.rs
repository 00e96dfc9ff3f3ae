//! Who plays: the one place where a choice becomes a policy.
//!
//! A [`Spec`] says who plays, for which attitude to risk, with how much effort and with which seed; an [`Agent`] is what comes of
//! it. Where the measure has an outer variable (λ or β) and the optimum is not known, pilot episodes fix it before the first
//! decision, with the seed of the spec.

mod pilot;
mod tournament;

use std::sync::Arc;

use crate::oracle::{self, Limits, Method, OracleError, Solution, Strategy};
use crate::planner::{
    Budget, GuidedPlanner, GuidedSettings, LearningPlanner, Planner, PlannerError, PlannerSettings, Simulator,
};
use crate::policy::{Policy, Uniform};
use crate::problem::Problem;
use crate::risk::{FixedRisk, Risk};
use crate::stats::Summary;
use crate::stop::Stop;
use crate::words::counted;

/// The same planner for a risk measure: where that has an outer variable, pilot episodes with this seed and few simulations fix it.
///
/// # Errors
/// Those of the simulator.
pub fn learning_planner<S: Simulator>(
    planner: &LearningPlanner<S>,
    risk: impl Into<Risk>,
    seed: u64,
) -> Result<LearningPlanner<S>, S::Error> {
    Ok(planner.with_risk(pilot::fix_in_simulator(planner, risk.into(), seed)?))
}

/// Who plays.
#[derive(Clone, Debug)]
pub enum Who {
    /// The exact optimum if it is found within the limits, else the default planner with these settings.
    Auto(GuidedSettings),
    /// The exact optimum.
    Exact,
    /// The exact optimum for an entropic risk of a linear objective.
    BackwardInduction,
    /// The default planner.
    Guided(GuidedSettings),
    /// The published planner.
    Published(PlannerSettings),
    /// Every action equally likely.
    Uniform,
}

/// What makes an [`Agent`].
#[derive(Clone)]
pub struct Spec {
    /// Who plays.
    pub who: Who,
    /// Attitude to risk.
    pub risk: Risk,
    /// How long a planner searches for a decision, instead of what its settings say.
    pub budget: Option<Budget>,
    /// What the exact optimum may take ([`Limits::QUICK`] are meant for [`Who::Auto`]), and the end of all of it from outside.
    pub limits: Limits,
    /// Seed of pilot episodes.
    pub seed: u64,
    /// Is told what is done before the first decision, as that may take seconds.
    pub tell: Option<Tell>,
}

/// Is told what is being done, in a few words.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

impl Spec {
    /// With the planner's own budget, [`Limits::QUICK`] and seed 0; nobody is told anything.
    #[must_use]
    pub fn new(who: Who, risk: impl Into<Risk>) -> Self {
        Self { who, risk: risk.into(), budget: None, limits: Limits::QUICK, seed: 0, tell: None }
    }

    fn tell_of_outer(&self, problem: &Problem) {
        if problem.measure(self.risk).fixed().is_none() {
            self.tell(&format!("pilot episodes choose the outer variable of {}", self.risk));
        }
    }

    fn tell(&self, what: &str) {
        if let Some(tell) = &self.tell {
            tell(what);
        }
    }
}

/// Why a spec makes no agent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AgentError {
    /// A setting of the planner is out of range.
    #[error(transparent)]
    Planner(#[from] PlannerError),
    /// The optimum is not to be had.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// Backward induction was asked for another measure.
    #[error("backward induction minimises entropic risks, not {0}")]
    NotEntropic(Risk),
}

/// One that plays, with what is known of it.
///
/// ```
/// use gumdp::oracle::{Limits, distribution};
/// use gumdp::{Agent, Erm, GuidedSettings, Spec, Who, experiment};
/// use gumdp_files::tasks;
/// let problem = tasks::get("rooms").unwrap().problem;
/// let careful = Erm::new(50.0)?;
/// let auto = |problem| Agent::new(problem, &Spec::new(Who::Auto(GuidedSettings::default()), careful));
/// let agent = auto(&problem)?;
/// // It was solved once; all runs share the solution.
/// let runs = experiment(&problem, agent.policy(), 0, 0..20)?;
/// assert_eq!(runs.len(), 20);
/// // The distribution of what is played has the lowest possible risk.
/// let costs = distribution(&problem, agent.policy(), &Limits::QUICK)?;
/// assert!((costs.erm(careful) - agent.solution().unwrap().high).abs() < 1e-12);
///
/// let vast = tasks::get("grid-msee").unwrap().problem;
/// assert!(auto(&vast)?.what().starts_with("too large to solve ("));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Agent {
    policy: Box<dyn Policy>,
    what: String,
    outer: Option<String>,
    fixed: Option<FixedRisk>,
    solution: Option<Solution>,
}

/// Plays what was solved.
impl From<Solution> for Agent {
    fn from(solution: Solution) -> Self {
        let oracle::Solution { states_at_last: states, method, .. } = &solution;
        let what = match method {
            Method::BackwardInduction => {
                format!("solved exactly by backward induction, {}", counted(*states as usize, "state"))
            }
            _ => format!("solved exactly, {}", counted(*states as usize, "occupancy state")),
        };
        let outer = solution.outer.map(|outer| outer.to_string());
        Self { policy: Box::new(solution.policy()), what, outer, fixed: None, solution: Some(solution) }
    }
}

impl Agent {
    /// Solves or plans as the spec says, in parallel in rayon's current thread pool.
    ///
    /// # Errors
    /// If a planner is needed and a setting is out of range, if the optimum is wanted and not to be had, or if it was stopped.
    pub fn new(problem: &Problem, spec: &Spec) -> Result<Self, AgentError> {
        let mut limits = spec.limits.clone();
        if matches!(spec.who, Who::BackwardInduction) {
            limits.strategy = Strategy::ByState;
        }
        Self::with_solver(problem, spec, || oracle::solve(problem, spec.risk, &limits))
    }

    /// The same for those who may have solved the problem before.
    ///
    /// # Errors
    /// Those of [`Agent::new`].
    pub fn with_solver(
        problem: &Problem,
        spec: &Spec,
        solve: impl FnOnce() -> Result<Solution, OracleError>,
    ) -> Result<Self, AgentError> {
        let solve = || {
            spec.tell("solving it exactly");
            solve()
        };
        match &spec.who {
            Who::Auto(settings) => match solve() {
                Ok(solution) => Ok(solution.into()),
                Err(OracleError::Stopped) => Err(OracleError::Stopped.into()),
                Err(because) => {
                    // Tighter limits than the planner's own say nothing about it.
                    let tried = because.is_limit() && spec.limits.max_states >= Limits::QUICK.max_states;
                    Self::guided(problem, spec, settings, &format!("{}, planning", because.in_short()), tried)
                }
            },
            Who::BackwardInduction if spec.risk.as_erm().is_none() => Err(AgentError::NotEntropic(spec.risk)),
            Who::BackwardInduction if problem.objective().as_linear().is_none() => Err(OracleError::NotLinear.into()),
            Who::Exact | Who::BackwardInduction => Ok(solve()?.into()),
            Who::Guided(settings) => Self::guided(problem, spec, settings, "planner, preset default", false),
            Who::Published(settings) => {
                let settings = PlannerSettings { budget: spec.budget.unwrap_or(settings.budget), ..settings.clone() };
                let planner = |fixed| Planner::new(problem, fixed, settings.clone());
                Self::planning(problem, spec, planner, "planner, preset paper".to_owned())
            }
            Who::Uniform => Ok(Self::given(Uniform::new(problem), "uniform")),
        }
    }

    /// One that plays a policy, which is called `what`.
    pub fn given(policy: impl Into<Box<dyn Policy>>, what: impl Into<String>) -> Self {
        Self { policy: policy.into(), what: what.into(), outer: None, fixed: None, solution: None }
    }

    /// The default planner; `tried` if solving exactly was.
    fn guided(
        problem: &Problem,
        spec: &Spec,
        settings: &GuidedSettings,
        what: &str,
        tried: bool,
    ) -> Result<Self, AgentError> {
        let settings = GuidedSettings { budget: spec.budget.unwrap_or(settings.budget), ..settings.clone() };
        // The outer variable is fixed first, with planners that decide as set; then the manner is chosen for it.
        let quick = GuidedSettings { pilots: false, ..settings.clone() };
        spec.tell_of_outer(problem);
        let fixed = pilot::fix_outer(problem, spec.risk, spec.seed, &spec.limits.stop, |fixed| {
            GuidedPlanner::new(problem, fixed, quick.clone())
        })?;
        let mut planner = GuidedPlanner::new(problem, fixed, settings)?;
        planner.set_stop(&spec.limits.stop);
        if tried && fixed.is_entropic() {
            planner.know_too_large();
        }
        if planner.prepare_telling(&|what| spec.tell(what)).is_err() || spec.limits.stop.is_requested() {
            return Err(OracleError::Stopped.into());
        }
        planner.set_stop(&Stop::NEVER);
        let outer = fixed.outer().map(|outer| outer.to_string());
        let what = format!("{what}: {}", planner.manner());
        Ok(Self { policy: Box::new(planner), what, outer, fixed: Some(fixed), solution: None })
    }

    /// Fixes the outer variable and makes the planner.
    fn planning<P: Policy + 'static>(
        problem: &Problem,
        spec: &Spec,
        planner: impl Fn(FixedRisk) -> Result<P, PlannerError>,
        what: String,
    ) -> Result<Self, AgentError> {
        spec.tell_of_outer(problem);
        let fixed = pilot::fix_outer(problem, spec.risk, spec.seed, &spec.limits.stop, &planner)?;
        let policy = Box::new(planner(fixed)?);
        if spec.limits.stop.is_requested() {
            return Err(OracleError::Stopped.into());
        }
        let outer = fixed.outer().map(|outer| outer.to_string());
        Ok(Self { policy, what, outer, fixed: Some(fixed), solution: None })
    }

    /// Who plays; each thread clones it.
    #[must_use]
    pub fn policy(&self) -> &dyn Policy {
        &*self.policy
    }

    /// What it is, for people: how the problem was solved, or why it is planned.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }

    /// The outer variable of the measure and its value, if it has one.
    #[must_use]
    pub fn outer(&self) -> Option<&str> {
        self.outer.as_deref()
    }

    /// What a planner minimises: its measure with the outer variable fixed.
    #[must_use]
    pub fn fixed(&self) -> Option<FixedRisk> {
        self.fixed
    }

    /// The solution, if it was solved.
    #[must_use]
    pub fn solution(&self) -> Option<&Solution> {
        self.solution.as_ref()
    }

    /// The summary of all possible runs, where the policy knows its probabilities and they are not too many.
    #[must_use]
    pub fn exact_summary(&self, problem: &Problem, risk: Risk, stop: &Stop) -> Option<Summary> {
        let first = problem.start(problem.mdp().initial()[0].0);
        if !self.policy.probabilities(&first, &mut Vec::new()) {
            return None;
        }
        // A solved problem is known to be small enough; of others a try of about a second tells.
        let most = if self.solution.is_some() { Limits::QUICK } else { Limits::patient(0.2) };
        let limits = Limits { stop: stop.clone(), ..most };
        let costs: Vec<(f64, f64)> = oracle::distribution(problem, self.policy(), &limits).ok()?.outcomes().collect();
        let bounds = problem.objective().bounds();
        Summary::exact(&costs, risk.within(bounds.high - bounds.low)).ok()
    }
}
