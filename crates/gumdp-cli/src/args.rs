//! Arguments that several commands have, and what their values may be. Those of one command are in its own file.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use gumdp::oracle::Limits;
use gumdp::trials::Trials;
use gumdp::{Erm, MAX_SIMULATIONS, Risk};
use gumdp_files::Task;

use crate::failure::BadInput;
use crate::number::Naming;
use crate::results::distinct;
use gumdp_files::Player;

/// More runs than this are a typing error.
pub const MAX_RUNS: u64 = 1_000_000_000;

/// What is played.
#[derive(Debug, Args)]
pub struct ExperimentArgs {
    /// Name of a built-in task, or a problem file.
    pub task: String,
    /// The attitudes to risk.
    #[command(flatten)]
    pub attitudes: AttitudesArgs,
    /// Episodes per β (default: the task's).
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, MAX_RUNS))]
    pub runs: Option<u64>,
    /// How it is played, and what becomes of it.
    #[command(flatten)]
    pub common: CommonArgs,
}

/// How planners play, and what becomes of the results; a command says more of its own files.
#[derive(Debug, Args)]
pub struct CommonArgs {
    /// Simulations per decision of the planner (default: the task's).
    #[arg(long, value_name = "n", allow_negative_numbers = true, value_parser = whole(1, MAX_SIMULATIONS))]
    pub simulations: Option<u64>,
    /// Random numbers and threads.
    #[command(flatten)]
    pub random: RandomArgs,
    /// Folder for results and figures (default: one below gumdp-out; with --json nothing is written unless this is given).
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Formats of the figures.
    #[command(flatten)]
    pub figures: FiguresArgs,
    /// JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

/// How figures are written.
#[derive(Clone, Debug, Args)]
pub struct FiguresArgs {
    /// Formats of the figures, separated by commas; figures in the report are always SVG.
    #[arg(long, value_name = "FORMAT,…", value_enum, value_delimiter = ',', default_value = "svg")]
    pub format: Vec<Format>,
}

impl FiguresArgs {
    /// The files of the figure with this name.
    pub fn files(&self, name: &str) -> Vec<String> {
        let extension =
            |format: &Format| format.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned());
        distinct(self.format.iter().map(|format| format!("{name}.{}", extension(format))))
    }
}

/// A file format of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Vector graphics for pages and for drawing on.
    Svg,
    /// Vector graphics for papers, fonts embedded.
    Pdf,
    /// Pixels, three for each one on a screen.
    Png,
}

/// Attitudes to risk, by either option.
#[derive(Debug, Args)]
pub struct AttitudesArgs {
    /// Attitudes to risk, separated by commas: 0 is the mean, inf the worst case, negative seeks risk (default: the task's).
    #[arg(long, short, value_name = "B,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = beta)]
    pub beta: Vec<f64>,
    #[arg(long, help = format!("Risk measures instead, separated by commas: {}", measures()))]
    #[arg(value_name = "MEASURE,…", value_delimiter = ',', value_parser = risk, conflicts_with = "beta")]
    pub risk: Vec<Risk>,
}

impl AttitudesArgs {
    /// Those given, each once; else that of a saved policy, else the task's.
    pub fn risks(&self, task: &Task, saved: Option<Risk>) -> Vec<Risk> {
        let given = match saved {
            _ if !self.risk.is_empty() => self.risk.clone(),
            _ if !self.beta.is_empty() => self.beta.iter().map(|&beta| entropic(beta)).collect(),
            Some(risk) => vec![risk],
            None => task.defaults.risks(),
        };
        distinct(given.into_iter().map(|risk| task.problem.measure(risk)))
    }

    /// What they are called.
    pub fn naming(&self, task: &Task) -> Naming {
        Naming::new(!self.risk.is_empty() || (self.beta.is_empty() && !task.defaults.risks.is_empty()))
    }
}

