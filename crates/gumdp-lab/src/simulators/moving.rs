//! Where one visit alone shows nothing, and where no state is ever met again.

use std::convert::Infallible;
use std::sync::Arc;

use gumdp::rng::{self, Rng};
use gumdp::{Action, SimulatedProblem, Simulator};

/// A walk along the integers that is to be even on both sides of 0: f = |time left − time right| has a kink, and a step to either side costs the same
/// at first. Every third step to the right is three long.
#[derive(Clone, Copy, Debug)]
pub struct Balance;

impl Balance {
    /// Over 12 steps.
    pub fn problem() -> Arc<SimulatedProblem<Self>> {
        Arc::new(SimulatedProblem::new(Self, 1.0, 12).expect("a discount and a horizon"))
    }
}

impl Simulator for Balance {
    type State = i64;
    type Error = Infallible;

    fn feature_count(&self) -> usize {
        2
    }

    fn initial(&self, _: &mut Rng) -> Result<i64, Infallible> {
        Ok(0)
    }

    fn action_count(&self, _: &i64) -> Result<u32, Infallible> {
        Ok(2)
    }

    fn step(&self, at: &i64, action: Action, rng: &mut Rng, features: &mut [f64]) -> Result<Option<i64>, Infallible> {
        features[usize::from(*at > 0)] += 1.0;
        let by = match action.index() {
            0 => -1,
            _ if rng::below(rng, 3) == 0 => 3,
            _ => 1,
        };
        Ok(Some(at + by))
    }

    fn cost(&self, time: &[f64]) -> Result<f64, Infallible> {
        Ok((time[0] - time[1]).abs())
    }
}

/// A cart in a valley has to swing to get out, in the wind: no state is ever met again.
#[derive(Clone, Copy, Debug)]
pub struct Valley;

/// Position and speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moving(f64, f64);

impl Eq for Moving {}

impl std::hash::Hash for Moving {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.0.to_bits(), self.1.to_bits()).hash(state);
    }
}

impl Valley {
    /// Over 60 steps.
    pub fn problem() -> Arc<SimulatedProblem<Self>> {
        Arc::new(SimulatedProblem::new(Self, 1.0, 60).expect("a discount and a horizon"))
    }
}

impl Simulator for Valley {
    type State = Moving;
    type Error = Infallible;

    /// Steps, and whether it is out.
    fn feature_count(&self) -> usize {
        2
    }

    fn initial(&self, rng: &mut Rng) -> Result<Moving, Infallible> {
        Ok(Moving(-0.6 + 0.2 * rng::unit(rng), 0.0))
    }

    fn action_count(&self, _: &Moving) -> Result<u32, Infallible> {
        Ok(3)
    }

    fn step(
        &self,
        &Moving(mut x, mut v): &Moving,
        action: Action,
        rng: &mut Rng,
        features: &mut [f64],
    ) -> Result<Option<Moving>, Infallible> {
        let force = action.index() as f64 - 1.0 + 0.3 * (rng::unit(rng) - 0.5);
        // Four of the usual steps each.
        for _ in 0..4 {
            v = (v + 0.001 * force - 0.0025 * (3.0 * x).cos()).clamp(-0.07, 0.07);
            x = (x + v).max(-1.2);
            if x == -1.2 {
                v = v.max(0.0);
            }
        }
        features[0] = 1.0;
        if x >= 0.5 {
            features[1] = 1.0;
            return Ok(None);
        }
        Ok(Some(Moving(x, v)))
    }

    /// To be out of the valley, soon: parts of the time, and 1 less outside.
    fn cost(&self, features: &[f64]) -> Result<f64, Infallible> {
        Ok(features[0] - 60.0 * features[1])
    }
}
