//! Trials of an experiment: one task, one policy, one risk measure, many runs.

use anyhow::Result;
use gumdp::{Agent, AgentError, Budget, Erm, Risk, Spec, UNCHECKED, checksum};
use gumdp_files::Task;
use serde::{Deserialize, Serialize};

use crate::exact::{Solver, unsolved};
use crate::failure::BadInput;
use crate::number;
use crate::progress::Preparing;
use gumdp_files::Player;

/// One task, one policy, one β.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Name of the task.
    pub task: String,
    /// Attitude to risk.
    #[serde(alias = "beta")]
    pub risk: Risk,
    /// Who plays.
    pub preset: Player,
    /// Number of runs.
    pub runs: u64,
    /// Simulations per decision.
    pub simulations: u64,
    /// Exploration constant θ of the published planner; 0 for others.
    pub exploration: f64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// What `--policy auto` found out, if it chose who plays.
    #[serde(default)]
    pub auto: Option<String>,
    /// The outer variable of the measure, which is fixed at the first decision, if it has one.
    #[serde(default)]
    pub outer: Option<String>,
}

impl Trial {
    /// The trial of a task with the task's own settings.
    pub fn new(task: &Task, risk: impl Into<Risk>, who: Player, seed: u64) -> Self {
        let defaults = &task.defaults;
        Self {
            task: task.name.clone(),
            risk: risk.into(),
            preset: who,
            runs: defaults.runs,
            simulations: if who.plans() { defaults.simulations } else { 0 },
            exploration: if who == Player::Paper { defaults.exploration } else { 0.0 },
            seed,
            auto: None,
            outer: None,
        }
    }

    /// A trial for each policy and measure, policy by policy.
    pub fn grid(
        task: &Task,
        policies: impl IntoIterator<Item = Player>,
        risks: &[Risk],
        seed: u64,
        runs: Option<u64>,
        simulations: Option<u64>,
    ) -> Vec<Self> {
        let of_policy = |who| risks.iter().map(move |&risk| Self::new(task, risk, who, seed).with(runs, simulations));
        policies.into_iter().flat_map(of_policy).collect()
    }

    /// The trial of `--policy auto`, and who plays it: the exact optimum if the solver finds it, else the default planner.
    pub fn auto(
        task: &Task,
        risk: Risk,
        seed: u64,
        simulations: Option<u64>,
        solver: &mut Solver,
    ) -> Result<(Self, Agent)> {
        let who = gumdp::Who::Auto(task.defaults.guided.clone());
        let planning = Self::new(task, risk, Player::Default, seed).with(None, simulations);
        let agent = planning.made(who, Budget::simulations(planning.simulations), task, solver)?;
        let trial = if agent.solution().is_some() { Self::new(task, risk, Player::Exact, seed) } else { planning };
        Ok((Self { auto: Some(agent.what().to_owned()), ..trial }, agent))
    }

    /// Who plays it.
    pub fn agent(&self, task: &Task, solver: &mut Solver) -> Result<Agent> {
        self.agent_within(Budget::simulations(self.simulations), task, solver)
    }

    /// Who plays it with another budget.
    pub fn agent_within(&self, budget: Budget, task: &Task, solver: &mut Solver) -> Result<Agent> {
        let who = self.preset.spec(task, self.risk, self.simulations, self.seed).who;
        self.made(who, budget, task, solver)
    }

    fn made(&self, who: gumdp::Who, budget: Budget, task: &Task, solver: &mut Solver) -> Result<Agent> {
        let preparing = Preparing::new();
        let tell = Some(preparing.tell());
        let spec = Spec { seed: self.seed, budget: Some(budget), tell, ..Spec::new(who, self.risk) };
        Agent::with_solver(&task.problem, &spec, || solver.solve(self.risk)).map_err(|error| match error {
            AgentError::Oracle(error) => unsolved(&task.name, &error),
            AgentError::NotEntropic(_) => BadInput::new(error).hint("--policy exact minimises any risk measure").into(),
            AgentError::Planner(_) => BadInput::new(error).into(),
        })
    }

    /// The trial with other runs and simulations than the task's, where they are given.
    #[must_use]
    pub fn with(self, runs: Option<u64>, simulations: Option<u64>) -> Self {
        Self {
            runs: runs.unwrap_or(self.runs),
            simulations: simulations.filter(|_| self.preset.plans()).unwrap_or(self.simulations),
            ..self
        }
    }

    /// The entropic risk measure that it is played with.
    pub fn erm(&self) -> Result<Erm> {
        let refusal = || BadInput::new(format!("{} is no entropic risk measure", self.risk));
        Ok(self.risk.as_erm().ok_or_else(refusal)?)
    }

    /// The file name of its journal. Whatever changes a run changes the name, so a journal never holds runs of two kinds.
    pub fn journal(&self, task: &Task) -> String {
        let Self { risk, preset, simulations, exploration, seed, .. } = self;
        let beta = risk.beta().map_or_else(|| risk.to_string(), |beta| beta.to_string());
        let variant = task.defaults.variant;
        let version = gumdp::RESULTS_VERSION;
        let key =
            format!("{version}\n{}\n{beta}\n{preset}\n{simulations}\n{exploration}\n{variant:?}\n{seed}", task.source);
        let kind = if risk.beta().is_some() { "beta" } else { "" };
        let label = number::risk(*risk).replace(':', "-");
        format!("{}_{preset}_{kind}{label}_{:016x}.csv", self.task, checksum(UNCHECKED, key.as_bytes()))
    }
}
