//! Objectives of one model.

use gumdp::{Bounds, Partition};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
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

type Vectors<'py> = Vec<PyReadonlyArray1<'py, f64>>;

impl From<gumdp::Objective> for Objective {
    fn from(inner: gumdp::Objective) -> Self {
        Self { inner, functions: Functions::default() }
    }
}

/// Cells by pair, or one for each state or pair.
fn partition(model: &Model, over: &str, cells: Option<Vec<u32>>) -> PyResult<Partition> {
    let mdp = &model.mdp;
    match (over, cells) {
        (_, Some(cell_of_pair)) => {
            let mut entries = vec![0; cell_of_pair.iter().max().map_or(0, |&cell| cell as usize + 1)];
            for &cell in &cell_of_pair {
                entries[cell as usize] += 1;
            }
            Partition::new(cell_of_pair, entries).map_err(wrong)
        }
        ("states", None) => Ok(Partition::states(mdp)),
        ("pairs", None) => Ok(Partition::pairs(mdp)),
        (other, None) => {
            Err(wrong(format!("over is {other:?}; it must be \"states\" or \"pairs\", or a cell for each state")))
        }
    }
}

fn slices(vectors: &Vectors<'_>) -> PyResult<Vec<Vec<f64>>> {
    vectors.iter().map(|vector| Ok(vector.as_slice()?.to_vec())).collect()
}

#[pymethods]
impl Objective {
    /// c·d.
    #[staticmethod]
    fn linear(costs: PyReadonlyArray1<f64>) -> PyResult<Self> {
        gumdp::Objective::linear(costs.as_slice()?.to_vec()).map(Into::into).map_err(wrong)
    }

    /// Negative entropy.
    #[staticmethod]
    fn entropy(model: &Model, over: &str, cells: Option<Vec<u32>>, epsilon: f64) -> PyResult<Self> {
        gumdp::Objective::entropy(partition(model, over, cells)?, epsilon).map(Into::into).map_err(wrong)
    }

    /// Distance to a target.
    #[staticmethod]
    fn distance(
        model: &Model,
        kind: &str,
        over: &str,
        cells: Option<Vec<u32>>,
        target: PyReadonlyArray1<f64>,
        epsilon: f64,
    ) -> PyResult<Self> {
        let (partition, target) = (partition(model, over, cells)?, target.as_slice()?.to_vec());
        let objective = match kind {
            "squared" => gumdp::Objective::squared_distance(partition, target),
            "absolute" => gumdp::Objective::absolute_distance(partition, target),
            "kl" => gumdp::Objective::kl_divergence(partition, target, epsilon),
            other => {
                let message = format!("distance is {other:?}; it must be \"squared\", \"absolute\" or \"kl\"");
                return Err(wrong(message));
            }
        };
        objective.map(Into::into).map_err(wrong)
    }

    /// A utility of several costs.
    #[staticmethod]
    fn several(kind: &str, costs: Vectors<'_>, weights: Vec<f64>, powers: Vec<f64>) -> PyResult<Self> {
        let costs = slices(&costs)?;
        let objective = match kind {
            "maximum" => gumdp::Objective::maximum(&costs),
            "minimum" => gumdp::Objective::minimum(&costs),
            "sum" => gumdp::Objective::weighted_sum(&costs, &weights),
            "power" => gumdp::Objective::signed_power(&costs, &weights, &powers),
            other => {
                let message =
                    format!("combine is {other:?}; it must be \"sum\", \"maximum\", \"minimum\" or \"power\"");
                return Err(wrong(message));
            }
        };
        objective.map(Into::into).map_err(wrong)
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
