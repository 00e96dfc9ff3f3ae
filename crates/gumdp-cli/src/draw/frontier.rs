//! The trade-off between mean and risk as pictures, and the report of `gumdp frontier`.

use anyhow::Result;
use gumdp::Risk;
use gumdp::frontier::Frontier;
use gumdp::oracle::Distribution;
use gumdp::stats::Summary;
use gumdp_files::Task;

use super::charts::beta_label;
use super::{BOX_PARTS, figure, problem_file, task_figure, views, write_figures};
use crate::frontier::{Facts, TradeOff, Turn, significant};
use crate::number;
use crate::store::Store;
use gumdp_plot::page::{Figure, Page, View};
use gumdp_plot::{
    BoxGroup, BoxPlot, BoxStats, Field, Labels, LineKind, LinePlot, LineSeries, ReferenceLine, StemPlot, Table,
};

/// Boxes side by side, at most.
const BOXES: usize = 12;
/// Colours and dashes of the measures, the same in all figures; the mean has the first.
const RISK: usize = 1;
const TAIL: usize = 2;
const WORST: usize = 3;
/// Changes that are marked over the levels, at most.
const MARKED: usize = 4;

/// Draws the figures and writes the report, with at most `told` changes in words.
pub fn draw_frontier(store: &Store, of: &Task, trade_off: &TradeOff, frontier: &Frontier, told: usize) -> Result<()> {
    let mut drawings = vec![
        against_mean(of, trade_off),
        over_levels(of, trade_off),
        boxes(of, trade_off, frontier),
        distributions(of, trade_off, frontier),
    ];
    let of_levels = drawings.len();
    drawings.extend(task_figure(of));
    write_figures(store, &drawings)?;
    let task_figure = drawings.split_off(of_levels);

    let mut page = Page::new(&of.title);
    page.lead(&of.description);
    page.section("choice", "What to choose between");
    page.paragraph(&format!("{}. Lower is better.", capitalised(&trade_off.origin())));
    page.view(View::Levels, &views::of_frontier(of, trade_off, frontier, None));
    for sentence in trade_off.sentences(told) {
        page.paragraph(&sentence);
    }
    page.figures(&drawings);
    page.section("levels", "All levels");
    let what = if trade_off.sampled.is_some() { "The runs" } else { "The optimum" };
    let caption = format!("{what} at each level, and the distribution of the cost in a few numbers.");
    page.table(&trade_off.table(0..trade_off.levels.len()).captioned(caption));
    if !trade_off.changes.is_empty() {
        page.section("changes", "All changes of behaviour");
        page.table(&changes(trade_off));
    }
    page.section("task", "The task");
    page.figures(&task_figure);
    problem_file(&mut page, of);
    store.write("report.html", page.html().as_bytes())
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// One point for each behaviour: how low the risk is for which mean.
fn against_mean(of: &Task, trade_off: &TradeOff) -> Figure {
    let series = |name: &str, style: usize, value: fn(&Facts) -> f64| LineSeries {
        name: name.to_owned(),
        style: Some(style),
        points: trade_off.behaviours.iter().map(|facts| (facts.mean, value(facts))).collect(),
        markers: true,
        ..LineSeries::default()
    };
    let [_, measure] = trade_off.measure.titles();
    let at_level = LineSeries {
        name: format!("{measure} at its level"),
        style: Some(RISK),
        points: trade_off.levels.iter().map(|level| (level.mean, level.value)).collect(),
        ..LineSeries::default()
    };
    let plot = LinePlot {
        labels: Labels::new("What a lower risk costs in the mean", "expected cost", "cost"),
        series: vec![
            series("mean of the worst 5 %", TAIL, |facts| facts.cvar95),
            series(worst(trade_off), WORST, |facts| facts.worst),
            at_level,
        ],
        ..LinePlot::default()
    };
    let caption = "The trade-off. Each marker is a behaviour; to the right the mean gets worse, downwards the risk gets \
                  better.";
    figure(of, "trade-off", plot.svg(), caption)
}

/// The measures over the level.
fn over_levels(of: &Task, trade_off: &TradeOff) -> Figure {
    let is_erm = trade_off.measure.is_erm();
    let kind = if trade_off.sampled.is_some() { "Planned" } else { "Optimal" };
    let positive = trade_off.levels.iter().filter(|level| level.level > 0.0 && level.level.is_finite()).count();
    let negative = trade_off.levels.iter().any(|level| level.level < 0.0 && level.level.is_finite());
    let log_x = is_erm && positive > 1 && !negative;
    let is_drawn = |level: f64| level.is_finite() && (!log_x || level > 0.0);
    let levels = || trade_off.levels.iter().filter(|level| is_drawn(level.level));
    let risk =
        LineSeries { points: levels().map(|level| (level.level, level.value)).collect(), ..LineSeries::default() };
    // Steps are where the changes are, if that is known, and not at the next level.
    let steps = |name: &str, value: fn(&Facts) -> f64| {
        let known = trade_off.changes.iter().filter_map(|turn| Some((turn.at?, turn.after)));
        let inside = known
            .filter(|(at, _)| levels().any(|level| level.level <= *at) && levels().any(|level| level.level >= *at));
        let mut places: Vec<(f64, usize)> =
            levels().map(|level| (level.level, level.behaviour)).chain(inside).collect();
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        let points = places.into_iter().map(|(at, behaviour)| (at, value(&trade_off.behaviours[behaviour]))).collect();
        LineSeries { name: name.to_owned(), points, step: true, ..LineSeries::default() }
    };
    let [level, measure] = trade_off.measure.titles();
    let places = trade_off.main_changes(MARKED).into_iter().filter_map(|turn| turn.at);
    let inside = |at: &f64| levels().any(|level| level.level <= *at) && levels().any(|level| level.level >= *at);
    let mark = |at: f64| ReferenceLine { kind: LineKind::Change, at, label: significant(at) };
    let plot = LinePlot {
        labels: Labels::new(
            format!("{kind} behaviour over the {}", if is_erm { "attitude to risk" } else { "level" }),
            if is_erm { "β" } else { level },
            "cost",
        ),
        log_x,
        series: vec![
            steps("mean", |facts| facts.mean),
            LineSeries { name: measure.to_owned(), ..risk },
            steps("mean of the worst 5 %", |facts| facts.cvar95),
            steps(worst(trade_off), |facts| facts.worst),
        ],
        references: places.filter(inside).map(mark).collect(),
        ..LinePlot::default()
    };
    let left_out = if log_x { " β = 0 and β = ∞ are not on the axis." } else { "" };
    let marked =
        if is_erm && trade_off.sampled.is_none() { " Dashes and dots: where the behaviour changes most." } else { "" };
    let caption =
        format!("Measures of the cost under {} behaviour, at each level.{marked}{left_out}", kind.to_lowercase());
    figure(of, "levels", plot.svg(), caption)
}

/// The distribution of the cost at some levels.
fn boxes(of: &Task, trade_off: &TradeOff, frontier: &Frontier) -> Figure {
    let [level, measure] = trade_off.measure.titles();
    let group = |row: usize| {
        let at = &trade_off.levels[row];
        let label = level_label(trade_off, at.level);
        let stats = stats(&frontier.behaviours[at.behaviour].costs, at.risk);
        BoxGroup { label, boxes: vec![stats], reference: Some(at.value) }
    };
    let x = if trade_off.measure.is_erm() { String::new() } else { format!("{level} of {measure}") };
    let plot = BoxPlot {
        labels: Labels::new("The cost at each attitude to risk", x, "cost f(d)"),
        series: vec![if trade_off.sampled.is_some() { "runs" } else { "exact distribution" }.to_owned()],
        groups: trade_off.telling_rows(BOXES).into_iter().map(group).collect(),
        reference_label: if trade_off.sampled.is_some() { measure.to_owned() } else { format!("lowest {measure}") },
    };
    let caption = match &trade_off.sampled {
        Some(sampled) => {
            format!("Costs of {} runs at each of some levels. {BOX_PARTS} Dashed: the risk of the runs.", sampled.runs)
        }
        None => format!("The distribution of the cost at some levels. {BOX_PARTS} Dashed: the lowest possible risk."),
    };
    figure(of, "boxes", plot.svg(), caption)
}

/// The distributions at both ends and at the best bargain, over the same axes.
fn distributions(of: &Task, trade_off: &TradeOff, frontier: &Frontier) -> Figure {
    let last = trade_off.levels.len().saturating_sub(1);
    let bargain = trade_off
        .bargain
        .and_then(|bargain| trade_off.levels.iter().position(|row| row.behaviour == bargain.behaviour));
    let mut rows: Vec<usize> = std::iter::once(0).chain(bargain).chain([last]).collect();
    rows.dedup_by_key(|row| trade_off.levels[*row].behaviour);
    let found = |&row: &usize| {
        let at = &trade_off.levels[row];
        (level_label(trade_off, at.level), frontier.behaviours[at.behaviour].costs.outcomes().collect())
    };
    let mean = |&row: &usize| ReferenceLine {
        kind: LineKind::Mean,
        at: trade_off.levels[row].mean,
        label: format!("mean, {}", level_label(trade_off, trade_off.levels[row].level)),
    };
    let plot = StemPlot {
        labels: Labels::new("Distribution of the cost", "cost f(d)", ""),
        distributions: rows.iter().map(found).collect(),
        references: rows.iter().map(mean).collect(),
    };
    let kind = if trade_off.sampled.is_some() { "The sampled distribution" } else { "The exact distribution" };
    let caption = format!(
        "{kind} of the cost at the first and the last level, and at the best bargain if it is another. Dotted: means. Lower is better."
    );
    figure(of, "distributions", plot.svg(), caption)
}

/// A level as a label.
fn level_label(trade_off: &TradeOff, level: f64) -> String {
    if trade_off.measure.is_erm() { beta_label(level) } else { number::beta(level) }
}

/// What the highest cost is the cost of.
fn worst(trade_off: &TradeOff) -> &'static str {
    if trade_off.sampled.is_some() { "worst run" } else { "worst case" }
}

