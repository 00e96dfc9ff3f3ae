//! Objectives as a line of text.

use std::fmt;

use super::{Objective, Term};
use crate::words::rounded;

impl fmt::Display for Objective {
    /// A formula for people.
    ///
    /// ```
    /// use gumdp::{Objective, Partition};
    /// let explore = Objective::entropy(Partition::new(vec![0, 1, 2, 3, 4], vec![1; 5])?, 0.0)?;
    /// assert_eq!((0.4343 * explore).shifted(1.0).to_string(), "1 + 0.4343·Σ y ln y over 5 cells");
    /// # Ok::<(), gumdp::ObjectiveError>(())
    /// ```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if self.offset != 0.0 || self.terms.is_empty() {
            write!(f, "{}", rounded(self.offset))?;
            separator = " + ";
        }
        for (weight, term) in &self.terms {
            f.write_str(separator)?;
            if *weight != 1.0 {
                write!(f, "{}·", rounded(*weight))?;
            }
            match term {
                Term::Totals(totals) => totals.describe(f)?,
                Term::Cells(cells) => cells.describe(f)?,
                Term::Formula(formula) => formula.describe(f)?,
                Term::Custom(_) => f.write_str("f(d)")?,
            }
            separator = " + ";
        }
        Ok(())
    }
}
