//! The paper's numbers beside ours: is the difference more than sampling error?
//!
//! A published number is itself the statistic of a sample, so the two are compared as two samples of the same size of
//! spread: they *agree* if their difference lies within the 99 % interval that both errors together allow, plus half a unit
//! of the last printed digit. A published maximum m of n runs differs if so many of our runs exceed it that the chance is
//! below 1 % (k of our n' runs above the largest of n others has probability at most (n'/(n + n'))^k), or if so many of ours do not
//! reach it that it is unlikely to be theirs (n/(n + n') below 1 %: 99 n runs decide).

use anyhow::Result;
use gumdp::rng::{self, Purpose};
use gumdp::stats::{self, Costs, Interval, Summary};
use serde::Serialize;

use crate::number;
use crate::published::{Number, Published, Statistic};
use crate::results::{Finished, TaskResults};
use gumdp_files::Player;
use gumdp_plot::{Field, Tone};

/// Normal quantile of a two-sided 99 % interval.
const Z99: f64 = 2.576;
/// With fewer runs no verdict is given.
const FEWEST_RUNS: u64 = 30;
/// Resamples of a bootstrap interval.
const RESAMPLES: usize = 2000;

/// How many published numbers agree, differ, may be true and cannot be judged.
#[derive(Debug, Default)]
pub struct Tally {
    /// Those that agree.
    pub agree: usize,
    /// Those that differ.
    pub differ: usize,
    /// Maxima, which nothing speaks against.
    pub possible: usize,
    /// Too few runs.
    pub undecided: usize,
    /// Runs that would decide about the maxima: were one not reached in so many, it would differ.
    pub deciding: u64,
}

impl Tally {
    /// Of the paper's numbers.
    pub fn of(comparisons: &[Comparison]) -> Self {
        let published = || comparisons.iter().filter(|c| c.source == "paper");
        let count = |verdict| published().filter(|c| c.verdict == verdict).count();
        Self {
            agree: count(Verdict::Agrees),
            differ: count(Verdict::Differs),
            possible: count(Verdict::Possible),
            undecided: count(Verdict::Undecided),
            deciding: published().filter_map(|c| c.runs_to_decide).max().unwrap_or(0),
        }
    }

    /// All of them.
    pub fn all(&self) -> usize {
        self.agree + self.differ + self.possible + self.undecided
    }

    /// What is not decided, and what would decide it.
    pub fn open(&self) -> String {
        let possible =
            (self.possible > 0).then(|| format!("{} possible ({} runs would decide)", self.possible, self.deciding));
        let undecided =
            (self.undecided > 0).then(|| format!("{} undecided ({FEWEST_RUNS} runs would decide)", self.undecided));
        let differ = (self.differ > 0)
            .then(|| format!("{} {}", self.differ, if self.differ == 1 { "differs" } else { "differ" }));
        differ.into_iter().chain(possible).chain(undecided).collect::<Vec<_>>().join(", ")
    }
}

/// A published number beside ours.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// The task.
    pub task: String,
    /// Attitude to risk.
    #[serde(with = "crate::number")]
    pub beta: f64,
    /// What is compared.
    pub statistic: String,
    /// The reference, as it is printed: the paper's, or the oracle's.
    pub reference: String,
    /// Where the reference comes from.
    pub source: &'static str,
    /// Ours.
    pub ours: f64,
    /// Where a reference agrees with ours, at 99 %; `None` for a maximum.
    pub interval: Option<[f64; 2]>,
    /// What follows.
    pub verdict: Verdict,
    /// How many runs would decide, if these do not.
    pub runs_to_decide: Option<u64>,
    /// What is known about a difference.
    pub why: Option<String>,
}

/// What a comparison says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The difference is within sampling error.
    Agrees,
    /// It is not.
    Differs,
    /// Nothing speaks against the reference, but little could: a maximum.
    Possible,
    /// Intervals mean nothing with so few runs.
    Undecided,
}

impl Verdict {
    fn of(agrees: bool, runs: u64) -> Self {
        match agrees {
            _ if runs < FEWEST_RUNS => Self::Undecided,
            true => Self::Agrees,
            false => Self::Differs,
        }
    }

    /// The verdict in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Differs => "differs",
            Self::Possible => "possible",
            Self::Undecided => "too few runs",
        }
    }
}

impl Comparison {
    /// One with the paper, of which nothing more is known.
    fn new(
        of: &Finished,
        statistic: &str,
        reference: String,
        ours: f64,
        interval: Option<[f64; 2]>,
        verdict: Verdict,
    ) -> Self {
        let (task, beta) = (of.trial.task.clone(), of.trial.risk.beta().unwrap_or(f64::NAN));
        let statistic = statistic.to_owned();
        let runs_to_decide = (verdict == Verdict::Undecided).then_some(FEWEST_RUNS);
        Self { task, beta, statistic, reference, source: "paper", ours, interval, verdict, runs_to_decide, why: None }
    }

