//! `gumdp frontier`: what each attitude to risk costs and saves, and where the optimal behaviour changes.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use gumdp::measures::{Form, Swept};
use gumdp::oracle::{self, Limits};
use gumdp::{Erm, MAX_SIMULATIONS, Problem, Risk};
use gumdp_files::Task;

use super::{Run, heading, load, print_json, with_threads};
use crate::args::{RandomArgs, beta, entropic, quick_limits, whole};
use crate::draw;
use crate::exact::unsolved;
use crate::failure::BadInput;
use crate::frontier::{self, Sampling, TradeOff};
use crate::progress::Progress;
use crate::results::distinct;
use crate::store::Store;

/// Sweep the attitude to risk: what it costs, what it saves, and where the optimal behaviour changes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp frontier rooms\n  gumdp frontier msee --levels 0,1,10,100,inf --out careful\n  gumdp frontier grid-mo --risk cvar --levels 0,0.5,0.9,0.95 --json\n  gumdp frontier grid-msee --runs 50\n\nAll levels are played with common random numbers."
)]
pub struct FrontierArgs {
    /// Name of a built-in task, or a problem file.
    pub task: String,
    /// The measure whose number is swept.
    #[arg(long, value_parser = swept_names(), default_value = "erm")]
    pub risk: &'static Form,
    /// Levels, separated by commas: β in [-inf, inf] for erm (default: 50 from 0 to inf), a level in [0, 1] (default: 21 from 0
    /// to 0.99), or a threshold in units of cost (default: 21 from the best to the worst case); 6 by default where the planner plays.
    #[arg(long, value_name = "L,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = beta)]
    pub levels: Vec<f64>,
    /// Solve the problem exactly if it has at most this many occupancy states (default: 20000000, within 256 MiB); else the
    /// planner plays at each level.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, u64::MAX))]
    pub max_states: Option<u64>,
    /// Episodes at each level, where the problem is planned and not solved.
    #[arg(long, value_name = "N", default_value_t = 100, allow_negative_numbers = true, value_parser = whole(2, 1_000_000))]
    pub runs: u64,
    /// Simulations per decision of the planner (default: the task's).
    #[arg(long, value_name = "n", allow_negative_numbers = true, value_parser = whole(1, MAX_SIMULATIONS))]
    pub simulations: Option<u64>,
    /// Random numbers and threads.
    #[command(flatten)]
    pub random: RandomArgs,
    /// Folder for results, figures and report (default: gumdp-out/frontier-TASK; with --json nothing is written unless this is
    /// given).
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// A JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

impl Run for FrontierArgs {
    fn run(&self) -> Result<()> {
        frontier(self)
    }
}

/// Reads the name of a measure that can be swept.
fn swept_names() -> impl TypedValueParser<Value = &'static Form> {
    let names = Risk::forms().filter(|form| form.sweep.is_some());
    let named = PossibleValuesParser::new(names.map(|form| PossibleValue::new(form.name).help(form.about)));
    named.try_map(|name| Risk::forms().find(|form| form.name == name).ok_or("no measure"))
}

/// Levels of β that are neither 0 nor infinite, if none are given.
const USUAL_BETAS: u32 = 48;
/// Their range, as multiples of one over the spread of the cost.
const USUAL_RANGE: [f64; 2] = [0.1, 1000.0];
/// Levels if none are given and the planner plays.
const SAMPLED: usize = 6;
/// Rows of the printed table, at most.
const ROWS: usize = 15;
/// Changes that are told about, at most.
const TOLD: usize = 8;

/// Sweeps, prints, writes and draws.
fn frontier(args: &FrontierArgs) -> Result<()> {
    let task = load(&args.task)?;
    let given = given_risks(args)?;
    let store = open_store(args, &task)?;
    let limits = quick_limits(args.max_states);
    let (frontier, sampled) = with_threads(args.random.threads, || {
        let spinner = Progress::spinner("choosing levels");
        let risks = if given.is_empty() { usual_risks(args.risk, &task, &limits) } else { given.clone() };
        drop(spinner);
        let progress = Progress::levels(risks.len() as u64);
        let solved = |levels| progress.solved(levels);
        let error = match oracle::frontier_with_progress(&task.problem, &risks, &limits, solved) {
            Ok(frontier) => return Ok((frontier, None)),
            Err(error) if error.is_limit() => error,
            Err(other) => return Err(unsolved(&task.name, &other)),
        };
        drop(progress);
        let risks = if given.is_empty() { few(&risks) } else { given };
        crate::talk::say!("{}: sampling {} levels, {} runs each", error.in_short(), risks.len(), args.runs);
        let progress = Progress::new(args.runs * risks.len() as u64);
        let sampling = Sampling { runs: args.runs, simulations: args.simulations, seed: args.random.seed };
        let (frontier, sampled) = frontier::sample(&task, &risks, sampling, error.in_short(), &progress)?;
        Ok((frontier, Some(sampled)))
    })?;
    let trade_off = TradeOff::new(&task, args.risk, &frontier, sampled);
    let printed = if args.json {
        print_json(&trade_off)
    } else {
        let place = store.as_ref().map(|store| format!("in {}", store.dir().join("frontier.csv").display()));
        let place = place.unwrap_or_else(|| "printed with --json".to_owned());
        print(&task, &trade_off, &place, &mut io::stdout().lock())
    };
    if let Some(store) = &store {
        keep(store, &task, &trade_off, &frontier)?;
        crate::talk::say!("results, figures and report.html are in {}", store.dir().display());
    }
    printed
}

