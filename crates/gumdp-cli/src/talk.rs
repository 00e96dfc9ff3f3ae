//! Notes on stderr, unless the user wants quiet.

use std::sync::atomic::{AtomicBool, Ordering};

static QUIET: AtomicBool = AtomicBool::new(false);

/// Whether to keep quiet from now on.
pub fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// What the user should know about an answer.
pub fn notes(notes: &[String]) {
    if !QUIET.load(Ordering::Relaxed) {
        for note in notes {
            eprintln!("note: {note}");
        }
    }
}
