//! `gumdp plan`: one decision with its reasons.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use gumdp::bound::LowerBound;
use gumdp::explain::{MOST_OWN, first_decision};
use gumdp::oracle::{self, ExactDecision, Limits, OracleError};
use gumdp::rng::{self, Purpose};
use gumdp::{
    Budget, Decision, Erm, FixedRisk, MAX_SIMULATIONS, Mdp, OccupancyState, PolicyFailure, Risk, State, StopReason,
};
use gumdp_files::{SavedPlanner, SavedPolicy, Task};
use serde::Serialize;

use super::{Run, load, print_json, solve};
use crate::args::{AttitudeArgs, PolicyArgs, duration, whole};
use crate::exact::{Solver, above_the_optimum, unsolved};
use crate::failure::BadInput;
use crate::number::{counted, known, short};
use crate::store::put;
use crate::trial::Trial;
use gumdp_files::Player;
use gumdp_plot::{Field, Table};

/// What is known of actions where nothing was searched.
const RANK: &str = "rank";
/// What decided where features are few.
const SOLVED: &str = "exact answer";
const LATTICE: &str = "lattice";

/// Make one decision and show its reasons.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp plan rooms --beta 10\n  gumdp plan rooms --risk cvar:0.9\n  gumdp plan grid-mo --beta 8 --time-limit 50ms\n  gumdp plan msee --beta 50 --state s2 --policy planner --simulations 5000\n  gumdp plan mdp --beta 5 --json"
)]
pub struct PlanArgs {
    /// Name of a built-in task, or a problem file.
    pub task: String,
    /// The attitude to risk.
    #[command(flatten)]
    pub attitude: AttitudeArgs,
    /// The state to decide in, at time 0 (default: the task's first initial state).
    #[arg(long, value_name = "S")]
    pub state: Option<String>,
    /// Simulations of the planner (default: the task's).
    #[arg(long, value_name = "n", allow_negative_numbers = true, value_parser = whole(1, MAX_SIMULATIONS), conflicts_with = "time_limit")]
    pub simulations: Option<u64>,
    /// Plan for this long instead, such as 50ms or 2s; implies `--policy planner`.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub time_limit: Option<Duration>,
    /// Who decides.
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Seed of all random numbers.
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true, value_parser = whole(0, u64::MAX))]
    pub seed: u64,
    /// Save the optimal policy, or the planner's settings, to this JSON file, for `gumdp evaluate`.
    #[arg(long, value_name = "FILE", conflicts_with = "time_limit")]
    pub save: Option<PathBuf>,
    /// A JSON object instead of a table.
    #[arg(long)]
    pub json: bool,
}

#[derive(Default, Serialize)]
struct Plan<'a> {
    task: &'a str,
    risk: String,
    /// The measure as it was asked for.
    #[serde(skip)]
    label: String,
    /// `null` unless the measure is entropic.
    #[serde(serialize_with = "crate::number::optional")]
    beta: Option<f64>,
    /// The outer variable of the measure, which is fixed at the first decision.
    outer: Option<String>,
    state: &'a str,
    preset: Player,
    auto: Option<String>,
    /// How the default planner decides.
    #[serde(skip)]
    manner: Option<String>,
    action: &'a str,
    /// What the estimates of the decision and of each action are of: a risk measure; "rank" if actions were ranked only.
    estimate_of: String,
    /// Whether those of other actions are upper bounds only.
    upper_bounds: bool,
    /// `null` if actions were ranked only.
    root_estimate: Option<f64>,
    simulations: u64,
    simulated_steps: u64,
    tree_nodes: usize,
    stopped: &'static str,
    /// No policy has a lower risk; `null` where that is not known, or the episode may start elsewhere.
    bound: Option<f64>,
    bound_method: Option<String>,
    /// How far the estimate is above that, as text.
    #[serde(skip)]
    above: Option<String>,
    /// Whether episodes may start in other states than this.
    #[serde(skip)]
    elsewhere: bool,
    reasons: Vec<Reason<'a>>,
}

#[derive(Serialize)]
struct Reason<'a> {
    action: &'a str,
    visits: u64,
    /// The place among all actions, 1 for the best.
    rank: usize,
    /// `null` for an action that was never tried, and if actions were ranked only.
    value: Option<f64>,
    mean: Option<f64>,
    /// `null` also if nothing was simulated.
    min: Option<f64>,
    max: Option<f64>,
}

