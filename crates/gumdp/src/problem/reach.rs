//! Which states episodes get to: of a large model few, if the horizon is short.

use crate::model::{Mdp, State};

/// The most steps that can be left in each state of episodes that begin in one of these states with so many steps left; 0 where none gets
/// to before its end.
pub(crate) fn steps_left(mdp: &Mdp, from: impl IntoIterator<Item = State>, steps: usize) -> Vec<u32> {
    let mut left = vec![0; mdp.state_count()];
    let mut layer: Vec<u32> = from.into_iter().map(|state| state.0).collect();
    for steps in (1..=steps as u32).rev() {
        layer.retain(|&state| {
            let own = &mut left[state as usize];
            let is_new = *own == 0;
            *own = (*own).max(steps);
            is_new
        });
        if layer.is_empty() {
            break;
        }
        let rows = layer.iter().flat_map(|&state| mdp.rows(mdp.pairs(State(state))));
        let successors = rows.flat_map(|(successors, _)| successors).copied();
        layer = successors.filter(|&state| left[state as usize] == 0).collect();
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Mdp;

    /// A line with a way back.
    #[test]
    fn a_line_is_walked_to_its_end() {
        let line = |state: usize| if state == 3 { 1 } else { state + 1 };
        let mut mdp = Mdp::sized(5, 1).start(0);
        for state in 0..5 {
            mdp = mdp.transition(state, 0, [(line(state).min(4), 1.0)]);
        }
        let mdp = mdp.build().unwrap();
        let from = |state: u32, steps| steps_left(&mdp, [State(state)], steps);
        assert_eq!(from(0, 9), [9, 8, 7, 6, 0]);
        assert_eq!(from(0, 2), [2, 1, 0, 0, 0]);
        assert_eq!(from(3, 2), [0, 1, 0, 2, 0]);
        assert_eq!(steps_left(&mdp, [State(0), State(4), State(0)], 1), [1, 0, 0, 0, 1]);
        assert_eq!(from(2, 0), [0; 5]);
    }
}
