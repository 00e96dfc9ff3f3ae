//! Behaviour as a small decision tree: what is done, what chance does then, how likely it is, and what it costs from there on.
//!
//! Steps that chance has no part in are put together, outcomes that are followed by the same behaviour at the same cost are
//! merged, and unlikely ones are folded, but never the worst. The most likely situations are followed first.

mod text;
mod tree;
mod values;

pub use tree::{Ending, Folded, NextBest, Node};

use crate::agent::{Agent, AgentError, Spec};
use crate::episode::EpisodeError;
use crate::experiment::{RunError, Watch, stoppable};
use crate::oracle::{self, ExactDecision, Limits, OracleError, Solution};
use crate::problem::Problem;
use crate::risk::{Erm, Outer, Risk, RiskError};
use crate::rng::{self, Purpose};
use values::{Exact, Planned};

/// Occupancy states that may be gone through for the other first actions: seconds.
pub const MOST_OWN: u64 = 1 << 27;

/// How far a tree is grown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Turns of chance one after the other.
    pub depth: u64,
    /// Situations, about.
    pub nodes: u64,
    /// Episodes that are played on from each situation to estimate its risk, where the problem is planned and not solved.
    pub runs: u64,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { depth: 3, nodes: 24, runs: 30 }
    }
}

/// The behaviour for one attitude to risk. Its text is the tree, at most 100 columns wide.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Attitude to risk.
    pub risk: Risk,
    /// The outer variable, if the measure has one; it is fixed at the first decision.
    pub outer: Option<Outer>,
    /// Whether behaviour and values are exact.
    pub exact: bool,
    /// How they were found.
    pub origin: String,
    /// The measure of the whole episode: exact, or of sampled episodes.
    pub value: f64,
    /// It certainly lies between these; `None` if episodes were sampled.
    pub bounds: Option<(f64, f64)>,
    /// What the risks of situations are of: the measure with its outer variable fixed, or an entropic one that stands in for it.
    pub estimate_of: Risk,
    /// Whether the risk of the second best first action is an upper bound only.
    pub upper_bounds: bool,
    /// From the start on.
    pub tree: Node,
}

impl Explanation {
    /// What the risk in a situation is called.
    #[must_use]
    pub fn measure(&self) -> &'static str {
        if self.estimate_of.beta().is_some() { "ERM" } else { "risk" }
    }
}

/// Why behaviour could not be explained.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExplainError {
    /// There is nobody to explain.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// A decision cannot be solved.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// An episode from the start could not be played.
    #[error(transparent)]
    Run(#[from] RunError),
    /// An episode from a situation could not be played.
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    /// The risk of the episodes is not to be had.
    #[error(transparent)]
    Risk(#[from] RiskError),
}

impl ExplainError {
    /// Whether it ended because it was asked to [stop](crate::Stop).
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        let in_episode = |error: &EpisodeError| matches!(error, EpisodeError::Stopped { .. });
        match self {
            Self::Agent(AgentError::Oracle(error)) | Self::Oracle(error) => *error == OracleError::Stopped,
            Self::Run(error) => in_episode(&error.error),
            Self::Episode(error) => in_episode(error),
            _ => false,
        }
    }
}

/// The one whose behaviour is explained: as [`Agent::new`], but a formula that breaks in any episode is an error, whether the
/// episodes of the planner meet it or not.
///
/// # Errors
/// Those of [`Agent::new`], and [`OracleError::NotFinite`].
pub fn agent(problem: &Problem, spec: &Spec) -> Result<Agent, ExplainError> {
    let solved = oracle::solve(problem, spec.risk, &spec.limits);
    if let Err(error @ OracleError::NotFinite) = solved {
        return Err(error.into());
    }
    Ok(Agent::with_solver(problem, spec, || solved)?)
}

/// The behaviour of an [`agent()`] for the measure, limits and seed of its spec. `watch` is told of each situation whose episodes
/// are finished.
///
/// ```
/// use gumdp::explain::{Wanted, agent, explain};
/// use gumdp::{Erm, GuidedSettings, Spec, Who};
/// let problem = gumdp_files::tasks::get("rooms").unwrap().problem;
/// let spec = Spec::new(Who::Auto(GuidedSettings::default()), Erm::new(50.0)?);
/// let explained = explain(&problem, &agent(&problem, &spec)?, &spec, &Wanted::default(), &())?;
/// assert!(explained.exact && explained.tree.steps[0] == "left");
/// assert!(explained.to_string().contains("next best"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a decision cannot be solved or an episode not be played, or if it was stopped.
pub fn explain(
    problem: &Problem,
    agent: &Agent,
    spec: &Spec,
    wanted: &Wanted,
    watch: &dyn Watch,
) -> Result<Explanation, ExplainError> {
    let (risk, limits) = (spec.risk, &spec.limits);
    if let Some(solution) = agent.solution() {
        let first = first_decision(solution, limits)?;
        let upper_bounds = solution.outer.is_some() && first.as_ref().is_none_or(|first| !first.certain);
        let mut exact = Exact { problem, limits, solution, policy: solution.policy(), first };
        return Ok(Explanation {
            risk,
            outer: solution.outer,
            exact: true,
            origin: agent.what().to_owned(),
            value: solution.value,
            bounds: Some((solution.low, solution.high)),
            estimate_of: solution.fixed().measure(),
            upper_bounds,
            tree: tree::grow(problem, solution.fixed().erm(), &mut exact, wanted)?,
        });
    }
    let (fixed, runs) = (agent.fixed().unwrap_or(Erm::MEAN.into()), wanted.runs);
    // The measure itself is that of whole episodes.
    let value = if risk.fixed().is_some() {
        None
    } else {
        let runs = stoppable(problem, agent.policy(), spec.seed, 0..runs, &limits.stop)?;
        let costs: Vec<f64> = runs.iter().map(|run| run.episode.cost).collect();
        Some(risk.of_samples(&costs)?)
    };
    let mut planner = agent.policy().boxed();
    planner.set_stop(&limits.stop);
    let (seed, rng) = (spec.seed, rng::stream(spec.seed, 0, Purpose::Policy));
    let mut planned = Planned { problem, fixed, planner, rng, seed, runs, stop: &limits.stop, watch };
    let tree = tree::grow(problem, fixed.erm(), &mut planned, wanted)?;
    let simulations = spec.budget.and_then(|budget| budget.simulations);
    let budget = simulations.map_or_else(String::new, |simulations| format!(" ({simulations} simulations)"));
    Ok(Explanation {
        risk,
        outer: fixed.outer(),
        exact: false,
        origin: format!("{}{budget}; values from {runs} episodes each", agent.what()),
        value: value.unwrap_or(tree.value),
        bounds: None,
        estimate_of: fixed.measure(),
        upper_bounds: false,
        tree,
    })
}

/// The first decision of an exact solution with each action at the outer variable that is best for it. `None` if there is no such
/// variable, or if episodes start in several states.
///
/// # Errors
/// Those of [`Solution::decide_first`].
pub fn first_decision(solution: &Solution, limits: &Limits) -> Result<Option<ExactDecision>, OracleError> {
    if solution.outer.is_none() { Ok(None) } else { solution.decide_first(limits, MOST_OWN) }
}
