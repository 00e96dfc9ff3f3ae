//! What is done once before the first decision: a lattice where features are few, the optimum where that is cheap, else a choice among manners by
//! pilot episodes.

use std::sync::Arc;

use super::GuidedPlanner;
use super::choice::{Manner, SEED, choose};
use super::marginal::Ahead;
use super::moves::Moves;
use super::plans::Destinations;
use crate::experiment::stoppable;
use crate::oracle::optimal_policy;
use crate::planner::lattice::{Lattice, Scratch};
use crate::planner::mcts::Planner;
use crate::planner::settings::{Budget, Exploration, PlannerSettings};
use crate::policy::{Policy, PolicyFailure, Uniform};
use crate::problem::OccupancyState;
use crate::rng::{self, Purpose};

/// Numbers that a lattice may read: about a second.
const LATTICE_WORK: f64 = (1 << 27) as f64;
/// Where a lattice is settled but not exact, the optimum may take this part of what it may take elsewhere.
const WHERE_SETTLED: u64 = 4;
/// Simulated steps before the first decision that look for a plan.
const MOST_PLANNED: f64 = 8e7;
/// They are shared among the likeliest states where episodes start, at most so many.
const MOST_STARTS: usize = 16;
/// With fewer simulations for a decision than this, preparations are shorter, too.
const WORTH_IT: f64 = 64.0;
/// Episodes of random play that show how far apart costs are.
const PROBES: u64 = 64;

/// What is known before the first decision, shared by all clones.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    lattice: Option<Arc<Lattice>>,
    destinations: Option<Arc<Destinations>>,
    pub(super) manner: Manner,
    /// How far apart costs are that random play meets: exploration and ties are relative to it.
    pub(super) scale: f64,
}

impl GuidedPlanner {
    /// How it decides, for people; known once it is prepared.
    #[must_use]
    pub fn manner(&self) -> String {
        let Some(prepared) = &self.prepared else { return "not prepared".to_owned() };
        match (prepared.manner, &prepared.lattice) {
            (Manner::Exact, _) => "solved exactly, as that takes no longer than simulating".to_owned(),
            (Manner::Lattice, Some(lattice)) => lattice.to_string(),
            (Manner::Marginal { reach, .. }, _) if reach == f64::INFINITY => {
                "tree search, chosen by pilot episodes".to_owned()
            }
            (Manner::Plans, _) => "plans, chosen by pilot episodes".to_owned(),
            (Manner::Published, _) => "the published planner, chosen by pilot episodes".to_owned(),
            _ => {
                let horizon = self.problem.horizon();
                let (ahead, all) = self.moves.horizon_of(self.work(horizon));
                let needed = if all > super::MOST_OUTCOMES {
                    "all of them are more than it looks at".to_owned()
                } else {
                    format!("all of them would take {} simulations for a decision", all.div_ceil(horizon))
                };
                let how_far = if ahead < horizon {
                    format!(", {ahead} of {horizon} steps ahead ({needed}),")
                } else {
                    String::new()
                };
                format!("marginal backward induction{how_far} and tree search")
            }
        }
    }

    /// Begins anew if it is asked about a place that no episode gets to.
    pub(super) fn look_at(&mut self, at: &OccupancyState) {
        if !self.moves.know(at.state, self.problem.horizon().saturating_sub(at.time)) {
            let moves = Moves::with(&self.problem, Some(at.state));
            let (too_large, stop) = (self.too_large, self.stop.clone());
            *self = Self { too_large, stop, ..Self::of_moves(&self.problem, self.risk, self.settings.clone(), moves) };
        }
    }

    /// How many outcomes marginal backward induction may look at with so many steps to go: as many as the budget would simulate steps, which
    /// does not take much longer than a search.
    pub(super) fn work(&self, steps: usize) -> usize {
        (self.settings.usual(steps) as usize).saturating_mul(steps).min(super::MOST_OUTCOMES)
    }

