//! Growing the tree.

use super::values::{Explainer, Value};
use super::{ExplainError, Wanted};
use crate::model::{Pair, State};
use crate::problem::{Effects, OccupancyState, Problem};
use crate::risk::Erm;

/// Outcomes of one turn of chance that are shown at most; the others are folded.
const MOST_OUTCOMES: usize = 5;
/// Unlikely outcomes are folded up to this probability in all.
const UNLIKELY: f64 = 0.01;
/// Of turns of chance with more outcomes than this, only the likely ones are looked at.
const MOST_VALUED: usize = 12;
/// The name of an action where all actions have the same effect.
const ANY: &str = "any";

/// Where one may be, what is done there and what comes of it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Node {
    /// The state; several if outcomes were merged.
    pub states: Vec<String>,
    /// The time.
    pub time: usize,
    /// Probability of this outcome of the last turn of chance.
    pub probability: f64,
    /// Probability of ever being here.
    pub reach: f64,
    /// Risk of the final cost, given that one is here.
    pub value: f64,
    /// Expected final cost, given that one is here.
    pub mean: f64,
    /// Actions, one after the other, until chance has its turn.
    pub steps: Vec<String>,
    /// The second best first action.
    pub next_best: Option<NextBest>,
    /// What comes after the steps.
    pub then: Ending,
    /// The outcomes of chance, likely ones first.
    pub outcomes: Vec<Node>,
    /// Outcomes that are not shown.
    pub folded: Option<Folded>,
}

/// The second best action, and what it would cost to take it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct NextBest {
    /// The action.
    pub action: String,
    /// How much higher the risk would be.
    pub extra: f64,
}

/// What comes after the steps of a situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
pub enum Ending {
    /// Nothing: the episode is over.
    Over,
    /// Chance has its turn, and its outcomes are shown.
    Chance,
    /// More than is shown.
    Unshown,
}

/// Outcomes that are not shown one by one.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Folded {
    /// How many.
    pub outcomes: usize,
    /// Probability of any of them in this turn of chance.
    pub probability: f64,
    /// Their risk, if it is known.
    pub value: Option<f64>,
    /// Their expected cost, if it is known.
    pub mean: Option<f64>,
}

/// A node while the tree grows.
struct Growing {
    node: Node,
    /// Where chance has its turn and what was done, if the situation can be followed further.
    turn: Option<(OccupancyState, Pair)>,
    depth: u64,
    outcomes: Vec<usize>,
}

struct Grower<'a, E> {
    problem: &'a Problem,
    effects: Effects<'a>,
    erm: Erm,
    explainer: &'a mut E,
    nodes: Vec<Growing>,
}

/// The tree from the start of an episode on, for outcomes that are weighed by `erm`. If episodes start in several states, its
/// root is the turn of chance that chooses.
pub(super) fn grow(
    problem: &Problem,
    erm: Erm,
    explainer: &mut impl Explainer,
    wanted: &Wanted,
) -> Result<Node, ExplainError> {
    let mut grower = Grower { problem, effects: Effects::new(problem), erm, explainer, nodes: Vec::new() };
    let initial: Vec<(OccupancyState, f64)> =
        problem.mdp().initial().iter().map(|&(state, p)| (problem.start(state), p)).collect();
    let scattered = initial.len() > 1;
    if scattered {
        // Not a place in the model: what chance does before the first decision.
        let node = Node { states: vec!["start".to_owned()], then: Ending::Chance, ..blank() };
        grower.nodes.push(Growing { node, turn: None, depth: 0, outcomes: Vec::new() });
        grower.turn_of_chance(0, initial)?;
    } else {
        grower.add(&initial[0].0, 1.0, 1.0, 0, None)?;
    }
    // The most likely situation that can be followed comes next.
    while (grower.nodes.len() as u64) < wanted.nodes {
        let open = grower.nodes.iter().enumerate().filter(|(_, node)| node.turn.is_some() && node.depth < wanted.depth);
        let likely = open.max_by(|(i, a), (j, b)| a.node.reach.total_cmp(&b.node.reach).then(j.cmp(i)));
        let Some((index, _)) = likely else { break };
        grower.follow(index)?;
    }
    let mut tree = grower.collect(0);
    if scattered {
        let folded = tree.folded.as_ref().and_then(|folded| Some((folded.value?, folded.mean?, folded.probability)));
        let shown = tree.outcomes.iter().map(|outcome| (outcome.value, outcome.mean, outcome.probability));
        (tree.value, tree.mean) = mixed(erm, &shown.chain(folded).collect::<Vec<_>>());
    }
    Ok(tree)
}

fn blank() -> Node {
    Node {
        states: Vec::new(),
        time: 0,
        probability: 1.0,
        reach: 1.0,
        value: f64::NAN,
        mean: f64::NAN,
        steps: Vec::new(),
        next_best: None,
        then: Ending::Unshown,
        outcomes: Vec::new(),
        folded: None,
    }
}

