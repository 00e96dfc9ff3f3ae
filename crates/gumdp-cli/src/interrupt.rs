//! Ctrl-C: what is known is kept, and the program is gone as soon as it is written, without results within a second.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gumdp::{ExperimentError, Stop};

use crate::failure::Interrupted;
use crate::talk::say;

static STOP: LazyLock<Stop> = LazyLock::new(Stop::new);
static JOURNALLED: AtomicBool = AtomicBool::new(false);
static EXPLAINED: AtomicBool = AtomicBool::new(false);
static KNOWN: AtomicBool = AtomicBool::new(false);
static FINISHING: AtomicBool = AtomicBool::new(false);

/// So long an episode that is cut off, and what has nothing to keep, may go on.
const SOON: Duration = Duration::from_millis(700);
/// So often as long it may take to come to what is known.
const WAITS: u32 = 15;

/// Exit code of an interrupted program, as shells have it: 128 + SIGINT.
pub const EXIT_CODE: i32 = 130;

/// From now on Ctrl-C asks the program to stop, and ends it if it has not stopped soon.
pub fn install() {
    // A second handler in one process is the only way this can fail.
    let _ = ctrlc::set_handler(|| {
        STOP.request();
        // Journals are safe at any moment, so an episode that takes long can simply be cut off.
        std::thread::sleep(SOON);
        // A machine that is busy needs longer to come to what is known, which would be lost.
        let is_awaited = || KNOWN.load(Ordering::Relaxed) && !FINISHING.load(Ordering::Relaxed);
        (1..WAITS).take_while(|_| is_awaited()).for_each(|_| std::thread::sleep(SOON));
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

/// From now on there are results that are not on disk and will be kept.
pub fn something_is_known() {
    KNOWN.store(true, Ordering::Relaxed);
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