/// One attitude to risk, by either option.
#[derive(Debug, Args)]
pub struct AttitudeArgs {
    /// Attitude to risk: 0 is the mean, inf the worst case, negative seeks risk; the same as --risk erm:B.
    #[arg(long, short, value_name = "B", allow_hyphen_values = true, value_parser = beta)]
    pub beta: Option<f64>,
    #[arg(long, value_name = "MEASURE", value_parser = risk, conflicts_with = "beta")]
    #[arg(help = format!("Risk measure: {}", measures()))]
    pub risk: Option<Risk>,
}

impl AttitudeArgs {
    /// The one given, or the task's if it has one.
    pub fn risk(&self, task: &Task) -> Result<Risk> {
        match (self.beta, self.risk, &task.defaults.risks()[..]) {
            (Some(beta), _, _) => Ok(entropic(beta)),
            (None, Some(risk), _) | (None, None, &[risk]) => Ok(task.problem.measure(risk)),
            (None, None, _) => Err(BadInput::new("the attitude to risk is missing")
                .hint("give --beta B or --risk MEASURE, such as --beta 5 or --risk cvar:0.95")
                .into()),
        }
    }

    /// What it is called.
    pub fn naming(&self, task: &Task) -> Naming {
        Naming::new(self.risk.is_some() || (self.beta.is_none() && !task.defaults.risks.is_empty()))
    }
}

/// Refuses measures other than the mean where several trials are averaged before f is taken.
pub fn only_the_mean(beta: &[f64], risk: &[Risk]) -> Result<()> {
    let given = beta.iter().map(|&beta| entropic(beta)).chain(risk.iter().copied());
    match given.into_iter().find(|risk| *risk != Risk::MEAN) {
        None => Ok(()),
        Some(risk) => Err(BadInput::new(format!("--trials goes with the mean only, not with {risk}"))
            .hint("the occupancies of several trials are averaged before the objective is taken; leave out --beta or --risk")
            .into()),
    }
}

/// Random numbers, and the threads that share them.
#[derive(Clone, Copy, Debug, Args)]
pub struct RandomArgs {
    /// Seed of all random numbers.
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true, value_parser = whole(0, u64::MAX))]
    pub seed: u64,
    /// Use this many threads (default: all cores). Results do not depend on it.
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = threads)]
    pub threads: Option<usize>,
}

/// Who chooses the actions.
#[derive(Debug, Args)]
pub struct PolicyArgs {
    /// Settings of the planner; `paper` implies `--policy planner`.
    #[arg(long, value_enum)]
    pub preset: Option<Preset>,
    /// Who chooses the actions (default: auto).
    #[arg(long, value_enum)]
    pub policy: Option<PolicyName>,
    /// What an exact solution may take.
    #[command(flatten)]
    pub effort: EffortArgs,
}

/// What an exact solution may take where it is one way of several.
#[derive(Clone, Copy, Debug, Args)]
pub struct EffortArgs {
    /// Solve exactly only what has at most this many occupancy states (default: what --patience says; 50000000 with --policy exact).
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, u64::MAX))]
    pub max_states: Option<u64>,
    /// Solve exactly only what takes about this long, counted in states and never timed: 20 million a second.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration, conflicts_with = "max_states")]
    pub patience: Duration,
}

impl EffortArgs {
    /// The limits of an exact solution.
    pub fn limits(&self) -> Limits {
        let patient = || Limits::patient(self.patience.as_secs_f64());
        self.max_states.map_or_else(patient, |max_states| Limits { max_states, ..Limits::default() })
    }
}

impl PolicyArgs {
    /// Who plays, `None` for auto. `implied` is an option that means the planner, if one is given besides `--preset paper`.
    pub fn who(&self, implied: Option<&str>) -> Result<Option<Player>> {
        let paper = self.preset == Some(Preset::Paper);
        let planner = if paper { Player::Paper } else { Player::Default };
        let implied = paper.then_some("--preset paper").or(implied);
        Ok(match (self.policy, implied) {
            (Some(PolicyName::Planner), _) | (None, Some(_)) => Some(planner),
            (None | Some(PolicyName::Auto), None) => None,
            (Some(PolicyName::Uniform), None) => Some(Player::Uniform),
            (Some(PolicyName::Exact), None) => Some(Player::Exact),
            (Some(PolicyName::BackwardInduction), None) => Some(Player::BackwardInduction),
            (Some(other), Some(implied)) => {
                let name = other.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
                let option = implied.split(' ').next().unwrap_or(implied);
                return Err(BadInput::new(format!(
                    "{implied} means --policy planner and does not go with --policy {name}"
                ))
                .hint(format!("leave out {option} or --policy"))
                .into());
            }
        })
    }

