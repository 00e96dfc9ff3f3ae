//! Who plays: the policies that can be named on the command line.

use std::fmt;

use anyhow::Result;
use gumdp::oracle::{OptimalPolicy, OracleError};
use gumdp::{Action, FixedRisk, GuidedPlanner, OccupancyState, Planner, Policy, Uniform, fix_outer, rng::Rng};
use gumdp_files::Task;
use serde::{Deserialize, Serialize};

use crate::cells::Cell;
use crate::exact::{Solver, unsolved};
use crate::failure::BadInput;
use crate::progress::Progress;

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

/// One that plays.
#[derive(Clone, Debug)]
pub enum Player {
    /// The published algorithm.
    Planner(Box<Planner>),
    /// The default planner.
    Guided(Box<GuidedPlanner>),
    /// Does not care.
    Uniform(Uniform),
    /// Knows the optimum; clones share it.
    Exact(OptimalPolicy),
}

impl Player {
    /// The player of a cell, and the outer variable of its risk measure, if that has one.
    pub fn new(cell: &Cell, task: &Task, solver: &mut Solver) -> Result<(Self, Option<String>)> {
        let problem = &task.problem;
        let _pilots = (cell.preset.plans()).then(|| Progress::pilots(cell.risk));
        let planned = |fixed: FixedRisk| fixed.outer().map(|outer| outer.to_string());
        Ok(match cell.preset {
            Who::Paper => {
                let settings = cell.planner_settings(task);
                let player = |risk| Planner::new(problem, risk, settings.clone());
                let fixed = fix_outer(problem, cell.risk, cell.seed, player).map_err(BadInput::new)?;
                (Self::Planner(Box::new(player(fixed).map_err(BadInput::new)?)), planned(fixed))
            }
            Who::Default => {
                let settings = cell.guided_settings(task);
                let player = |risk| GuidedPlanner::new(problem, risk, settings.clone());
                let fixed = fix_outer(problem, cell.risk, cell.seed, player).map_err(BadInput::new)?;
                (Self::Guided(Box::new(player(fixed).map_err(BadInput::new)?)), planned(fixed))
            }
            Who::Uniform => (Self::Uniform(Uniform::new(problem)), None),
            Who::BackwardInduction if cell.risk.as_erm().is_none() => {
                return Err(BadInput::new(format!("backward induction minimises entropic risks, not {}", cell.risk))
                    .hint("--policy exact minimises any risk measure")
                    .into());
            }
            Who::BackwardInduction if problem.objective().as_linear().is_none() => {
                return Err(unsolved(&task.name, &OracleError::NotLinear));
            }
            Who::Exact | Who::BackwardInduction => {
                let solution = solver.solve(cell.risk).map_err(|error| unsolved(&task.name, &error))?;
                (Self::Exact(solution.policy()), solution.outer.map(|outer| outer.to_string()))
            }
        })
    }
}

impl Policy for Player {
    fn act(&mut self, at: &OccupancyState, rng: &mut Rng) -> Action {
        match self {
            Self::Planner(policy) => policy.act(at, rng),
            Self::Guided(policy) => policy.act(at, rng),
            Self::Uniform(policy) => policy.act(at, rng),
            Self::Exact(policy) => policy.act(at, rng),
        }
    }

    fn begin_episode(&mut self) {
        match self {
            Self::Planner(planner) => planner.begin_episode(),
            Self::Guided(planner) => planner.begin_episode(),
            Self::Uniform(_) | Self::Exact(_) => {}
        }
    }

    fn has_failed(&self) -> bool {
        match self {
            Self::Planner(planner) => planner.has_failed(),
            Self::Guided(planner) => planner.has_failed(),
            Self::Uniform(_) | Self::Exact(_) => false,
        }
    }

    fn simulated_steps(&self) -> u64 {
        match self {
            Self::Planner(planner) => planner.simulated_steps(),
            Self::Guided(planner) => planner.simulated_steps(),
            Self::Uniform(_) | Self::Exact(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gumdp::oracle::{self, Limits, distribution};
    use gumdp_files::tasks;

    /// The very player of `gumdp run`: its exact law has the risk of the optimum, found here by another way.
    #[test]
    fn auto_plays_the_optimum_of_every_task_that_can_be_solved() {
        let mut planned = Vec::new();
        for name in tasks::NAMES {
            let task = tasks::get(name).unwrap();
            let mut solver = Solver::new(&task.problem, Limits::QUICK);
            for risk in task.defaults.risks() {
                let cell = Cell::auto(&task, risk, 0, &mut solver);
                let erm = cell.erm().unwrap();
                match Player::new(&cell, &task, &mut solver).unwrap().0 {
                    Player::Exact(policy) => {
                        let law = distribution(&task.problem, &policy, &Limits::default()).unwrap();
                        let merging = Limits { strategy: oracle::Strategy::Merge, ..Limits::default() };
                        let optimum = oracle::solve(&task.problem, erm, &merging).unwrap().value;
                        assert!((law.erm(erm) - optimum).abs() < 1e-9, "{name}, {risk}");
                        assert!((cell.preset, cell.simulations) == (Who::Exact, 0));
                    }
                    _ => planned.push((name, cell.preset, cell.simulations)),
                }
            }
        }
        let expected = [("il", 2000), ("grid-msee", 1024), ("grid-il", 1024)];
        assert_eq!(planned, expected.map(|(name, simulations)| [(name, Who::Default, simulations); 3]).concat());
    }
}
