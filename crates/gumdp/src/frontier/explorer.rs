//! A frontier that is solved level by level, for those who show what is known while the rest is solved.

use std::time::Duration;

use super::exact::{Found, Lowest, renumbered, same_form};
use super::{Behaviour, Frontier, Point};
use crate::clock::Moment;
use crate::oracle::{Limits, OracleError, check_bounded, lowest_means};
use crate::problem::Problem;
use crate::risk::{Erm, Risk};
use crate::stop::Stop;

/// [`exact()`](super::exact()) level by level.
///
/// ```
/// use gumdp::frontier::Explorer;
/// use gumdp::oracle::Limits;
/// use gumdp::Risk;
/// let problem = gumdp_files::tasks::get("grid-mo").unwrap().problem;
/// let mut explorer = Explorer::new(&problem, &Limits::QUICK)?;
/// explorer.look_ahead(&[Risk::MEAN, Risk::WORST])?;
/// let mean = explorer.look(Risk::MEAN)?.1.costs.mean();
/// assert!(explorer.look(Risk::WORST)?.1.costs.mean() >= mean);
/// let frontier = explorer.frontier(std::time::Duration::ZERO)?;
/// assert_eq!((frontier.points.len(), frontier.behaviours.len()), (2, 2));
/// # Ok::<(), gumdp::oracle::OracleError>(())
/// ```
#[derive(Clone)]
pub struct Explorer {
    problem: Problem,
    /// Sets of pairs.
    marked: Vec<Vec<bool>>,
    limits: Limits,
    behaviours: Vec<Behaviour>,
    points: Vec<Point>,
    /// What was solved ahead.
    ahead: Vec<Lowest>,
}

impl Explorer {
    /// Nothing is known yet.
    ///
    /// # Errors
    /// [`OracleError::Overflow`] for astronomic costs.
    pub fn new(problem: &Problem, limits: &Limits) -> Result<Self, OracleError> {
        check_bounded(problem)?;
        let (marked, behaviours, points, ahead) = Default::default();
        Ok(Self { problem: problem.clone(), marked, limits: limits.clone(), behaviours, points, ahead })
    }

    /// The same, which also finds how likely episodes visit some sets of pairs ([`Behaviour::met`]).
    #[must_use]
    pub fn marking(self, marked: &[Vec<bool>]) -> Self {
        Self { marked: marked.to_vec(), ..self }
    }

    /// Finds the lowest entropic risks of some levels that will be looked at, many in one pass: those at which a behaviour is optimal
    /// that is known by then need not be solved again. Other measures and linear objectives gain nothing.
    ///
    /// # Errors
    /// Those of [`exact()`](super::exact()).
    pub fn look_ahead(&mut self, risks: &[Risk]) -> Result<(), OracleError> {
        let entropic: Vec<(Risk, Erm)> = risks.iter().filter_map(|&risk| Some((risk, risk.as_erm()?))).collect();
        let erms: Vec<Erm> = entropic.iter().map(|(_, erm)| *erm).collect();
        let found = if erms.is_empty() { None } else { lowest_means(&self.problem, &erms, &self.limits)? };
        let lowest = |(&(risk, _), (value, mean)): (&(Risk, Erm), (f64, f64))| Lowest {
            risk: self.problem.measure(risk),
            low: value,
            high: value,
            mean,
            searched: false,
        };
        self.ahead = entropic.iter().zip(found.unwrap_or_default()).map(lowest).collect();
        Ok(())
    }

    /// Solves one level. Behaviours are numbered in the order in which they are found.
    ///
    /// # Errors
    /// Those of [`exact()`](super::exact()).
    pub fn look(&mut self, risk: Risk) -> Result<(Point, &Behaviour), OracleError> {
        let measure = self.problem.measure(risk);
        let lowest = self.ahead.iter().find(|lowest| lowest.risk == measure).copied();
        let mut found = self.found();
        let point = found.point(risk, lowest);
        self.behaviours = found.behaviours;
        let point = point?;
        self.points.push(point);
        Ok((point, &self.behaviours[point.behaviour]))
    }

    /// All levels that are known, in order, and where behaviour changes between them; behaviours are numbered in the order in which
    /// they take over. Changes are located for as long as the patience lasts; without any, only between which levels they are is known.
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
        if patience.is_zero() {
            // Also where there is no clock.
            found.limits.stop = Stop::new();
            found.limits.stop.request();
        } else if let Some(deadline) = Moment::now().after(patience) {
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
        Found { problem: &self.problem, marked: &self.marked, limits: self.limits.clone(), behaviours }
    }
}
