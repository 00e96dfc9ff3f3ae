//! The trade-off between mean and risk as numbers and as sentences; `commands/frontier.rs` prints it, `draw/frontier.rs`
//! draws it.

mod words;

pub use words::significant;

use gumdp::frontier::{Bargain, Behaviour, Change, Frontier, Point, Sampled, Visits};
use gumdp::measures::Form;
use gumdp::stats::Statistic;
use gumdp::{Pair, Risk};
use gumdp_files::Task;
use serde::Serialize;

use crate::number::{beta, counted, short};
use gumdp_plot::Table;

/// Features in the table, at most.
const COLUMNS: usize = 3;

/// What each attitude to risk costs and saves.
#[derive(Debug, Serialize)]
pub struct TradeOff {
    /// Name of the task.
    pub task: String,
    /// The measure that is swept.
    pub measure: Swept,
    /// One for each level, ascending.
    pub levels: Vec<Row>,
    /// Those that differ, in the order in which they take over.
    pub behaviours: Vec<Facts>,
    /// Where one takes over from another.
    pub changes: Vec<Turn>,
    /// The behaviour that saves most in the worst 5 % for what it costs in the mean; `null` if none saves anything, and of runs.
    pub bargain: Option<Bargain>,
    /// The bargain in words, or that there is none; `null` of runs, and of one level.
    pub advice: Option<String>,
    /// Whether every change that was seen is located.
    pub complete: bool,
    /// Why it ended before all levels were solved and all changes looked for; `null` if it did not.
    pub ended: Option<String>,
    /// How it was sampled; `null` if it is exact.
    pub sampled: Option<Sampled>,
}

/// A measure by its name.
#[derive(Clone, Copy, Debug)]
pub struct Swept(pub &'static Form);

impl Serialize for Swept {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name)
    }
}

/// The optimum at one level.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// β, or the level of the measure.
    #[serde(with = "crate::number")]
    pub level: f64,
    /// The measure at this level.
    pub risk: Risk,
    /// Its lowest possible value.
    pub value: f64,
    /// It is not lower: certain, or the end of a 95 % interval.
    pub low: f64,
    /// It is not higher.
    pub high: f64,
    /// Mean of the cost under the behaviour.
    pub mean: f64,
    /// Its standard deviation.
    pub sd: f64,
    /// The mean of its worst 5 %.
    pub cvar95: f64,
    /// The lowest cost.
    pub best: f64,
    /// The highest cost.
    pub worst: f64,
    /// The behaviour's number, from 0.
    pub behaviour: usize,
}

/// A behaviour and the distribution of its cost in a few numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Facts {
    /// What is done first.
    pub first: Vec<FirstAction>,
    /// Number of different costs.
    pub costs: usize,
    /// Mean of the cost.
    pub mean: f64,
    /// Its standard deviation.
    pub sd: f64,
    /// The mean of its worst 5 %.
    pub cvar95: f64,
    /// The lowest cost.
    pub best: f64,
    /// The highest cost.
    pub worst: f64,
    /// The costs with names, in the order of the names.
    pub features: Vec<Feature>,
}

/// A cost with a name.
#[derive(Clone, Debug, Serialize)]
pub struct Feature {
    /// Its name.
    pub name: String,
    /// Its expected total.
    pub mean: f64,
    /// The share of episodes with some of it; `null` if it is negative somewhere.
    pub share: Option<f64>,
}

/// What is done in an initial state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FirstAction {
    /// The state's name.
    pub state: String,
    /// The action's name.
    pub action: String,
}

/// One behaviour takes over from another.
#[derive(Debug, Serialize)]
pub struct Turn {
    /// The level from which on the later one is better; `null` if it is only known to lie between two levels.
    #[serde(serialize_with = "crate::number::optional")]
    pub at: Option<f64>,
    /// The last level before the change.
    #[serde(with = "crate::number")]
    pub after_level: f64,
    /// The first level that is not before it.
    #[serde(with = "crate::number")]
    pub to_level: f64,
    /// Number of the earlier behaviour.
    pub before: usize,
    /// Number of the later one.
    pub after: usize,
    /// States whose expected visits change most.
    pub visits: Vec<Visits>,
    /// By how much the mean grows.
    pub mean: f64,
    /// By how much the mean of the worst 5 % grows.
    pub cvar95: f64,
    /// By how much the worst case grows.
    pub worst: f64,
    /// The change in words.
    pub sentence: String,
}