    /// Its fields in a table that calls β so.
    pub fn fields(&self, beta: &str) -> Vec<Field> {
        let tone = match self.verdict {
            Verdict::Agrees => Tone::Good,
            Verdict::Differs => Tone::Bad,
            Verdict::Possible | Verdict::Undecided => Tone::Plain,
        };
        let within = self.interval.map_or_else(|| "–".to_owned(), |[low, high]| number::interval(low, high));
        vec![
            Field::text("task", &self.task),
            Field::number(beta, number::beta(self.beta)),
            Field::text("statistic", &self.statistic),
            Field::text("reference", &self.reference),
            Field::text("from", self.source),
            Field::number("ours", number::short(self.ours)),
            Field::number("agrees within", within),
            Field::text("verdict", self.verdict.text()).tone(tone),
        ]
    }
}

/// All comparisons that these experiments allow.
pub fn compare(published: &Published, experiments: &[TaskResults]) -> Result<Vec<Comparison>> {
    let mut comparisons = Vec::new();
    for experiment in experiments {
        for finished in experiment.finished.iter().filter(|finished| finished.trial.preset == Player::Paper) {
            let of_trial = |n: &&Number| n.task == finished.trial.task && finished.trial.risk.beta() == Some(n.beta);
            for number in published.number.iter().filter(of_trial) {
                let found = with_paper(number, finished).into_iter();
                comparisons.extend(found.map(|found| Comparison { why: number.why.clone(), ..found }));
            }
            if let Some(oracle) = experiment.find(finished.trial.risk, Player::BackwardInduction) {
                let found = with_oracle(finished, oracle)?.into_iter();
                comparisons.extend(found.map(|found| Comparison { source: "ERM-BI", ..found }));
            }
        }
    }
    Ok(comparisons)
}

fn with_paper(number: &Number, finished: &Finished) -> Vec<Comparison> {
    let (costs, summary) = (&finished.played.costs, &finished.summary);
    let (n, theirs) = (costs.count() as f64, number.runs as f64);
    let rounding = 0.5 * 10_f64.powi(-number.digits);
    // Two samples: ours has n runs, theirs `runs`.
    let both = (1.0 + n / theirs).sqrt();
    let widened = |ours: f64, around: Interval| {
        [ours - both * (ours - around.low) - rounding, ours + both * (around.high - ours) + rounding]
    };
    let z = quantile(n);
    let symmetric = |ours: f64, error: f64| [ours - both * z * error - rounding, ours + both * z * error + rounding];
    let value = number.value.unwrap_or(f64::NAN);
    let judge = |agrees: bool| Verdict::of(agrees, costs.count());
    let printed = format!("{value:.*}", number.digits as usize);
    let with_interval = |statistic: &str, ours: f64, interval: [f64; 2]| {
        let verdict = judge(contains(interval, value));
        vec![Comparison::new(finished, statistic, printed.clone(), ours, Some(interval), verdict)]
    };
    let of_max = |reference: String, agrees: bool, if_it_does: Verdict| {
        let verdict = if agrees { if_it_does } else { Verdict::Differs };
        vec![Comparison::new(finished, "max", reference, summary.max, None, verdict)]
    };
    match number.statistic {
        Statistic::Mean => with_interval("mean", summary.mean, symmetric(summary.mean, standard_error(costs))),
        Statistic::Median => {
            let around = interval(costs, summary.median, |sample| sorted_quantile(sample, 0.5));
            with_interval("median", summary.median, widened(summary.median, around))
        }
        Statistic::Share => {
            let wanted = number.outcomes.as_deref().unwrap_or_default();
            let hits = finished.played.ended_with(wanted) as f64;
            // One run more and one less keep the interval open at shares of 0 and 1.
            let shrunk = (hits + 1.0) / (n + 2.0);
            let around = symmetric(hits / n, (shrunk * (1.0 - shrunk) / n).sqrt()).map(|share| share.clamp(0.0, 1.0));
            with_interval(&format!("share {}", wanted.join(" or ")), hits / n, around)
        }
        Statistic::Max => {
            let counted = costs.ascending();
            let above: u64 = counted.counted().filter(|one| one.0 > value + rounding).map(|one| one.1).sum();
            let reached = summary.max >= value - rounding;
            // One of theirs is the largest of all with probability n/(n + n').
            let likely = (n / (n + theirs)).powi(above.min(1 << 20) as i32) >= 0.01
                && (reached || theirs / (n + theirs) >= 0.01);
            let deciding = (1.0 / 0.01 - 1.0) * theirs;
            let mut found = of_max(printed, likely, Verdict::Possible);
            for possible in found.iter_mut().filter(|found| found.verdict == Verdict::Possible) {
                possible.runs_to_decide = Some(deciding.ceil() as u64);
            }
            found
        }
        Statistic::Below => of_max(format!("< {value}"), summary.max < value - rounding, Verdict::Agrees),
        Statistic::Whiskers => {
            let [low, high] = number.range.unwrap_or([f64::NAN; 2]);
            let around = |end: usize| {
                let whisker = |sample: &[f64]| {
                    let mut sorted = sample.to_vec();
                    sorted.sort_by(f64::total_cmp);
                    let [q25, q75] = [0.25, 0.75].map(|q| stats::quantile(&sorted, q));
                    stats::whiskers(&sorted, q25, q75)[end]
                };
                let ours = [summary.whisker_low, summary.whisker_high][end];
                (ours, widened(ours, interval(costs, ours, whisker)))
            };
            let comparison = |statistic, reference, (ours, around), agrees| {
                Comparison::new(finished, statistic, reference, ours, Some(around), judge(agrees))
            };
            let (lower, upper) = (around(0), around(1));
            vec![
                comparison("lower whisker", format!("≥ {low}"), lower, lower.1[1] >= low),
                comparison("upper whisker", format!("≤ {high}"), upper, upper.1[0] <= high),
            ]
        }
    }
}

