//! `gumdp evaluate`: the distribution of the cost of a policy that the user brings, and every measure of it.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use gumdp::oracle::{Distribution, OracleError, distribution};
use gumdp::stats::{self, Costs, Interval, Shown, Statistic, Trust};
use gumdp::trials::Trials;
use gumdp::{Bounds, Experiment, Precision, Risk, RiskError};
use gumdp_files::Task;
use serde::Serialize;

use super::{Run, heading, load, print_json, use_threads};
use crate::args::{AttitudesArgs, FiguresArgs, MAX_RUNS, only_the_mean, precision, quick_limits, threads, whole};
use crate::brought::Brought;
use crate::draw;
use crate::exact::{Certain, Solver};
use crate::failure::BadInput;
use crate::interrupt;
use crate::number::{Attitude, Naming, interval, known, short};
use crate::progress::Progress;
use crate::results::{MARKED, TOO_LOW};
use crate::store::Store;
use crate::talk::say;
use crate::trials;
use gumdp_plot::{Field, Table};

/// Compute the distribution of the cost of a policy that you bring, and all its measures.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp evaluate rooms --policy pi1 --beta 1,50 --json\n  gumdp evaluate mine.toml --policy table.csv --out mine\n  gumdp solve msee --beta 50 --save careful.json && gumdp evaluate msee --policy careful.json\n  gumdp evaluate rooms --policy uniform --trials 1,10,inf"
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
    /// The mean of f over the average occupancy of K episodes instead, for each of these K; inf is f of the expected occupancy.
    #[arg(long, value_name = "K,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = crate::args::trials)]
    #[arg(conflicts_with_all = ["precision", "out"])]
    pub trials: Vec<Trials>,
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
    /// Formats of the figures.
    #[command(flatten)]
    pub figures: FiguresArgs,
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
    /// Of the cost.
    #[serde(skip)]
    pub distribution: Distribution,
    /// What the measures of the attitudes are called.
    #[serde(skip)]
    naming: Naming,
}

/// The value of a measure, and its 95 % interval if it is sampled.
#[derive(Debug, Serialize)]
pub struct Measured {
    measure: &'static str,
    level: Option<f64>,
    #[serde(flatten)]
    found: Certain,
    #[serde(skip)]
    title: String,
}

/// The risk for one attitude, and how far it is from the lowest possible.
#[derive(Debug, Serialize)]
pub struct RiskRow {
    #[serde(flatten)]
    pub attitude: Attitude,
    /// The risk.
    #[serde(flatten)]
    pub found: Certain,
    /// `null` where the distribution is exact.
    effective_runs: Option<f64>,
    /// What to bear in mind of the interval.
    caution: Option<String>,
    optimum: Option<Certain>,
    gap: Option<f64>,
    /// Whether it is sampled and below the optimum: costs that matter were not met.
    below_bound: bool,
}

impl Run for EvaluateArgs {
    /// Evaluates, prints, writes and draws.
    fn run(&self) -> Result<()> {
        use_threads(self.threads)?;
        let task = load(&self.task)?;
        let brought = Brought::load(&self.policy, &task)?;
        if !self.trials.is_empty() {
            return self.of_trials(&task, &brought);
        }
        let risks = self.attitudes.risks(&task, brought.risk);
        let store = self.out.as_deref().map(Store::folder).transpose()?.map(|store| store.drawing(&self.figures));
        let limits = quick_limits(self.max_states);
        let spinner = Progress::spinner("computing the distribution");
        let exact = distribution(&task.problem, &*brought.policy, &limits);
        drop(spinner);
        let mut evaluation = match exact {
            Ok(distribution) => Evaluation::new(distribution, &risks, None),
            Err(error) => self.sampled(&task, &brought, &risks, too_large(&error)?)?,
        };
        evaluation.task.clone_from(&task.name);
        evaluation.policy.clone_from(&brought.what);
        let entropic = risks.iter().all(|risk| risk.beta().is_some());
        evaluation.naming = Naming::new(!self.attitudes.risk.is_empty() || !entropic);
        let spinner = Progress::spinner("solving");
        let mut solver = Solver::new(&task.problem, limits);
        for risk in &mut evaluation.risks {
            risk.optimum = solver.optimum(risk.attitude.risk);
            risk.gap = risk.optimum.map(|optimum| risk.found.value - optimum.value);
            risk.below_bound = !evaluation.exact && risk.optimum.is_some_and(|optimum| risk.found.value < optimum.low);
        }
        drop(spinner);
        let printed =
            if self.json { print_json(&evaluation) } else { evaluation.print(&task, &mut crate::talk::stdout()) };
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
        let bounds = task.problem.objective().bounds();
        let mut costs = Costs::new(risks, bounds);
        experiment.play(0..runs, |record| costs.add(record.cost)).map_err(interrupt::of_experiment)?;
        if let Some(half_width) = self.precision {
            let precision = Precision { half_width, most_runs: self.max_runs };
            experiment.play_until(&mut costs, risks, &precision, |_| {}).map_err(interrupt::of_experiment)?;
        }
        let distribution = Distribution::of_costs(&costs).ok_or(RiskError::NoOutcomes)?;
        let evaluation = Evaluation::new(distribution, risks, Some((&costs, bounds, seed, because)));
        let half_width = evaluation.risks.iter().map(RiskRow::half_width).fold(0.0, f64::max);
        if self.precision.is_some_and(|wanted| half_width > wanted) {
            say!("--max-runs {} is reached: the risk is known to ±{}", self.max_runs, short(half_width));
        }
        Ok(evaluation)
    }
}

