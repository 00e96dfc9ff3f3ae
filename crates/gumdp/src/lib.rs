//! placeholder
pub mod episode;
pub mod experiment;
pub mod model;
pub mod objective;
pub mod planner;
pub mod policy;
pub mod problem;
pub mod risk;
pub mod rng;
pub mod stats;

pub use episode::{Episode, EpisodeError, play};
pub use experiment::{Run, experiment, run};
pub use model::{Action, Mdp, MdpBuilder, ModelError, Pair, State};
pub use objective::{Bounds, Objective, ObjectiveError, Partition};
pub use planner::{
    ActionReason, Budget, Decision, Expansion, Exploration, FinalChoice, Planner, PlannerError, PlannerSettings,
    StopReason, UntriedOrder,
};
pub use policy::{ExplicitPolicy, Markov, Policy, PolicyError, Scripted, Uniform};
pub use problem::{OccupancyState, Problem, ProblemError};
pub use risk::{Erm, ErmAccumulator, RiskError};
