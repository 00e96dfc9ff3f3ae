//! Who is compared: the default planner, the published one, and the default one with one ingredient off or changed.

use clap::ValueEnum;
use gumdp::{Budget, GuidedSettings, PlannerSettings, Who};
use gumdp_files::Task;
use serde::{Deserialize, Serialize};

/// A planner with its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// The default planner.
    Default,
    /// The published planner with the task's settings.
    Paper,
    /// No lattice, however few the features.
    NoLattice,
    /// The first manner plays: no pilot episodes choose.
    NoPilots,
    /// Marginal backward induction alone.
    NoTree,
    /// Marginal backward induction as if nothing were to come.
    NoForecast,
    /// Leaves are expanded after their first rollout.
    OneRollout,
    /// The lowest value is played, on whatever evidence.
    NoCaution,
    /// The exploration constant of the published planner.
    PaperTheta,
}

impl Variant {
    /// The name in tables and files.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().replace('-', " "))
    }

    /// The player, with so many simulations for a decision.
    pub fn who(self, task: &Task, simulations: u64) -> Who {
        let budget = Budget::simulations(simulations);
        let settings = GuidedSettings { budget, ..task.defaults.guided.clone() };
        Who::Guided(match self {
            Self::Paper => return Who::Published(PlannerSettings { budget, ..task.defaults.published() }),
            Self::Default => settings,
            Self::NoLattice => GuidedSettings { lattice: false, ..settings },
            Self::NoPilots => GuidedSettings { pilots: false, ..settings },
            Self::NoTree => GuidedSettings { reach: 0.0, pilots: false, ..settings },
            Self::NoForecast => GuidedSettings { forecast: 0.0, pilots: false, ..settings },
            Self::OneRollout => GuidedSettings { rollouts: 1, pilots: false, ..settings },
            Self::NoCaution => GuidedSettings { caution: 0.0, pilots: false, ..settings },
            Self::PaperTheta => GuidedSettings { exploration: std::f64::consts::SQRT_2, pilots: false, ..settings },
        })
    }
}
