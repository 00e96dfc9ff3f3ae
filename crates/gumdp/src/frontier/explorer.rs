//! A frontier that is solved level by level, for those who show what is known while the rest is solved.

use std::time::Duration;

use super::exact::{Found, renumbered, same_form};
use super::{Behaviour, Frontier, Point};
use crate::clock::Moment;
use crate::oracle::{Limits, OracleError, check_bounded};
use crate::problem::Problem;
use crate::risk::Risk;

/// [`exact()`](super::exact()) level by level.
///
/// ```
/// use gumdp::frontier::Explorer;
/// use gumdp::oracle::Limits;
/// use gumdp::Risk;
/// let problem = gumdp_files::tasks::get("grid-mo").unwrap().problem;
/// let mut explorer = Explorer::new(&problem, &Limits::QUICK)?;
/// let mean = explorer.look(Risk::MEAN)?.1.costs.mean();
/// assert!(explorer.look(Risk::WORST)?.1.costs.mean() >= mean);
/// let frontier = explorer.frontier(std::time::Duration::ZERO)?;
/// assert_eq!((frontier.points.len(), frontier.behaviours.len()), (2, 2));
/// # Ok::<(), gumdp::oracle::OracleError>(())
/// ```
#[derive(Clone)]
pub struct Explorer {
    problem: Problem,
    limits: Limits,
    behaviours: Vec<Behaviour>,
    points: Vec<Point>,
}

impl Explorer {
    /// Nothing is known yet.
    ///
    /// # Errors
    /// [`OracleError::Overflow`] for astronomic costs.
    pub fn new(problem: &Problem, limits: &Limits) -> Result<Self, OracleError> {
        check_bounded(problem)?;
        Ok(Self { problem: problem.clone(), limits: limits.clone(), behaviours: Vec::new(), points: Vec::new() })
    }

    /// Solves one level. Behaviours are numbered in the order in which they are found.
    ///
    /// # Errors
    /// Those of [`exact()`](super::exact()).
    pub fn look(&mut self, risk: Risk) -> Result<(Point, &Behaviour), OracleError> {
        let mut found = self.found();
        let point = found.point(risk);
        self.behaviours = found.behaviours;
        let point = point?;
        self.points.push(point);
        Ok((point, &self.behaviours[point.behaviour]))
    }

    /// All levels that are known, in order, and where behaviour changes between them; behaviours are numbered in the order in which
    /// they take over.
    ///
    /// # Errors
    /// Those of [`exact()`](super::exact()).
    pub fn frontier(mut self, patience: Duration) -> Result<Frontier, OracleError> {
        let mut points = std::mem::take(&mut self.points);
        // Levels of one measure ascend; measures are in the order in which they were given.
        let given = points.clone();
        let kind = |point: &Point| given.iter().position(|other| same_form(other, point));
        points.sort_by(|a, b| kind(a).cmp(&kind(b)).then(a.level().total_cmp(&b.level())));
        let mut found = self.found();
        if let Some(deadline) = Moment::now().after(patience) {
            found.limits.stop = found.limits.stop.by(deadline);
        }
        let (changes, complete) = found.changes(&points)?;
        let behaviours = found.behaviours;
        let ended = self.limits.stop.is_requested().then_some(OracleError::Stopped);
        let complete = complete && ended.is_none();
        Ok(renumbered(Frontier { points, behaviours, changes, complete, ended, sampled: None }))
    }

    /// How many levels are known.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.points.len()
    }

    fn found(&mut self) -> Found<'_> {
        let behaviours = std::mem::take(&mut self.behaviours);
        Found { problem: &self.problem, limits: self.limits.clone(), behaviours }
    }
}
