//! `gumdp evaluate`: the distribution of the cost of a policy that the user brings, and every measure of it.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use gumdp::oracle::{Limits, OracleError, distribution};
use gumdp::stats::Interval;
use gumdp::{Experiment, Precision, Problem, Risk, tail_note};
use gumdp_files::Task;
use serde::{Serialize, Serializer};

use super::{Run, entropic, heading, limits, load, print_json, with_threads};
use crate::args::{MAX_RUNS, PolicyName, beta, precision, risk, threads, whole};
use crate::brought::Brought;
use crate::draw;
use crate::exact::{Certain, Solver};
use crate::failure::BadInput;
use crate::interrupt;
use crate::measures::{self, Measure};
use crate::number::{Naming, interval, known, short};
use crate::progress::Progress;
use crate::results::distinct;
use crate::store::Store;
use gumdp_plot::Table;

/// Compute the distribution of the cost of a policy that you bring, and all its measures.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp evaluate rooms --policy pi1 --beta 1,50\n  gumdp evaluate mine.toml --policy table.csv --out mine\n  gumdp solve msee --beta 50 --save careful.json && gumdp evaluate msee --policy careful.json --beta 50 --json"
)]
pub struct EvaluateArgs {
    /// Name of a built-in task, or a problem file.
    pub task: String,
    /// The policy: a file saved by `solve` or `plan` (.json), a table (.csv: state,action or time,state,action, both with
    /// probability if wanted, or action only), `uniform`, or the name of a script of the task.
    #[arg(long, value_name = "POLICY")]
    pub policy: String,
    /// Attitudes to risk, separated by commas: 0 is the mean, inf the worst case, negative seeks risk (default: that of a
    /// saved policy, else the task's).
    #[arg(long, short, value_name = "B,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = beta)]
    pub beta: Vec<f64>,
    /// Risk measures instead, separated by commas: mean, worst, best, erm:B, entropic-seeking:B (negative β),
    /// cvar:LEVEL, evar:LEVEL or mean-cvar:LEVEL:WEIGHT.
    #[arg(long, value_name = "MEASURE,…", value_delimiter = ',', value_parser = risk, conflicts_with = "beta")]
    pub risk: Vec<Risk>,
    /// Episodes, if the distribution is too large to be computed (default: 10000; the task's for a planner).
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, MAX_RUNS))]
    pub runs: Option<u64>,
    /// Play more until the 95 % interval of every risk is at most this far to either side.
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = precision)]
    pub precision: Option<f64>,
    /// Never play more episodes than this for --precision.
    #[arg(long, value_name = "N", requires = "precision", default_value_t = 1_000_000, allow_negative_numbers = true, value_parser = whole(1, MAX_RUNS))]
    pub max_runs: u64,
    /// Compute the distribution exactly if the policy reaches at most this many occupancy states (default: 20000000, within 256 MiB).
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

impl Run for EvaluateArgs {
    fn run(&self, quiet: bool) -> Result<()> {
        evaluate(self, quiet)
    }

