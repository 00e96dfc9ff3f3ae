//! The measures of a distribution of costs: one list for everything that shows them. A new measure is a variant and a place in [`all`].

use gumdp::stats::{self, Interval, Statistic};
use gumdp::{Cvar, Erm, Evar, Risk, RiskError, Var};

/// Levels at which tails are looked at.
const TAILS: [f64; 3] = [0.9, 0.95, 0.99];

/// One number for a random cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// Expected cost.
    Mean,
    /// Standard deviation.
    Deviation,
    /// Lowest possible cost.
    Best,
    /// The smallest cost that is not exceeded with this probability.
    Quantile(f64),
    /// Highest possible cost.
    Worst,
    /// Value at risk: the same, as a measure of risk.
    ValueAtRisk(f64),
    /// The mean of the worst 1 − level.
    Cvar(f64),
    /// Entropic value at risk.
    Evar(f64),
    /// A measure that was asked for.
    Asked(Risk),
}

/// What is shown of every distribution, besides the measures that are asked for.
pub fn all() -> Vec<Measure> {
    use Measure::{Best, Cvar, Deviation, Evar, Mean, Quantile, ValueAtRisk, Worst};
    let mut measures = vec![Mean, Deviation, Best];
    measures.extend([0.05, 0.25, 0.5, 0.75].map(Quantile));
    measures.push(Worst);
    measures.extend(TAILS.map(ValueAtRisk));
    measures.extend(TAILS.map(Cvar));
    measures.extend(TAILS.map(Evar));
    measures
}

impl Measure {
    /// The name in JSON.
    pub fn id(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Deviation => "sd",
            Self::Best => "best",
            Self::Quantile(_) => "quantile",
            Self::Worst => "worst",
            Self::ValueAtRisk(_) => "var",
            Self::Cvar(_) => "cvar",
            Self::Evar(_) => "evar",
            Self::Asked(_) => "risk",
        }
    }

    /// Its level, if it has one.
    pub fn level(self) -> Option<f64> {
        match self {
            Self::Quantile(level) | Self::ValueAtRisk(level) | Self::Cvar(level) | Self::Evar(level) => Some(level),
            _ => None,
        }
    }

    /// The name in tables.
    pub fn title(self) -> String {
        match self {
            Self::Mean => "mean".to_owned(),
            Self::Deviation => "standard deviation".to_owned(),
            Self::Best => "best".to_owned(),
            Self::Quantile(0.5) => "median".to_owned(),
            Self::Quantile(level) => format!("{} % quantile", (100.0 * level).round()),
            Self::Worst => "worst".to_owned(),
            Self::ValueAtRisk(level) => format!("VaR {level}"),
            Self::Cvar(level) => format!("CVaR {level}"),
            Self::Evar(level) => format!("EVaR {level}"),
            Self::Asked(risk) => crate::number::risk_label(risk),
        }
    }

    fn statistic(self) -> Statistic {
        let level_of = |risk: Result<Risk, RiskError>| risk.map_or(Statistic::Risk(Erm::MEAN.into()), Statistic::Risk);
        match self {
            Self::Mean => Statistic::Risk(Erm::MEAN.into()),
            Self::Deviation => Statistic::Deviation,
            Self::Best => Statistic::Risk(Erm::BEST.into()),
            Self::Worst => Statistic::Risk(Erm::WORST.into()),
            Self::Quantile(level) | Self::ValueAtRisk(level) => level_of(Var::new(level).map(Into::into)),
            Self::Cvar(level) => level_of(Cvar::new(level).map(Into::into)),
            Self::Evar(level) => level_of(Evar::new(level).map(Into::into)),
            Self::Asked(risk) => Statistic::Risk(risk),
        }
    }

    /// Its value for costs with their probabilities, in ascending order. They are finite.
    pub fn of(self, distribution: &[(f64, f64)]) -> f64 {
        let of_erm = |erm: Erm| erm.of_outcomes(distribution.iter().copied());
        match self.statistic() {
            Statistic::Deviation => {
                let mean = of_erm(Erm::MEAN);
                distribution.iter().map(|(cost, p)| p * (cost - mean).powi(2)).sum::<f64>().sqrt()
            }
            Statistic::Risk(risk) => match risk.as_erm() {
                Some(erm) => of_erm(erm),
                None => risk.of_distribution(distribution).unwrap_or(f64::NAN),
            },
        }
    }
}

/// The 95 % interval of each measure, from sampled costs in the order of the runs.
pub fn intervals(costs: &[f64], measures: &[Measure], seed: u64) -> Vec<Interval> {
    let statistics: Vec<Statistic> = measures.iter().map(|measure| measure.statistic()).collect();
    stats::intervals(costs, &statistics, seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_by_hand() {
        let distribution = [(0.0, 0.5), (1.0, 0.3), (4.0, 0.2)];
        let close = |measure: Measure, expected: f64| {
            assert!((measure.of(&distribution) - expected).abs() < 1e-12, "{measure:?}: {}", measure.of(&distribution));
        };
        close(Measure::Mean, 1.1);
        close(Measure::Deviation, (0.5 * 1.21 + 0.3 * 0.01 + 0.2 * 8.41_f64).sqrt());
        close(Measure::Best, 0.0);
        close(Measure::Worst, 4.0);
        close(Measure::Quantile(0.5), 0.0);
        close(Measure::Quantile(0.75), 1.0);
        close(Measure::ValueAtRisk(0.9), 4.0);
        close(Measure::Cvar(0.5), (0.3 + 0.8) / 0.5);
        close(Measure::Asked(Erm::WORST.into()), 4.0);
        close(Measure::Asked("mean-cvar:0.5:0.5".parse().unwrap()), 0.5 * 1.1 + 0.5 * 2.2);
        // The worst cost is likely enough to be all that counts.
        close(Measure::Evar(0.8), 4.0);
        assert!(Measure::Evar(0.5).of(&distribution) > Measure::Cvar(0.5).of(&distribution));
        assert_eq!(all().len(), 17);
    }

    /// The mean of 400 fair coins lies in its interval; the standard error is 0.025, the seed fixed.
    #[test]
    fn intervals_are_about_as_wide_as_they_should_be() {
        let costs: Vec<f64> = (0..400).map(|i| f64::from(i >= 200)).collect();
        let [Interval { low, high }, worst] = intervals(&costs, &[Measure::Mean, Measure::Worst], 3)[..] else {
            panic!()
        };
        assert!((high - low - 2.0 * 1.96 * 0.025).abs() < 0.02, "{low} {high}");
        assert_eq!((worst.low, worst.high), (1.0, 1.0));
        let again = intervals(&costs, &[Measure::Mean], 3);
        assert_eq!(again[0], Interval { low, high });
    }
}
