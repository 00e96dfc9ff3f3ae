//! What can be wrong with a model.

use super::ROW_TOLERANCE;
use crate::words::rounded;

/// Why a model was refused. Every message names the state, the action and the value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// There are no states, or no actions.
    #[error("the model has no {what}; it needs at least one")]
    Empty {
        /// "states" or "actions".
        what: &'static str,
    },
    /// More states, actions, pairs or transitions than a 32-bit number can count.
    #[error("the model has {count} {what}; at most {} are supported", u32::MAX - 1)]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// How many there are.
        count: usize,
    },
    /// Two states, or two actions, have the same name.
    #[error("{what} name \"{name}\" is given twice; names must differ")]
    DuplicateName {
        /// "state" or "action".
        what: &'static str,
        /// The repeated name.
        name: String,
    },
    /// A name would look like several lines wherever it is shown.
    #[error("{what} name {name:?} has a line break; a name is one line")]
    LineBreak {
        /// "state" or "action".
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A name or number that no state, or no action, has.
    #[error("unknown {what} \"{name}\"")]
    Unknown {
        /// "state" or "action".
        what: &'static str,
        /// The unknown name.
        name: String,
    },
    /// The transition of a state and an action is given more than once.
    #[error("the transition of state \"{state}\", action \"{action}\" is given twice")]
    DuplicateTransition {
        /// The state's name.
        state: String,
        /// The action's name.
        action: String,
    },
    /// A transition probability outside [0, 1] or not a number.
    #[error(
        "state \"{state}\", action \"{action}\": the probability of \"{successor}\" is {value}; it must lie in [0, 1]"
    )]
    Probability {
        /// The state's name.
        state: String,
        /// The action's name.
        action: String,
        /// The next state's name.
        successor: String,
        /// The value given.
        value: f64,
    },
    /// The probabilities of a transition do not sum to 1.
    #[error(
        "state \"{state}\", action \"{action}\": the probabilities sum to {sum}; they must sum to 1 within {ROW_TOLERANCE:e}"
    )]
    RowSum {
        /// The state's name.
        state: String,
        /// The action's name.
        action: String,
        /// The sum found.
        sum: f64,
    },
    /// A state without any action.
    #[error("state \"{state}\" has no action; every state needs at least one transition")]
    NoAction {
        /// The state's name.
        state: String,
    },
    /// An initial probability outside [0, 1] or not a number.
    #[error("the initial probability of state \"{state}\" is {value}; it must lie in [0, 1]")]
    InitialProbability {
        /// The state's name.
        state: String,
        /// The value given.
        value: f64,
    },
    /// The initial distribution does not sum to 1 (0 if it was never given).
    #[error("the initial probabilities sum to {sum}; they must sum to 1 within {ROW_TOLERANCE:e}")]
    InitialSum {
        /// The sum found.
        sum: f64,
    },
    /// A vector of the wrong length.
    #[error("{got} values are given for {expected} {what}")]
    Length {
        /// What the vector is over.
        what: &'static str,
        /// Its length.
        got: usize,
        /// The length needed.
        expected: usize,
    },
}

impl ModelError {
    /// A way out, where there is a likely one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        /// Further from 1 than this is more than rounding.
        const ROUNDING: f64 = 1e-3;
        match self {
            Self::RowSum { sum, .. } | Self::InitialSum { sum } if (sum - 1.0).abs() <= ROUNDING => Some(
                "these look like rounded numbers: write more digits, such as 0.3333333333 for 0.333333, or make the \
                 last probability 1 minus the others"
                    .to_owned(),
            ),
            Self::RowSum { sum, .. } | Self::InitialSum { sum } => missing_to_1(*sum),
            _ => None,
        }
    }
}

/// A hint for a sum of probabilities that is not 1.
#[must_use]
pub fn missing_to_1(sum: f64) -> Option<String> {
    let missing = 1.0 - sum;
    let amount = rounded(missing.abs());
    let hint = if missing > 0.0 { format!("{amount} is missing to 1") } else { format!("that is {amount} too much") };
    missing.is_finite().then_some(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing() {
        assert_eq!(missing_to_1(0.93).as_deref(), Some("0.07 is missing to 1"));
        assert_eq!(missing_to_1(1.2).as_deref(), Some("that is 0.2 too much"));
        assert_eq!(missing_to_1(f64::NAN), None);
    }
}
