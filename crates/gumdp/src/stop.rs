//! Stopping long work from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A flag that is raised once; clones share it. Work that is handed one looks at it from time to time and gives up soon after:
/// solvers ([`Limits::stop`](crate::oracle::Limits)) with [`OracleError::Stopped`](crate::oracle::OracleError), experiments and
/// searches ([`Policy::set_stop`](crate::Policy::set_stop)) with errors of their own.
///
/// ```
/// use gumdp::oracle::{Limits, OracleError, solve};
/// use gumdp::{Erm, Stop};
/// use gumdp_files::tasks;
/// let problem = tasks::get("rooms").unwrap().problem;
/// let stop = Stop::new();
/// stop.request(); // usually from another thread, later
/// let stopped = solve(&problem, Erm::MEAN, &Limits { stop, ..Limits::QUICK });
/// assert_eq!(stopped.unwrap_err(), OracleError::Stopped);
/// assert!(solve(&problem, Erm::MEAN, &Limits::QUICK).is_ok());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop {
    flag: Option<Arc<AtomicBool>>,
    /// Is raised by itself then.
    deadline: Option<Instant>,
}

impl Stop {
    /// Is never raised; so is the default.
    pub const NEVER: Self = Self { flag: None, deadline: None };

    /// One that is not raised yet.
    #[must_use]
    pub fn new() -> Self {
        Self { flag: Some(Arc::default()), deadline: None }
    }

    /// The same flag, which is also raised by itself at a time. What it ends depends on the clock.
    #[must_use]
    pub fn by(&self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self.clone() }
    }

    /// Asks all work that looks at this flag to stop; [`Stop::NEVER`] does not listen.
    pub fn request(&self) {
        if let Some(flag) = &self.flag {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Whether that was asked.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
