//! Colours, dashes, markers and hatches shared by all figures.
//!
//! The four *literal* colours [`INK`], [`MUTED`], [`GRID`] and [`PAPER`] are written as presentation attributes only,
//! so that a page can re-colour an inlined figure by attribute selectors (see `page.rs`). Marks that sit on a
//! fixed colour (a heat-map cell, a bar) use [`ON_DARK`] and [`ON_LIGHT`], which no page may change.
//!
//! Series colours: Okabe and Ito, *Color Universal Design* (2008), the first three as in `theme.rs`, without yellow, which is too faint
//! on white, and with a grey and a brown.
//! Sequential map: viridis (van der Walt and Smith, 2015), interpolated between 17 anchors.

use super::svg::{Canvas, Paint, Path, Point};
use super::theme::LIGHT;

/// Text, axes and outlines.
pub const INK: &str = LIGHT.ink;
/// Secondary text and tick labels.
pub const MUTED: &str = LIGHT.muted;
/// Grid lines and faint borders.
pub const GRID: &str = LIGHT.grid;
/// Background.
pub const PAPER: &str = LIGHT.paper;
/// Light ink for marks on a fixed dark colour.
pub(super) const ON_DARK: &str = "#fdfdfd";
/// Dark ink for marks on a fixed light colour.
pub(super) const ON_LIGHT: &str = "#111111";

const SERIES: [&str; 8] = [LIGHT.a, LIGHT.b, LIGHT.mark, "#cc79a7", "#e69f00", "#56b4e9", "#7d7f85", "#8c564b"];
const DASHES: [&str; 7] = ["", "7 3", "2 2.5", "9 3 2 3", "5 2", "1.5 3.5", "12 3"];

#[rustfmt::skip]
const VIRIDIS: [u32; 17] = [
    0x44_0154, 0x48_186a, 0x47_2d7b, 0x42_4086, 0x3b_528b, 0x33_638d, 0x2c_728e, 0x26_828e, 0x21_918c,
    0x1f_a088, 0x28_ae80, 0x3f_bc73, 0x5e_c962, 0x84_d44b, 0xad_dc30, 0xd8_e219, 0xfd_e725,
];

/// Colour of the series with this index; repeats after eight.
pub(super) fn series_colour(index: usize) -> &'static str {
    SERIES[index % SERIES.len()]
}

/// Dash pattern of the series with this index; the first is solid.
pub(super) fn series_dash(index: usize) -> &'static str {
    DASHES[index % DASHES.len()]
}

/// Colour of a fraction in 0..=1 on the sequential map, as `#rrggbb`.
pub(super) fn sequential(fraction: f64) -> String {
    let place = if fraction.is_finite() { fraction.clamp(0.0, 1.0) } else { 0.0 } * (VIRIDIS.len() - 1) as f64;
    let below = (place.floor() as usize).min(VIRIDIS.len() - 2);
    let weight = place - below as f64;
    let (a, b) = (VIRIDIS[below], VIRIDIS[below + 1]);
    let channel = |colour: u32, shift: u32| f64::from(colour >> shift & 0xff);
    let mix = |shift| channel(a, shift) + weight * (channel(b, shift) - channel(a, shift));
    format!("#{:02x}{:02x}{:02x}", mix(16).round() as u8, mix(8).round() as u8, mix(0).round() as u8)
}

/// Ink that is legible on a fixed `#rrggbb` background: whichever of light and dark has the higher WCAG contrast.
pub(super) fn legible_on(background: &str) -> &'static str {
    let channel = |at: usize| {
        let raw = background.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(255);
        let share = f64::from(raw) / 255.0;
        if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    let luminance = 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
    // The contrast with white and with black is equal at a luminance of 0.179.
    if luminance > 0.179 { ON_LIGHT } else { ON_DARK }
}

/// Draws the marker of a series, filled with its colour and edged with paper so that neighbours stay apart.
pub(super) fn marker(canvas: &mut Canvas, series: usize, at: Point, radius: f64) {
    let paint = Paint::fill(series_colour(series)).and_stroke(PAPER, 0.8);
    let corners: &[Point] = match series % 5 {
        0 => return canvas.circle(at, radius, &paint),
        1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        2 => &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
        3 => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
        _ => &[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
    };
    canvas.path(&Path::around(at, radius, corners), &paint);
}

/// Registers the hatch of a series and returns the `fill` value to use, or `None` for the plain first series.
pub(super) fn hatch(canvas: &mut Canvas, series: usize, colour: &str, opacity: f64) -> Option<String> {
    let kind = series % 6;
    if kind == 0 {
        return None;
    }
    let id = format!("hatch-{kind}-{}", colour.trim_start_matches('#'));
    let (size, drawing) = match kind {
        1 => (6, "M-1 7 L7 -1 M-1 1 L1 -1 M5 7 L7 5"),
        2 => (5, "M2.5 2.4 L2.5 2.6"),
        3 => (6, "M-1 -1 L7 7 M5 -1 L7 1 M-1 5 L1 7"),
        4 => (7, "M0 3.5 L7 3.5 M3.5 0 L3.5 7"),
        _ => (5, "M0 2.5 L5 2.5"),
    };
    let stroke = if kind == 2 { "2\" stroke-linecap=\"round" } else { "1" };
    canvas.define(
        &id,
        &format!(
            "<pattern id=\"{id}\" width=\"{size}\" height=\"{size}\" patternUnits=\"userSpaceOnUse\">\
             <path d=\"{drawing}\" fill=\"none\" stroke=\"{colour}\" stroke-opacity=\"{opacity}\" \
             stroke-width=\"{stroke}\"/></pattern>"
        ),
    );
    Some(format!("url(#{id})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequential_map_starts_dark_and_ends_light() {
        assert_eq!(sequential(0.0), "#440154");
        assert_eq!(sequential(1.0), "#fde725");
        assert_eq!(sequential(f64::NAN), sequential(0.0));
        assert_eq!(sequential(7.0), sequential(1.0));
    }

    #[test]
    fn ink_is_chosen_by_contrast() {
        assert_eq!(legible_on("#440154"), ON_DARK);
        assert_eq!(legible_on("#fde725"), ON_LIGHT);
        assert_eq!(legible_on("not a colour"), ON_LIGHT);
    }
}
