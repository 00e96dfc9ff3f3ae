//! Growing the tree.

use anyhow::Result;
use gumdp::{Erm, OccupancyState, Pair, Problem};
use serde::Serialize;

use super::values::{Explainer, Value};

/// Outcomes of one turn of chance that are shown at most; the others are folded.
const MOST_OUTCOMES: usize = 5;
/// Unlikely outcomes are folded up to this probability in all.
const UNLIKELY: f64 = 0.01;
/// Of turns of chance with more outcomes than this, only the likely ones are looked at.
const MOST_VALUED: usize = 12;
/// The name of an action where all actions have the same effect.
const ANY: &str = "any";

/// How far a tree is grown.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Turns of chance one after the other.
    pub depth: u64,
    /// Situations.
    pub nodes: u64,
}

/// Where one may be, what is done there and what comes of it.
#[derive(Debug, Serialize)]
pub struct Situation {
    /// The state; several if outcomes were merged.
    pub states: Vec<String>,
    /// The time.
    pub time: usize,
    /// Probability of this outcome of the last turn of chance.
    pub probability: f64,
    /// Probability of ever being here.
    pub reach: f64,
    /// Risk of the final cost, given that one is here.
    #[serde(rename = "value")]
    pub erm: f64,
    /// Expected final cost, given that one is here.
    pub mean: f64,
    /// Actions, one after the other, until chance has its turn.
    pub steps: Vec<String>,
    /// The second best first action.
    pub next_best: Option<NextBest>,
    /// What comes after the steps.
    pub then: Ending,
    /// The outcomes of chance, likely ones first.
    pub outcomes: Vec<Situation>,
    /// Outcomes that are not shown.
    pub folded: Option<Folded>,
}

/// The second best action, and what it would cost to take it.
#[derive(Debug, PartialEq, Serialize)]
pub struct NextBest {
    /// The action.
    pub action: String,
    /// How much higher the risk would be.
    #[serde(rename = "extra")]
    pub extra_erm: f64,
}

/// What comes after the steps of a situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// Nothing: the episode is over.
    Over,
    /// Chance has its turn, and its outcomes are shown.
    Chance,
    /// More than is shown.
    Unshown,
}

/// Outcomes that are not shown one by one.
#[derive(Debug, PartialEq, Serialize)]
pub struct Folded {
    /// How many.
    pub outcomes: usize,
    /// Probability of any of them in this turn of chance.
    pub probability: f64,
    /// Their risk, if it is known.
    #[serde(rename = "value")]
    pub erm: Option<f64>,
    /// Their expected cost, if it is known.
    pub mean: Option<f64>,
}

/// A situation while the tree grows.
struct Node {
    situation: Situation,
    /// Where chance has its turn and what was done, if the situation can be followed further.
    turn: Option<(OccupancyState, Pair)>,
    depth: u64,
    outcomes: Vec<usize>,
}

struct Grower<'a, E> {
    problem: &'a Problem,
    erm: Erm,
    explainer: &'a mut E,
    nodes: Vec<Node>,
}

