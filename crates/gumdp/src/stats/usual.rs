//! What is shown of every distribution of costs: one list for all that shows it.

use super::{Costs, Interval, Statistic, Trust, intervals};
use crate::objective::Bounds;
use crate::risk::{Erm, Risk, Var};

/// Quantiles that are shown, and the levels at which tails are looked at.
const QUANTILES: [f64; 4] = [0.05, 0.25, 0.5, 0.75];
const TAILS: [f64; 3] = [0.9, 0.95, 0.99];

/// A number that is shown of costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// Its name, such as `cvar`.
    pub name: &'static str,
    /// Its level, if it has one.
    pub level: Option<f64>,
    /// What tables call it, such as "CVaR 0.9".
    pub title: String,
    /// What it is.
    pub statistic: Statistic,
}

/// Mean, standard deviation, extremes and quantiles, and what the tail measures are at a few levels.
///
/// ```
/// let names: Vec<String> = gumdp::stats::usual().into_iter().map(|shown| shown.title).collect();
/// assert_eq!(names[..5], ["mean", "standard deviation", "best", "5 % quantile", "25 % quantile"]);
/// assert_eq!(names[7..], ["worst", "VaR 0.9", "VaR 0.95", "VaR 0.99", "CVaR 0.9", "CVaR 0.95", "CVaR 0.99", "EVaR 0.9", "EVaR 0.95", "EVaR 0.99"]);
/// ```
#[must_use]
pub fn usual() -> Vec<Shown> {
    let plain = |name, title: &str, statistic| Shown { name, level: None, title: title.to_owned(), statistic };
    let extreme = |name, erm: Erm| plain(name, name, Statistic::Risk(erm.into()));
    let at = |name, level, title, risk| Shown { name, level: Some(level), title, statistic: Statistic::Risk(risk) };
    let mut all = vec![extreme("mean", Erm::MEAN), plain("sd", "standard deviation", Statistic::Deviation)];
    all.push(extreme("best", Erm::BEST));
    all.extend(QUANTILES.into_iter().filter_map(|level| {
        let title = if level == 0.5 { "median".to_owned() } else { format!("{} % quantile", (100.0 * level).round()) };
        Some(at("quantile", level, title, Var::new(level).ok()?.into()))
    }));
    all.push(extreme("worst", Erm::WORST));
    for form in ["var", "cvar", "evar"].into_iter().filter_map(|name| Risk::forms().find(|form| form.name == name)) {
        let title = form.sweep.map_or(form.name, |sweep| sweep.title);
        let tail = |level| Some(at(form.name, level, format!("{title} {level}"), form.at(level).ok()?));
        all.extend(TAILS.into_iter().filter_map(tail));
    }
    all
}

/// The value of each statistic of costs with their probabilities, with its 95 % [interval](intervals) and what that rests on if the
/// costs are sampled: from which runs, between which bounds of f, and with which seed.
///
/// ```
/// use gumdp::stats::{Statistic, measured};
/// let outcomes = [(0.0, 0.5), (1.0, 0.3), (4.0, 0.2)];
/// let [(mean, interval, _), (tail, ..)] = measured(&outcomes, &["mean", "cvar:0.5"].map(|risk| Statistic::Risk(risk.parse().unwrap())), None)[..] else { panic!() };
/// assert!((mean - 1.1).abs() < 1e-12 && (tail - 2.2).abs() < 1e-12);
/// assert_eq!((interval.low, interval.high), (mean, mean));
/// ```
#[must_use]
pub fn measured(
    outcomes: &[(f64, f64)],
    statistics: &[Statistic],
    sampled: Option<(&Costs, Bounds, u64)>,
) -> Vec<(f64, Interval, Trust)> {
    let summed = |statistic: &Statistic| sampled.and_then(|(costs, ..)| costs.followed(*statistic));
    let value = |statistic: &Statistic| summed(statistic).unwrap_or_else(|| statistic.of_outcomes(outcomes));
    let values: Vec<f64> = statistics.iter().map(value).collect();
    let sampled = sampled.map(|(costs, bounds, seed)| intervals(costs, statistics, bounds, seed));
    let interval = |(number, value): (usize, f64)| {
        let exact = (Interval { low: value, high: value }, Trust::EXACT);
        let (interval, trust) = sampled.as_ref().map_or(exact, |all| all[number]);
        (value, interval, trust)
    };
    values.into_iter().enumerate().map(interval).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_by_hand() {
        let outcomes = [(0.0, 0.5), (1.0, 0.3), (4.0, 0.2)];
        let of = |title: &str| {
            let shown = usual().into_iter().find(|shown| shown.title == title).unwrap();
            shown.statistic.of_outcomes(&outcomes)
        };
        let deviation = (0.5 * 1.21 + 0.3 * 0.01 + 0.2 * 8.41_f64).sqrt();
        let expected =
            [("mean", 1.1), ("standard deviation", deviation), ("best", 0.0), ("worst", 4.0), ("median", 0.0)];
        let tails = [("75 % quantile", 1.0), ("VaR 0.9", 4.0), ("CVaR 0.9", 4.0), ("EVaR 0.9", 4.0)];
        for (title, value) in expected.into_iter().chain(tails) {
            assert!((of(title) - value).abs() < 1e-12, "{title}: {}", of(title));
        }
        assert_eq!(Statistic::Deviation.of_outcomes(&[(0.1, 0.3), (0.1, 0.7)]), 0.0);
        assert!(Statistic::Deviation.of_outcomes(&[]).is_nan());
    }
}