impl Swept {
    /// What its level is called, and the measure.
    pub fn titles(self) -> [&'static str; 2] {
        self.0.sweep.map_or(["level", "risk"], |sweep| [sweep.level, sweep.title])
    }

    /// Whether β is swept.
    pub fn is_erm(self) -> bool {
        self.0.sweep.is_some_and(|sweep| sweep.over == gumdp::measures::Swept::Beta)
    }
}

impl TradeOff {
    /// The numbers and the words of a frontier.
    pub fn new(task: &Task, measure: &'static Form, frontier: &Frontier) -> Self {
        let mdp = task.problem.mdp();
        let measure = Swept(measure);
        let behaviours: Vec<Facts> = frontier.behaviours.iter().map(|behaviour| facts(task, behaviour)).collect();
        let level = |point: &Point| {
            let Facts { mean, sd, cvar95, best, worst, .. } = behaviours[point.behaviour];
            let Point { risk, value, low, high, behaviour } = *point;
            Row { level: point.level(), risk, value, low, high, mean, sd, cvar95, best, worst, behaviour }
        };
        let levels: Vec<Row> = frontier.points.iter().map(level).collect();
        let turn = |change: &Change| {
            let (before, after) = (&behaviours[change.before], &behaviours[change.after]);
            let mut turn = Turn {
                at: change.level,
                after_level: levels[change.point - 1].level,
                to_level: levels[change.point].level,
                before: change.before,
                after: change.after,
                visits: frontier.visits(mdp, change),
                mean: after.mean - before.mean,
                cvar95: after.cvar95 - before.cvar95,
                worst: after.worst - before.worst,
                sentence: String::new(),
            };
            turn.sentence = words::sentence(measure, &turn, before, after, frontier.sampled.is_some());
            turn
        };
        let changes = frontier.changes.iter().map(turn).collect();
        let (bargain, sampled) = (frontier.bargain(), frontier.sampled.clone());
        let advice = (sampled.is_none() && levels.len() > 1).then(|| words::advice(measure, frontier, bargain));
        let ended = frontier.ended.as_ref().map(ToString::to_string);
        let (task, complete) = (task.name.clone(), frontier.complete);
        Self { task, measure, levels, behaviours, changes, bargain, advice, complete, ended, sampled }
    }

    /// How many levels there are, and what was found.
    pub fn origin(&self) -> String {
        let [level, measure] = self.measure.titles();
        if let Some(Sampled { runs, simulations, because, .. }) = &self.sampled {
            let (who, with, what) = simulations
                .map_or(("the optimum", String::new(), "the distribution of its costs is "), |simulations| {
                    ("the planner", format!(" with {simulations} simulations per decision"), "")
                });
            return format!(
                "{measure} of {who} at {} levels ({level}), sampled: {runs} runs each{with}, all levels with the same luck; \
                 {what}{because}",
                self.levels.len()
            );
        }
        let (levels, count) = (counted(self.levels.len() as u64, "level"), self.behaviours.len());
        let behaviours = if count == 1 { "one behaviour".to_owned() } else { format!("{count} behaviours") };
        format!("lowest {measure} at {levels} ({level}), solved exactly: {behaviours}")
    }

