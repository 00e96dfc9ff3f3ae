//! Who plays: the policies that can be named on the command line.

use std::fmt;

use gumdp_files::Preset;
use serde::{Deserialize, Serialize};

/// Who plays a trial: a planner by its preset, or another policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Who {
    /// The published planner with the paper's settings.
    Paper,
    /// The guided planner with the default settings.
    #[default]
    Default,
    /// Every action equally likely.
    Uniform,
    /// The exact optimum.
    Exact,
    /// The exact optimum of a linear objective.
    BackwardInduction,
}

impl Who {
    /// Whether actions are chosen by simulations.
    pub fn plans(self) -> bool {
        matches!(self, Self::Paper | Self::Default)
    }

    /// What figures and reports call it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Paper => "ERM-MCTS",
            Self::Default => "default planner",
            Self::Uniform => "uniform",
            Self::Exact => "exact policy",
            Self::BackwardInduction => "ERM-BI",
        }
    }
}

impl From<Preset> for Who {
    fn from(preset: Preset) -> Self {
        match preset {
            Preset::Paper => Self::Paper,
            Preset::Default => Self::Default,
        }
    }
}

/// The name in tables and files.
impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Paper => "paper",
            Self::Default => "default",
            Self::Uniform => "uniform",
            Self::Exact => "exact",
            Self::BackwardInduction => "backward-induction",
        })
    }
}
