//! `gumdp evaluate`: the distribution of the cost of a policy that the user brings, and every measure of it.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use gumdp::oracle::{OracleError, distribution};
use gumdp::stats::Interval;
use gumdp::{Experiment, Precision, Risk, tail_note};
use gumdp_files::Task;
use serde::{Serialize, Serializer};

use super::{Run, heading, load, print_json, use_threads};
use crate::args::{AttitudesArgs, MAX_RUNS, precision, quick_limits, threads, whole};
use crate::brought::Brought;
use crate::draw;
use crate::exact::{Certain, Solver};
use crate::failure::BadInput;
use crate::interrupt;
use crate::measures::{self, Measure};
use crate::number::{Naming, interval, known, short};
use crate::progress::Progress;
use crate::store::Store;
use crate::talk::say;
use gumdp_plot::{Field, Table};

/// Compute the distribution of the cost of a policy that you bring, and all its measures.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp evaluate rooms --policy pi1 --beta 1,50\n  gumdp evaluate mine.toml --policy table.csv --out mine\n  gumdp solve msee --beta 50 --save careful.json && gumdp evaluate msee --policy careful.json --beta 50 --json"
)]
pub struct EvaluateArgs {
    /// Name of a built-in task, or a problem file.
    pub task: String,
    /// The policy: a file saved by `solve` or `plan` (.json), a table (.csv: state,action or time,state,action, both with
    /// probability if wanted, or action only), `uniform`, or the name of a script of the task. A saved one has its own attitude
    /// to risk, unless others are given.
    #[arg(long, value_name = "POLICY")]
    pub policy: String,
    /// The attitudes to risk.
    #[command(flatten)]
    pub attitudes: AttitudesArgs,
    /// Episodes, if the distribution is too large to be computed (default: 10000; the task's for a planner).
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, MAX_RUNS))]
    pub runs: Option<u64>,
    /// Play more until the 95 % interval of every risk is at most this far to either side.
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = precision)]
    pub precision: Option<f64>,
    /// Never play more episodes than this for --precision.
    #[arg(long, value_name = "N", requires = "precision", default_value_t = 1_000_000, allow_negative_numbers = true, value_parser = whole(1, MAX_RUNS))]
    pub max_runs: u64,
    /// Compute the distribution exactly if the policy reaches at most this many occupancy states (default: 20000000, within 1 GiB).
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(0, u64::MAX))]
    pub max_states: Option<u64>,
    /// Seed of all random numbers (default: that of a saved planner, else 0).
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = whole(0, u64::MAX))]
    pub seed: Option<u64>,
    /// Use this many threads (default: all cores). Results do not depend on it.
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = threads)]
    pub threads: Option<usize>,
    /// Folder for the distribution or the samples, the measures, a figure and a report.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// A JSON object instead of tables.
    #[arg(long)]
    pub json: bool,
}

/// Episodes of a policy that decides without thinking.
const USUAL_RUNS: u64 = 10_000;

/// What is known of a policy.
#[derive(Debug, Serialize)]
pub struct Evaluation {
    /// Name of the task.
    pub task: String,
    /// What the policy is.
    pub policy: String,
    /// Whether the distribution is exact, and not sampled.
    pub exact: bool,
    /// Why it is not.
    pub sampled_because: Option<String>,
    /// Number of episodes, if it is sampled.
    pub runs: Option<u64>,
    /// Their seed.
    pub seed: Option<u64>,
    /// Number of different costs.
    pub costs: usize,
    /// One for each measure.
    pub measures: Vec<Measured>,
    /// One for each attitude to risk.
    pub risks: Vec<RiskRow>,
    /// Costs with their probabilities, ascending.
    #[serde(skip)]
    pub distribution: Vec<(f64, f64)>,
    /// What the measures of the attitudes are called.
    #[serde(skip)]
    naming: Naming,
}

/// The value of a measure, and its 95 % interval if it is sampled.
#[derive(Debug, Serialize)]
pub struct Measured {
    measure: &'static str,
    level: Option<f64>,
    value: f64,
    #[serde(serialize_with = "crate::number::serialize")]
    low: f64,
    #[serde(serialize_with = "crate::number::serialize")]
    high: f64,
    #[serde(skip)]
    title: String,
}

