//! `gumdp frontier`: what each attitude to risk costs and saves, and where the optimal behaviour changes.

use std::io::Write;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use gumdp::frontier::{self, Frontier, SampleError};
use gumdp::measures::{Form, Swept};
use gumdp::oracle::{Limits, OracleError};
use gumdp::{AgentError, Budget, Risk, Spec, Who};
use gumdp_files::Task;

use super::{Run, heading, load, place, print_json, use_threads};
use crate::args::{CommonArgs, beta, patience, quick_limits, whole};
use crate::draw;
use crate::exact::unsolved;
use crate::failure::{BadInput, Interrupted};
use crate::frontier::TradeOff;
use crate::interrupt;
use crate::number::{self, short};
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
    /// Levels, separated by commas: β in [-inf, inf] for erm (default: the task's and 26 from 0 to inf), a level in [0, 1] (default: 21
    /// from 0 to 0.99), or a threshold in units of cost (default: 21 from the best to the worst case); fewer by default where costs
    /// are sampled.
    #[arg(long, value_name = "L,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = beta)]
    pub levels: Vec<f64>,
    /// Solve the problem exactly if it has at most this many occupancy states (default: 20000000, within 1 GiB), and the distribution
    /// of costs a tenth of that; else costs are sampled at each level.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, u64::MAX))]
    pub max_states: Option<u64>,
    /// When all levels are known, look for changes between them for this long by the clock; 0 looks for none.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = patience)]
    pub patience: Duration,
    /// Episodes at each level, where costs are sampled.
    #[arg(long, value_name = "N", default_value_t = 100, allow_negative_numbers = true, value_parser = whole(2, 1_000_000))]
    pub runs: u64,
    /// How it is played, and what becomes of it.
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Reads the name of a measure that can be swept.
fn swept_names() -> impl TypedValueParser<Value = &'static Form> {
    let names = Risk::forms().filter(|form| form.sweep.is_some());
    let named = PossibleValuesParser::new(names.map(|form| PossibleValue::new(form.name).help(form.about)));
    named.try_map(|name| Risk::forms().find(|form| form.name == name).ok_or("no measure"))
}

/// Rows of the printed table, at most.
const ROWS: usize = 15;
/// Changes that are told about, at most.
const TOLD: usize = 8;

impl Run for FrontierArgs {
    /// Sweeps, prints, writes and draws.
    fn run(&self) -> Result<()> {
        use_threads(self.common.random.threads)?;
        let task = load(&self.task)?;
        let given = given_risks(self)?;
        let place = place(self.common.out.as_ref(), self.common.json, || format!("frontier-{}", task.name));
        let store = place.as_deref().map(Store::folder).transpose()?.map(|store| store.drawing(&self.common.figures));
        let frontier = found(self, &task, &given)?;
        interrupt::finish();
        let trade_off = TradeOff::new(&task, self.risk, &frontier);
        let printed = if self.common.json {
            print_json(&trade_off)
        } else {
            let place = store.as_ref().map(|store| format!("in {}", store.dir().join("frontier.csv").display()));
            let place = place.unwrap_or_else(|| "printed with --json".to_owned());
            print(&task, &trade_off, &place, &mut crate::talk::stdout())
        };
        if let Some(store) = &store {
            keep(store, &task, &trade_off, &frontier)?;
            crate::talk::say!("results, figures and report.html are in {}", store.dir().display());
        }
        printed?;
        if frontier.ended == Some(OracleError::Stopped) { Err(Interrupted.into()) } else { Ok(()) }
    }
}

/// The frontier over these measures, or the usual ones: exact, or sampled if that is too large.
fn found(args: &FrontierArgs, task: &Task, given: &[Risk]) -> Result<Frontier> {
    let (problem, defaults) = (&task.problem, &task.defaults);
    let (own, curve) = (defaults.own_risks(), defaults.curve);
    let limits = Limits { stop: interrupt::stop().clone(), ..quick_limits(args.max_states) };
    let spinner = Progress::spinner("choosing levels");
    let usual = || frontier::usual(problem, args.risk, &own, curve, &limits);
    let risks = if given.is_empty() { usual() } else { Ok(given.into()) };
    drop(spinner);
    // Of a cost that is negative somewhere no share is shown; a set without pairs keeps its place.
    let marked: Vec<Vec<bool>> =
        task.features.iter().map(|(_, cost)| frontier::marked(cost).unwrap_or_default()).collect();
    let exact = |risks: Vec<Risk>| {
        let progress = Progress::levels(risks.len() as u64);
        frontier::exact(problem, &risks, &marked, &limits, args.patience, |point, behaviour| {
            let [value, mean, tail] = [point.value, behaviour.costs.mean(), behaviour.tail()].map(short);
            progress.solved(format!("{}: {value}; mean {mean}, worst 5 % {tail}", number::risk_label(point.risk)));
            interrupt::something_is_known();
        })
    };
    let because = match risks.and_then(exact) {
        Ok(frontier) => return Ok(frontier),
        Err(error) if error.is_limit() => error,
        Err(OracleError::Stopped) => return Err(Interrupted.into()),
        Err(other) => return Err(unsolved(&task.name, &other)),
    };
    let few = || frontier::few(problem, args.risk, &own, curve);
    let risks = if given.is_empty() { few() } else { given.into() };
    crate::talk::say!("{}: sampling {} levels, {} runs each", because.in_short(), risks.len(), args.runs);
    let progress = Progress::new(args.runs * risks.len() as u64);
    let spec = Spec {
        budget: Some(Budget::simulations(args.common.simulations.unwrap_or(defaults.simulations))),
        limits,
        seed: args.common.random.seed,
        ..Spec::new(Who::Auto(defaults.guided.clone()), Risk::MEAN)
    };
    let begin = |risk| progress.message(format!("{} {}", task.name, number::risk_label(risk)));
    frontier::sampled(problem, &risks, &marked, &spec, args.runs, &because, &progress, begin).map_err(|error| {
        match error {
            error if error.is_stopped() => Interrupted.into(),
            SampleError::Agent(AgentError::Oracle(error)) => unsolved(&task.name, &error),
            SampleError::Experiment(error) => interrupt::of_experiment(error),
            error => BadInput::new(error).into(),
        }
    })
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
fn keep(store: &Store, task: &Task, trade_off: &TradeOff, frontier: &Frontier) -> Result<()> {
    store.write_table("frontier.csv", |table| trade_off.levels.iter().try_for_each(|level| table.serialize(level)))?;
    store.write_json("frontier.json", trade_off)?;
    draw::draw_frontier(store, task, trade_off, frontier, TOLD)
}
