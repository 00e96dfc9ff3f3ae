//! Work beside Python: other Python threads run meanwhile, and Ctrl-C is heard.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often Python is asked whether somebody pressed Ctrl-C.
const POLL: Duration = Duration::from_millis(25);

/// Whether the result of a piece of work is still wanted.
#[derive(Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Nobody waits for the result any more.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Does some work in a thread of its own and waits for it. An interruption is raised at once: the work owns all it touches, is
/// told to stop, and what it still returns is dropped.
pub fn interruptible<T: Send + 'static>(py: Python<'_>, work: impl FnOnce(&Stop) -> T + Send + 'static) -> PyResult<T> {
    let stop = Stop::default();
    let told = stop.clone();
    let (sender, mut receiver) = sync_channel(1);
    // Nobody receives after an interruption, which is no mistake.
    thread::Builder::new().name("gumdp".to_owned()).spawn(move || drop(sender.send(work(&told))))?;
    loop {
        let received;
        (received, receiver) = py.detach(move || (receiver.recv_timeout(POLL), receiver));
        match received {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(interrupted) = py.check_signals() {
                    stop.0.store(true, Ordering::Relaxed);
                    return Err(interrupted);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("gumdp failed; the reason is on the standard error output"));
            }
        }
    }
}

/// The same in a pool of so many threads, or as many as there are cores. It is new each time: a process that was forked
/// has no threads of an old one.
pub fn in_pool<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> PyResult<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    let pool = pool.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    interruptible(py, move |stop| pool.install(|| work(stop)))
}