impl Run for PlanArgs {
    /// Makes one decision at time 0 and prints it.
    fn run(&self) -> Result<()> {
        let task = load(&self.task)?;
        let chosen = self.policy.who(self.time_limit.map(|_| "--time-limit"))?;
        let who = chosen.unwrap_or(Player::Default);
        let state = find_state(&task, self.state.as_deref())?;
        let (mdp, at) = (task.problem.mdp(), task.problem.start(state));
        let risk = self.attitude.risk(&task)?;
        let mut plan = Plan {
            task: &task.name,
            risk: risk.to_string(),
            label: self.attitude.naming(&task).label(risk),
            beta: risk.beta(),
            state: mdp.state_name(state),
            preset: who,
            estimate_of: risk.to_string(),
            stopped: "solved exactly",
            ..Plan::default()
        };
        let is_linear = task.problem.objective().as_linear().is_some();
        let exact = match chosen {
            Some(Player::Paper | Player::Default) => None,
            Some(Player::BackwardInduction) if !is_linear => Some(Err(OracleError::NotLinear)),
            None | Some(Player::Exact | Player::BackwardInduction) => {
                Some(decide(&task, risk, &at, &self.policy.limits(chosen)))
            }
            Some(Player::Uniform) => {
                return Err(BadInput::new("--policy uniform has no reasons to show").hint("leave out --policy").into());
            }
        };
        match exact {
            Some(Ok(Decided { decision, outer, elsewhere, upper_bounds })) => {
                plan.outer = outer;
                plan.elsewhere = elsewhere;
                plan.upper_bounds = upper_bounds;
                let found = || format!("solved exactly, {}", counted(decision.states, "state"));
                plan.auto = chosen.is_none().then(found);
                plan.solved(mdp, &decision);
            }
            Some(Err(because)) if chosen.is_none() => plan.auto = Some(format!("{}, planning", because.in_short())),
            Some(Err(error)) => return Err(unsolved(&task.name, &error)),
            None => {}
        }
        if plan.reasons.is_empty() {
            let trial = Trial::new(&task, risk, who, self.seed);
            let given = self.simulations.map(Budget::simulations).or(self.time_limit.map(Budget::time));
            let budget = given.unwrap_or(Budget::simulations(trial.simulations));
            let mut rng = rng::stream(self.seed, 0, Purpose::Policy);
            let mut solver = Solver::new(&task.problem, Limits::QUICK);
            let agent = trial.agent_within(budget, &task, &mut solver)?;
            let decision = agent.policy().boxed().decide(&at, &mut rng).map_err(|failure| match failure {
                PolicyFailure::NotFinite => OracleError::NotFinite.into(),
                other => anyhow::Error::from(other),
            })?;
            plan.outer = agent.outer().map(str::to_owned);
            plan.manner = (plan.preset == Player::Default).then(|| agent.what().to_owned());
            plan.planned(mdp, &decision, &agent.fixed().unwrap_or(Erm::MEAN.into()));
            // A proof takes longer than a limit of time may allow.
            if self.time_limit.is_none() && matches!(mdp.initial(), &[(start, _)] if start == state) {
                plan.bounded(solver.bound(risk));
            }
        }
        if let Some(path) = &self.save {
            self.save(path, &task, risk, &plan)?;
        }
        if self.json { print_json(&plan) } else { plan.print(&mut crate::talk::stdout()) }
    }
}

impl PlanArgs {
    /// Saves the optimal policy if the decision is exact, else the settings of the planner.
    fn save(&self, path: &Path, task: &Task, risk: Risk, plan: &Plan) -> Result<()> {
        if plan.preset == Player::Exact {
            let solution = oracle::solve(&task.problem, risk, &self.policy.limits(self.policy.who(None)?));
            return solve::save(path, task, risk, &solution.map_err(|error| unsolved(&task.name, &error))?);
        }
        let trial = Trial::new(task, risk, plan.preset, self.seed).with(None, self.simulations);
        let planner = SavedPlanner {
            preset: if plan.preset == Player::Paper {
                gumdp_files::Preset::Paper
            } else {
                gumdp_files::Preset::Default
            },
            simulations: trial.simulations,
            exploration: trial.exploration,
            seed: trial.seed,
            first_state: plan.state.to_owned(),
            first_action: plan.action.to_owned(),
        };
        let text = SavedPolicy::text_of_planner(task, risk, &planner);
        put(path, "the settings of the planner, which gumdp evaluate plays again, are", &text)
    }
}

