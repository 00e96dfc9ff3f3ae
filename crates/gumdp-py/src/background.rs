//! Work beside Python: other Python threads run meanwhile, and Ctrl-C is heard.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use gumdp::Stop;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::function::{Call, Functions, working_for};

/// How often Python is asked whether somebody pressed Ctrl-C.
const POLL: Duration = Duration::from_millis(25);

/// How long Python waits at its end for work that still asks its functions.
const PATIENCE: Duration = Duration::from_secs(10);

/// Work under way that may ask functions of Python.
static ASKING: Mutex<BTreeMap<u64, Stop>> = Mutex::new(BTreeMap::new());

fn asking() -> MutexGuard<'static, BTreeMap<u64, Stop>> {
    ASKING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A piece of such work, as long as it is under way.
struct Asking(u64);

impl Asking {
    fn new(stop: &Stop) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        asking().insert(number, stop.clone());
        Self(number)
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        asking().remove(&self.0);
    }
}

/// Called by Python at its end: nobody may ask its functions after that.
#[pyfunction]
pub fn finish(py: Python<'_>) {
    asking().values().for_each(Stop::request);
    let deadline = Instant::now() + PATIENCE;
    py.detach(|| {
        while !asking().is_empty() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(2));
        }
    });
}

/// Does some work in a thread of its own and waits for it. An interruption is raised at once: the work owns all it touches, is
/// told to stop, and what it still returns is dropped. So it is if a function that it asks raises.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    functions: Functions,
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> PyResult<T> {
    let call = Call::new(functions);
    call.outcome(wait(py, &call, work))
}

fn wait<T: Send + 'static>(
    py: Python<'_>,
    call: &Arc<Call>,
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> PyResult<T> {
    let (waited_for, stop) = (Arc::downgrade(call), call.stop.clone());
    let (sender, mut receiver) = sync_channel(1);
    let under_way = call.asks().then(|| Asking::new(&stop));
    let work = move || {
        let result = working_for(&waited_for, &stop, || work(&stop));
        drop(under_way);
        // Nobody receives after an interruption, which is no mistake.
        drop(sender.send(result));
    };
    thread::Builder::new().name("gumdp".to_owned()).spawn(work)?;
    loop {
        let received;
        (received, receiver) = py.detach(move || (receiver.recv_timeout(POLL), receiver));
        match received {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => {
                let stopped = call.stop.is_requested();
                let failure = || if stopped { Err(PyRuntimeError::new_err("the work was stopped")) } else { Ok(()) };
                if let Err(interrupted) = py.check_signals().and_then(|()| failure()) {
                    call.stop.request();
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
    functions: Functions,
    threads: Option<usize>,
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> PyResult<T> {
    let call = Call::new(functions);
    let (waited_for, stop) = (Arc::downgrade(&call), call.stop.clone());
    let start = move |worker: rayon::ThreadBuilder| {
        let (waited_for, stop) = (waited_for.clone(), stop.clone());
        thread::Builder::new().spawn(move || working_for(&waited_for, &stop, || worker.run())).map(drop)
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).spawn_handler(start).build();
    let pool = pool.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    call.outcome(wait(py, &call, move |stop| pool.install(|| work(stop))))
}