/// Risk and mean of outcomes that have a risk, a mean and a probability each; probabilities need not sum to 1.
fn mixed(erm: Erm, outcomes: &[(f64, f64, f64)]) -> (f64, f64) {
    let sum: f64 = outcomes.iter().map(|&(_, _, p)| p).sum();
    let risk = erm.of_outcomes(outcomes.iter().map(|&(risk, _, p)| (risk, p / sum)));
    (risk, Erm::MEAN.of_outcomes(outcomes.iter().map(|&(_, mean, p)| (mean, p / sum))))
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
    ) -> Result<usize, ExplainError> {
        let (problem, mdp) = (self.problem, self.problem.mdp());
        let number = self.nodes.len() as u64;
        let value = match value {
            Some(value) => value,
            None => self.explainer.value(at, number)?,
        };
        let (mut steps, mut turn) = (Vec::new(), None);
        let mut now = (at.time < problem.horizon()).then(|| at.clone());
        self.explainer.begin(number);
        while let Some((mut here, pair)) =
            now.take().and_then(|here| self.explainer.act(&here).map(|pair| (here, pair)))
        {
            let name = if indifferent(&mut self.effects, here.state) { ANY } else { mdp.action_name(mdp.action(pair)) };
            steps.push(name.to_owned());
            let mut successors = mdp.successors(pair);
            match (successors.next(), successors.next()) {
                _ if here.time + 1 == problem.horizon() => {}
                (Some((next, _)), None) => {
                    problem.advance(&mut here, pair, next);
                    now = Some(here);
                }
                _ => turn = Some((here, pair)),
            }
        }
        let next_best = value.next_best.filter(|_| !indifferent(&mut self.effects, at.state));
        let action = |pair| mdp.action_name(mdp.action(pair)).to_owned();
        let node = Node {
            states: vec![mdp.state_name(at.state).to_owned()],
            time: at.time,
            probability,
            reach,
            value: value.risk,
            mean: value.mean,
            steps,
            next_best: next_best.map(|(pair, extra)| NextBest { action: action(pair), extra }),
            then: if turn.is_some() { Ending::Unshown } else { Ending::Over },
            ..blank()
        };
        self.nodes.push(Growing { node, turn, depth, outcomes: Vec::new() });
        Ok(self.nodes.len() - 1)
    }

    /// Shows what chance does after the steps of a situation.
    fn follow(&mut self, index: usize) -> Result<(), ExplainError> {
        let Some((at, pair)) = self.nodes[index].turn.take() else { return Ok(()) };
        let outcome = |(next, p)| {
            let mut then = at.clone();
            self.problem.advance(&mut then, pair, next);
            (then, p)
        };
        let outcomes = self.problem.mdp().successors(pair).map(outcome).collect();
        self.turn_of_chance(index, outcomes)
    }

    fn turn_of_chance(&mut self, index: usize, mut outcomes: Vec<(OccupancyState, f64)>) -> Result<(), ExplainError> {
        outcomes.sort_by(|(a, p), (b, q)| q.total_cmp(p).then(a.state.cmp(&b.state)));
        let (reach, depth) = (self.nodes[index].node.reach, self.nodes[index].depth + 1);
        let mut valued: Vec<(OccupancyState, f64, Option<Value>)> = Vec::new();
        for (place, (at, p)) in outcomes.into_iter().enumerate() {
            // Nodes are numbered as they will be if all of them are shown.
            let number = (self.nodes.len() + place) as u64;
            let value = if place < MOST_VALUED { Some(self.explainer.value(&at, number)?) } else { None };
            valued.push((at, p, value));
        }
        let risk = |value: &Option<Value>| value.as_ref().map_or(f64::NEG_INFINITY, |value| value.risk);
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
        let node = &mut self.nodes[index].node;
        node.then = Ending::Chance;
        if !folded.is_empty() {
            let known = folded.iter().map(|(_, p, value)| value.as_ref().map(|value| (value.risk, value.mean, *p)));
            let both = known.collect::<Option<Vec<_>>>().map(|known| mixed(self.erm, &known));
            node.folded = Some(Folded {
                outcomes: folded.len(),
                probability: folded.iter().map(|outcome| outcome.1).sum(),
                value: both.map(|(risk, _)| risk),
                mean: both.map(|(_, mean)| mean),
            });
        }
        Ok(())
    }

    /// The situation with all that is below it.
    fn collect(&mut self, index: usize) -> Node {
        let below = std::mem::take(&mut self.nodes[index].outcomes);
        let mut outcomes: Vec<Node> = Vec::new();
        for outcome in below.into_iter().map(|index| self.collect(index)).collect::<Vec<_>>() {
            match outcomes.iter_mut().find(|other| alike(other, &outcome)) {
                Some(other) => merge(other, outcome),
                None => outcomes.push(outcome),
            }
        }
        let node = std::mem::replace(&mut self.nodes[index].node, blank());
        Node { outcomes, ..node }
    }
}

/// Whether there are several actions here, all with the same effect.
fn indifferent(effects: &mut Effects<'_>, state: State) -> bool {
    let firsts = effects.firsts(state, false);
    firsts.len() > 1 && firsts.iter().all(|first| first == &firsts[0])
}

/// Whether the same is done at the same cost, whichever of the two outcomes it is.
fn alike(a: &Node, b: &Node) -> bool {
    let close = |x: f64, y: f64| (x - y).abs() <= 1e-9 * x.abs().max(y.abs()).max(1.0);
    a.steps == b.steps
        && a.then == b.then
        && a.then != Ending::Unshown
        && close(a.value, b.value)
        && close(a.mean, b.mean)
        && a.folded == b.folded
        && a.outcomes.len() == b.outcomes.len()
        && a.outcomes
            .iter()
            .zip(&b.outcomes)
            .all(|(x, y)| x.states == y.states && close(x.probability, y.probability) && alike(x, y))
}

/// Adds an outcome to another that is alike.
fn merge(into: &mut Node, other: Node) {
    into.probability += other.probability;
    add_reach(into, &other);
    into.next_best = into.next_best.take().filter(|next| Some(next) == other.next_best.as_ref());
    into.states.extend(other.states);
}

fn add_reach(into: &mut Node, other: &Node) {
    into.reach += other.reach;
    for (a, b) in into.outcomes.iter_mut().zip(&other.outcomes) {
        add_reach(a, b);
    }
}
