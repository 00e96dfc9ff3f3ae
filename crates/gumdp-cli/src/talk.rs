//! Talk on stderr. Nobody need listen: a closed stderr is no failure.

use std::sync::atomic::{AtomicBool, Ordering};

/// Writes a line to stderr, if that can be written to.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        drop(writeln!(std::io::stderr(), $($text)*));
    }};
}
pub(crate) use say;

static QUIET: AtomicBool = AtomicBool::new(false);

/// Whether to keep quiet from now on.
pub fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether the user wants quiet.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// What the user should know about an answer.
pub fn notes(notes: &[String]) {
    if !is_quiet() {
        for note in notes {
            say!("note: {note}");
        }
    }
}
