//! Stopping long work from outside.
//!
//! Work that is started inside [`Stop::scope`] looks at its flag from time to time and gives up soon after it was raised: solvers
//! with [`OracleError::Stopped`], episodes with
//! [`EpisodeError::Stopped`](crate::EpisodeError::Stopped), searches as if their time were over. Work outside of any scope goes on
//! to its end.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::oracle::OracleError;

thread_local! {
    /// The flag of the scope that this thread is in; nobody raises the first one.
    static CURRENT: RefCell<Stop> = RefCell::default();
}

/// A flag that is raised once. Clones share it.
///
/// ```
/// use gumdp::oracle::{Limits, OracleError, solve};
/// use gumdp::{Erm, Stop};
/// use gumdp_files::tasks;
/// let problem = tasks::get("rooms").unwrap().problem;
/// let stop = Stop::default();
/// stop.request(); // usually from another thread, later
/// let stopped = stop.scope(|| solve(&problem, Erm::MEAN, &Limits::QUICK));
/// assert_eq!(stopped.unwrap_err(), OracleError::Stopped);
/// assert!(solve(&problem, Erm::MEAN, &Limits::QUICK).is_ok());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks all work in scopes of this flag to stop.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether that was asked.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Does some work that can be stopped. Scopes may be nested: the innermost counts.
    pub fn scope<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Puts the outer scope back, even if the work panics.
        struct Outer(Stop);
        impl Drop for Outer {
            fn drop(&mut self) {
                CURRENT.set(std::mem::take(&mut self.0));
            }
        }
        let _outer = Outer(CURRENT.replace(self.clone()));
        work()
    }

    /// The flag of the scope that this thread is in. Work that goes on in other threads takes it along.
    #[must_use]
    pub fn current() -> Self {
        CURRENT.with_borrow(Self::clone)
    }

    pub(crate) fn check(&self) -> Result<(), OracleError> {
        if self.is_requested() { Err(OracleError::Stopped) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_scope_counts() {
        let (outer, inner) = (Stop::default(), Stop::default());
        outer.scope(|| {
            inner.scope(|| {
                inner.request();
                assert!(Stop::current().is_requested());
            });
            assert!(!Stop::current().is_requested());
            outer.request();
            assert!(Stop::current().is_requested());
        });
        assert!(!Stop::current().is_requested());
    }
}
