//! Goals that random play does not meet: treasures that are worth more the deeper they lie, and things to be brought home past enemies.

use std::convert::Infallible;
use std::sync::Arc;

use gumdp::rng::{self, Rng};
use gumdp::{Action, SimulatedProblem, Simulator};

/// A map and what is asked of it.
#[derive(Clone, Copy, Debug)]
pub enum Far {
    /// Each column has its treasure at the bottom, which ends the episode; each step costs a little.
    Treasure,
    /// Two things lie at the far end of a field of 8 × 8 between two places of danger, and count only at home.
    Gathering,
}

/// How deep each column is, and what its treasure is worth.
const DEPTHS: [i16; 10] = [1, 2, 3, 4, 4, 4, 7, 7, 9, 10];
const WORTH: [f64; 10] = [0.7, 8.2, 11.5, 14.0, 15.1, 16.1, 19.6, 20.3, 22.4, 23.7];

/// Row, column, and what is carried: 1 and 2 are the two things, 4 is defeat.
type Place = (i16, i16, u8);

/// All problems, with their names.
pub fn all() -> Vec<(&'static str, Arc<SimulatedProblem<Far>>)> {
    let of = |far, horizon| Arc::new(SimulatedProblem::new(far, 1.0, horizon).expect("a discount and a horizon"));
    vec![("treasure", of(Far::Treasure, 60)), ("gathering", of(Far::Gathering, 60))]
}

impl Simulator for Far {
    type State = Place;
    type Error = Infallible;

    /// Treasure and steps; or the first thing, the second, and defeat.
    fn feature_count(&self) -> usize {
        3
    }

    fn initial(&self, _: &mut Rng) -> Result<Place, Infallible> {
        Ok(match self {
            Self::Treasure => (0, 0, 0),
            Self::Gathering => (7, 3, 0),
        })
    }

    fn action_count(&self, _: &Place) -> Result<u32, Infallible> {
        Ok(4)
    }

    fn step(
        &self,
        &(row, column, has): &Place,
        action: Action,
        rng: &mut Rng,
        features: &mut [f64],
    ) -> Result<Option<Place>, Infallible> {
        let (down, right) = [(0, -1), (-1, 0), (0, 1), (1, 0)][action.index()];
        let (to_row, to_column) = (row + down, column + right);
        match self {
            Self::Treasure => {
                features[1] = 1.0;
                if !(0..10).contains(&to_column) || to_row < 0 {
                    return Ok(Some((row, column, 0)));
                }
                let depth = DEPTHS[to_column as usize];
                if to_row > depth {
                    return Ok(Some((row, column, 0)));
                }
                if to_row == depth {
                    features[0] = WORTH[to_column as usize];
                    return Ok(None);
                }
                Ok(Some((to_row, to_column, 0)))
            }
            Self::Gathering => {
                let (to_row, to_column) = (to_row.clamp(0, 7), to_column.clamp(0, 7));
                let danger = [(0, 2), (1, 5)].contains(&(to_row, to_column));
                if danger && rng::below(rng, 10) == 0 {
                    features[2] = 1.0;
                    return Ok(None);
                }
                let has = has
                    | match (to_row, to_column) {
                        (0, 3) => 1,
                        (1, 6) => 2,
                        _ => 0,
                    };
                if (to_row, to_column) == (7, 3) && has > 0 {
                    features[0] = f64::from(has & 1);
                    features[1] = f64::from(has >> 1);
                    return Ok(None);
                }
                Ok(Some((to_row, to_column, has)))
            }
        }
    }

    /// Features are means over 60 steps.
    fn cost(&self, means: &[f64]) -> Result<f64, Infallible> {
        let total = |k: usize| 60.0 * means[k];
        Ok(match self {
            Self::Treasure => 0.1 * total(1) - total(0),
            Self::Gathering => total(2) - total(0) - total(1),
        })
    }
}
