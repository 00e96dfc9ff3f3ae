//! What a sampled value rests on, and what speaks against it.

use crate::words::short;

/// What a sampled value rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trust {
    /// Number of samples.
    pub runs: usize,
    /// So many runs of equal weight would say as much: n/E[(dQ/dP)²], where Q is how the measure weighs costs.
    pub effective_runs: f64,
    /// What speaks against a plain bootstrap.
    pub doubt: Option<Doubt>,
    /// Quantiles, and what rests on them, are off by at most this: many costs are counted in bins.
    pub width: f64,
}

/// Why the costs that were met are not enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Doubt {
    /// f has no bounds: costs beyond those that were met are not in the interval.
    Unbounded,
    /// Costs of up to this may not have been met, and matter.
    Above(f64),
    /// Costs of down to this may not have been met, and matter.
    Below(f64),
    /// Few runs matter.
    Few,
}

impl Trust {
    /// All that there is to know.
    pub const EXACT: Self = Self { runs: 0, effective_runs: f64::INFINITY, doubt: None, width: 0.0 };

    /// What to bear in mind of the interval and of quantiles, in a sentence.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let binned = (self.width > 0.0).then(|| {
            let (runs, width) = (self.runs, short(self.width));
            format!("the costs of {runs} runs are counted in bins: quantiles, VaR, CVaR and EVaR are known to ±{width}")
        });
        let notes: Vec<String> = self.doubt.map(|doubt| self.doubtful(doubt)).into_iter().chain(binned).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    fn doubtful(&self, doubt: Doubt) -> String {
        let (runs, effective) = (self.runs, self.effective_runs);
        let rests = if effective < 0.9 * runs as f64 {
            format!("rests on about {} of {runs} runs", effective.max(1.0).round())
        } else {
            format!("rests on {runs} runs")
        };
        match doubt {
            Doubt::Unbounded => {
                format!("{rests}; the cost has no known bounds, so no interval is certain: costs not met are not in it")
            }
            Doubt::Above(cost) => {
                format!("{rests}; costs up to {} may not have been met, the interval allows for them", short(cost))
            }
            Doubt::Below(cost) => {
                format!("{rests}; costs down to {} may not have been met, the interval allows for them", short(cost))
            }
            Doubt::Few => rests,
        }
    }
}
