//! Objectives of one model.

use gumdp::kinds::{Content, Given, Holds, Kind};
use gumdp::{Bounds, Partition};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{PyTraverseError, PyVisit};

use crate::errors::wrong;
use crate::function::{self, Functions, watched};
use crate::model::Model;

/// f(d) for the pairs of a model.
#[pyclass(frozen, module = "gumdp._native")]
pub struct Objective {
    pub inner: gumdp::Objective,
    /// Python functions among its terms.
    pub functions: Functions,
}

impl From<gumdp::Objective> for Objective {
    fn from(inner: gumdp::Objective) -> Self {
        Self { inner, functions: Functions::default() }
    }
}

/// What a field holds: arrays of numbers, a number, or cells by pair or by name.
fn content(model: &Model, holds: Holds, value: &Bound<'_, PyAny>) -> PyResult<Content> {
    let numbers = |value: &Bound<'_, PyAny>| -> PyResult<Vec<f64>> {
        Ok(value.extract::<PyReadonlyArray1<f64>>()?.as_slice()?.to_vec())
    };
    Ok(match holds {
        Holds::Number => Content::Number(value.extract()?),
        Holds::Costs => Content::Costs(value.try_iter()?.map(|cost| numbers(&cost?)).collect::<PyResult<_>>()?),
        Holds::Cells { .. } => Content::Cells(partition(model, value)?),
        _ => Content::Numbers(numbers(value)?),
    })
}

/// Cells by pair, or one for each state or pair.
fn partition(model: &Model, over: &Bound<'_, PyAny>) -> PyResult<Partition> {
    match over.extract::<&str>() {
        Ok("states") => return Ok(Partition::states(&model.mdp)),
        Ok(_) => return Ok(Partition::pairs(&model.mdp)),
        Err(_) => {}
    }
    let cell_of_pair: Vec<u32> = over.extract()?;
    let mut entries = vec![0; cell_of_pair.iter().max().map_or(0, |&cell| cell as usize + 1)];
    for &cell in &cell_of_pair {
        entries[cell as usize] += 1;
    }
    Partition::new(cell_of_pair, entries).map_err(wrong)
}

#[pymethods]
impl Objective {
    /// An objective of one of the kinds that the library lists, from its fields by name.
    #[staticmethod]
    fn of_kind(model: &Model, kind: &str, fields: &Bound<'_, PyDict>) -> PyResult<Self> {
        let found = Kind::all().find(|known| known.name == kind);
        let found = found.ok_or_else(|| wrong(format!("there is no objective of the kind {kind:?}")))?;
        let mut given = Given::default();
        for field in found.fields {
            if let Some(value) = fields.get_item(field.name)? {
                given.0.push((field.name, content(model, field.holds, &value)?));
            }
        }
        found.of(given).map(Into::into).map_err(wrong)
    }

    /// Any expression of named inputs.
    #[staticmethod]
    fn formula(py: Python<'_>, expression: &str, inputs: Vec<(String, PyRef<'_, Self>)>) -> PyResult<Self> {
        let functions = inputs.iter().fold(Functions::default(), |all, (_, own)| all.and(py, &own.functions));
        let inputs: Vec<(&str, gumdp::Objective)> =
            inputs.iter().map(|(name, objective)| (name.as_str(), objective.inner.clone())).collect();
        let inner = gumdp::Objective::formula(expression, &inputs).map_err(wrong)?;
        Ok(Self { inner, functions })
    }

    /// A Python function of an array (S, A).
    #[staticmethod]
    fn function(model: &Model, callable: Py<PyAny>, low: f64, high: f64) -> PyResult<Self> {
        let (inner, functions) = function::objective(callable, &model.mdp, Bounds { low, high })?;
        Ok(Self { inner, functions })
    }

    /// This objective times a weight.
    fn scaled(&self, py: Python<'_>, weight: f64) -> Self {
        Self { inner: weight * self.inner.clone(), functions: self.functions.again(py) }
    }

    /// This objective plus a constant.
    fn shifted(&self, py: Python<'_>, constant: f64) -> Self {
        Self { inner: self.inner.clone().shifted(constant), functions: self.functions.again(py) }
    }

    /// The sum of two.
    fn plus(&self, py: Python<'_>, other: &Self) -> Self {
        Self { inner: self.inner.clone() + other.inner.clone(), functions: self.functions.and(py, &other.functions) }
    }

    /// f(d).
    fn value(&self, py: Python<'_>, occupancy: PyReadonlyArray1<f64>) -> PyResult<f64> {
        let occupancy = self.checked(&occupancy)?;
        watched(self.functions.again(py), |_| Ok(self.inner.value(occupancy)))
    }

    /// The gradient, where it exists.
    fn gradient<'py>(
        &self,
        py: Python<'py>,
        occupancy: PyReadonlyArray1<f64>,
    ) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        Ok(self.inner.gradient(self.checked(&occupancy)?).map(|gradient| gradient.into_pyarray(py)))
    }

    /// Lowest and highest possible value.
    fn bounds(&self) -> (f64, f64) {
        let bounds = self.inner.bounds();
        (bounds.low, bounds.high)
    }

    /// Whether it is c·d plus a constant.
    fn is_linear(&self) -> bool {
        self.inner.as_linear().is_some()
    }

    /// Number of features that a policy has to remember.
    fn feature_count(&self) -> usize {
        self.inner.feature_count()
    }

    fn __str__(&self) -> String {
        self.inner.to_string()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.functions.show(&visit)
    }
}

impl Objective {
    fn checked<'a>(&self, occupancy: &'a PyReadonlyArray1<f64>) -> PyResult<&'a [f64]> {
        let occupancy = occupancy.as_slice()?;
        if self.inner.pair_count() == Some(occupancy.len()) {
            return Ok(occupancy);
        }
        let needed = self.inner.pair_count().unwrap_or_default();
        Err(wrong(format!(
            "the occupancy has {} numbers; one for each of the {needed} pairs is needed",
            occupancy.len()
        )))
    }
}