/// The tree from the start of an episode on. If episodes start in several states, its root is the turn of chance that chooses.
pub fn grow(problem: &Problem, erm: Erm, explainer: &mut impl Explainer, wanted: Wanted) -> Result<Situation> {
    let mut grower = Grower { problem, erm, explainer, nodes: Vec::new() };
    let initial: Vec<(OccupancyState, f64)> =
        problem.mdp().initial().iter().map(|&(state, p)| (problem.start(state), p)).collect();
    let mut root = None;
    if let [(at, _)] = &initial[..] {
        grower.add(at, 1.0, 1.0, 0, None)?;
    } else {
        // Not a place in the model: what chance does before the first decision.
        let situation = Situation { states: vec!["start".to_owned()], then: Ending::Chance, ..blank() };
        grower.nodes.push(Node { situation, turn: None, depth: 0, outcomes: Vec::new() });
        grower.turn_of_chance(0, initial)?;
        root = Some(());
    }
    // The most likely situation that can be followed comes next.
    while (grower.nodes.len() as u64) < wanted.nodes {
        let open = grower.nodes.iter().enumerate().filter(|(_, node)| node.turn.is_some() && node.depth < wanted.depth);
        let likely = open.max_by(|(i, a), (j, b)| a.situation.reach.total_cmp(&b.situation.reach).then(j.cmp(i)));
        let Some((index, _)) = likely else { break };
        grower.follow(index)?;
    }
    let mut tree = grower.collect(0);
    if root.is_some() {
        let of = |value: fn(&Situation) -> f64| {
            let shown = tree.outcomes.iter().map(|outcome| (value(outcome), outcome.probability));
            let folded = tree.folded.as_ref().and_then(|f| Some((f.erm?, f.mean?, f.probability)));
            (shown.collect::<Vec<_>>(), folded)
        };
        let (mut risks, folded) = of(|situation| situation.erm);
        let (mut means, _) = of(|situation| situation.mean);
        if let Some((erm, mean, probability)) = folded {
            risks.push((erm, probability));
            means.push((mean, probability));
        }
        (tree.erm, tree.mean) = (mixed(erm, &risks), mixed(Erm::MEAN, &means));
    }
    Ok(tree)
}

fn blank() -> Situation {
    Situation {
        states: Vec::new(),
        time: 0,
        probability: 1.0,
        reach: 1.0,
        erm: f64::NAN,
        mean: f64::NAN,
        steps: Vec::new(),
        next_best: None,
        then: Ending::Unshown,
        outcomes: Vec::new(),
        folded: None,
    }
}

/// A measure of values with their probabilities, which need not sum to 1.
fn mixed(erm: Erm, values: &[(f64, f64)]) -> f64 {
    let sum: f64 = values.iter().map(|value| value.1).sum();
    erm.of_outcomes(values.iter().map(|&(value, p)| (value, p / sum)))
}