/// An exact decision.
struct Decided {
    decision: ExactDecision,
    /// The outer variable of the measure, if it has one: the best for the initial states of the task, wherever a decision is made.
    outer: Option<String>,
    /// Whether all that is of episodes that start in the state, while others start elsewhere.
    elsewhere: bool,
    /// Whether other actions may cost less: they were looked at with that variable, or not with all of their own.
    upper_bounds: bool,
}

fn decide(task: &Task, risk: Risk, at: &OccupancyState, limits: &Limits) -> Result<Decided, OracleError> {
    let solution = match risk.fixed() {
        Some(fixed) => {
            let decision = oracle::decide(&task.problem, fixed, at, limits)?;
            return Ok(Decided { decision, outer: None, elsewhere: false, upper_bounds: false });
        }
        None => oracle::solve(&task.problem, risk, limits)?,
    };
    let is_first = matches!(task.problem.mdp().initial(), &[(state, _)] if state == at.state);
    let own =
        if is_first { first_decision(&solution, limits)? } else { solution.decide_from(at.state, limits, MOST_OWN)? };
    let (upper_bounds, elsewhere) = (own.as_ref().is_none_or(|first| !first.certain), own.is_some() && !is_first);
    let decision = own.map_or_else(|| solution.decide(at, limits), Ok)?;
    Ok(Decided { decision, outer: solution.outer.map(|outer| outer.to_string()), elsewhere, upper_bounds })
}

impl<'a> Plan<'a> {
    fn solved(&mut self, mdp: &'a Mdp, decision: &ExactDecision) {
        self.preset = Player::Exact;
        self.action = mdp.action_name(decision.action);
        let values = || decision.reasons.iter().map(|reason| reason.value);
        self.root_estimate = Some(values().fold(f64::INFINITY, f64::min));
        let reason = |reason: &oracle::ActionValue| Reason {
            rank: 1 + values().filter(|&value| value < reason.value).count(),
            action: mdp.action_name(reason.action),
            visits: 0,
            value: Some(reason.value),
            mean: Some(reason.mean),
            min: None,
            max: None,
        };
        self.reasons = decision.reasons.iter().map(reason).collect();
    }

    fn planned(&mut self, mdp: &'a Mdp, decision: &Decision, fixed: &FixedRisk) {
        let known = |x: f64| x.is_finite().then_some(x);
        let (ranked, price) = (decision.only_ranks(), fixed.price());
        self.estimate_of = if ranked { RANK.to_owned() } else { fixed.measure().to_string() };
        self.action = mdp.action_name(decision.action);
        self.root_estimate = known(decision.root_estimate + price).filter(|_| !ranked);
        self.simulations = decision.simulations;
        self.simulated_steps = decision.simulated_steps;
        self.tree_nodes = decision.tree_nodes;
        self.stopped = match decision.stopped {
            StopReason::Simulations => "number of simulations",
            StopReason::TimeLimit => "time limit",
            StopReason::Solved => SOLVED,
            StopReason::Marginal => "marginal backward induction",
            StopReason::NotFinite => "cost that is not finite",
            StopReason::Lattice => LATTICE,
            StopReason::Known => "known action",
        };
        let reason = |(reason, rank): (&gumdp::ActionReason, usize)| Reason {
            action: mdp.action_name(reason.action),
            visits: reason.visits,
            rank,
            value: known(reason.erm + price).filter(|_| !ranked),
            mean: known(reason.mean).filter(|_| fixed.is_entropic()),
            min: known(reason.min).filter(|_| fixed.is_entropic()),
            max: known(reason.max).filter(|_| fixed.is_entropic()),
        };
        self.reasons = decision.reasons.iter().zip(decision.ranks()).map(reason).collect();
    }

    /// What no policy can get below, and how far the estimate is above it.
    fn bounded(&mut self, bound: Option<LowerBound>) {
        self.bound = bound.map(|bound| bound.value);
        self.bound_method = bound.map(|bound| bound.method.to_string());
        let is_risk = self.estimate_of == self.risk && !self.reasons.is_empty();
        self.above = self.root_estimate.and_then(|estimate| above_the_optimum(estimate, bound.filter(|_| is_risk)));
    }

