//! Planners: policies that search for each decision when it is due.
//!
//! | planner | needs | |
//! |---|---|---|
//! | [`GuidedPlanner`] | the model's probabilities | the default: the best known |
//! | [`Planner`] | samples of the model | ERM-MCTS, the published algorithm |
//! | [`LearningPlanner`] | a [`Simulator`] | the default without tables |
//! | [`BlackBoxPlanner`] | a [`Simulator`] | ERM-MCTS without tables |
//! | [`BatchPlanner`] | a [`BatchSimulator`] | the same, many simulations at once |
//!
//! Budgets, rules and their mistakes are values ([`Budget`], [`PlannerSettings`], [`GuidedSettings`], [`LearningSettings`], [`PlannerError`]).
//! Not here: exact solutions ([`crate::oracle`]), and which planner plays when ([`crate::Agent`]).

mod batch;
mod black_box;
mod guided;
mod lattice;
mod mcts;
mod pilots;
mod selection;
mod settings;

pub use batch::{BatchFrom, BatchPlanner, BatchProblem, BatchSimulator, BatchTo};
pub use black_box::{BlackBoxPlanner, LearningPlanner, LearningSettings, SimulatedProblem, Simulator, Situation};
pub use guided::{GuidedPlanner, GuidedSettings};
pub use mcts::Planner;
#[doc(hidden)] // The speed limit that benchmarks measure planners against; it walks as their rollouts do.
pub use mcts::Roofline;
pub(crate) use pilots::Rarities;
pub use selection::Selection;
pub use settings::{
    Budget, Expansion, Exploration, FinalChoice, MAX_SIMULATIONS, PlannerError, PlannerSettings, UntriedOrder,
};