    fn task(&self) -> Option<&str> {
        Some(&self.task)
    }
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

/// Evaluates, prints, writes and draws.
fn evaluate(args: &EvaluateArgs, quiet: bool) -> Result<()> {
    let task = load(&args.task)?;
    let brought = Brought::load(&args.policy, &task)?;
    let risks = risks(args, &task, brought.risk);
    let store = match &args.out {
        Some(dir) => Some(Store::folder(dir).map_err(|error| BadInput::new(format!("{error:#}")))?),
        None => None,
    };
    let limits = limits(PolicyName::Auto, args.max_states);
    let evaluation = with_threads(args.threads, || {
        let spinner = Progress::spinner("computing the distribution", quiet);
        let exact = distribution(&task.problem, &*brought.policy, &limits);
        drop(spinner);
        let mut evaluation = match exact {
            Ok(distribution) => exactly(&distribution.outcomes().collect::<Vec<_>>(), &risks),
            Err(error) => sampled(args, &task, &brought, &risks, &too_large(&error)?, quiet)?,
        };
        evaluation.task.clone_from(&task.name);
        evaluation.policy.clone_from(&brought.what);
        let entropic = risks.iter().all(|risk| risk.beta().is_some());
        evaluation.naming = Naming::new(!args.risk.is_empty() || !entropic);
        compare(&mut evaluation, &task.problem, limits, quiet);
        Ok(evaluation)
    })?;
    let printed = if args.json { print_json(&evaluation) } else { print(&task, &evaluation, &mut io::stdout().lock()) };
    if let Some(store) = &store {
        keep(store, &task, &evaluation)?;
        if !quiet {
            crate::talk::say!("results, figures and report.html are in {}", store.dir().display());
        }
    }
    printed
}

/// The measures asked for by either option, each once; else that of a saved policy, else the task's.
fn risks(args: &EvaluateArgs, task: &Task, saved: Option<Risk>) -> Vec<Risk> {
    let given = match saved {
        _ if !args.risk.is_empty() => args.risk.clone(),
        _ if !args.beta.is_empty() => args.beta.iter().map(|&beta| entropic(beta)).collect(),
        Some(risk) => vec![risk],
        None => task.defaults.risks(),
    };
    distinct(given.into_iter().map(|risk| task.problem.measure(risk)))
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

fn exactly(distribution: &[(f64, f64)], risks: &[Risk]) -> Evaluation {
    let measured = |measure: Measure| {
        let value = measure.of(distribution);
        let (measure, level, title) = (measure.id(), measure.level(), measure.title());
        Measured { measure, level, value, low: value, high: value, title }
    };
    let row = |&risk: &Risk| {
        let value = Measure::Asked(risk).of(distribution);
        RiskRow { risk, beta: risk.beta(), value, low: value, high: value, optimum: None, gap: None }
    };
    Evaluation {
        task: String::new(),
        policy: String::new(),
        exact: true,
        sampled_because: None,
        runs: None,
        seed: None,
        costs: distribution.len(),
        measures: measures::all().into_iter().map(measured).collect(),
        risks: risks.iter().map(row).collect(),
        distribution: distribution.to_vec(),
        naming: Naming::Beta,
    }
}

fn sampled(
    args: &EvaluateArgs,
    task: &Task,
    brought: &Brought,
    risks: &[Risk],
    because: &str,
    quiet: bool,
) -> Result<Evaluation> {
    let planner = brought.planner.as_ref();
    let seed = args.seed.or(planner.map(|planner| planner.seed)).unwrap_or(0);
    let most = if args.precision.is_some() { args.max_runs } else { u64::MAX };
    let runs = args.runs.unwrap_or(planner.map_or(USUAL_RUNS, |_| task.defaults.runs).min(most));
    let progress = Progress::new(runs, quiet);
    let experiment = Experiment {
        stop: interrupt::stop(),
        watch: &progress,
        paths: false,
        ..Experiment::new(&task.problem, &*brought.policy, seed)
    };
    let mut records = experiment.play(Vec::new(), runs).map_err(interrupt::of_experiment)?;
    if let Some(half_width) = args.precision {
        let precision = Precision { half_width, most_runs: args.max_runs };
        records = experiment.play_until(records, risks, &precision).map_err(interrupt::of_experiment)?;
    }
    let evaluation = of_samples(&records.iter().map(|record| record.cost).collect::<Vec<_>>(), risks, seed, because);
    let half_width = evaluation.risks.iter().map(RiskRow::half_width).fold(0.0, f64::max);
    if !quiet && args.precision.is_some_and(|wanted| half_width > wanted) {
        crate::talk::say!("--max-runs {} is reached: the risk is known to ±{}", args.max_runs, short(half_width));
    }
    Ok(evaluation)
}

fn of_samples(costs: &[f64], risks: &[Risk], seed: u64, because: &str) -> Evaluation {
    let mut sorted = costs.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let share = 1.0 / sorted.len() as f64;
    let distribution: Vec<(f64, f64)> =
        sorted.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len() as f64 * share)).collect();
    let all = measures::all();
    let wanted: Vec<Measure> = all.iter().copied().chain(risks.iter().map(|&risk| Measure::Asked(risk))).collect();
    let intervals = measures::intervals(costs, &wanted, seed);
    let mut evaluation = exactly(&distribution, risks);
    for (measured, &Interval { low, high }) in evaluation.measures.iter_mut().zip(&intervals) {
        (measured.low, measured.high) = (low, high);
    }
    for (risk, &Interval { low, high }) in evaluation.risks.iter_mut().zip(&intervals[all.len()..]) {
        (risk.low, risk.high) = (low, high);
    }
    Evaluation {
        exact: false,
        sampled_because: Some(because.to_owned()),
        runs: Some(costs.len() as u64),
        seed: Some(seed),
        ..evaluation
    }
}