    /// How far apart values are.
    pub(super) fn scale_of_values(&self) -> f64 {
        self.prepared.as_ref().map_or(1.0, |prepared| prepared.scale)
    }

    /// Prepares, if that was not done yet.
    pub(super) fn prepare_once(&mut self) -> Result<(), PolicyFailure> {
        self.prepare_telling(&|_| {})
    }

    /// The same; says what is being done.
    pub(crate) fn prepare_telling(&mut self, tell: &dyn Fn(&str)) -> Result<(), PolicyFailure> {
        if self.prepared.is_some() {
            return Ok(());
        }
        tell("backward induction over a lattice of features");
        // Random moves foretell something only where chance decides more than choice.
        let forecast = if self.spread.chance > self.spread.choice { self.settings.forecast } else { 0.0 };
        let as_set = Manner::Marginal { reach: self.settings.reach, forecast };
        let work = (LATTICE_WORK * self.worth()) as usize;
        let lattice =
            self.settings.lattice.then(|| Lattice::solve(&self.problem, &self.moves, self.risk, work, &self.stop));
        let lattice = lattice.flatten().map(Arc::new);
        // A function may have to be asked by its own thread, and each time takes long.
        let asks = self.problem.objective().natures().is_none();
        let scale = self.scale(if asks { 0 } else { PROBES });
        if self.stop.is_requested() {
            return Err(PolicyFailure::Stopped);
        }
        let settled = lattice.as_ref().is_some_and(|lattice| lattice.is_settled());
        let exact = lattice.as_ref().is_some_and(|lattice| lattice.is_exact());
        let may_choose = self.settings.pilots && self.settings.budget.time_limit.is_none() && !asks;
        // Two lattices may agree because both overlook the same: what is cheap to solve is solved.
        let needs_optimum = !exact && (!settled || self.worth() >= 1.0);
        let is_open = !self.too_large || self.stages_by_induction().is_some();
        if may_choose && self.settings.lattice && needs_optimum && is_open {
            tell("solving it exactly");
            let mut limits = self.affordable();
            if settled {
                limits.max_states /= WHERE_SETTLED;
            }
            if let Ok(mut optimal) = optimal_policy(&self.problem, self.risk, &limits) {
                optimal.set_stop(&self.stop);
                self.optimal = Some(optimal);
                self.prepared = Some(Prepared { lattice, destinations: None, manner: Manner::Exact, scale });
                return Ok(());
            }
            if self.stop.is_requested() {
                return Err(PolicyFailure::Stopped);
            }
        }
        let chooses = may_choose && !settled;
        let mut manners = Vec::new();
        manners.extend(lattice.is_some().then_some(Manner::Lattice));
        manners.push(as_set);
        if chooses {
            let forecasts = [0.0, 0.5, 1.0].map(|forecast| Manner::Marginal { reach: self.settings.reach, forecast });
            manners.extend(forecasts.into_iter().filter(|manner| *manner != as_set && lattice.is_none()));
            manners.push(Manner::Marginal { reach: f64::INFINITY, forecast });
            manners.push(Manner::Published);
        }
        let has_lattice = lattice.is_some();
        self.prepared = Some(Prepared { lattice, destinations: None, manner: manners[0], scale });
        if chooses {
            if !has_lattice {
                tell("looking for a plan");
                manners.extend(self.plan_ahead().then_some(Manner::Plans));
            }
            tell(&format!("trying {} ways to play in pilot episodes", manners.len()));
            match choose(self, &manners) {
                Ok(manner) => *self = self.in_manner(manner),
                Err(failure) => {
                    self.prepared = None;
                    return Err(failure);
                }
            }
        }
        Ok(())
    }

    /// The part of the usual effort that preparations may take.
    pub(super) fn worth(&self) -> f64 {
        (self.settings.usual(self.problem.horizon()) as f64 / WORTH_IT).min(1.0)
    }