    /// The levels with these numbers as a table.
    pub fn table(&self, rows: impl IntoIterator<Item = usize>) -> Table {
        let [level, measure] = self.measure.titles();
        let last = if self.sampled.is_some() { "95 % of the mean" } else { "behaviour" };
        let titles = [level, measure, "mean", "sd", "CVaR 0.95", "worst", last].map(str::to_owned);
        let features = self.behaviours.first().into_iter().flat_map(|facts| facts.features.iter().take(COLUMNS));
        let of_feature = |feature: &Feature| {
            let share = feature.share.map(|_| format!("episodes with {}", feature.name));
            std::iter::once(feature.name.clone()).chain(share)
        };
        let titles: Vec<String> = titles.into_iter().chain(features.flat_map(of_feature)).collect();
        let mut table = Table::new(&titles.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
        rows.into_iter().for_each(|row| table.row(self.row(row)));
        table
    }

    fn row(&self, number: usize) -> Vec<String> {
        let Row { level, value, mean, sd, cvar95, worst, behaviour, .. } = self.levels[number];
        let mut cells = vec![beta(level)];
        cells.extend([value, mean, sd, cvar95, worst].map(short));
        cells.push(match &self.sampled {
            Some(sampled) => {
                let (low, high) = sampled.intervals[number].mean;
                format!("{} – {}", short(low), short(high))
            }
            None => (behaviour + 1).to_string(),
        });
        for feature in self.behaviours[behaviour].features.iter().take(COLUMNS) {
            cells.push(short(feature.mean));
            cells.extend(feature.share.map(|share| format!("{} %", (1e3 * share).round() / 10.0)));
        }
        cells
    }

    /// At most so many levels: both ends, those with another behaviour than the level before, and some between.
    pub fn telling_rows(&self, most: usize) -> Vec<usize> {
        let last = self.levels.len().saturating_sub(1);
        let is_new =
            |&row: &usize| row == 0 || row == last || self.levels[row].behaviour != self.levels[row - 1].behaviour;
        let mut rows: Vec<usize> = (0..self.levels.len()).filter(is_new).collect();
        if rows.len() > most {
            return (0..most).map(|k| rows[k * (rows.len() - 1) / (most - 1)]).collect();
        }
        while rows.len() < most.min(self.levels.len()) {
            let widest = (1..rows.len()).max_by_key(|&k| (rows[k] - rows[k - 1], rows.len() - k));
            let Some(widest) = widest else { break };
            rows.insert(widest, usize::midpoint(rows[widest - 1], rows[widest]));
        }
        rows
    }

    /// The changes that matter most, in order, and what all of them together cost and save.
    pub fn sentences(&self, most: usize) -> Vec<String> {
        words::sentences(self, most)
    }

    /// The changes that matter most, in order.
    pub fn main_changes(&self, most: usize) -> Vec<&Turn> {
        let mut order: Vec<usize> = (0..self.changes.len()).collect();
        order.sort_by(|&a, &b| self.changes[b].weight().total_cmp(&self.changes[a].weight()).then(a.cmp(&b)));
        order.truncate(most);
        order.sort_unstable();
        order.into_iter().map(|number| &self.changes[number]).collect()
    }
}

impl Turn {
    fn weight(&self) -> f64 {
        self.mean.abs() + self.cvar95.abs() + self.worst.abs()
    }
}

fn facts(task: &Task, behaviour: &Behaviour) -> Facts {
    let (mdp, costs) = (task.problem.mdp(), &behaviour.costs);
    let first_action = |&pair: &Pair| FirstAction {
        state: mdp.state_name(mdp.state(pair)).to_owned(),
        action: mdp.action_name(mdp.action(pair)).to_owned(),
    };
    let feature = |((name, cost), &met): (&(String, Vec<f64>), &f64)| Feature {
        name: name.clone(),
        mean: behaviour.expected(cost),
        share: gumdp::frontier::marked(cost).map(|_| met),
    };
    Facts {
        first: behaviour.first.iter().map(first_action).collect(),
        costs: costs.values().len(),
        mean: costs.mean(),
        sd: Statistic::Deviation.of_outcomes(&costs.outcomes().collect::<Vec<_>>()),
        cvar95: behaviour.tail(),
        best: costs.min(),
        worst: costs.max(),
        features: task.features.iter().zip(&behaviour.met).map(feature).collect(),
    }
}
