//! Prints the colours of pages as a style sheet, or with `script` as a module of a script. `scripts/studio` compiles it by itself.

#[path = "../src/theme.rs"]
mod theme;

fn main() {
    let script = std::env::args().nth(1).is_some_and(|what| what == "script");
    print!("{}", if script { theme::script() } else { theme::style() });
}