impl<E: Explainer> Grower<'_, E> {
    /// Adds a situation with what is done there; its value is computed if it is not known.
    fn add(
        &mut self,
        at: &OccupancyState,
        probability: f64,
        reach: f64,
        depth: u64,
        value: Option<Value>,
    ) -> Result<usize> {
        let (problem, mdp) = (self.problem, self.problem.mdp());
        let number = self.nodes.len() as u64;
        let value = match value {
            Some(value) => value,
            None => self.explainer.value(at, number)?,
        };
        let (mut steps, mut turn) = (Vec::new(), None);
        if at.time < problem.horizon() {
            self.explainer.follow(at, number, &mut |now, pair| {
                let name = if indifferent(problem, now) { ANY } else { mdp.action_name(mdp.action(pair)) };
                steps.push(name.to_owned());
                let mut successors = mdp.successors(pair);
                let last = now.time + 1 == problem.horizon();
                let only = successors.next().filter(|_| successors.next().is_none() && !last);
                if only.is_none() && !last {
                    turn = Some((now.clone(), pair));
                }
                let (next, _) = only?;
                let mut then = now.clone();
                problem.advance(&mut then, pair, next);
                Some(then)
            });
        }
        let next_best = value.next_best.filter(|_| !indifferent(problem, at));
        let situation = Situation {
            states: vec![mdp.state_name(at.state).to_owned()],
            time: at.time,
            probability,
            reach,
            erm: value.erm,
            mean: value.mean,
            steps,
            next_best: next_best
                .map(|(pair, extra_erm)| NextBest { action: mdp.action_name(mdp.action(pair)).to_owned(), extra_erm }),
            then: if turn.is_some() { Ending::Unshown } else { Ending::Over },
            ..blank()
        };
        self.nodes.push(Node { situation, turn, depth, outcomes: Vec::new() });
        Ok(self.nodes.len() - 1)
    }

    /// Shows what chance does after the steps of a situation.
    fn follow(&mut self, index: usize) -> Result<()> {
        let Some((at, pair)) = self.nodes[index].turn.take() else { return Ok(()) };
        let outcome = |(next, p)| {
            let mut then = at.clone();
            self.problem.advance(&mut then, pair, next);
            (then, p)
        };
        let outcomes = self.problem.mdp().successors(pair).map(outcome).collect();
        self.turn_of_chance(index, outcomes)
    }

    fn turn_of_chance(&mut self, index: usize, mut outcomes: Vec<(OccupancyState, f64)>) -> Result<()> {
        outcomes.sort_by(|(a, p), (b, q)| q.total_cmp(p).then(a.state.cmp(&b.state)));
        let (reach, depth) = (self.nodes[index].situation.reach, self.nodes[index].depth + 1);
        let mut valued: Vec<(OccupancyState, f64, Option<Value>)> = Vec::new();
        for (place, (at, p)) in outcomes.into_iter().enumerate() {
            // Situations are numbered as they will be if all of them are shown.
            let number = (self.nodes.len() + place) as u64;
            let value = if place < MOST_VALUED { Some(self.explainer.value(&at, number)?) } else { None };
            valued.push((at, p, value));
        }
        let risk = |value: &Option<Value>| value.as_ref().map_or(f64::NEG_INFINITY, |value| value.erm);
        let worst =
            (0..valued.len()).max_by(|&i, &j| risk(&valued[i].2).total_cmp(&risk(&valued[j].2)).then(j.cmp(&i)));
        let mut left: f64 = valued.iter().map(|outcome| outcome.1).sum();
        let (mut shown, mut folded) = (Vec::new(), Vec::new());
        for (place, outcome) in valued.into_iter().enumerate() {
            let unlikely = left <= UNLIKELY || place >= MOST_OUTCOMES;
            left -= outcome.1;
            if unlikely && Some(place) != worst { folded.push(outcome) } else { shown.push(outcome) }
        }
        if folded.len() == 1 {
            shown.append(&mut folded);
        }
        for (at, p, value) in shown {
            let added = self.add(&at, p, reach * p, depth, value)?;
            self.nodes[index].outcomes.push(added);
        }
        let situation = &mut self.nodes[index].situation;
        situation.then = Ending::Chance;
        if !folded.is_empty() {
            let known = |value: fn(&Value) -> f64| {
                folded.iter().map(|(_, p, of)| Some((value(of.as_ref()?), *p))).collect::<Option<Vec<_>>>()
            };
            situation.folded = Some(Folded {
                outcomes: folded.len(),
                probability: folded.iter().map(|outcome| outcome.1).sum(),
                erm: known(|value| value.erm).map(|values| mixed(self.erm, &values)),
                mean: known(|value| value.mean).map(|values| mixed(Erm::MEAN, &values)),
            });
        }
        Ok(())
    }

    /// The situation with all that is below it.
    fn collect(&mut self, index: usize) -> Situation {
        let below = std::mem::take(&mut self.nodes[index].outcomes);
        let mut outcomes: Vec<Situation> = Vec::new();
        for outcome in below.into_iter().map(|index| self.collect(index)).collect::<Vec<_>>() {
            match outcomes.iter_mut().find(|other| alike(other, &outcome)) {
                Some(other) => merge(other, outcome),
                None => outcomes.push(outcome),
            }
        }
        let situation = std::mem::replace(&mut self.nodes[index].situation, blank());
        Situation { outcomes, ..situation }
    }
}

/// Whether all actions have the same effect here.
fn indifferent(problem: &Problem, at: &OccupancyState) -> bool {
    let mdp = problem.mdp();
    let after = |pair: Pair| {
        let mut then = at.clone();
        problem.advance(&mut then, pair, at.state);
        then
    };
    let mut pairs = mdp.pairs(at.state).map(Pair::from);
    let Some(first) = pairs.next() else { return true };
    pairs.len() > 0 && pairs.all(|pair| mdp.successors(pair).eq(mdp.successors(first)) && after(pair) == after(first))
}

/// Whether the same is done at the same cost, whichever of the two outcomes it is.
fn alike(a: &Situation, b: &Situation) -> bool {
    let close = |x: f64, y: f64| (x - y).abs() <= 1e-9 * x.abs().max(y.abs()).max(1.0);
    a.steps == b.steps
        && a.then == b.then
        && a.then != Ending::Unshown
        && close(a.erm, b.erm)
        && close(a.mean, b.mean)
        && a.folded == b.folded
        && a.outcomes.len() == b.outcomes.len()
        && a.outcomes
            .iter()
            .zip(&b.outcomes)
            .all(|(x, y)| x.states == y.states && close(x.probability, y.probability) && alike(x, y))
}

