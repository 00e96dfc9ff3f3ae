//! Who plays: the policies that can be named on the command line.

use std::fmt;

use gumdp::{FixedRisk, Risk};
use serde::{Deserialize, Serialize};

/// Who plays a cell: a planner by its preset, or another policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Who {
    /// The published planner with the paper's settings.
    Paper,
    /// The guided planner with the default settings.
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

/// What the risks are that a planner estimates, once the outer variable of its measure is fixed.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimates {
    /// The measure they are of, as `--risk` takes it: that which is minimised, or an entropic one that does better than any λ tried.
    pub of: String,
    /// What is to be added to them: the price of β.
    pub price: f64,
    /// Whether they are of the costs themselves, and not of what costs count beyond a threshold.
    pub of_costs: bool,
}

impl Estimates {
    /// What is estimated.
    pub fn new(risk: Risk, fixed: FixedRisk) -> Self {
        let itself = |price| Self { of: risk.to_string(), price, of_costs: true };
        match (risk, fixed) {
            (_, FixedRisk::Threshold { .. }) => Self { of_costs: false, ..itself(0.0) },
            (Risk::Evar(evar), FixedRisk::Erm(erm)) if erm.beta() > 0.0 => itself(evar.price() / erm.beta()),
            (Risk::Erm(_), _) => itself(0.0),
            (_, FixedRisk::Erm(erm)) => Self { of: Risk::Erm(erm).to_string(), price: 0.0, of_costs: true },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::Cell;
    use crate::exact::Solver;
    use gumdp::oracle::{self, Limits, distribution};
    use gumdp_files::tasks;

    #[test]
    fn estimates_are_named_for_what_they_are() {
        let [cvar, evar, erm]: [Risk; 3] = ["cvar:0.9", "evar:0.9", "erm:3"].map(|text| text.parse().unwrap());
        let attitude = FixedRisk::Erm(gumdp::Erm::new(2.0).unwrap());
        let threshold = FixedRisk::Threshold { measure: gumdp::MeanCvar::new(0.9, 1.0).unwrap(), lambda: 0.5 };
        let of = |risk, fixed| Estimates::new(risk, fixed).of;
        assert_eq!(of(cvar, attitude), "erm:2");
        assert_eq!(of(cvar, threshold), "cvar:0.9");
        assert_eq!(of(evar, attitude), "evar:0.9");
        assert_eq!(of(evar, gumdp::Erm::MEAN.into()), "mean");
        assert_eq!(of(erm, gumdp::Erm::new(3.0).unwrap().into()), "erm:3");
        let price = Estimates::new(evar, attitude).price;
        assert!((price - 10.0_f64.ln() / 2.0).abs() < 1e-12);
        assert!(!Estimates::new(cvar, threshold).of_costs);
    }

    /// The very player of `gumdp run`: its exact law has the risk of the optimum, found here by another way.
    #[test]
    fn auto_plays_the_optimum_of_every_task_that_can_be_solved() {
        let mut planned = Vec::new();
        for name in tasks::NAMES {
            let task = tasks::get(name).unwrap();
            let mut solver = Solver::new(&task.problem, Limits::QUICK);
            for risk in task.defaults.risks() {
                let (cell, agent) = Cell::auto(&task, risk, 0, None, &mut solver).unwrap();
                let erm = cell.erm().unwrap();
                match agent.solution() {
                    Some(_) => {
                        let law = distribution(&task.problem, agent.policy(), &Limits::default()).unwrap();
                        let merging = Limits { strategy: oracle::Strategy::Merge, ..Limits::default() };
                        let optimum = match oracle::backward_induction(&task.problem, erm) {
                            Ok(linear) => linear.value,
                            Err(_) => oracle::solve(&task.problem, erm, &merging).unwrap().value,
                        };
                        assert!((law.erm(erm) - optimum).abs() < 1e-9, "{name}, {risk}");
                        assert!((cell.preset, cell.simulations) == (Who::Exact, 0));
                    }
                    None => planned.push((name, cell.preset, cell.simulations)),
                }
            }
        }
        let expected = [("il", 2000), ("grid-msee", 1024), ("grid-il", 1024)];
        assert_eq!(planned, expected.map(|(name, simulations)| [(name, Who::Default, simulations); 3]).concat());
    }
}
