//! SVG to PNG, at twice the size for sharp print.

use anyhow::{Context, Result};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

const SCALE: f32 = 2.0;

/// Renders an SVG document.
pub fn render(svg: &str) -> Result<Vec<u8>> {
    let mut options = Options::default();
    options.fontdb_mut().load_system_fonts();
    let tree = Tree::from_str(svg, &options)?;
    let size = tree.size();
    let (width, height) = ((size.width() * SCALE).ceil() as u32, (size.height() * SCALE).ceil() as u32);
    let mut pixmap = Pixmap::new(width, height).context("a figure without size")?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixmap.as_mut());
    Ok(pixmap.encode_png()?)
}
