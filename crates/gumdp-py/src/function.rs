//! Functions of Python that the library asks: objectives and policies. They are slower than all others, and they may raise.
//!
//! The library itself never owns an object of Python, because the garbage collector could not see it there. The classes of this
//! crate own the functions, and show them to the collector; the library knows them by number, and finds them in the [`Call`] that
//! it works for. What a function raises belongs to that call alone.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use gumdp::rng::Rng;
use gumdp::{Action, Bounds, Mdp, OccupancyState, Pair, Policy, PolicyFailure, Stop};
use gumdp_files::Task;
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::errors::wrong;
use crate::model::Named;
use crate::turns;

/// The number of a function.
type Number = u64;

/// Functions with their numbers.
#[derive(Default)]
pub struct Functions(Vec<(Number, Py<PyAny>)>);

impl Functions {
    fn one(callable: Py<PyAny>) -> (Number, Self) {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        (number, Self(vec![(number, callable)]))
    }

    /// The same functions for somebody else.
    pub fn again(&self, py: Python<'_>) -> Self {
        Self(self.0.iter().map(|(number, callable)| (*number, callable.clone_ref(py))).collect())
    }

    /// These and others.
    pub fn and(&self, py: Python<'_>, other: &Self) -> Self {
        let mut both = self.again(py);
        both.0.extend(other.again(py).0.into_iter().filter(|(number, _)| self.0.iter().all(|(own, _)| own != number)));
        both
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Shows them to the garbage collector. Clearing is not needed: in each cycle there is an object of Python that can be.
    pub fn show(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.0.iter().try_for_each(|(_, callable)| visit.call(callable))
    }
}

thread_local! {
    /// What this thread works for, and whether that was stopped.
    static CURRENT: RefCell<(Weak<Call>, Stop)> = RefCell::default();
}

/// A piece of work that somebody waits for, the functions that it may ask, and what one of them raised.
pub struct Call {
    functions: Functions,
    pub stop: Stop,
    raised: Mutex<Option<PyErr>>,
    /// Objects that whoever waits has in use.
    held: Vec<u64>,
}

impl Call {
    pub fn new(functions: Functions) -> Arc<Self> {
        Arc::new(Self { functions, stop: Stop::new(), raised: Mutex::default(), held: turns::held() })
    }

    /// Whether Python may be asked.
    pub fn asks(&self) -> bool {
        !self.functions.is_empty()
    }

    fn find(&self, py: Python<'_>, wanted: Number) -> Option<Py<PyAny>> {
        let found = self.functions.0.iter().find(|(number, _)| *number == wanted);
        found.map(|(_, callable)| callable.clone_ref(py))
    }

    /// What comes of the work: its result, or what a function raised.
    pub fn outcome<T>(&self, result: PyResult<T>) -> PyResult<T> {
        match self.raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => result,
        }
    }
}

/// Does some of the work of a call in this thread. Nothing is asked any more once nobody waits for it.
pub fn working_for<T>(call: &Weak<Call>, stop: &Stop, work: impl FnOnce() -> T) -> T {
    /// Puts the outer call back, even if the work panics.
    struct Outer((Weak<Call>, Stop));
    impl Drop for Outer {
        fn drop(&mut self) {
            CURRENT.set(std::mem::take(&mut self.0));
        }
    }
    let held = call.upgrade().map(|call| call.held.clone()).unwrap_or_default();
    let _outer = Outer(CURRENT.replace((call.clone(), stop.clone())));
    turns::holding(held, work)
}

/// Does something that may ask functions. If one of them raises, its exception is what comes of it.
pub fn watched<T>(functions: Functions, work: impl FnOnce(&Stop) -> PyResult<T>) -> PyResult<T> {
    let call = Call::new(functions);
    let result = working_for(&Arc::downgrade(&call), &call.stop, || work(&call.stop));
    call.outcome(result)
}

