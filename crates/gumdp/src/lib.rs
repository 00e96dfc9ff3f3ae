//! Planning under risk when the goal is not a sum of rewards.
//!
//! Bring a Markov decision process, an objective f(d) over how often state-action pairs are visited (cost, exploration,
//! imitation, several goals at once) and an attitude to risk β; gumdp plays, solves and evaluates the behaviour that
//! minimises the entropic risk of f. *Lower is better everywhere.*
//!
//! ```
//! use gumdp::oracle::{self, Limits};
//! use gumdp::stats::Summary;
//! use gumdp::{Erm, Mdp, Objective, Partition, Planner, PlannerSettings, Problem, experiment};
//!
//! // Three rooms in a row; trying to enter the right one breaks the robot with probability 0.1.
//! let mdp = Mdp::named(["left", "middle", "right", "broken"], ["go left", "go right"])
//!     .start("middle")
//!     .transition("left", "go left", [("left", 1.0)])
//!     .transition("left", "go right", [("middle", 1.0)])
//!     .transition("middle", "go left", [("left", 1.0)])
//!     .transition("middle", "go right", [("right", 0.9), ("broken", 0.1)])
//!     .transition("right", "go left", [("middle", 1.0)])
//!     .transition("right", "go right", [("right", 1.0)])
//!     .transition("broken", "go left", [("broken", 1.0)])
//!     .build()?;
//! // Explore as evenly as possible: minimise the negative entropy of the time spent in each room.
//! let explore = Objective::entropy(Partition::states(&mdp), 1e-9)?;
//! let problem = Problem::new(mdp, explore, 0.99, 12)?;
//!
//! // The exact optimum for a careful robot, and what the online planner makes of it.
//! let careful = Erm::new(50.0)?;
//! let optimum = oracle::solve(&problem, careful, &Limits::default())?;
//! let planner = Planner::new(&problem, careful, PlannerSettings::paper_illustrative())?;
//! let costs: Vec<f64> = experiment(&problem, &planner, 0, 0..50)?.iter().map(|run| run.episode.cost).collect();
//! let summary = Summary::of(&costs, careful, problem.objective().bounds(), 0)?;
//! assert!(optimum.value <= summary.high);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to go from here: [`Mdp`] (models), [`Objective`], [`Problem`], [`Erm`] (risk), [`GuidedPlanner`] (online planning), [`Planner`]
//! (the published algorithm), [`LearningPlanner`] (for a [`Simulator`] without tables), [`BlackBoxPlanner`] (the published algorithm for it), [`BatchPlanner`] (where many states are stepped at once),
//! [`oracle`] (exact solutions), [`frontier`] (over the attitude to risk), [`explain`] (decision trees), [`Agent`] (the one where it fits, the other where not), [`Policy`], [`experiment()`] (many runs), [`stats`],
//! [`Stop`] (an early end from outside). Problem files and the built-in tasks are in the crate `gumdp-files`. `docs/mathematics.md` in the repository says which formula is which item.

/// Grows whenever the same seed gives other results than before: what was computed by another version cannot be continued.
pub const RESULTS_VERSION: u32 = 12;

mod agent;
pub mod bound;
mod clock;
mod episode;
mod experiment;
pub mod explain;
pub mod frontier;
mod logarithm;
mod model;
mod objective;
pub mod oracle;
mod planner;
mod policy;
mod problem;
mod risk;
pub mod rng;
pub mod stats;
mod stop;
#[cfg(test)]
mod test_problems;
pub mod trials;
pub mod words;

pub use agent::{Agent, AgentError, Spec, Tell, Who, learning_planner};
pub use episode::{Episode, EpisodeError, Step, begun, play};
pub use experiment::{
    CheckedLines, Experiment, ExperimentError, Held, Journal, Precision, Record, Records, Run, RunError, UNCHECKED,
    Watch, checksum, experiment, run,
};
pub use model::{Action, Key, Mdp, MdpBuilder, ModelError, Pair, ROW_TOLERANCE, State, missing_to_1};
pub use objective::{Bounds, BrokenFormula, Objective, ObjectiveError, Partition};
pub use planner::{
    BatchFrom, BatchPlanner, BatchProblem, BatchSimulator, BatchTo, BlackBoxPlanner, Budget, Expansion, Exploration,
    FinalChoice, GuidedPlanner, GuidedSettings, LearningPlanner, LearningSettings, MAX_SIMULATIONS, Planner,
    PlannerError, PlannerSettings, Roofline, Selection, SimulatedProblem, Simulator, Situation, UntriedOrder,
};
pub use policy::{
    ActionReason, ByOccupancy, Decision, Markov, Policy, PolicyError, PolicyFailure, Scripted, StopReason, Uniform,
};
pub use problem::{Effects, MAX_HORIZON, OccupancyState, Problem, ProblemError, normalised_discounts};
pub use risk::{Cvar, Erm, Evar, Exceed, FixedRisk, Outer, ParseRiskError, Risk, RiskError, Var};
pub use stop::Stop;

/// Kinds of objectives as data: their fields, for readers and writers of files and for other languages.
pub mod kinds {
    pub use crate::objective::{Content, Field, Given, Holds, Kind, Part, Written};
}

/// How measures are written and swept, and the arithmetic that planner, solver and summaries share.
pub mod measures {
    pub use crate::risk::{Form, Seen, Sweep, Swept, Weigher};
}
