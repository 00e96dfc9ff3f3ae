//! What the paper says: its numbers, its figures, and where what is played here departs from its text (`published.toml`).

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::results::TaskResults;
use gumdp_plot::lettered_panels;
use gumdp_plot::page::Figure;

/// The paper's numbers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Statistics of costs.
    pub number: Vec<Number>,
    /// Run times.
    pub time: Vec<Time>,
    /// Where what is played departs from the paper's text.
    pub departure: Vec<Departure>,
    /// Which figures of the paper ours are.
    pub figure: Vec<PaperFigure>,
}

/// Where what is played departs from the paper's text, and why.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Departure {
    /// The task.
    pub task: String,
    /// What departs.
    pub what: String,
    /// Why.
    pub why: String,
}

/// A figure of the paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperFigure {
    number: u32,
    /// What it shows.
    title: String,
    /// Our figures.
    names: Vec<String>,
    /// What stands above each of them; nothing if there is only one.
    panels: Vec<String>,
}

/// Panels in a row.
const COLUMNS: usize = 3;

impl PaperFigure {
    /// Our figures as the paper has them: in one, with a letter for each; `None` if none of them was drawn.
    fn drawn(&self, drawings: &[Figure]) -> Option<Figure> {
        let found = |name: &String| drawings.iter().find(|drawing| drawing.name == *name);
        let all: Vec<(&Figure, String)> = self
            .names
            .iter()
            .enumerate()
            .filter_map(|(index, name)| Some((found(name)?, self.panels.get(index).cloned().unwrap_or_default())))
            .collect();
        let (first, _) = all.first()?;
        let mut caption = format!("Figure {} of the paper. {}", self.number, self.title);
        // What holds for the first holds for all, but for pictures of tasks.
        if !first.name.ends_with("-task") {
            caption = format!("{caption} {}", first.caption);
        }
        let name = format!("figure-{}", self.number);
        if self.panels.is_empty() {
            return Some(Figure { name, caption, ..(*first).clone() });
        }
        let title = format!("Figure {}", self.number);
        let set = |columns: usize, svg: fn(&Figure) -> String| {
            let panels: Vec<(String, String)> =
                all.iter().map(|(figure, panel)| (panel.clone(), svg(figure))).collect();
            lettered_panels(&title, &panels, columns)
        };
        let svg = set(COLUMNS, |figure| figure.svg.clone());
        let narrow = Some(set(1, |figure| figure.narrow.clone().unwrap_or_else(|| figure.svg.clone())));
        Some(Figure { name, svg, narrow, caption })
    }
}

/// A statistic of the paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Number {
    /// The task.
    pub task: String,
    /// Attitude to risk.
    pub beta: f64,
    /// What it is of the costs.
    pub statistic: Statistic,
    /// The number, if it is one.
    pub value: Option<f64>,
    /// The whiskers, if it is two.
    pub range: Option<[f64; 2]>,
    /// What a share counts.
    pub outcomes: Option<Vec<String>>,
    /// Runs that it was computed from.
    pub runs: u64,
    /// Decimals that are printed.
    pub digits: i32,
    /// What is known about a difference.
    pub why: Option<String>,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Statistic {
    /// Mean cost.
    Mean,
    /// Median cost.
    Median,
    /// Highest cost.
    Max,
    /// A bound that the highest cost stays below.
    Below,
    /// Both whiskers of the box plot.
    Whiskers,
    /// Share of runs with certain outcomes.
    Share,
}

/// A run time of the paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// The task.
    pub task: String,
    /// Seconds.
    pub seconds: f64,
    /// Of a whole figure or of one run.
    pub of: String,
}

impl Published {
    /// The numbers that are built in.
    pub fn new() -> Result<Self> {
        toml::from_str(include_str!("published.toml")).context("published.toml")
    }

    /// The departures of these experiments.
    pub fn departures<'a>(&'a self, experiments: &'a [TaskResults]) -> impl Iterator<Item = &'a Departure> {
        let played = |departure: &&Departure| experiments.iter().any(|of| of.task.name == departure.task);
        self.departure.iter().filter(played)
    }

    /// The paper's figures, drawn anew from ours.
    pub fn figures(&self, drawings: &[Figure]) -> Vec<Figure> {
        self.figure.iter().filter_map(|figure| figure.drawn(drawings)).collect()
    }

    /// Whether ours with this name is a part of the paper's.
    pub fn has_figure(&self, name: &str) -> bool {
        self.figure.iter().any(|figure| figure.names.iter().any(|other| other == name))
    }
}
