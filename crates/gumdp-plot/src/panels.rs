//! Several figures as one document, in rows of equal columns.

use super::svg::{number, opening, side, with_prefixed_ids};

/// Sets documents made by this module side by side, `columns` in a row.
#[must_use]
pub fn panels(title: &str, figures: &[String], columns: usize) -> String {
    let columns = columns.max(1);
    let sizes: Vec<[f64; 2]> =
        figures.iter().map(|svg| ["width", "height"].map(|name| side(svg, name).unwrap_or(0.0))).collect();
    let pitch = sizes.iter().map(|size| size[0]).fold(0.0, f64::max);
    let rows: Vec<f64> = sizes.chunks(columns).map(|row| row.iter().map(|size| size[1]).fold(0.0, f64::max)).collect();
    let size = (pitch * columns.min(figures.len()) as f64, rows.iter().sum());
    let mut out = opening(size, "", title, &format!("{} figures.", figures.len()), "");
    for (index, svg) in figures.iter().enumerate() {
        let (row, column) = (index / columns, index % columns);
        let (x, y) = (number(column as f64 * pitch), number(rows[..row].iter().sum()));
        let panel = with_prefixed_ids(svg, &format!("p{index}-"));
        out += &panel.replacen("<svg ", &format!("<svg x=\"{x}\" y=\"{y}\" "), 1);
    }
    out.push_str("</svg>\n");
    out
}
