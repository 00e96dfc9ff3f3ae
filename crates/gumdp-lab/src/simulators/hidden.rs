//! Problems with tables of which nothing but samples is shown.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use gumdp::rng::Rng;
use gumdp::{Action, Pair, Problem, SimulatedProblem, Simulator, State};

/// A problem behind a simulator. A feature is the mass of all pairs that change the objective alike.
#[derive(Clone, Debug)]
pub struct Hidden {
    problem: Problem,
    /// The feature of each pair, and one of its pairs.
    features: Vec<usize>,
    pairs: Vec<usize>,
}

impl Hidden {
    /// Hides a problem.
    pub fn problem(problem: &Problem) -> Arc<SimulatedProblem<Self>> {
        let (mut known, mut pairs) = (HashMap::new(), Vec::new());
        let feature = |pair: usize| {
            let effect: Vec<u64> = problem.objective().effect(pair).collect();
            *known.entry(effect).or_insert_with(|| {
                pairs.push(pair);
                pairs.len() - 1
            })
        };
        let features = (0..problem.mdp().pair_count()).map(feature).collect();
        let hidden = Self { problem: problem.clone(), features, pairs };
        let problem = SimulatedProblem::new(hidden, problem.discount(), problem.horizon());
        Arc::new(problem.expect("the discount and the horizon of a problem"))
    }
}

impl Simulator for Hidden {
    type State = State;
    type Error = Infallible;

    fn feature_count(&self) -> usize {
        self.pairs.len()
    }

    fn initial(&self, rng: &mut Rng) -> Result<State, Infallible> {
        Ok(self.problem.mdp().sample_initial(rng))
    }

    fn action_count(&self, state: &State) -> Result<u32, Infallible> {
        Ok(self.problem.mdp().pairs(*state).len() as u32)
    }

    fn step(
        &self,
        state: &State,
        action: Action,
        rng: &mut Rng,
        features: &mut [f64],
    ) -> Result<Option<State>, Infallible> {
        let mdp = self.problem.mdp();
        let pair = mdp.pairs(*state).start + action.index() as u32;
        features[self.features[pair as usize]] += 1.0;
        Ok(Some(mdp.sample(Pair::from(pair), rng)))
    }

    fn cost(&self, masses: &[f64]) -> Result<f64, Infallible> {
        let mut occupancy = vec![0.0; self.features.len()];
        for (&pair, &mass) in self.pairs.iter().zip(masses) {
            occupancy[pair] = mass;
        }
        Ok(self.problem.objective().value(&occupancy))
    }
}
