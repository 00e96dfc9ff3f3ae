//! Charts of what was played.

use gumdp::oracle;
use gumdp::{Erm, Pair, Risk, Scripted};
use gumdp_files::{GridScene, Scene};

use super::task::groups_to_visit;
use super::{BOX_PARTS, figure};
use crate::played::is_difficult;
use crate::results::{Finished, TaskResults, distinct, runs_text};
use crate::{number, outcome};
use gumdp_files::Player;
use gumdp_plot::page::Figure;
use gumdp_plot::{
    BarPlot, BoxGroup, BoxPlot, BoxStats, CategoryMap, HeatMaps, Labels, LineKind, LinePlot, LineSeries, ReferenceLine,
    RiskMark, StemPlot,
};

/// Points of a curve over β.
const CURVE_POINTS: usize = 121;
/// Scripts with more occupancy states than this are not drawn.
const MAX_STATES: u64 = 2_000_000;
/// Width of figures for narrow screens.
const NARROW: u32 = 360;
/// Maps with more cells than this are drawn without numbers in the cells.
const MAX_LABELLED_CELLS: usize = 150;

/// A risk measure as a label.
pub fn risk_label(risk: Risk) -> String {
    risk.beta().map_or_else(|| risk.to_string(), beta_label)
}

/// An attitude to risk as a label.
pub fn beta_label(beta: f64) -> String {
    if beta.is_infinite() {
        format!("β = {}∞", if beta < 0.0 { "−" } else { "" })
    } else {
        format!("β = {}", number::beta(beta))
    }
}

/// Box plots of the costs for each β and policy, with the exact optimum where it is known.
pub fn boxes(experiment: &TaskResults) -> Option<Figure> {
    if experiment.finished.is_empty() {
        return None;
    }
    let presets = distinct(experiment.finished.iter().map(|finished| finished.trial.preset));
    let box_of = |risk: Risk, preset: Player| {
        let finished = experiment.find(risk, preset)?;
        let (summary, costs) = (&finished.summary, &finished.played.costs);
        // Of many costs each different one is a point.
        let different = || costs.ascending().values().collect::<Vec<f64>>();
        let shown = if costs.are_few() { costs.first().to_vec() } else { different() };
        Some(BoxStats {
            quartiles: [summary.q25, summary.median, summary.q75],
            whiskers: [summary.whisker_low, summary.whisker_high],
            mean: summary.mean,
            outliers: summary.outliers(&shown).collect(),
            risk: Some(RiskMark {
                value: summary.value,
                interval: [summary.low, summary.high],
                too_low: experiment.is_too_low(finished),
            }),
        })
    };
    let groups = experiment
        .risks()
        .into_iter()
        .map(|risk| BoxGroup {
            label: risk_label(risk),
            boxes: presets.iter().map(|&preset| box_of(risk, preset)).collect(),
            reference: experiment.optimum(risk).map(|optimum| optimum.value),
        })
        .collect();
    let plot = BoxPlot {
        labels: Labels::new(&experiment.task.title, "", "cost f(d)"),
        series: presets.iter().map(|preset| preset.title().to_owned()).collect(),
        groups,
        reference_label: "exact optimum (risk)".to_owned(),
    };
    let runs = runs_text(&experiment.finished);
    Some(figure(
        &experiment.task,
        "boxes",
        plot.svg(),
        format!(
            "Costs of {runs} for each β. {BOX_PARTS} The dot beside a box is the risk in its 95 % interval, dashed is the lowest possible \
             risk. Lower is better."
        ),
    ))
}

/// The mean time spent in each cell of the map, for each β.
pub fn heat_maps(experiment: &TaskResults) -> Option<Figure> {
    let Scene::Grid(grid) = &experiment.task.scene else { return None };
    let panel = |finished: &Finished| {
        (panel_title(experiment, finished), matrix(grid, &mean_visits(experiment, grid, finished)))
    };
    let sticky = |cell: u32| is_difficult(grid, cell);
    let difficult: Vec<(usize, usize)> = grid.cells().filter(|&cell| sticky(cell)).map(|c| grid.position(c)).collect();
    let has_walls = grid.terrains.iter().any(|terrain| terrain.wall);
    let category = |cell: u32| if grid.terrain(cell).wall { 2 } else { usize::from(sticky(cell)) };
    let map = (!difficult.is_empty()).then(|| CategoryMap {
        title: "terrain".to_owned(),
        cells: (0..grid.rows)
            .map(|row| (0..grid.columns).map(|column| category((row * grid.columns + column) as u32)).collect())
            .collect(),
        names: ["normal", "difficult", "wall"][..if has_walls { 3 } else { 2 }]
            .iter()
            .map(ToString::to_string)
            .collect(),
    });
    let (outlined, outline_label) = if difficult.is_empty() {
        (groups_to_visit(&experiment.task, grid).into_iter().flat_map(|group| group.cells).collect(), "to visit")
    } else {
        (difficult, "difficult terrain")
    };
    let maps = HeatMaps {
        title: "Where the time is spent".to_owned(),
        value_label: "mean steps per run".to_owned(),
        panels: experiment.finished.iter().map(panel).collect(),
        map,
        outline_label: outline_label.to_owned(),
        outlined,
        cell_labels: grid.rows * grid.columns <= MAX_LABELLED_CELLS,
        zero_label: "never visited".to_owned(),
        ..HeatMaps::default()
    };
    let caption = "Mean number of steps spent in each cell, over all runs; one scale for all maps.";
    let narrow = HeatMaps { width: Some(NARROW), ..maps.clone() }.svg();
    Some(Figure { narrow: Some(narrow), ..figure(&experiment.task, "visits", maps.svg(), caption) })
}

