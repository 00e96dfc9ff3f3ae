//! Objects that change: whoever uses one has it alone, one thread after the other in the order of asking.
//!
//! Who waits leaves Python free to run, and can be interrupted. Who would wait for itself, such as a function that uses the very
//! planner that asks it, gets an error instead.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often one that waits asks Python whether somebody pressed Ctrl-C.
const POLL: Duration = Duration::from_millis(25);

thread_local! {
    /// Numbers of the objects that this thread, or whoever it works for, has now.
    static HELD: RefCell<Vec<u64>> = RefCell::default();
}

/// What this thread has now, for those who work for it.
pub fn held() -> Vec<u64> {
    HELD.with_borrow(Clone::clone)
}

/// Does some work for somebody who has these objects.
pub fn holding<T>(held: Vec<u64>, work: impl FnOnce() -> T) -> T {
    /// Puts back what was held before, even if the work panics.
    struct Before(Vec<u64>);
    impl Drop for Before {
        fn drop(&mut self) {
            HELD.set(std::mem::take(&mut self.0));
        }
    }
    let _before = Before(HELD.replace(held));
    work()
}

/// An object that threads take turns with.
pub struct Turns<T> {
    number: u64,
    /// What it is, for people.
    what: &'static str,
    queue: Mutex<Queue>,
    freed: Condvar,
    /// Locked by the one whose turn it is, who never waits for it.
    value: Mutex<T>,
}

#[derive(Default)]
struct Queue {
    taken: bool,
    next: u64,
    waiting: VecDeque<u64>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Send> Turns<T> {
    pub fn new(what: &'static str, value: T) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { number, what, queue: Mutex::default(), freed: Condvar::new(), value: Mutex::new(value) }
    }

    /// Refuses one that would wait for itself.
    pub fn check(&self) -> PyResult<()> {
        if !HELD.with_borrow(|held| held.contains(&self.number)) {
            return Ok(());
        }
        Err(PyRuntimeError::new_err(format!(
            "this {} is at work, and a function that it asks cannot use it; give the function another one",
            self.what
        )))
    }

    /// Waits for its turn.
    pub fn take(&self, py: Python<'_>) -> PyResult<Turn<'_, T>> {
        self.check()?;
        if let Some(ticket) = self.ask() {
            // The turn comes while Python runs elsewhere: whoever has it now may need Python before giving it back.
            while !py.detach(|| self.has_come(ticket)) {
                py.check_signals().inspect_err(|_| self.leave(ticket))?;
            }
        }
        HELD.with_borrow_mut(|held| held.push(self.number));
        Ok(Turn { value: locked(&self.value), _end: End { turns: self } })
    }

    /// Takes the object if it is free, else a ticket.
    fn ask(&self) -> Option<u64> {
        let mut queue = locked(&self.queue);
        if !queue.taken && queue.waiting.is_empty() {
            queue.taken = true;
            return None;
        }
        let ticket = queue.next;
        queue.next += 1;
        queue.waiting.push_back(ticket);
        Some(ticket)
    }

    /// Waits for a while; whether the turn has come.
    fn has_come(&self, ticket: u64) -> bool {
        let not_yet = |queue: &mut Queue| queue.taken || queue.waiting.front() != Some(&ticket);
        let waited = self.freed.wait_timeout_while(locked(&self.queue), POLL, not_yet);
        let mut queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        if not_yet(&mut queue) {
            return false;
        }
        queue.waiting.pop_front();
        queue.taken = true;
        true
    }

    fn leave(&self, ticket: u64) {
        locked(&self.queue).waiting.retain(|other| *other != ticket);
        self.freed.notify_all();
    }
}

/// An object in the hands of one thread.
pub struct Turn<'a, T> {
    // Given back before the turn ends.
    value: MutexGuard<'a, T>,
    _end: End<'a, T>,
}

/// Ends a turn.
struct End<'a, T> {
    turns: &'a Turns<T>,
}

impl<T> Drop for End<'_, T> {
    fn drop(&mut self) {
        HELD.with_borrow_mut(|held| held.retain(|number| *number != self.turns.number));
        locked(&self.turns.queue).taken = false;
        self.turns.freed.notify_all();
    }
}

impl<T> Deref for Turn<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Turn<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
