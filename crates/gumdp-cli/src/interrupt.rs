//! Ctrl-C: finished runs are kept, and the program is gone within a second.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gumdp::{ExperimentError, Stop};

use crate::failure::Interrupted;
use crate::talk::say;

static STOP: LazyLock<Stop> = LazyLock::new(Stop::new);
static JOURNALLED: AtomicBool = AtomicBool::new(false);
static EXPLAINED: AtomicBool = AtomicBool::new(false);
static FINISHING: AtomicBool = AtomicBool::new(false);

/// Exit code of an interrupted program, as shells have it: 128 + SIGINT.
pub const EXIT_CODE: i32 = 130;

/// From now on Ctrl-C asks the program to stop, and ends it if it has not stopped soon.
pub fn install() {
    // A second handler in one process is the only way this can fail.
    let _ = ctrlc::set_handler(|| {
        STOP.request();
        // Journals are safe at any moment, so an episode that takes long can simply be cut off.
        std::thread::sleep(Duration::from_millis(700));
        // A second Ctrl-C does not wait for results either.
        if FINISHING.swap(false, Ordering::Relaxed) {
            return;
        }
        explain();
        std::process::exit(EXIT_CODE);
    });
}

/// Is requested when the program is asked to stop.
pub fn stop() -> &'static Stop {
    &STOP
}

/// The error of an experiment, which may have been cut short.
pub fn of_experiment(error: ExperimentError) -> anyhow::Error {
    match error {
        _ if error.is_stopped() => Interrupted.into(),
        ExperimentError::Run(error) => error.into(),
        error @ (ExperimentError::Journal { .. } | ExperimentError::Unread { .. }) => error.into(),
    }
}

/// From now on finished runs are on disk.
pub fn runs_are_kept() {
    JOURNALLED.store(true, Ordering::Relaxed);
}

/// From now on the program only writes what it has, and ends by itself.
pub fn finish() {
    FINISHING.store(true, Ordering::Relaxed);
}

/// Says once, on stderr, what an interruption means for the work.
pub fn explain() {
    if !EXPLAINED.swap(true, Ordering::Relaxed) {
        let kept = ": finished runs are kept, the same command goes on from there";
        say!("interrupted{}", if JOURNALLED.load(Ordering::Relaxed) { kept } else { "" });
    }
}