/// The risk for one attitude, and how far it is from the lowest possible.
#[derive(Debug, Serialize)]
pub struct RiskRow {
    /// Attitude to risk.
    #[serde(serialize_with = "as_text")]
    pub risk: Risk,
    /// `null` unless the measure is entropic.
    #[serde(with = "crate::number::optional")]
    beta: Option<f64>,
    /// The risk.
    pub value: f64,
    #[serde(serialize_with = "crate::number::serialize")]
    low: f64,
    #[serde(serialize_with = "crate::number::serialize")]
    high: f64,
    optimum: Option<Certain>,
    gap: Option<f64>,
}

impl Run for EvaluateArgs {
    /// Evaluates, prints, writes and draws.
    fn run(&self) -> Result<()> {
        use_threads(self.threads)?;
        let task = load(&self.task)?;
        let brought = Brought::load(&self.policy, &task)?;
        let risks = self.attitudes.risks(&task, brought.risk);
        let store = self.out.as_deref().map(Store::folder).transpose()?;
        let limits = quick_limits(self.max_states);
        let spinner = Progress::spinner("computing the distribution");
        let exact = distribution(&task.problem, &*brought.policy, &limits);
        drop(spinner);
        let mut evaluation = match exact {
            Ok(distribution) => Evaluation::new(distribution.outcomes().collect(), &risks, None),
            Err(error) => self.sampled(&task, &brought, &risks, too_large(&error)?)?,
        };
        evaluation.task.clone_from(&task.name);
        evaluation.policy.clone_from(&brought.what);
        let entropic = risks.iter().all(|risk| risk.beta().is_some());
        evaluation.naming = Naming::new(!self.attitudes.risk.is_empty() || !entropic);
        let spinner = Progress::spinner("solving");
        let mut solver = Solver::new(&task.problem, limits);
        for risk in &mut evaluation.risks {
            risk.optimum = solver.optimum(risk.risk);
            risk.gap = risk.optimum.map(|optimum| risk.value - optimum.value);
        }
        drop(spinner);
        let printed =
            if self.json { print_json(&evaluation) } else { evaluation.print(&task, &mut io::stdout().lock()) };
        if let Some(store) = &store {
            evaluation.keep(store, &task)?;
            say!("results, figures and report.html are in {}", store.dir().display());
        }
        printed
    }
}

impl EvaluateArgs {
    /// What many episodes say.
    fn sampled(&self, task: &Task, brought: &Brought, risks: &[Risk], because: String) -> Result<Evaluation> {
        let planner = brought.planner.as_ref();
        let seed = self.seed.or(planner.map(|planner| planner.seed)).unwrap_or(0);
        let most = if self.precision.is_some() { self.max_runs } else { u64::MAX };
        let runs = self.runs.unwrap_or(planner.map_or(USUAL_RUNS, |_| task.defaults.runs).min(most));
        let progress = Progress::new(runs);
        let experiment = Experiment {
            stop: interrupt::stop(),
            watch: &progress,
            paths: false,
            ..Experiment::new(&task.problem, &*brought.policy, seed)
        };
        let mut records = experiment.play(Vec::new(), runs).map_err(interrupt::of_experiment)?;
        if let Some(half_width) = self.precision {
            let precision = Precision { half_width, most_runs: self.max_runs };
            records = experiment.play_until(records, risks, &precision).map_err(interrupt::of_experiment)?;
        }
        let costs: Vec<f64> = records.iter().map(|record| record.cost).collect();
        let (mut sorted, share) = (costs.clone(), 1.0 / costs.len() as f64);
        sorted.sort_unstable_by(f64::total_cmp);
        let equal = sorted.chunk_by(|a, b| a == b);
        let distribution = equal.map(|equal| (equal[0], equal.len() as f64 * share)).collect();
        let evaluation = Evaluation::new(distribution, risks, Some((&costs, seed, because)));
        let half_width = evaluation.risks.iter().map(RiskRow::half_width).fold(0.0, f64::max);
        if self.precision.is_some_and(|wanted| half_width > wanted) {
            say!("--max-runs {} is reached: the risk is known to ±{}", self.max_runs, short(half_width));
        }
        Ok(evaluation)
    }
}

/// A measure as `--risk` takes it.
fn as_text<S: Serializer>(risk: &Risk, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(risk)
}

/// Why the distribution is not computed; other failures than its size are failures.
fn too_large(error: &OracleError) -> Result<String> {
    match error {
        OracleError::TooLarge { limit, .. } => Ok(format!("its distribution takes more than {limit} occupancy states")),
        OracleError::Memory { limit, .. } => Ok(format!("its distribution takes more than {} MiB", limit >> 20)),
        OracleError::NoProbabilities => Ok("a planner can only be played".to_owned()),
        OracleError::NotFinite => Err(error.clone().into()),
        other => Err(BadInput::new(other).into()),
    }
}