/// Adds the optimum of each measure, where it can be computed.
fn compare(evaluation: &mut Evaluation, problem: &Problem, limits: Limits, quiet: bool) {
    let _spinner = Progress::spinner("solving", quiet);
    let mut solver = Solver::new(problem, limits);
    for risk in &mut evaluation.risks {
        risk.optimum = solver.optimum(risk.risk);
        risk.gap = risk.optimum.map(|optimum| risk.value - optimum.value);
    }
}

impl RiskRow {
    fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

impl Evaluation {
    /// How the distribution is known.
    pub fn origin(&self) -> String {
        let costs = if self.costs == 1 { "one cost".to_owned() } else { format!("{} costs", self.costs) };
        match (&self.sampled_because, self.runs, self.seed) {
            (Some(because), Some(runs), Some(seed)) => format!("sampled: {runs} runs, seed {seed} ({because})"),
            _ => format!("exact distribution, {costs}"),
        }
    }

    fn measure_rows(&self) -> Vec<[String; 3]> {
        let row = |m: &Measured| [m.title.clone(), short(m.value), interval(m.low, m.high)];
        self.measures.iter().map(row).collect()
    }

    fn risk_rows(&self) -> Vec<[String; 5]> {
        let row = |row: &RiskRow| {
            [
                self.naming.name(row.risk),
                short(row.value),
                interval(row.low, row.high),
                known(row.optimum.map(|optimum| optimum.value)),
                known(row.gap),
            ]
        };
        self.risks.iter().map(row).collect()
    }

    /// The tables of measures and of risks: heading, and cells by row.
    pub fn tables(&self) -> [Table; 2] {
        let table = |names: &[&str], rows: Vec<Vec<String>>| {
            let shown = |&column: &usize| !self.exact || names[column] != "95% interval";
            let columns: Vec<usize> = (0..names.len()).filter(shown).collect();
            let header: Vec<&str> = columns.iter().map(|&column| names[column]).collect();
            let mut table = Table::new(&header, if header[0] == "beta" { &[] } else { &[0] });
            for row in rows {
                table.row(columns.iter().map(|&column| row[column].clone()).collect());
            }
            table
        };
        let [label, value] = self.naming.headers();
        let measures = self.measure_rows().into_iter().map(Vec::from).collect();
        let risks = self.risk_rows().into_iter().map(Vec::from).collect();
        [
            table(&["measure", "cost", "95% interval"], measures),
            table(&[label, value, "95% interval", "optimum", "gap"], risks),
        ]
    }
}

fn print(task: &Task, evaluation: &Evaluation, out: &mut impl Write) -> Result<()> {
    writeln!(out, "{}", heading(task))?;
    writeln!(out, "{}", evaluation.policy)?;
    writeln!(out, "{}; lower is better", evaluation.origin())?;
    for table in evaluation.tables() {
        writeln!(out)?;
        table.print(out)?;
    }
    let notes = evaluation.risks.iter().filter_map(|row| tail_note(row.risk, evaluation.runs?));
    for note in notes {
        writeln!(out, "\n{note}")?;
    }
    Ok(())
}

/// Writes the distribution or the samples' distribution, the measures, the figure and the report.
fn keep(store: &Store, task: &Task, evaluation: &Evaluation) -> Result<()> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["cost", "probability"])?;
    for (cost, probability) in &evaluation.distribution {
        writer.write_record([cost.to_string(), probability.to_string()])?;
    }
    store.write("law.csv", &writer.into_inner()?)?;
    let mut json = serde_json::to_vec_pretty(evaluation)?;
    json.push(b'\n');
    store.write("evaluation.json", &json)?;
    draw::draw_evaluation(store, task, evaluation)
}
