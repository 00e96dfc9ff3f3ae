//! The colours of pages, light and dark: the one place where they are defined. Figures take those of the light theme ([`crate`]'s
//! `ink.rs`), reports and the studio both, as style sheet ([`style`]) and as script (`web/inks.js`, which is [`script`]).
//!
//! Every colour but `grid`, `floor`, `paper` and `wall` is read as text and has a contrast of at least 4.5 on paper and floor
//! (WCAG 2.2, AA). `a`, `b` and `mark` are blue, vermillion and green of Okabe and Ito, darker or lighter where that asks for it;
//! people who do not see red or green can tell them apart. Tests below check both.
//!
//! Nothing is used from the rest of the crate: `scripts/studio` compiles this file by itself.

/// The colours of a theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// Text, axes and outlines.
    pub ink: &'static str,
    /// Secondary text and tick labels.
    pub muted: &'static str,
    /// Grid lines and faint borders.
    pub grid: &'static str,
    /// Background.
    pub paper: &'static str,
    /// Background of what lies below the paper, and of free cells.
    pub floor: &'static str,
    /// Walls of a map.
    pub wall: &'static str,
    /// The first of what is compared.
    pub a: &'static str,
    /// The second.
    pub b: &'static str,
    /// What is special or good.
    pub mark: &'static str,
    /// What is wrong.
    pub bad: &'static str,
}

/// Dark on white.
pub const LIGHT: Theme = Theme {
    ink: "#1b1b1f",
    muted: "#5b616b",
    grid: "#e2e5ea",
    paper: "#ffffff",
    floor: "#f4f5f7",
    wall: "#5b616b",
    a: "#0072b2",
    b: "#b84f00",
    mark: "#00734f",
    bad: "#b00020",
};

/// Light on black.
pub const DARK: Theme = Theme {
    ink: "#ececf1",
    muted: "#a4abb6",
    grid: "#3a3f47",
    paper: "#1a1c20",
    floor: "#111316",
    wall: "#7d8590",
    a: "#56b4e9",
    b: "#e69f00",
    mark: "#2fc79a",
    bad: "#ff8a95",
};

impl Theme {
    /// Its colours with their names.
    #[must_use]
    pub fn colours(&self) -> [(&'static str, &'static str); 10] {
        let Self { ink, muted, grid, paper, floor, wall, a, b, mark, bad } = *self;
        [
            ("ink", ink),
            ("muted", muted),
            ("grid", grid),
            ("paper", paper),
            ("floor", floor),
            ("wall", wall),
            ("a", a),
            ("b", b),
            ("mark", mark),
            ("bad", bad),
        ]
    }

    fn variables(&self, scheme: &str) -> String {
        let all = self.colours().map(|(name, colour)| format!("--{name}: {colour};"));
        format!("color-scheme: {scheme}; {}", all.join(" "))
    }
}

/// Both themes as variables of a style sheet: what the reader's system asks for, unless `data-theme` says otherwise.
#[must_use]
pub fn style() -> String {
    let (light, dark) = (LIGHT.variables("light"), DARK.variables("dark"));
    format!(
        ":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root:not([data-theme=\"light\"]) {{ {dark} }} }}\n\
         :root[data-theme=\"dark\"] {{ {dark} }}\n"
    )
}

/// Both themes as a module of a script.
#[must_use]
pub fn script() -> String {
    let theme = |theme: &Theme| {
        let all = theme.colours().map(|(name, colour)| format!("{name}: \"{colour}\""));
        format!("{{ {} }}", all.join(", "))
    };
    format!(
        "// @ts-check\n// Written by scripts/studio from src/theme.rs, where colours are defined.\n/** The colours of both themes. */\n\
         export const INKS = {{\n  light: {},\n  dark: {},\n}};\n",
        theme(&LIGHT),
        theme(&DARK)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Red, green and blue, linear.
    fn linear(colour: &str) -> [f64; 3] {
        [1, 3, 5].map(|at| {
            let share = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn times(matrix: [[f64; 3]; 3], vector: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let light = |colour| linear(colour).iter().zip([0.2126, 0.7152, 0.0722]).map(|(a, b)| a * b).sum::<f64>();
        let (a, b): (f64, f64) = (light(one), light(other));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// CIE 1976 L*a*b*, white D65.
    fn lab(rgb: [f64; 3]) -> [f64; 3] {
        let xyz = times(
            [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]],
            rgb.map(|part| part.clamp(0.0, 1.0)),
        );
        let f = |share: f64| if share > 0.008_856 { share.cbrt() } else { 7.787 * share + 16.0 / 116.0 };
        let [x, y, z] = [xyz[0] / 0.9505, xyz[1], xyz[2] / 1.089].map(f);
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// How different two colours look, by sight.
    fn distance(sight: [[f64; 3]; 3], one: &str, other: &str) -> f64 {
        let [a, b] = [one, other].map(|colour| lab(times(sight, linear(colour))));
        a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn text_is_legible_in_both_themes() {
        for theme in [LIGHT, DARK] {
            for (name, colour) in
                [theme.ink, theme.muted, theme.a, theme.b, theme.mark, theme.bad].map(|own| (own, own))
            {
                for ground in [theme.paper, theme.floor] {
                    assert!(contrast(colour, ground) >= 4.5, "{name} on {ground}: {}", contrast(colour, ground));
                }
            }
            // On buttons that are pressed.
            assert!(contrast(theme.paper, theme.a) >= 4.5);
            // Walls are no text, but must be seen.
            assert!(contrast(theme.wall, theme.floor) >= 3.0);
        }
    }

    /// Machado, Oliveira and Fernandes (2009), severity 1. A distance of 2.3 is just noticeable.
    #[test]
    fn colours_are_told_apart_by_all() {
        let sights = [
            ("usual", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
            (
                "no red",
                [
                    [0.152_286, 1.052_583, -0.204_868],
                    [0.114_503, 0.786_281, 0.099_216],
                    [-0.003_882, -0.048_116, 1.051_998],
                ],
            ),
            (
                "no green",
                [
                    [0.367_322, 0.860_646, -0.227_968],
                    [0.280_085, 0.672_501, 0.047_413],
                    [-0.011_820, 0.042_940, 0.968_881],
                ],
            ),
        ];
        for theme in [LIGHT, DARK] {
            for (name, sight) in sights {
                for (one, other) in [(theme.a, theme.b), (theme.a, theme.mark), (theme.b, theme.mark)] {
                    let apart = distance(sight, one, other);
                    assert!(apart > 20.0, "{name}: {one} and {other} are {apart} apart");
                }
            }
        }
    }

    #[test]
    fn the_script_is_that_of_these_colours() {
        assert_eq!(include_str!("../web/inks.js"), script(), "run scripts/studio");
    }
}