    /// Whether the estimates are entropic risks.
    fn is_entropic(&self) -> bool {
        self.estimate_of.parse().is_ok_and(|risk: Risk| risk.beta().is_some())
    }

    fn print(&self, out: &mut impl Write) -> Result<()> {
        let Self { task, state, action, root_estimate, simulations, simulated_steps, tree_nodes, stopped, .. } = self;
        let label = &self.label;
        writeln!(out, "{task}, {label}: play {action} in {state}")?;
        if let Some(outer) = &self.outer {
            writeln!(out, "{outer} (fixed at the first decision)")?;
        }
        if let Some(found) = &self.auto {
            writeln!(out, "policy auto: {found}")?;
        }
        if let Some(manner) = &self.manner {
            writeln!(out, "{manner}")?;
        }
        writeln!(out)?;
        let searched = self.simulations > 0;
        let name = if self.is_entropic() { "ERM" } else { "risk" };
        let seen = self.reasons.iter().any(|reason| reason.max.is_some());
        let columns: &[&str] = match self.preset {
            Player::Paper if seen => &["visits", name, "mean", "worst seen"],
            Player::Paper => &["visits", name],
            Player::Default if searched => &["visits", name],
            Player::Default if *stopped == LATTICE || *stopped == SOLVED => &[name],
            Player::Default => &[RANK],
            _ => &[name, "mean"],
        };
        let fields = |reason: &Reason| {
            let mark = if reason.action == *action { " ←" } else { "" };
            let value = |column: &str| match column {
                "visits" => reason.visits.to_string(),
                "mean" => known(reason.mean),
                "worst seen" => known(reason.max),
                RANK => reason.rank.to_string(),
                _ => known(reason.value),
            };
            let numbers = columns.iter().map(|column| Field::number(column, value(column)));
            std::iter::once(Field::text("action", format!("{}{mark}", reason.action))).chain(numbers).collect()
        };
        Table::of(&self.reasons, fields).print(out)?;
        writeln!(out)?;
        let root = known(*root_estimate);
        if self.preset == Player::Default && !searched && (*stopped == LATTICE || *stopped == SOLVED) {
            let how = match *stopped {
                LATTICE => "backward induction over time, states and the features of the objective",
                _ => "solved exactly, as that takes no longer than simulating",
            };
            writeln!(out, "estimated {name} {root}; {how}")?;
        } else if self.preset == Player::Default && !searched {
            writeln!(
                out,
                "decided by {stopped}, without search: actions are ranked by the costs of steps, which are no risks"
            )?;
        } else if self.preset.plans() {
            let at = match &self.outer {
                Some(outer) if self.is_entropic() => format!(" at {outer}"),
                _ => String::new(),
            };
            writeln!(
                out,
                "estimated {name} {root}{at}; {simulations} simulations, {simulated_steps} steps, {tree_nodes} nodes; \
                 stopped by {stopped}"
            )?;
        } else {
            let others = match (&self.outer, self.upper_bounds) {
                (Some(_), true) => "what other actions cost is an upper bound, since they may have a better variable",
                (Some(_), false) => "each action is followed by the best there is, with its own variable",
                (None, _) => "each action is followed by the best there is",
            };
            if self.elsewhere {
                let common = "the policy has one variable for all starts";
                writeln!(out, "lowest {name} of episodes that start in {state} {root}; {others}; {common}")?;
            } else {
                writeln!(out, "optimal {name} {root}; {others}")?;
            }
        }
        if let (Some(bound), Some(method)) = (self.bound, &self.bound_method) {
            let above = self.above.as_ref().map_or_else(String::new, |above| format!("; the estimate is {above}"));
            writeln!(out, "no policy has a risk below {} (by {method}){above}", short(bound))?;
        }
        Ok(())
    }
}

fn find_state(task: &Task, name: Option<&str>) -> Result<State> {
    let mdp = task.problem.mdp();
    let Some(name) = name else { return Ok(mdp.initial()[0].0) };
    mdp.find_state(name).ok_or_else(|| {
        let names: Vec<&str> = mdp.states().map(|state| mdp.state_name(state)).collect();
        let shown = names.iter().take(8).copied().collect::<Vec<_>>().join(", ");
        let more = if names.len() > 8 { format!(", … ({} in all)", names.len()) } else { String::new() };
        BadInput::new(format!("unknown state \"{name}\" of task {}", task.name))
            .hint(format!("its states are {shown}{more}"))
            .into()
    })
}
