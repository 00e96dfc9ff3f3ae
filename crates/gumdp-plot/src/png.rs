//! SVG to PNG, at twice the size for sharp print, on white paper.

use std::sync::{Arc, LazyLock};

use anyhow::{Context, Result, ensure};
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

const SCALE: f32 = 2.0;

/// Fonts without serifs, the best first; the renderer itself knows no other than Arial.
const SANS_SERIF: [&str; 6] = ["Helvetica", "Arial", "Liberation Sans", "DejaVu Sans", "Noto Sans", "Segoe UI"];

/// The fonts of the system, read once.
static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_system_fonts();
    let installed = |name: &&str| fonts.faces().any(|face| face.families.iter().any(|(family, _)| family == name));
    let any = || fonts.faces().next().and_then(|face| Some(face.families.first()?.0.clone()));
    if let Some(family) = SANS_SERIF.into_iter().find(installed).map(str::to_owned).or_else(any) {
        fonts.set_sans_serif_family(family);
    }
    Arc::new(fonts)
});

/// Renders an SVG document.
pub fn render(svg: &str) -> Result<Vec<u8>> {
    ensure!(!FONTS.is_empty(), "no font is installed, which PNG figures need; SVG figures do not");
    let options = Options { fontdb: Arc::clone(&FONTS), ..Options::default() };
    let tree = Tree::from_str(svg, &options)?;
    let size = tree.size();
    let (width, height) = ((size.width() * SCALE).ceil() as u32, (size.height() * SCALE).ceil() as u32);
    let mut pixmap = Pixmap::new(width, height).context("a figure without size")?;
    pixmap.fill(Color::WHITE);
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixmap.as_mut());
    Ok(pixmap.encode_png()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_drawn_on_white() {
        let svg = |text: &str| {
            format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"60\" height=\"20\" \
                 font-family=\"system-ui, -apple-system, sans-serif\"><text x=\"2\" y=\"15\">{text}</text></svg>"
            )
        };
        let picture = |text: &str| Pixmap::decode_png(&render(&svg(text)).unwrap()).unwrap();
        let dark = |picture: &Pixmap| picture.pixels().iter().filter(|pixel| pixel.red() < 100).count();
        assert_eq!((picture("").width(), picture("").height()), (120, 40));
        assert!(picture("").pixels().iter().all(|pixel| (pixel.red(), pixel.alpha()) == (255, 255)));
        assert!(dark(&picture("β = 10")) > 40);
    }
}
