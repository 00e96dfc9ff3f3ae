//! Several figures as one document, in rows of equal columns.

use super::svg::{Anchor, Canvas, TextStyle, number, opening, side, with_prefixed_ids};

/// Room above a panel for its letter and name.
const HEAD: f64 = 22.0;

/// Sets documents made by this module side by side, `columns` in a row.
#[must_use]
pub fn panels(title: &str, figures: &[String], columns: usize) -> String {
    headed_panels(title, figures, columns, (Canvas::default(), 0.0))
}

/// The same, with a letter and a name above each: (a) first, (b) second …
#[must_use]
pub fn lettered_panels(title: &str, figures: &[(String, String)], columns: usize) -> String {
    let letter = |index: usize| char::from(b'a' + (index % 26) as u8);
    let names: Vec<String> =
        figures.iter().enumerate().map(|(index, (name, _))| format!("({}) {name}", letter(index))).collect();
    let named: Vec<(&str, &str)> =
        names.iter().zip(figures).map(|(name, (_, svg))| (name.as_str(), svg.as_str())).collect();
    set(title, &named, columns, (Canvas::default(), 0.0))
}

/// The same, below something that all share and so many pixels high.
pub(super) fn headed_panels(title: &str, figures: &[String], columns: usize, top: (Canvas, f64)) -> String {
    let named: Vec<(&str, &str)> = figures.iter().map(|svg| ("", svg.as_str())).collect();
    set(title, &named, columns, top)
}

fn set(title: &str, figures: &[(&str, &str)], columns: usize, (shared, top): (Canvas, f64)) -> String {
    let columns = columns.max(1);
    let head = if figures.iter().any(|(name, _)| !name.is_empty()) { HEAD } else { 0.0 };
    let sizes: Vec<[f64; 2]> =
        figures.iter().map(|(_, svg)| ["width", "height"].map(|name| side(svg, name).unwrap_or(0.0))).collect();
    let pitch = sizes.iter().map(|size| size[0]).fold(0.0, f64::max);
    let highest = |row: &[[f64; 2]]| row.iter().map(|size| size[1]).fold(0.0, f64::max) + head;
    let rows: Vec<f64> = sizes.chunks(columns).map(highest).collect();
    let size = (pitch * columns.min(figures.len()) as f64, top + rows.iter().sum::<f64>());
    let mut out = opening(size, title, &format!("{} figures.", figures.len()), "");
    out += &shared.body();
    for (index, (name, svg)) in figures.iter().enumerate() {
        let (row, column) = (index / columns, index % columns);
        let (x, y) = (column as f64 * pitch, top + rows[..row].iter().sum::<f64>());
        if !name.is_empty() {
            let mut canvas = Canvas::default();
            canvas.text((x + 10.0, y + 14.0), name, &TextStyle::new(13.0, Anchor::Start).bold());
            out += &canvas.body();
        }
        let panel = with_prefixed_ids(svg, &format!("p{index}-"));
        let place = format!("<svg x=\"{}\" y=\"{}\" ", number(x), number(y + head));
        out += &panel.replacen("<svg ", &place, 1);
    }
    out.push_str("</svg>\n");
    out
}