/// Asks a function of the call that this thread works for. Nothing comes of it if the function raises, which stops the call, or
/// if nobody waits for an answer.
fn ask<T>(wanted: Number, question: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Option<T> {
    if CURRENT.with_borrow(|(_, stop)| stop.is_requested()) {
        return None;
    }
    Python::attach(|py| {
        let call = CURRENT.with_borrow(|(call, _)| call.upgrade())?;
        let callable = call.find(py, wanted)?;
        match question(callable.bind(py)) {
            Ok(answer) => Some(answer),
            Err(error) => {
                call.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                call.stop.request();
                None
            }
        }
    })
}

/// A function f(d) of an array (S, A).
struct Function {
    /// Numbers of states and actions.
    shape: [usize; 2],
    /// The place of each pair in the array.
    places: Vec<usize>,
    bounds: Bounds,
}

/// A function as an objective of a model.
pub fn objective(callable: Py<PyAny>, mdp: &Mdp, bounds: Bounds) -> PyResult<(gumdp::Objective, Functions)> {
    let shape = [mdp.state_count(), mdp.action_count()];
    let place = |pair| mdp.state(pair).index() * shape[1] + mdp.action(pair).index();
    let places: Vec<usize> = (0..mdp.pair_count() as u32).map(Pair::from).map(place).collect();
    let (number, functions) = Functions::one(callable);
    let function = Function { shape, places, bounds };
    let value = move |masses: &[f64]| ask(number, |callable| function.value(callable, masses)).unwrap_or(f64::NAN);
    let objective = gumdp::Objective::custom(mdp.pair_count(), bounds, value).map_err(wrong)?;
    Ok((objective, functions))
}

impl Function {
    fn value(&self, callable: &Bound<'_, PyAny>, masses: &[f64]) -> PyResult<f64> {
        let array = PyArray2::<f64>::zeros(callable.py(), self.shape, false);
        {
            let mut entries = array.try_readwrite()?;
            let entries = entries.as_slice_mut()?;
            for (&place, &mass) in self.places.iter().zip(masses) {
                entries[place] = mass;
            }
        }
        let array = array.into_any();
        array.getattr("flags")?.setattr("writeable", false)?;
        let returned = callable.call1((array,))?;
        let value: f64 = returned.extract().map_err(|_| {
            PyTypeError::new_err(format!("the objective returned {}; it must be a number", shown(&returned)))
        })?;
        let Bounds { low, high } = self.bounds;
        if !value.is_finite() {
            return Err(PyValueError::new_err(format!("the objective returned {value}; it must be finite")));
        }
        if value < low || value > high {
            let message = format!("the objective returned {value}, which is outside of its bounds {low} to {high}");
            return Err(PyValueError::new_err(message));
        }
        Ok(value)
    }
}

/// A function policy(state, time, features) that returns an action.
#[derive(Clone)]
pub struct Chooser {
    number: Number,
    task: Arc<Task>,
}

impl Chooser {
    pub fn new(callable: Py<PyAny>, task: &Arc<Task>) -> (Self, Functions) {
        let (number, functions) = Functions::one(callable);
        (Self { number, task: Arc::clone(task) }, functions)
    }

    fn chosen(&self, callable: &Bound<'_, PyAny>, at: &OccupancyState) -> PyResult<Action> {
        let mdp = self.task.problem.mdp();
        let features = at.features.clone().into_pyarray(callable.py()).into_any();
        features.getattr("flags")?.setattr("writeable", false)?;
        let returned = callable.call1((at.state.index(), at.time, features))?;
        let named: Named = returned.extract().map_err(|_| {
            let message = "it must be the number or the name of an action";
            PyTypeError::new_err(format!("the policy returned {}; {message}", shown(&returned)))
        })?;
        let action = named.action(mdp)?;
        if mdp.pair(at.state, action).is_some() {
            return Ok(action);
        }
        let (state, action) = (mdp.state_name(at.state), mdp.action_name(action));
        Err(wrong(format!("the policy chose action \"{action}\", which state \"{state}\" does not allow")))
    }
}

impl Policy for Chooser {
    fn act(&mut self, at: &OccupancyState, _: &mut Rng) -> Result<Action, PolicyFailure> {
        // What it raised belongs to the call.
        let raised = || PolicyFailure::Other("the function raised".to_owned());
        ask(self.number, |callable| self.chosen(callable, at)).ok_or_else(raised)
    }
}

/// What Python would print.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "something".to_owned(), |text| text.to_string())
}