/// Adds an outcome to another that is alike.
fn merge(into: &mut Situation, other: Situation) {
    into.probability += other.probability;
    add_reach(into, &other);
    into.next_best = into.next_best.take().filter(|next| Some(next) == other.next_best.as_ref());
    into.states.extend(other.states);
}

fn add_reach(into: &mut Situation, other: &Situation) {
    into.reach += other.reach;
    for (a, b) in into.outcomes.iter_mut().zip(&other.outcomes) {
        add_reach(a, b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::Exact;
    use gumdp::oracle::{Limits, solve};
    use gumdp_files::tasks;

    /// The tree, the risk measure that is taken over outcomes, and risk and mean of the solution.
    fn tree(name: &str, risk: &str, wanted: Wanted) -> (Situation, Erm, f64, f64) {
        let problem = tasks::get(name).unwrap().problem;
        let risk: gumdp::Risk = risk.parse().unwrap();
        let solution = solve(&problem, risk, &Limits::QUICK).unwrap();
        let erm = solution.fixed().erm();
        let mut exact = Exact::new(&problem, Limits::QUICK, &solution, name);
        (grow(&problem, erm, &mut exact, wanted).unwrap(), erm, solution.high, solution.mean)
    }

    /// Probabilities add up, and risk and mean of a situation are those of its outcomes.
    fn check(situation: &Situation, erm: Erm) {
        assert!(situation.outcomes.is_empty() || situation.then == Ending::Chance);
        if situation.then != Ending::Chance {
            return;
        }
        let folded =
            situation.folded.as_ref().map(|folded| (folded.erm.unwrap(), folded.mean.unwrap(), folded.probability));
        let all = || situation.outcomes.iter().map(|of| (of.erm, of.mean, of.probability)).chain(folded);
        assert!((all().map(|outcome| outcome.2).sum::<f64>() - 1.0).abs() < 1e-12);
        let risk = mixed(erm, &all().map(|(erm, _, p)| (erm, p)).collect::<Vec<_>>());
        let mean = mixed(Erm::MEAN, &all().map(|(_, mean, p)| (mean, p)).collect::<Vec<_>>());
        assert!((risk - situation.erm).abs() < 1e-9 && (mean - situation.mean).abs() < 1e-9, "{situation:?}");
        for outcome in &situation.outcomes {
            assert!((outcome.reach - situation.reach * outcome.probability).abs() < 1e-12);
            assert!(outcome.next_best.as_ref().is_none_or(|next| next.extra_erm >= 0.0));
            check(outcome, erm);
        }
    }

    #[test]
    fn situations_are_consistent_with_their_outcomes_and_the_optimum() {
        for (name, risks) in [
            ("rooms", ["erm:1", "erm:50"]),
            ("mdp", ["erm:0.1", "worst"]),
            ("grid-mo", ["seeking:1", "erm:8"]),
            ("grid-mo", ["cvar:0.9", "evar:0.5"]),
        ] {
            for risk in risks {
                let (tree, erm, value, mean) = tree(name, risk, Wanted { depth: 4, nodes: 30 });
                assert!((tree.erm - value).abs() < 1e-9 && (tree.mean - mean).abs() < 1e-9, "{name} {risk}");
                check(&tree, erm);
            }
        }
    }

    #[test]
    fn trees_stay_small() {
        fn count(of: &Situation) -> usize {
            1 + of.outcomes.iter().map(count).sum::<usize>()
        }
        let (small, ..) = tree("grid-mo", "erm:1", Wanted { depth: 100, nodes: 12 });
        assert!((12..12 + MOST_OUTCOMES).contains(&count(&small)), "{}", count(&small));
        let (root, ..) = tree("grid-mo", "erm:1", Wanted { depth: 0, nodes: 12 });
        assert_eq!((count(&root), root.then), (1, Ending::Unshown));
    }
}
