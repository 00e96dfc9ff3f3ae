//! Problems: made of a model and an objective, read from a file, or built in.

use std::path::PathBuf;
use std::sync::Arc;

use gumdp::Pair;
use gumdp_files::{Defaults, ExportFormat, GraphScene, Scene, Script, Task, tasks};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::errors::{bad_file, unread, wrong};
use crate::function::Functions;
use crate::model::Model;
use crate::objective::Objective;

/// The extension and text of each file, and what they cannot hold.
type Exported = (Vec<(&'static str, String)>, Vec<String>);

/// Writes a file; see [`gumdp_files::write`].
#[pyfunction]
pub fn write(py: Python<'_>, path: PathBuf, text: &str) -> PyResult<()> {
    // As everywhere in Python, folders are made by whoever wants them.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let has_folder = || folder.map_or(Ok(()), |folder| folder.metadata().map(drop));
    let written = py.detach(|| has_folder().and_then(|()| gumdp_files::write::write(&path, text.as_bytes())));
    written.map_err(|error| {
        let what = format!("{error}: the file cannot be written");
        PyOSError::new_err((error.raw_os_error(), what, path.display().to_string()))
    })
}

/// A task: one that has a problem, and says how it is usually run.
#[pyclass(frozen, module = "gumdp._native")]
pub struct Problem {
    pub task: Arc<Task>,
    /// Python functions in its objective.
    pub functions: Functions,
}

impl From<Task> for Problem {
    fn from(task: Task) -> Self {
        Self { task: Arc::new(task), functions: Functions::default() }
    }
}

#[pymethods]
impl Problem {
    #[new]
    fn new(py: Python<'_>, model: &Model, objective: &Objective, discount: f64, horizon: usize) -> PyResult<Self> {
        let problem = gumdp::Problem::new(Arc::clone(&model.mdp), objective.inner.clone(), discount, horizon);
        let task = Task {
            name: "problem".to_owned(),
            title: "problem".to_owned(),
            description: String::new(),
            problem: problem.map_err(wrong)?,
            defaults: Defaults::default(),
            scripts: Vec::new(),
            scene: Scene::Graph(GraphScene { positions: None }),
            source: String::new(),
            notes: Vec::new(),
            costs: Vec::new(),
            features: Vec::new(),
        };
        Ok(Self { task: Arc::new(task), functions: objective.functions.again(py) })
    }

    /// The horizon for an accuracy.
    #[staticmethod]
    fn horizon_for(objective: &Objective, discount: f64, accuracy: f64) -> PyResult<usize> {
        gumdp::Problem::horizon_for(&objective.inner, discount, accuracy).map_err(wrong)
    }

    /// A file of any format that can be read.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, allow_files: bool) -> PyResult<Self> {
        let task = py.detach(|| Task::load_allowing(&path, allow_files)).map_err(|error| unread(&path, &error))?;
        Ok(task.into())
    }

    /// The text of such a file.
    #[staticmethod]
    fn parse(py: Python<'_>, file: &str, text: &str) -> PyResult<Self> {
        let task = py.detach(|| Task::parse(file, text)).map_err(|error| bad_file(&error))?;
        Ok(task.into())
    }

    /// Costs of an imported model by name, one number for each pair.
    fn costs<'py>(&self, py: Python<'py>) -> Vec<(&str, Bound<'py, PyArray1<f64>>)> {
        let costs = &self.task.costs;
        costs.iter().map(|(name, costs)| (name.as_str(), costs.clone().into_pyarray(py))).collect()
    }

    /// A built-in task.
    #[staticmethod]
    fn built_in(name: &str) -> Option<Self> {
        tasks::get(name).map(Into::into)
    }

    /// The extension and text of each file, and what they cannot hold.
    fn export(&self, path: PathBuf) -> PyResult<Exported> {
        let format = ExportFormat::of(&path).ok_or_else(|| {
            wrong(format!("{}: the format is not known; the name must end in .csv, .drn or .toml", path.display()))
        })?;
        let exported = gumdp_files::export(&self.task, format).map_err(wrong)?;
        Ok((exported.files, exported.notes))
    }

    fn model(&self) -> Model {
        Model { mdp: Arc::new(self.task.problem.mdp().clone()) }
    }

    fn objective(&self, py: Python<'_>) -> Objective {
        Objective { inner: self.task.problem.objective().clone(), functions: self.functions.again(py) }
    }

    /// The name of a file and its text that say the same; none if the problem was made of a model and an objective.
    fn source(&self) -> Option<(String, &str)> {
        let Task { name, source, .. } = &*self.task;
        (!source.is_empty()).then(|| (format!("{name}.toml"), source.as_str()))
    }

    /// Lowest and highest features that an occupancy can have.
    fn feature_bounds<'py>(&self, py: Python<'py>) -> [Bound<'py, PyArray1<f64>>; 2] {
        let problem = &self.task.problem;
        let (mdp, mass) = (problem.mdp(), problem.masses()[0]);
        let mut bounds = [(); 2].map(|()| vec![0.0_f64; problem.objective().feature_count()]);
        for pair in (0..mdp.pair_count() as u32).map(Pair::from) {
            let mut at = problem.start(mdp.state(pair));
            problem.advance(&mut at, pair, mdp.state(pair));
            for (k, feature) in at.features.iter().enumerate() {
                bounds[0][k] = bounds[0][k].min(feature / mass);
                bounds[1][k] = bounds[1][k].max(feature / mass);
            }
        }
        bounds.map(|bound| bound.into_pyarray(py))
    }

    /// Name, title and description.
    fn texts(&self) -> (&str, &str, &str) {
        (&self.task.name, &self.task.title, &self.task.description)
    }

    /// Discount and horizon.
    fn timing(&self) -> (f64, usize) {
        (self.task.problem.discount(), self.task.problem.horizon())
    }

    /// Risk measures, runs and simulations the task is usually run with.
    fn defaults(&self) -> (Vec<String>, u64, u64) {
        let defaults = &self.task.defaults;
        (defaults.risks().iter().map(ToString::to_string).collect(), defaults.runs, defaults.simulations)
    }

    /// Names and actions of the scripts.
    fn scripts(&self) -> Vec<(&str, Vec<usize>)> {
        let actions = |script: &Script| script.actions.iter().map(|action| action.index()).collect();
        self.task.scripts.iter().map(|script| (script.name.as_str(), actions(script))).collect()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.functions.show(&visit)
    }
}