impl EvaluateArgs {
    /// The mean of f over the average occupancy of several episodes.
    fn of_trials(&self, task: &Task, brought: &Brought) -> Result<()> {
        only_the_mean(&self.attitudes.beta, &self.attitudes.risk)?;
        let planner = brought.planner.as_ref();
        let seed = self.seed.or(planner.map(|planner| planner.seed)).unwrap_or(0);
        let usual = planner.map_or(USUAL_RUNS, |_| task.defaults.runs);
        let progress = Progress::spinner("computing");
        let experiment =
            Experiment { stop: interrupt::stop(), ..Experiment::new(&task.problem, &*brought.policy, seed) };
        let limits = quick_limits(self.max_states);
        let evaluated = |&trials: &Trials| {
            let episodes = self.runs.unwrap_or(trials.episodes(usual));
            gumdp::trials::evaluate(&experiment, trials, episodes, &limits).map_err(trials::refused)
        };
        let means = self.trials.iter().map(evaluated).collect::<Result<Vec<_>>>()?;
        drop(progress);
        let means = trials::OfTrials::new(&task.name, &brought.what, seed, means);
        if self.json { print_json(&means) } else { means.print(&heading(task), &mut crate::talk::stdout()) }
    }
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
        (self.found.high - self.found.low) / 2.0
    }
}

impl Evaluation {
    /// All measures of a distribution; where it is sampled, from which costs between which bounds, with which seed, and why.
    fn new(distribution: Distribution, risks: &[Risk], sampled: Option<(&Costs, Bounds, u64, String)>) -> Self {
        let usual = stats::usual();
        let asked = risks.iter().map(|&risk| Statistic::Risk(risk));
        let statistics: Vec<Statistic> = usual.iter().map(|shown| shown.statistic).chain(asked).collect();
        let outcomes: Vec<(f64, f64)> = distribution.outcomes().collect();
        let runs = sampled.as_ref().map(|(costs, bounds, seed, _)| (*costs, *bounds, *seed));
        let found = stats::measured(&outcomes, &statistics, runs);
        let mut found =
            found.into_iter().map(|(value, Interval { low, high }, trust)| (Certain { value, low, high }, trust));
        let measured = |(Shown { name, level, title, .. }, (found, _)): (Shown, (Certain, Trust))| Measured {
            measure: name,
            level,
            found,
            title,
        };
        let measures = usual.into_iter().zip(found.by_ref()).map(measured).collect();
        let risk = |(&risk, (found, trust)): (&Risk, (Certain, Trust))| RiskRow {
            attitude: risk.into(),
            found,
            effective_runs: Some(trust.effective_runs).filter(|runs| runs.is_finite()),
            caution: trust.note(),
            optimum: None,
            gap: None,
            below_bound: false,
        };
        Self {
            task: String::new(),
            policy: String::new(),
            exact: sampled.is_none(),
            runs: sampled.as_ref().map(|(costs, ..)| costs.count()),
            seed: sampled.as_ref().map(|(_, _, seed, _)| *seed),
            sampled_because: sampled.map(|(.., because)| because),
            costs: outcomes.len(),
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
        let between = |of: Certain| (!self.exact).then(|| Field::number("95% interval", interval(of.low, of.high)));
        let [label, value] = self.naming.headers();
        let name = if self.naming == Naming::Beta { Field::number } else { Field::text };
        let measure = |m: &Measured| {
            let named = [Field::text("measure", &m.title), Field::number("cost", short(m.found.value))];
            named.into_iter().chain(between(m.found)).collect()
        };
        let risk = |row: &RiskRow| {
            let optimum = row.optimum.map(|optimum| optimum.value);
            let mark = if row.below_bound { TOO_LOW } else { "" };
            let marked = Field::number(value, format!("{}{mark}", short(row.found.value)));
            let named = [name(label, self.naming.name(row.attitude.risk)), marked];
            let compared = [Field::number("optimum", known(optimum)), Field::number("gap", known(row.gap))];
            named.into_iter().chain(between(row.found)).chain(compared).collect()
        };
        [Table::of(&self.measures, measure), Table::of(&self.risks, risk)]
    }

    fn print(&self, task: &Task, out: &mut impl Write) -> Result<()> {
        writeln!(out, "{}\n{}\n{}; lower is better", heading(task), self.policy, self.origin())?;
        for table in self.tables() {
            writeln!(out)?;
            table.print(out)?;
        }
        let notes = self.notes();
        if !notes.is_empty() {
            writeln!(out, "\n{}", notes.join("\n"))?;
        }
        Ok(())
    }

    /// What to bear in mind of sampled risks.
    pub fn notes(&self) -> Vec<String> {
        let marked = self.risks.iter().any(|row| row.below_bound).then(|| MARKED.to_owned());
        let of = |row: &RiskRow| Some(format!("{}: {}", self.naming.label(row.attitude.risk), row.caution.as_ref()?));
        marked.into_iter().chain(self.risks.iter().filter_map(of)).collect()
    }

    /// Writes the distribution, the measures, the figure and the report.
    fn keep(&self, store: &Store, task: &Task) -> Result<()> {
        store.write_table("distribution.csv", |table| {
            table.write_record(["cost", "probability"])?;
            self.distribution.outcomes().try_for_each(|(cost, p)| table.write_record([cost.to_string(), p.to_string()]))
        })?;
        store.write_json("evaluation.json", self)?;
        draw::draw_evaluation(store, task, self)
    }
}