impl RiskRow {
    fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

impl Evaluation {
    /// All measures of costs with their probabilities; where these are sampled, from which costs, with which seed, and why.
    fn new(distribution: Vec<(f64, f64)>, risks: &[Risk], sampled: Option<(&[f64], u64, String)>) -> Self {
        let usual = measures::all();
        let all: Vec<Measure> = usual.iter().copied().chain(risks.iter().map(|&risk| Measure::Asked(risk))).collect();
        let values: Vec<f64> = all.iter().map(|measure| measure.of(&distribution)).collect();
        let intervals = match &sampled {
            Some((costs, seed, _)) => measures::intervals(costs, &all, *seed),
            None => values.iter().map(|&value| Interval { low: value, high: value }).collect(),
        };
        let mut found = values.into_iter().zip(intervals);
        let measured = |(measure, (value, Interval { low, high })): (Measure, (f64, Interval))| Measured {
            measure: measure.id(),
            level: measure.level(),
            value,
            low,
            high,
            title: measure.title(),
        };
        let measures = usual.into_iter().zip(found.by_ref()).map(measured).collect();
        let risk = |(&risk, (value, Interval { low, high })): (&Risk, (f64, Interval))| RiskRow {
            risk,
            beta: risk.beta(),
            value,
            low,
            high,
            optimum: None,
            gap: None,
        };
        Self {
            task: String::new(),
            policy: String::new(),
            exact: sampled.is_none(),
            runs: sampled.as_ref().map(|(costs, ..)| costs.len() as u64),
            seed: sampled.as_ref().map(|(_, seed, _)| *seed),
            sampled_because: sampled.map(|(.., because)| because),
            costs: distribution.len(),
            measures,
            risks: risks.iter().zip(found).map(risk).collect(),
            distribution,
            naming: Naming::Beta,
        }
    }

    /// How the distribution is known.
    pub fn origin(&self) -> String {
        let costs = if self.costs == 1 { "one cost".to_owned() } else { format!("{} costs", self.costs) };
        match (&self.sampled_because, self.runs, self.seed) {
            (Some(because), Some(runs), Some(seed)) => format!("sampled: {runs} runs, seed {seed} ({because})"),
            _ => format!("exact distribution, {costs}"),
        }
    }

    /// The tables of measures and of risks; what is exact has no intervals.
    pub fn tables(&self) -> [Table; 2] {
        let between = |low, high| (!self.exact).then(|| Field::number("95% interval", interval(low, high)));
        let [label, value] = self.naming.headers();
        let name = if self.naming == Naming::Beta { Field::number } else { Field::text };
        let measure = |m: &Measured| {
            let named = [Field::text("measure", &m.title), Field::number("cost", short(m.value))];
            named.into_iter().chain(between(m.low, m.high)).collect()
        };
        let risk = |row: &RiskRow| {
            let optimum = row.optimum.map(|optimum| optimum.value);
            let named = [name(label, self.naming.name(row.risk)), Field::number(value, short(row.value))];
            let compared = [Field::number("optimum", known(optimum)), Field::number("gap", known(row.gap))];
            named.into_iter().chain(between(row.low, row.high)).chain(compared).collect()
        };
        [Table::of(&self.measures, measure), Table::of(&self.risks, risk)]
    }

    fn print(&self, task: &Task, out: &mut impl Write) -> Result<()> {
        writeln!(out, "{}\n{}\n{}; lower is better", heading(task), self.policy, self.origin())?;
        for table in self.tables() {
            writeln!(out)?;
            table.print(out)?;
        }
        for note in self.risks.iter().filter_map(|row| tail_note(row.risk, self.runs?)) {
            writeln!(out, "\n{note}")?;
        }
        Ok(())
    }

    /// Writes the distribution, the measures, the figure and the report.
    fn keep(&self, store: &Store, task: &Task) -> Result<()> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["cost", "probability"])?;
        for (cost, probability) in &self.distribution {
            writer.write_record([cost.to_string(), probability.to_string()])?;
        }
        store.write("distribution.csv", &writer.into_inner()?)?;
        store.write_json("evaluation.json", self)?;
        draw::draw_evaluation(store, task, self)
    }
}