    /// How much work an exact solution may take: what is asked for, else much where nothing but the optimum will do, and
    /// little where it is one way of several.
    pub fn limits(&self, who: Option<Player>) -> Limits {
        match (self.effort.max_states, who) {
            (None, Some(Player::Exact | Player::BackwardInduction)) => Limits::default(),
            _ => self.effort.limits(),
        }
    }
}

/// How much work an exact solution may take where it is one way of several.
pub fn quick_limits(max_states: Option<u64>) -> Limits {
    max_states.map_or(Limits::QUICK, |max_states| Limits { max_states, ..Limits::default() })
}

/// The entropic risk measure of a β that is a number.
pub fn entropic(beta: f64) -> Risk {
    Erm::new(beta).unwrap_or(Erm::MEAN).into()
}

/// All risk measures as they are written.
fn measures() -> String {
    let forms: Vec<String> = Risk::forms().map(ToString::to_string).collect();
    forms.join(", ")
}

/// Settings of the planner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// The published algorithm with the task's settings.
    Paper,
    /// The guided planner, the best there is; it needs the model's probabilities.
    Default,
}

/// Who chooses the actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PolicyName {
    /// The exact optimum if it can be computed soon, else the planner.
    Auto,
    /// The guided planner, or ERM-MCTS with `--preset paper`.
    Planner,
    /// Every action equally likely.
    Uniform,
    /// The exact optimum, where it can be computed.
    Exact,
    /// ERM backward induction, for linear objectives.
    BackwardInduction,
}

/// A value for which this holds.
fn read<T: FromStr>(text: &str, holds: impl Fn(&T) -> bool, must: impl Display) -> Result<T, String> {
    text.trim().parse().ok().filter(holds).ok_or_else(|| format!("it must be a {must}"))
}

pub fn beta(text: &str) -> Result<f64, String> {
    // Minus zero is zero: the sum has no sign.
    read(text, |beta: &f64| !beta.is_nan(), "number in [-inf, inf]").map(|beta| beta + 0.0)
}

pub fn risk(text: &str) -> Result<Risk, String> {
    text.parse().map_err(|error: gumdp::ParseRiskError| error.to_string())
}

pub fn trials(text: &str) -> Result<Trials, String> {
    text.parse()
}

/// A whole number of a range.
pub fn whole(low: u64, high: u64) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync + 'static {
    move |text| read(text, |value| (low..=high).contains(value), format_args!("whole number in [{low}, {high}]"))
}

/// Half the width of an interval.
pub fn precision(text: &str) -> Result<f64, String> {
    read(text, |&value: &f64| value > 0.0 && value.is_finite(), "positive number, half the width of the interval")
}

pub fn threads(text: &str) -> Result<usize, String> {
    read(text, |count| (1..=1024).contains(count), "whole number in [1, 1024]")
}

/// A time that may be 0.
pub fn patience(text: &str) -> Result<Duration, String> {
    if matches!(text.trim(), "0" | "0s") { Ok(Duration::ZERO) } else { duration(text) }
}

/// A time with a unit: 50ms, 1.5s, 5m.
pub fn duration(text: &str) -> Result<Duration, String> {
    let refusal = || "it must be a time such as 50ms, 1.5s or 5m, more than 0 and at most one day".to_owned();
    let units = [("ms", 1e-3), ("us", 1e-6), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let written = units.into_iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)));
    let (number, seconds_per_unit) = written.ok_or_else(refusal)?;
    let seconds = number.trim().parse::<f64>().map_err(|_| refusal())? * seconds_per_unit;
    if seconds > 0.0 && seconds <= 86_400.0 { Ok(Duration::from_secs_f64(seconds)) } else { Err(refusal()) }
}
