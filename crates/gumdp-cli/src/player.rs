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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::Solver;
    use crate::trial::Trial;
    use gumdp::oracle::{self, Limits, distribution};
    use gumdp_files::tasks;

    /// The very player of `gumdp run`: its exact distribution has the risk of the optimum, found here by another way.
    #[test]
    fn auto_plays_the_optimum_of_every_task_that_can_be_solved() {
        let mut planned = Vec::new();
        for name in tasks::NAMES {
            let task = tasks::get(name).unwrap();
            let mut solver = Solver::new(&task.problem, Limits::QUICK);
            for risk in task.defaults.risks() {
                let (trial, agent) = Trial::auto(&task, risk, 0, None, &mut solver).unwrap();
                let erm = trial.erm().unwrap();
                match agent.solution() {
                    Some(_) => {
                        let distribution = distribution(&task.problem, agent.policy(), &Limits::default()).unwrap();
                        let merging = Limits { strategy: oracle::Strategy::Merge, ..Limits::default() };
                        let optimum = oracle::solve(&task.problem, erm, &merging).unwrap().value;
                        assert!((distribution.erm(erm) - optimum).abs() < 1e-9, "{name}, {risk}");
                        assert!((trial.preset, trial.simulations) == (Who::Exact, 0));
                    }
                    None => planned.push((name, trial.preset, trial.simulations)),
                }
            }
        }
        let expected = [("il", 2000), ("grid-msee", 1024), ("grid-il", 1024)];
        assert_eq!(planned, expected.map(|(name, simulations)| [(name, Who::Default, simulations); 3]).concat());
    }
}