/// The measures asked for, each once, in the order of growing aversion.
fn given_risks(args: &FrontierArgs) -> Result<Vec<Risk>> {
    let mut levels = args.levels.clone();
    levels.sort_unstable_by(f64::total_cmp);
    let levels = distinct(levels.into_iter());
    if levels.len() == 1 {
        let text = format!("--levels holds only {}; at least two different levels are needed", levels[0]);
        return Err(BadInput::new(text).hint("for one level: gumdp solve").into());
    }
    levels.into_iter().map(|level| at_level(args.risk, level)).collect()
}

fn at_level(form: &Form, level: f64) -> Result<Risk> {
    let is_level = form.sweep.is_some_and(|sweep| sweep.over == Swept::Level);
    Ok(form.at(level).map_err(|error| {
        if is_level {
            let name = form.name;
            BadInput::new(format!("--levels: {level} is not a level of {name}; it must lie in [0, 1]"))
                .hint("0 is the mean, 0.95 looks at the worst 5 %, 1 is the worst case")
        } else {
            BadInput::new(format!("--levels: {error}"))
        }
    })?)
}

/// The measures that are swept if no levels are given.
fn usual_risks(form: &Form, task: &Task, limits: &Limits) -> Vec<Risk> {
    let at = |levels: Vec<f64>| levels.into_iter().filter_map(|level| form.at(level).ok()).collect();
    match form.sweep.map(|sweep| sweep.over) {
        Some(Swept::Level) => return at((0..20).map(|k| f64::from(k) / 20.0).chain([0.99]).collect()),
        Some(Swept::Cost) => {
            let (low, high) = extremes(&task.problem, limits);
            let share = |k: u32| low + (high - low) * f64::from(k) / 20.0;
            return at(distinct((0..=20).map(share).map(gumdp::words::rounded)));
        }
        _ => {}
    }
    let [low, high] = match task.defaults.curve {
        Some(curve) => curve,
        None => USUAL_RANGE.map(|share| share / spread(&task.problem, limits)),
    };
    let (low, high) = (low.clamp(1e-300, 1e300), high.clamp(1e-300, 1e300));
    // The levels are round: three digits are easier to ask for again than seventeen.
    let level = |k: u32| rounded(low * (high / low).powf(f64::from(k) / f64::from(USUAL_BETAS - 1)));
    let betas = std::iter::once(0.0).chain((0..USUAL_BETAS).map(level)).chain([f64::INFINITY]);
    distinct(betas).into_iter().map(entropic).collect()
}

/// The best and the worst cost that is attained by those who look at nothing else, or the bounds of the objective.
fn extremes(problem: &Problem, limits: &Limits) -> (f64, f64) {
    let bounds = problem.objective().bounds();
    let of = |erm: Erm, other: f64| oracle::solve(problem, erm, limits).map_or(other, |solution| solution.value);
    (of(Erm::BEST, bounds.low), of(Erm::WORST, bounds.high))
}

/// How far apart the costs of mean-optimal behaviour are; 1 if there is nothing to learn from it.
fn spread(problem: &Problem, limits: &Limits) -> f64 {
    let distribution = oracle::solve(problem, Erm::MEAN, limits)
        .and_then(|solution| oracle::distribution(problem, &solution.policy(), limits));
    let bounds = problem.objective().bounds();
    let known = distribution
        .map(|distribution| distribution.max() - distribution.min())
        .into_iter()
        .chain([bounds.high - bounds.low]);
    known.into_iter().find(|spread| spread.is_finite() && *spread > 0.0).unwrap_or(1.0)
}

/// Three significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// Some of the levels, from the first to the last: playing takes long.
fn few(risks: &[Risk]) -> Vec<Risk> {
    (0..SAMPLED).map(|k| risks[k * (risks.len() - 1) / (SAMPLED - 1)]).collect()
}

fn open_store(args: &FrontierArgs, task: &Task) -> Result<Option<Store>> {
    let dir = match (&args.out, args.json) {
        (Some(dir), _) => dir.clone(),
        (None, true) => return Ok(None),
        (None, false) => PathBuf::from("gumdp-out").join(format!("frontier-{}", task.name)),
    };
    Ok(Some(Store::folder(&dir)?))
}

/// `place` is where all levels are.
fn print(task: &Task, trade_off: &TradeOff, place: &str, out: &mut impl Write) -> Result<()> {
    writeln!(out, "{}", heading(task))?;
    writeln!(out, "{}; lower is better\n", trade_off.origin())?;
    let rows = trade_off.telling_rows(ROWS);
    trade_off.table(rows.iter().copied()).print(out)?;
    let left_out = trade_off.levels.len() - rows.len();
    if left_out > 0 {
        let levels = if left_out == 1 { "level is" } else { "levels are" };
        writeln!(out, "{left_out} more {levels} {place}")?;
    }
    writeln!(out)?;
    for sentence in trade_off.sentences(TOLD) {
        writeln!(out, "{sentence}")?;
    }
    Ok(())
}

/// Writes levels, distributions, figures and report.
fn keep(store: &Store, task: &Task, trade_off: &TradeOff, frontier: &oracle::Frontier) -> Result<()> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for level in &trade_off.levels {
        writer.serialize(level)?;
    }
    store.write("frontier.csv", &writer.into_inner()?)?;
    let mut json = serde_json::to_vec_pretty(trade_off)?;
    json.push(b'\n');
    store.write("frontier.json", &json)?;
    draw::draw_frontier(store, task, trade_off, frontier, TOLD)
}
