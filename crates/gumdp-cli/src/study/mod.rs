//! Studies of the default planner: rows that are measured once and kept, and what is printed and drawn from them.
//!
//! | study | question |
//! |---|---|
//! | [`ablation`] | what does each ingredient earn? |
//! | [`worlds`] | does it hold on worlds nobody tuned on? |
//! | [`convergence`] | do more simulations lead to the optimum? |
//!
//! Not here: the worlds themselves (see [`crate::worlds`]) and playing (see [`crate::cells`]).

pub mod ablation;
mod book;
pub mod convergence;
mod variant;
pub mod worlds;

pub use book::Book;

use std::collections::BTreeSet;
use std::sync::Arc;

use gumdp_files::Task;

use crate::number::{beta, short};
use book::Row;
use gumdp_plot::Dot;
use gumdp_plot::Table;
use variant::Variant;

/// What a study shows.
#[derive(Debug)]
pub struct Findings {
    /// Said before the table.
    pub introduction: String,
    /// The numbers.
    pub table: Table,
    /// The picture, an SVG document.
    pub picture: String,
}

/// One row to be measured.
#[derive(Clone, Debug)]
pub struct Job {
    task: Arc<Task>,
    beta: f64,
    variant: Variant,
    simulations: u64,
    runs: u64,
}

impl Job {
    /// A row with the simulations of its task.
    fn new(task: &Arc<Task>, beta: f64, variant: Variant, runs: u64) -> Self {
        Self { task: Arc::clone(task), beta, variant, simulations: task.defaults.simulations, runs }
    }

    /// The name of its task or world.
    pub fn task(&self) -> &str {
        &self.task.name
    }

    /// The row with another number of runs, if one is given.
    #[must_use]
    pub fn with(self, runs: Option<u64>) -> Self {
        Self { runs: runs.unwrap_or(self.runs), ..self }
    }
}

/// The rows of one task and β.
#[derive(Debug)]
struct Block<'a>(Vec<&'a Row>);

impl<'a> Block<'a> {
    /// Rows in the order of their jobs, by task and β.
    fn all(rows: &'a [Row]) -> Vec<Self> {
        rows.chunk_by(|a, b| a.task == b.task && a.beta == b.beta).map(|rows| Self(rows.iter().collect())).collect()
    }

    fn find(&self, variant: Variant) -> Option<&'a Row> {
        self.0.iter().copied().find(|row| row.variant == variant)
    }

    /// How a variant compares with another.
    fn verdict(&self, variant: Variant, other: Variant) -> Option<Verdict> {
        Some(Verdict::of(self.find(variant)?, self.find(other)?))
    }

    fn first(&self) -> &'a Row {
        self.0[0]
    }

    fn label(&self) -> String {
        format!("{}, β = {}", self.first().task, beta(self.first().beta))
    }

    /// The optimum, else the lowest risk of all variants.
    fn best_known(&self) -> f64 {
        let lowest = self.0.iter().map(|row| row.erm).fold(f64::INFINITY, f64::min);
        self.first().optimum.unwrap_or(lowest)
    }
}

/// Where each block belongs: blocks of one task share a number.
fn groups(blocks: &[Block]) -> Vec<usize> {
    let mut met = BTreeSet::new();
    let group = |block: &Block| {
        met.insert(block.first().task.clone());
        met.len()
    };
    blocks.iter().map(group).collect()
}

/// How a row compares with another: by their 95 % intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Better,
    Equal,
    Worse,
}

impl Verdict {
    fn of(row: &Row, other: &Row) -> Self {
        if row.erm_high < other.erm_low {
            Self::Better
        } else if row.erm_low > other.erm_high {
            Self::Worse
        } else {
            Self::Equal
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Equal => "equal",
            Self::Worse => "worse",
        }
    }
}

/// The risk of a row with its interval, as text.
fn with_interval(row: &Row) -> String {
    format!("{} ({} – {})", short(row.erm), short(row.erm_low), short(row.erm_high))
}

/// The risk of a row, less `base`, with its interval.
fn dot(row: &Row, base: f64) -> Dot {
    Dot { value: row.erm - base, interval: Some((row.erm_low - base, row.erm_high - base)) }
}
