//! Several figures as one document, in rows of equal columns.

use super::ink::PAPER;
use super::svg::{escape, number, with_prefixed_ids};
use std::fmt::Write as _;

/// Sets documents made by this module side by side, `columns` in a row.
#[must_use]
pub fn panels(title: &str, figures: &[String], columns: usize) -> String {
    let columns = columns.max(1);
    let sizes: Vec<(f64, f64)> = figures.iter().map(|svg| (side(svg, "width"), side(svg, "height"))).collect();
    let pitch = sizes.iter().map(|size| size.0).fold(0.0, f64::max);
    let rows: Vec<f64> = sizes.chunks(columns).map(|row| row.iter().map(|size| size.1).fold(0.0, f64::max)).collect();
    let width = number((pitch * columns.min(figures.len()) as f64).max(1.0));
    let height = number(rows.iter().sum::<f64>().max(1.0));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-labelledby=\"title desc\">\n<title id=\"title\">{}</title>\n\
         <desc id=\"desc\">{} figures.</desc>\n\
         <rect x=\"0\" y=\"0\" width=\"{width}\" height=\"{height}\" fill=\"{PAPER}\"/>\n",
        escape(title),
        figures.len()
    );
    for (index, svg) in figures.iter().enumerate() {
        let (row, column) = (index / columns, index % columns);
        let (x, y) = (number(column as f64 * pitch), number(rows[..row].iter().sum()));
        let panel = with_prefixed_ids(svg, &format!("p{index}-"));
        let _ = write!(out, "{}", panel.replacen("<svg ", &format!("<svg x=\"{x}\" y=\"{y}\" "), 1));
    }
    out.push_str("</svg>\n");
    out
}

/// An attribute of the outermost element.
fn side(svg: &str, name: &str) -> f64 {
    let after = svg.split_once(&format!(" {name}=\"")).map_or("", |(_, after)| after);
    after.split('"').next().and_then(|value| value.parse().ok()).unwrap_or(0.0)
}
