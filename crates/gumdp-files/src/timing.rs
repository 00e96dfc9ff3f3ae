//! Discount and horizon of a file that has its model itself; imported models have their own rules.

use super::document::{Table, Value};
use super::error::FileError;
use gumdp::{MAX_HORIZON, ProblemError};

/// The discount and the horizon.
#[derive(Clone, Copy)]
pub(super) struct Timing {
    pub(super) discount: f64,
    /// `None` if it is to be computed from the accuracy.
    pub(super) horizon: Option<usize>,
}

pub(super) fn discount(value: Value) -> Result<f64, FileError> {
    let discount = value.number()?;
    let valid = discount > 0.0 && discount <= 1.0;
    if valid { Ok(discount) } else { Err(value.error(ProblemError::Discount(discount).to_string())) }
}

impl Timing {
    pub(super) fn read(root: Table) -> Result<Self, FileError> {
        let discount = root.needed("discount", discount)?;
        let horizon = root.accept(match (root.get("horizon"), root.get("accuracy")) {
            (Some(horizon), None) => horizon.count(1, MAX_HORIZON as u64).map(|steps| Some(steps as usize)),
            (None, Some(_)) => Ok(None),
            (Some(_), Some(accuracy)) => Err(accuracy.error("both horizon and accuracy are given; give one of them")),
            (None, None) => {
                let hint = "give the number of steps, or accuracy = … to have it computed";
                Err(root.missing("horizon").hint(hint))
            }
        })?;
        match (discount, horizon) {
            (Some(discount), Some(horizon)) => Ok(Self { discount, horizon }),
            _ => Err(FileError::told()),
        }
    }
}
