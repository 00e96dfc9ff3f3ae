//! Where optimal behaviour changes, against changes known by hand and against levels close together.

use std::time::Duration;

use gumdp::frontier::{self, Frontier};
use gumdp::oracle::{Limits, OracleError, distribution, solve};
use gumdp::{Erm, Mdp, Objective, Problem, Risk, Stop, rng};
use gumdp_files::tasks;

fn frontier(problem: &Problem, risks: &[Risk], limits: &Limits) -> Result<Frontier, OracleError> {
    frontier::exact(problem, risks, &[], limits, Duration::from_mins(10), |_, _| {})
}

/// One action for each lottery of (cost, probability).
fn lotteries(all: &[&[(f64, f64)]]) -> Problem {
    let outcomes: Vec<(f64, f64)> = all.iter().flat_map(|lottery| lottery.iter().copied()).collect();
    let mut builder = Mdp::sized(1 + outcomes.len(), all.len()).start(0);
    let mut state = 0;
    for (action, lottery) in all.iter().enumerate() {
        let row: Vec<(usize, f64)> = lottery
            .iter()
            .map(|&(_, p)| {
                state += 1;
                (state, p)
            })
            .collect();
        builder = builder.transition(0, action, row);
    }
    for state in 1..=outcomes.len() {
        builder = builder.transition(state, 0, [(state, 1.0)]);
    }
    let mdp = builder.build().unwrap();
    let costs: Vec<f64> = std::iter::once(0.0).chain(outcomes.iter().map(|outcome| 2.0 * outcome.0)).collect();
    let objective = Objective::linear(mdp.by_state(&costs).unwrap()).unwrap();
    Problem::new(mdp, objective, 1.0, 2).unwrap()
}

fn levels(betas: &[f64]) -> Vec<Risk> {
    betas.iter().map(|&beta| Erm::new(beta).unwrap().into()).collect()
}