/// ERM-MCTS beside ERM-BI where the objective is linear (the paper claims a match on `mdp`): mean and ERM of both samples.
fn with_oracle(planner: &Finished, oracle: &Finished) -> Result<[Comparison; 2]> {
    let erm = planner.trial.erm()?;
    let runs = planner.played.runs().min(oracle.played.runs());
    let comparison = |statistic: &str, reference: f64, ours: f64, interval: [f64; 2]| {
        let verdict = Verdict::of(contains(interval, reference), runs);
        Comparison::new(planner, statistic, format!("{reference:.4}"), ours, Some(interval), verdict)
    };
    let spread = |finished: &Finished| match finished.summary {
        Summary { exact: true, value, .. } => Interval { low: value, high: value },
        Summary { value, .. } => interval(&finished.played.costs, value, |sample| erm.of_samples(sample)),
    };
    let error_of =
        |finished: &Finished| if finished.summary.exact { 0.0 } else { standard_error(&finished.played.costs) };
    let (around_ours, around_theirs) = (spread(planner), spread(oracle));
    let (ours, theirs) = (planner.summary.value, oracle.summary.value);
    let risk_interval = [
        ours - (ours - around_ours.low).hypot(around_theirs.high - theirs),
        ours + (around_ours.high - ours).hypot(theirs - around_theirs.low),
    ];
    let error = quantile(runs as f64) * error_of(planner).hypot(error_of(oracle));
    let mean = planner.summary.mean;
    Ok([
        comparison("mean", oracle.summary.mean, mean, [mean - error, mean + error]),
        comparison("erm", theirs, ours, risk_interval),
    ])
}

fn contains([low, high]: [f64; 2], value: f64) -> bool {
    (low..=high).contains(&value)
}

/// Half the width of the 99 % interval of a mean, in standard errors: Student's quantile to first order.
fn quantile(runs: f64) -> f64 {
    Z99 + (Z99.powi(3) + Z99) / (4.0 * (runs - 1.0).max(1.0))
}

/// That of the mean; the spread of many costs is that of the first.
fn standard_error(costs: &Costs) -> f64 {
    let (first, n) = (costs.first(), costs.first().len() as f64);
    let mean = first.iter().sum::<f64>() / n;
    let variance = first.iter().map(|cost| (cost - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (variance / costs.count() as f64).sqrt()
}

/// The 99 % bootstrap interval of a statistic, of which this is the value. Of many costs the first are drawn, around the value of all:
/// the width of an interval shrinks with the root of their number.
fn interval(costs: &Costs, value: f64, statistic: impl Fn(&[f64]) -> f64) -> Interval {
    let (mut rng, first) = (rng::stream(0, 0, Purpose::Bootstrap), costs.first());
    let around = stats::bootstrap_interval(first, &statistic, RESAMPLES, 0.99, &mut rng);
    if costs.are_few() {
        return around;
    }
    let (centre, narrower) = (statistic(first), (first.len() as f64 / costs.count() as f64).sqrt());
    let end = |end: f64| value + narrower * (end - centre);
    Interval { low: end(around.low), high: end(around.high) }
}

fn sorted_quantile(sample: &[f64], q: f64) -> f64 {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    stats::quantile(&sorted, q)
}
