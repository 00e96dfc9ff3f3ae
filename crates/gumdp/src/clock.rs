//! How long something takes. In a browser there is no clock: nothing is measured there, no time is ever up, and work is ended from
//! outside. Not here: CPU seconds of a thread, which only some systems tell.

use std::time::{Duration, Instant};

/// Whether there is a clock at all.
const TICKS: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));

/// A moment, if there is a clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(Option<Instant>);

impl Moment {
    pub(crate) fn now() -> Self {
        Self(TICKS.then(Instant::now))
    }

    /// The time since then; none if there is no clock.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.map_or(Duration::ZERO, |then| then.elapsed())
    }

    /// So much later, if there is a clock and such a time.
    pub(crate) fn after(self, duration: Duration) -> Option<Instant> {
        self.0?.checked_add(duration)
    }
}

/// Where that is not told.
#[cfg(not(any(unix, windows)))]
pub(crate) use Moment as ThreadMoment;
/// CPU time of this thread.
#[cfg(any(unix, windows))]
pub(crate) use cpu_time::ThreadTime as ThreadMoment;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes() {
        let then = Moment::now();
        std::thread::sleep(Duration::from_millis(2));
        assert!(then.elapsed() >= Duration::from_millis(2));
        assert!(then.after(Duration::from_secs(1)) > Some(Instant::now()));
        assert_eq!(then.after(Duration::MAX), None);
    }
}