/// The root of a function that is negative at `low` and positive at `high`.
fn root(mut low: f64, mut high: f64, of: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if of(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[test]
fn a_known_change_is_found() {
    for (scale, tolerance) in [(1.0, 1e-6), (1e-3, 1e-6), (1e4, 1e-10)] {
        let problem = lotteries(&[&[(scale, 1.0)], &[(0.0, 0.5), (1.8 * scale, 0.5)]]);
        // exp(1.8x) + 1 = 2·exp(x), by itself to 1e-15.
        let expected = root(0.01, 5.0, |x| (1.8 * x).exp() + 1.0 - 2.0 * x.exp()) / scale;
        for ends in [[0.0, 1e6], [0.0, f64::INFINITY], [0.1 / scale, 10.0 / scale], [f64::NEG_INFINITY, f64::INFINITY]]
        {
            let found = frontier(&problem, &levels(&ends), &Limits::QUICK).unwrap();
            let [change] = found.changes[..] else { panic!("{ends:?}: {:?}", found.changes) };
            let beta = change.level.unwrap();
            assert!((beta - expected).abs() <= tolerance * expected.max(1.0), "{beta} {expected}");
            assert!((beta / expected - 1.0).abs() < 1e-6);
            assert_eq!((change.before, change.after, change.point, found.complete), (0, 1, 1, true));
            let [before, after] = &found.behaviours[..] else { panic!("two behaviours") };
            assert_eq!((before.first[0].index(), after.first[0].index()), (1, 0));
            assert_eq!((before.visits[1], after.visits[0]), (1.0, 1.0));
            assert_eq!(before.costs.probabilities(), [0.5, 0.5]);
        }
    }
}

/// Three behaviours between two levels: the middle one is not optimal at either.
#[test]
fn a_behaviour_between_two_levels_is_found() {
    let problem = lotteries(&[&[(1.2, 1.0)], &[(0.0, 0.5), (2.0, 0.5)], &[(-0.5, 0.75), (4.0, 0.25)]]);
    let found = frontier(&problem, &levels(&[0.0, f64::INFINITY]), &Limits::QUICK).unwrap();
    let firsts: Vec<usize> = found.behaviours.iter().map(|behaviour| behaviour.first[0].index()).collect();
    assert_eq!(firsts, [2, 1, 0]);
    let betas: Vec<f64> = found.changes.iter().map(|change| change.level.unwrap()).collect();
    for (beta, pair) in betas.iter().zip(found.behaviours.windows(2)) {
        let erm = Erm::new(*beta).unwrap();
        assert!((pair[0].costs.erm(erm) - pair[1].costs.erm(erm)).abs() < 1e-9);
        let best = solve(&problem, erm, &Limits::QUICK).unwrap().value;
        assert!((pair[0].costs.erm(erm) - best).abs() < 1e-9);
    }
    assert!(betas[0] < betas[1]);
}

/// Behaviours that tie, for the mean or in the worst case, make no change of their own.
#[test]
fn ties_are_not_changes() {
    let same: &[(f64, f64)] = &[(0.0, 0.5), (1.0, 0.5)];
    let found = frontier(&lotteries(&[same, same]), &levels(&[-5.0, 0.0, 5.0]), &Limits::QUICK).unwrap();
    assert!(found.changes.is_empty() && found.behaviours.len() == 1);
    // Both have a worst case of 1, and one a lower mean.
    let found = frontier(&lotteries(&[&[(1.0, 1.0)], same]), &levels(&[0.0, 50.0, f64::INFINITY]), &Limits::QUICK);
    assert!(found.unwrap().changes.is_empty());
}

/// Between changes nothing changes: levels in the middle of two changes are attained by the behaviour that reigns there.
#[test]
fn behaviours_reign_between_their_changes() {
    for name in ["mdp", "rooms"] {
        let problem = tasks::get(name).unwrap().problem;
        let found = frontier(&problem, &levels(&[0.0, 0.1, 1.0, 10.0, 100.0]), &Limits::QUICK).unwrap();
        let betas: Vec<f64> = found.changes.iter().map(|change| change.level.unwrap()).collect();
        assert!(betas.is_sorted(), "{name}: {betas:?}");
        let ends: Vec<f64> = std::iter::once(0.0).chain(betas).chain([100.0]).collect();
        let reigning = std::iter::once(0).chain(found.changes.iter().map(|change| change.after));
        for (pair, behaviour) in ends.windows(2).zip(reigning) {
            let erm = Erm::new(f64::midpoint(pair[0], pair[1])).unwrap();
            let best = solve(&problem, erm, &Limits::QUICK).unwrap().value;
            assert!((found.behaviours[behaviour].costs.erm(erm) - best).abs() < 1e-9, "{name}, {pair:?}");
        }
    }
}

/// Too many to locate: they still follow each other.
#[test]
fn every_change_begins_where_the_last_one_ended() {
    let problem = tasks::get("grid-mo").unwrap().problem;
    let found = frontier(&problem, &levels(&[0.0, 10.0, f64::INFINITY]), &Limits::QUICK).unwrap();
    let mut now = found.points[0].behaviour;
    for change in &found.changes {
        assert_eq!(change.before, now);
        now = change.after;
    }
    assert_eq!(now, found.points[2].behaviour);
    assert_eq!(found.complete, found.changes.iter().all(|change| change.level.is_some()));
}

/// A coin of mean 0.4 against a sure 0.79: `CVaR` of the coin is 0.4/(1 − α), which is 0.79 at α = 1 − 0.4/0.79.
#[test]
fn changes_over_the_level_are_located() {
    let problem = lotteries(&[&[(0.0, 0.6), (1.0, 0.4)], &[(0.79, 1.0)]]);
    let measures = |name: &str, levels: &[f64]| -> Vec<Risk> {
        levels.iter().map(|level| format!("{name}:{level}").parse().unwrap()).collect()
    };
    for levels in [&[0.0, 0.9][..], &[0.1, 0.3, 0.5, 0.7, 1.0]] {
        let found = frontier(&problem, &measures("cvar", levels), &Limits::QUICK).unwrap();
        let [change] = found.changes[..] else { panic!("{:?}", found.changes) };
        assert!((change.level.unwrap() - (1.0 - 0.4 / 0.79)).abs() < 1e-6 && found.complete, "{change:?}");
    }
    // EVaR of the coin has no closed form; it crosses where its risk is 0.79.
    let found = frontier(&problem, &measures("evar", &[0.0, 0.5]), &Limits::QUICK).unwrap();
    let [change] = found.changes[..] else { panic!("{:?}", found.changes) };
    let level = change.level.unwrap();
    let coin = gumdp::Evar::new(level).unwrap().of_distribution(&[(0.0, 0.6), (1.0, 0.4)]).unwrap();
    assert!((coin - 0.79).abs() < 1e-6, "{level} {coin}");
}

/// The worst case is 1 in all three, and less likely the higher the mean: with growing β ever less counts but that probability, and
/// that 0.9999 is not quite 1 counts from β ≈ 10000 on only. In the limit nothing but the mean tells them apart.
#[test]
fn changes_far_above_the_last_finite_level_are_found() {
    let problem = lotteries(&[
        &[(0.0, 0.5), (1.0, 0.5)],
        &[(0.5, 0.5), (0.9999, 0.25), (1.0, 0.25)],
        &[(0.7, 0.5), (0.9999, 0.375), (1.0, 0.125)],
    ]);
    let found = frontier(&problem, &levels(&[0.0, 0.01, f64::INFINITY]), &Limits::QUICK).unwrap();
    let firsts: Vec<usize> = found.behaviours.iter().map(|own| own.first[0].index()).collect();
    assert_eq!(found.points.iter().map(|point| firsts[point.behaviour]).collect::<Vec<_>>(), [0, 0, 0]);
    let turns: Vec<(usize, usize)> =
        found.changes.iter().map(|turn| (firsts[turn.before], firsts[turn.after])).collect();
    assert_eq!(turns.last(), Some(&(2, 0)), "{:?}", found.changes);
    assert_eq!(found.changes.last().unwrap().level, Some(f64::INFINITY));
    let ends: Vec<f64> = found.changes.iter().map(|change| change.level.unwrap()).collect();
    for (pair, change) in ends.windows(2).zip(&found.changes) {
        let erm = Erm::new(if pair[1].is_finite() { f64::midpoint(pair[0], pair[1]) } else { 2.0 * pair[0] }).unwrap();
        let best = solve(&problem, erm, &Limits::QUICK).unwrap().value;
        assert!((found.behaviours[change.after].costs.erm(erm) - best).abs() < 1e-11, "{pair:?}");
    }
}

/// At each level the behaviour has the risk and the mean of the policy that [`solve`] has there, in problems full of ties: costs and
/// probabilities are multiples of a quarter.
#[test]
fn behaviours_are_those_of_solve() {
    let mut rng = rng::stream(7, 0, rng::Purpose::Generation);
    let mut quarter = |most: u32| f64::from(rng::below(&mut rng, most + 1)) / 4.0;
    let betas = levels(&[f64::NEG_INFINITY, -3.0, 0.0, 1.0, 30.0, f64::INFINITY]);
    let others = ["cvar:0.25", "cvar:0.5", "cvar:0.9", "evar:0.5"].map(|text| text.parse::<Risk>().unwrap());
    for _ in 0..60 {
        let lottery: Vec<Vec<(f64, f64)>> = (0..4)
            .map(|_| {
                let p = quarter(2) / 2.0 + 0.25;
                vec![(quarter(8), p), (quarter(8), 1.0 - p)]
            })
            .collect();
        let problem = lotteries(&lottery.iter().map(Vec::as_slice).collect::<Vec<_>>());
        for risks in [&betas[..], &others[..]] {
            let found = frontier(&problem, risks, &Limits::QUICK).unwrap();
            for point in &found.points {
                let solution = solve(&problem, point.risk, &Limits::QUICK).unwrap();
                let costs = distribution(&problem, &solution.policy(), &Limits::QUICK).unwrap();
                let own = &found.behaviours[point.behaviour].costs;
                for measure in [Risk::MEAN, point.risk] {
                    let (own, wanted) = (own.risk(measure), costs.risk(measure));
                    assert!((own - wanted).abs() < 1e-8, "{}: {measure} {own} {wanted}, {lottery:?}", point.risk);
                }
            }
        }
    }
}

/// Levels may come in any order; each is told of when it is known. Without patience no change is located, and the levels are the same.
#[test]
fn levels_come_first_and_do_not_depend_on_patience() {
    let problem = tasks::get("rooms").unwrap().problem;
    let mut known = Vec::new();
    let wanted = levels(&[10.0, 0.0, f64::INFINITY, 1.0]);
    let hasty = frontier::exact(&problem, &wanted, &[], &Limits::QUICK, Duration::ZERO, |point, own| {
        known.push((point.risk, own.costs.mean()));
    });
    let hasty = hasty.unwrap();
    assert_eq!(known.iter().map(|(risk, _)| *risk).collect::<Vec<_>>(), wanted);
    let patient = frontier(&problem, &wanted, &Limits::QUICK).unwrap();
    let rows = |of: &Frontier| of.points.iter().map(|p| (p.level(), p.value, p.low)).collect::<Vec<_>>();
    assert_eq!(rows(&hasty), rows(&patient));
    assert!(rows(&hasty).is_sorted());
    assert!(!hasty.complete && patient.complete && hasty.ended.is_none());
    assert!(!hasty.changes.is_empty() && hasty.changes.iter().all(|change| change.level.is_none()));
}

/// Who stops it after one level has that one, and no more.
#[test]
fn stopping_keeps_what_is_known() {
    let problem = tasks::get("rooms").unwrap().problem;
    for (after, kept) in [(0, None), (1, Some(1)), (2, Some(2)), (3, Some(3))] {
        let limits = Limits { stop: Stop::new(), ..Limits::QUICK };
        if after == 0 {
            limits.stop.request();
        }
        let mut solved = 0;
        let found =
            frontier::exact(&problem, &levels(&[0.0, 1.0, 50.0]), &[], &limits, Duration::from_mins(10), |_, _| {
                solved += 1;
                if solved == after {
                    limits.stop.request();
                }
            });
        match (found, kept) {
            (Err(error), None) => assert_eq!(error, OracleError::Stopped),
            (Ok(found), Some(kept)) => {
                assert_eq!((found.points.len(), found.ended), (kept, Some(OracleError::Stopped)));
                assert!(!found.complete && found.changes.iter().all(|change| change.level.is_none()));
            }
            (found, kept) => panic!("{found:?} {kept:?}"),
        }
    }
}

/// A sure 1; a coin of 0 and 1.9, cheaper by 0.05 with a tail of 1.9; and one that saves a quarter of that tail for next to nothing.
#[test]
fn the_best_bargain_saves_most_for_what_it_costs() {
    let sure: &[(f64, f64)] = &[(1.0, 1.0)];
    let coin: &[(f64, f64)] = &[(0.0, 0.5), (1.9, 0.5)];
    let bargain: &[(f64, f64)] = &[(0.252, 0.5), (1.65, 0.5)];
    let found =
        frontier(&lotteries(&[sure, coin, bargain]), &levels(&[0.0, 0.1, f64::INFINITY]), &Limits::QUICK).unwrap();
    let best = found.bargain().unwrap();
    let costs = |number: usize| found.behaviours[number].costs.values();
    assert_eq!((costs(best.behaviour), costs(best.neutral)), (&[0.252, 1.65][..], &[0.0, 1.9][..]));
    assert!((best.paid - 0.001).abs() < 1e-12 && (best.saved - 0.25).abs() < 1e-12, "{best:?}");
    let from = found.reigns_from(best.behaviour).unwrap();
    assert!(from > 0.0 && from <= 0.1, "{from}");
    assert!(frontier(&lotteries(&[sure]), &levels(&[0.0, 1.0]), &Limits::QUICK).unwrap().bargain().is_none());
}

/// What is expected of a cost per pair by the occupancy is what the linear objective costs in the mean.
#[test]
fn expected_features_are_weighed_as_costs_are() {
    let problem = tasks::get("mdp").unwrap().problem;
    let (costs, offset) = problem.objective().as_linear().unwrap();
    for own in frontier(&problem, &levels(&[0.0, 5.0]), &Limits::QUICK).unwrap().behaviours {
        assert!((own.expected(&costs) + offset - own.costs.mean()).abs() < 1e-12);
    }
}

/// The task's own levels first, then β from 0 to ∞, levels from 0 to 0.99, or costs from the best to the worst case: all different.
#[test]
fn usual_levels_ascend() {
    let problem = tasks::get("rooms").unwrap().problem;
    let own = levels(&[3.1234, 17.1234]);
    for (name, count, range) in
        [("erm", 26, None), ("erm", 26, Some([1.0, 7.0])), ("cvar", 21, None), ("exceed", 21, None)]
    {
        let form = Risk::forms().find(|form| form.name == name).unwrap();
        let usual = frontier::usual(&problem, form, &own, range, &Limits::QUICK).unwrap();
        let first = if name == "erm" { own.len() } else { 0 };
        assert_eq!(usual[..first], own[..first]);
        let levels: Vec<f64> = usual[first..].iter().map(|risk| risk.swept().unwrap().1).collect();
        assert!(levels.windows(2).all(|pair| pair[0] < pair[1]) && levels.len() == count, "{name} {levels:?}");
        let some = frontier::few(&problem, form, &own, range);
        let level = |risk: &Risk| risk.swept().unwrap().1;
        assert!(some.is_sorted_by_key(level) && own[..first].iter().all(|risk| some.contains(risk)), "{some:?}");
        assert_eq!(some.len(), 6, "{some:?}");
    }
}

/// Changes that are told have states whose visits differ.
#[test]
fn visits_change_where_behaviour_does() {
    let problem = tasks::get("rooms").unwrap().problem;
    let found = frontier(&problem, &levels(&[0.0, 50.0]), &Limits::QUICK).unwrap();
    let visits = found.visits(problem.mdp(), &found.changes[0]);
    assert!(!visits.is_empty() && visits.iter().all(|visits| (visits.after - visits.before).abs() > 1e-9));
    let by: Vec<f64> = visits.iter().map(|visits| (visits.after - visits.before).abs()).collect();
    assert!(by.windows(2).all(|pair| pair[0] >= pair[1]), "{by:?}");
}

/// Of each behaviour the probability of visiting marked pairs is told, which is not the expected number of visits.
#[test]
fn shares_of_episodes_are_told() {
    let problem = lotteries(&[&[(1.0, 1.0)], &[(0.0, 0.5), (1.8, 0.5)]]);
    let mdp = problem.mdp();
    // The third outcome is the large one; all states but the first are visited at the last step.
    let of_state =
        |wanted: usize| (0..mdp.pair_count() as u32).map(move |pair| mdp.state(pair.into()).index() == wanted);
    let marked = vec![of_state(3).collect::<Vec<bool>>(), of_state(0).collect(), Vec::new()];
    let known = |_: &frontier::Point, _: &frontier::Behaviour| {};
    let levels = levels(&[0.0, 50.0]);
    let found = frontier::exact(&problem, &levels, &marked, &Limits::QUICK, Duration::from_secs(9), known).unwrap();
    let met: Vec<&[f64]> = found.behaviours.iter().map(|own| &own.met[..]).collect();
    assert_eq!(met, [&[0.5, 1.0, 0.0], &[0.0, 1.0, 0.0]]);
}