/// The share of runs on difficult terrain at each time.
pub fn difficult_terrain(experiment: &TaskResults) -> Option<Figure> {
    if experiment.finished.iter().all(|finished| finished.played.on_difficult.is_empty()) {
        return None;
    }
    let series = experiment.finished.iter().map(|finished| {
        let (there, runs) = (finished.played.on_difficult.iter().enumerate(), finished.played.runs() as f64);
        LineSeries {
            name: panel_title(experiment, finished),
            points: there.map(|(time, &there)| (time as f64, there as f64 / runs)).collect(),
            ..LineSeries::default()
        }
    });
    let plot = LinePlot {
        labels: Labels::new("Runs on difficult terrain", "time t (steps)", "share of runs"),
        series: series.collect(),
        ..LinePlot::default()
    };
    Some(figure(&experiment.task, "terrain", plot.svg(), "Share of runs that are on difficult terrain at each time."))
}

/// How often each outcome of a gathering task happened.
pub fn outcomes(experiment: &TaskResults) -> Option<Figure> {
    let categories = outcome::all(&experiment.task);
    if categories.is_empty() {
        return None;
    }
    let groups = experiment.finished.iter().map(|finished| {
        let share = |&ended: &u64| ended as f64 / finished.played.runs() as f64;
        (panel_title(experiment, finished), finished.played.outcomes.iter().map(share).collect())
    });
    let plot = BarPlot {
        title: "Outcomes".to_owned(),
        label: "share of runs".to_owned(),
        groups: groups.collect(),
        categories: categories.clone(),
    };
    Some(figure(&experiment.task, "outcomes", plot.svg(), "What was brought home."))
}

/// The exact distribution of f under each script of the task, and its ERM as a function of β.
pub fn distributions(experiment: &TaskResults) -> Vec<Figure> {
    let task = &experiment.task;
    let limits = oracle::Limits { max_states: MAX_STATES, ..oracle::Limits::default() };
    let mut distributions = Vec::new();
    for script in &task.scripts {
        let policy = Scripted::new(&task.problem, script.actions.clone()).ok();
        let found = policy.and_then(|policy| oracle::distribution(&task.problem, &policy, &limits).ok());
        distributions.extend(found.map(|found| (script.name.clone(), found)));
    }
    if distributions.is_empty() {
        return Vec::new();
    }
    let named = || distributions.iter().map(|(name, distribution)| (name.clone(), distribution));
    let density = StemPlot {
        labels: Labels::new("Distribution of the cost", "cost f(d)", ""),
        distributions: named().map(|(name, found)| (name, found.outcomes().collect())).collect(),
        references: named()
            .map(|(name, found)| ReferenceLine {
                kind: LineKind::Mean,
                at: found.mean(),
                label: format!("mean of {name}"),
            })
            .collect(),
    };
    let caption = "The exact distribution of the cost under the task's fixed plans. Dotted: means.";
    let density = figure(task, "distributions", density.svg(), caption);
    let [low, high] = task.defaults.curve.unwrap_or([0.01, 100.0]);
    let betas: Vec<f64> =
        (0..CURVE_POINTS).map(|i| low * (high / low).powf(i as f64 / (CURVE_POINTS - 1) as f64)).collect();
    let risk = |found: &oracle::Distribution, beta: f64| Erm::new(beta).map_or(f64::NAN, |erm| found.erm(erm));
    let curve = LinePlot {
        labels: Labels::new("Risk as a function of β", "β", "ERM of the cost"),
        log_x: true,
        series: named()
            .map(|(name, found)| LineSeries {
                name,
                points: betas.iter().map(|&beta| (beta, risk(found, beta))).collect(),
                ..LineSeries::default()
            })
            .collect(),
        ..LinePlot::default()
    };
    let caption = "Their entropic risk, from the exact distribution: the larger β, the more the worst outcomes count.";
    vec![density, figure(task, "curve", curve.svg(), caption)]
}

/// β, and the policy if there are several.
fn panel_title(experiment: &TaskResults, finished: &Finished) -> String {
    let label = risk_label(finished.trial.risk);
    let several = experiment.finished.iter().any(|other| other.trial.preset != finished.trial.preset);
    if several { format!("{label}, {}", finished.trial.preset.title()) } else { label }
}

/// Steps per run in each cell of the map.
fn mean_visits(experiment: &TaskResults, grid: &GridScene, finished: &Finished) -> Vec<f64> {
    let mdp = experiment.task.problem.mdp();
    let mut visits = vec![0.0; grid.rows * grid.columns];
    for (pair, &steps) in (0..).zip(&finished.played.tally.visits) {
        if let Some(cell) = grid.cell_of_state[mdp.state(Pair::from(pair)).index()] {
            visits[cell as usize] += steps as f64 / finished.played.runs() as f64;
        }
    }
    visits
}

/// Values by cell as rows; walls have none.
fn matrix(grid: &GridScene, values: &[f64]) -> Vec<Vec<f64>> {
    let value = |cell: usize| if grid.terrain(cell as u32).wall { f64::NAN } else { values[cell] };
    (0..grid.rows).map(|row| (0..grid.columns).map(|column| value(row * grid.columns + column)).collect()).collect()
}
