//! Figures as standalone SVG documents, which [`pdf()`] and [`png()`] turn into other formats, and HTML pages ([`page`]) of them, drawn from
//! plain data.
//!
//! Each kind is a struct with public fields and a method `svg`. There is no randomness, no clock and no font
//! measuring: equal data give equal bytes. Data that cannot be drawn (NaN, infinities, nothing at all) are left out and
//! never an error.
//!
//! | kind | shows |
//! |---|---|
//! | [`BoxPlot`] | samples of several methods, with outliers, means, risks and the exact optimum |
//! | [`LinePlot`] | values over a setting, convergence, distribution functions |
//! | [`Multiples`] | the same in many small panels with shared axes |
//! | [`DotPlot`] | a few values in many named rows |
//! | [`StemPlot`] | exact distributions of a random value |
//! | [`BarPlot`] | shares of outcomes |
//! | [`HeatMaps`] | matrices, such as occupancies of a grid |
//! | [`GridMap`] | grid worlds and paths through them |
//! | [`StateGraph`] | transitions of small problems, as a graph or as matrices |
//! | [`DecisionTree`] | what is done and what chance does then |
//! | [`panels()`] | several figures as one |
//! | [`Table`] | numbers, also on a terminal |
//! | [`page::View`] | data in a page with controls |
//!
//! Why not a plotting crate: none draws Tukey boxes with an exact reference, state graphs and grid maps in one style,
//! and a page must be able to re-colour ink and paper for dark mode (see `ink.rs`).

mod bar_plot;
mod box_plot;
mod cells;
mod decision_tree;
mod dot_plot;
mod frame;
mod geometry;
mod graph_curve;
mod graph_layout;
mod grid_map;
mod grid_path;
mod heat_maps;
mod ink;
mod legend;
mod line_plot;
mod multiples;
pub mod page;
mod panels;
mod reference;
mod scale;
mod state_graph;
mod stem_plot;
mod svg;
mod table;
mod terrain;
#[cfg(test)]
mod tests;
mod text;
pub mod theme;
mod vector;

pub use bar_plot::BarPlot;
pub use box_plot::{BoxGroup, BoxPlot, BoxStats, RiskMark};
pub use decision_tree::{DecisionTree, TreeCard};
pub use dot_plot::{Dot, DotPlot, DotRow};
pub use frame::Labels;
pub use grid_map::{CellKind, GridCell, GridMap, NamedCells};
pub use heat_maps::{CategoryMap, HeatMaps};
pub use line_plot::{LinePlot, LineSeries};
pub use multiples::Multiples;
pub use panels::{lettered_panels, panels};
pub use reference::{LineKind, ReferenceLine};
pub use state_graph::{GraphEdge, GraphNode, StateGraph};
pub use stem_plot::StemPlot;
pub use table::{Field, Table, Tone};
pub use vector::{pdf, png};

/// `text`, or `default` if it is empty.
fn or<'a>(text: &'a str, default: &'a str) -> &'a str {
    if text.is_empty() { default } else { text }
}

/// The name with this index, or nothing.
fn name(names: &[String], index: usize) -> &str {
    names.get(index).map_or("", String::as_str)
}

/// "a, b and c", for descriptions that are read aloud.
fn spoken_list<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
    match &names[..] {
        [] => "no data".to_owned(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
