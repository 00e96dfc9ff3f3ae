//! Problems with tables behind a simulator.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gumdp::rng::Rng;
use gumdp::{Action, Pair, Problem, SimulatedProblem, Simulator, State};

/// A problem with tables, of which nothing but samples is shown.
#[derive(Debug)]
pub struct Hidden {
    problem: Problem,
    /// Steps after which sampling fails.
    failing_after: AtomicU64,
}

/// Sampling failed.
#[derive(Debug, PartialEq)]
pub struct Broken;

impl Hidden {
    /// From now on sampling fails after so many steps.
    pub fn fail_after(&self, steps: u64) {
        self.failing_after.store(steps, Relaxed);
    }
}

impl Simulator for Hidden {
    type State = State;
    type Error = Broken;

    fn feature_count(&self) -> usize {
        self.problem.mdp().pair_count()
    }

    fn initial(&self, rng: &mut Rng) -> Result<State, Broken> {
        Ok(self.problem.mdp().sample_initial(rng))
    }

    fn action_count(&self, state: &State) -> Result<u32, Broken> {
        Ok(self.problem.mdp().pairs(*state).len() as u32)
    }

    fn step(
        &self,
        state: &State,
        action: Action,
        rng: &mut Rng,
        features: &mut [f64],
    ) -> Result<Option<State>, Broken> {
        self.failing_after.try_update(Relaxed, Relaxed, |left| left.checked_sub(1)).map_err(|_| Broken)?;
        let mdp = self.problem.mdp();
        let pair = Pair::from(mdp.pairs(*state).start + action.index() as u32);
        features[pair.index()] += 1.0;
        Ok(Some(mdp.sample(pair, rng)))
    }

    fn cost(&self, occupancy: &[f64]) -> Result<f64, Broken> {
        Ok(self.problem.objective().value(occupancy))
    }
}

/// Hides a problem.
pub fn hidden(problem: &Problem) -> Arc<SimulatedProblem<Hidden>> {
    let simulator = Hidden { problem: problem.clone(), failing_after: AtomicU64::new(u64::MAX) };
    Arc::new(SimulatedProblem::new(simulator, problem.discount(), problem.horizon()).unwrap())
}