    /// Finds the plans that episodes start with; returns whether there can be one.
    fn plan_ahead(&mut self) -> bool {
        let horizon = self.problem.horizon();
        let Some(mut destinations) = Destinations::new(&self.problem, &self.moves) else { return false };
        let Some(prepared) = &mut self.prepared else { return false };
        let manner = std::mem::replace(&mut prepared.manner, Manner::Plans);
        prepared.destinations = Some(Arc::new(destinations.clone()));
        let work = (self.settings.most() as usize).saturating_mul(horizon).min(super::MOST_OUTCOMES);
        let ahead = Ahead { work, forecast: 0.0, keep_risks: true };
        let mut rng = rng::stream(SEED, 1, Purpose::Pilot);
        let mut starts = self.problem.mdp().initial().to_vec();
        starts.sort_by(|a, b| b.1.total_cmp(&a.1));
        starts.truncate(MOST_STARTS);
        let simulations = MOST_PLANNED * self.worth() / (horizon * starts.len()) as f64;
        self.plan.clear();
        for (state, _) in starts {
            let start = self.problem.start(state);
            self.marginal.update(&self.problem, &self.moves, self.erm, &start, ahead);
            self.first_plan(&destinations, &start, simulations as u64, &mut rng);
            destinations.firsts.push((state, self.plan.clone()));
        }
        self.plan.clear();
        if let Some(prepared) = &mut self.prepared {
            (prepared.manner, prepared.destinations) = (manner, Some(Arc::new(destinations)));
        }
        true
    }

    /// Where plans lead, if they decide.
    pub(super) fn destinations(&self) -> Option<Arc<Destinations>> {
        self.prepared.as_ref().filter(|prepared| prepared.manner == Manner::Plans)?.destinations.clone()
    }

    /// The same planner, deciding in this manner.
    pub(super) fn in_manner(&self, manner: Manner) -> Self {
        let mut own = self.clone();
        if let Some(prepared) = &mut own.prepared {
            prepared.manner = manner;
            own.published = None;
            if manner == Manner::Published {
                let settings = PlannerSettings {
                    budget: Budget::simulations(self.settings.most()),
                    exploration: Exploration::Constant(std::f64::consts::SQRT_2 * prepared.scale),
                    ..PlannerSettings::paper_grid()
                };
                own.published = Planner::new(&self.problem, self.risk, settings).ok().map(Box::new);
            }
        }
        own
    }

    /// How far apart the costs of random play are; where it meets none, how far apart they can be.
    fn scale(&self, episodes: u64) -> f64 {
        let uniform = Uniform::new(&self.problem);
        let runs = stoppable(&self.problem, &uniform, 0, 0..episodes, &self.stop).unwrap_or_default();
        let costs = runs.iter().map(|run| self.risk.of_cost(run.episode.cost));
        let (low, high) = costs.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        let bounds = self.problem.objective().bounds();
        let widest = self.risk.of_cost(bounds.high) - self.risk.of_cost(bounds.low);
        let met = high - low;
        if met > 0.0 {
            met
        } else if widest.is_finite() && widest > 0.0 {
            widest
        } else {
            1.0
        }
    }

    /// The lattice, if it decides.
    pub(super) fn lattice(&self) -> Option<&Lattice> {
        self.prepared.as_ref().filter(|prepared| prepared.manner == Manner::Lattice)?.lattice.as_deref()
    }

    /// The best move of the lattice, if it decides and knows this place: it knows those that an episode can get to.
    pub(super) fn by_lattice(&self, at: &OccupancyState, scratch: &mut Scratch) -> Option<u32> {
        let lattice = self.lattice()?;
        let mut best = (f64::INFINITY, self.moves.range(at.state).start);
        for number in self.moves.range(at.state) {
            let value = lattice.of_move(&self.moves, at, number, scratch);
            if value.is_nan() {
                return None;
            }
            if value < best.0 {
                best = (value, number);
            }
        }
        Some(best.1)
    }
}