fn stats(distribution: &Distribution, risk: Risk) -> Option<BoxStats> {
    let outcomes: Vec<(f64, f64)> = distribution.outcomes().collect();
    let summary = Summary::exact(&outcomes, risk).ok()?;
    let costs: Vec<f64> = outcomes.iter().map(|outcome| outcome.0).collect();
    Some(BoxStats {
        quartiles: [summary.q25, summary.median, summary.q75],
        whiskers: [summary.whisker_low, summary.whisker_high],
        mean: summary.mean,
        outliers: summary.outliers(&costs).collect(),
        risk: None,
    })
}

fn changes(trade_off: &TradeOff) -> Table {
    let [level, _] = trade_off.measure.titles();
    let place = |turn: &Turn| match turn.at {
        Some(at) => Field::number(level, significant(at)).sorted_by(at),
        None => Field::number(level, format!("{} – {}", number::beta(turn.after_level), number::beta(turn.to_level)))
            .sorted_by(turn.to_level),
    };
    let fields = |turn: &Turn| {
        vec![
            place(turn),
            Field::number("mean", number::short(turn.mean)),
            Field::number("CVaR 0.95", number::short(turn.cvar95)),
            Field::number("worst", number::short(turn.worst)),
            Field::text("in words", &turn.sentence),
        ]
    };
    Table::of(&trade_off.changes, fields).captioned(format!(
        "Where one behaviour takes over from another, and by how much mean, mean of the worst 5 % and {} grow.",
        worst(trade_off)
    ))
}
