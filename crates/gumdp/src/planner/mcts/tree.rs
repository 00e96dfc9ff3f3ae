//! The search tree: an arena of flat vectors, reset and re-rooted without freeing memory.
//!
//! A *node* is an occupancy state (t, s, Φo) reached by one history from the root; it knows the model's real state, hidden
//! flags included. It has one *edge* for each pair of that state, stored next to each other from the node's second visit on:
//! most nodes never have one. The nodes that an edge led to form a linked list through `next_sibling`.

use std::ops::Range;

use crate::model::State;
use crate::risk::{Seen, Weigher};
use crate::rng::{self, Rng};

use crate::planner::selection::Selection;
use crate::planner::settings::UntriedOrder;

/// Index of a node.
pub(in crate::planner) type NodeId = u32;
/// Index of an edge.
pub(in crate::planner) type EdgeId = u32;

/// The node of the current occupancy state.
pub(in crate::planner) const ROOT: NodeId = 0;
/// The end of a list of siblings.
const NO_NODE: NodeId = NodeId::MAX;
/// The edges of a node that has none yet.
const NO_EDGES: EdgeId = EdgeId::MAX;

#[derive(Clone, Copy, Debug)]
pub(in crate::planner) struct Node {
    /// The model's state.
    pub(in crate::planner) state: State,
    /// The first of its pairs, one for each action.
    pub(in crate::planner) first_pair: u32,
    pub(in crate::planner) actions: u32,
    /// Its edges, one for each action, are `first_edge..first_edge + actions`.
    pub(in crate::planner) first_edge: EdgeId,
    /// Edges that have been simulated at least once.
    pub(in crate::planner) tried: u32,
    /// Simulations that chose an action here, N(s).
    pub(in crate::planner) visits: u32,
    /// Next outcome of the edge that led here.
    next_sibling: NodeId,
}

/// What selection looks at.
#[derive(Clone, Copy, Debug)]
struct Score {
    /// The estimate ρ̂ of the edge's ERM.
    risk: f64,
    /// 1/√N(s, a).
    rarity: f64,
}

impl Score {
    const UNTRIED: Self = Self { risk: f64::INFINITY, rarity: 0.0 };
}

/// An action of a node, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(in crate::planner) struct Edge {
    /// The costs of the simulations that took it.
    pub(in crate::planner) seen: Seen,
    /// The first of the nodes it led to.
    first_child: NodeId,
}

impl Edge {
    const UNTRIED: Self = Self { seen: Seen::NOTHING, first_child: NO_NODE };
}

/// Vectors over nodes and over edges.
#[derive(Clone, Debug)]
pub(in crate::planner) struct Tree {
    nodes: Vec<Node>,
    scores: Vec<Score>,
    edges: Vec<Edge>,
    selection: Selection,
    /// 1/√n and the weight of n visits for small n, so that no root is taken twice.
    rarities: Vec<f64>,
    weights: Vec<f64>,
}

/// Number of counts whose roots are kept.
const KEPT_ROOTS: usize = 2048;

impl Tree {
    pub(in crate::planner) fn new(selection: Selection) -> Self {
        let counts = (0..KEPT_ROOTS).map(|n| n as f64);
        Self {
            nodes: Vec::new(),
            scores: Vec::new(),
            edges: Vec::new(),
            selection,
            rarities: counts.clone().map(|n| 1.0 / n.sqrt()).collect(),
            weights: counts.map(|n| selection.weight(n)).collect(),
        }
    }

    /// Forgets everything; `state`, which has these pairs, becomes the root.
    pub(in crate::planner) fn reset(&mut self, state: State, pairs: Range<u32>) {
        self.nodes.clear();
        self.scores.clear();
        self.edges.clear();
        self.push(state, pairs, NO_NODE);
        self.grow_edges(ROOT);
    }

    pub(in crate::planner) fn len(&self) -> usize {
        self.nodes.len()
    }

    #[inline]
    pub(in crate::planner) fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node as usize]
    }

    /// The node, with edges.
    #[inline]
    pub(in crate::planner) fn visit(&mut self, node: NodeId) -> Node {
        if self.nodes[node as usize].first_edge == NO_EDGES {
            self.grow_edges(node);
        }
        self.nodes[node as usize]
    }

    #[inline]
    pub(in crate::planner) fn edge(&self, edge: EdgeId) -> &Edge {
        &self.edges[edge as usize]
    }

    /// The edge of a node with the lowest ρ̂ − bonus/√N(s, a); the lowest index on ties.
    #[inline]
    fn lowest(&self, node: &Node, bonus: f64) -> EdgeId {
        let first = node.first_edge as usize;
        let mut best = 0;
        let mut lowest = f64::INFINITY;
        for (k, score) in self.scores[first..first + node.actions as usize].iter().enumerate() {
            let score = score.risk - bonus * score.rarity;
            if score < lowest {
                lowest = score;
                best = k;
            }
        }
        node.first_edge + best as u32
    }

    /// An untried action if there is one, else argmin_a ρ̂(s, a) − θ w(N(s))/√N(s, a).
    #[inline]
    pub(in crate::planner) fn select(&self, at: &Node, theta: f64, untried: UntriedOrder, rng: &mut Rng) -> EdgeId {
        let edges = at.actions;
        if at.tried == edges {
            let visits = at.visits as usize;
            let weight = self.weights.get(visits).copied();
            return self.lowest(at, theta * weight.unwrap_or_else(|| self.selection.weight(f64::from(at.visits))));
        }
        match untried {
            // Taken in order, so those tried so far come first.
            UntriedOrder::ByIndex => at.first_edge + at.tried,
            UntriedOrder::Random => {
                let chosen = rng::below(rng, edges - at.tried) as usize;
                let untried = |edge: &EdgeId| self.edge(*edge).seen.count == 0;
                (at.first_edge..at.first_edge + edges).filter(untried).nth(chosen).unwrap_or(at.first_edge)
            }
        }
    }

    /// The node that `edge` led to with outcome `state`, if it has been met.
    #[inline]
    pub(in crate::planner) fn child(&self, edge: EdgeId, state: State) -> Option<NodeId> {
        let mut child = self.edges[edge as usize].first_child;
        while child != NO_NODE {
            let node = self.node(child);
            if node.state == state {
                return Some(child);
            }
            child = node.next_sibling;
        }
        None
    }

    /// Adds the node that `edge` led to with outcome `state`, which has these pairs.
    #[inline]
    pub(in crate::planner) fn add_child(&mut self, edge: EdgeId, state: State, pairs: Range<u32>) -> NodeId {
        let sibling = self.edges[edge as usize].first_child;
        let child = self.push(state, pairs, sibling);
        self.edges[edge as usize].first_child = child;
        child
    }

    /// A simulation that took these edges in these nodes ended with this cost.
    #[inline]
    pub(in crate::planner) fn record(&mut self, trail: &[(NodeId, EdgeId)], weigher: &Weigher, cost: f64) {
        let weight = weigher.weigh(cost);
        for &(node, edge) in trail {
            let seen = &mut self.edges[edge as usize].seen;
            seen.add(cost, weight);
            let node = &mut self.nodes[node as usize];
            node.visits = node.visits.saturating_add(1);
            if node.tried == node.actions {
                self.score(edge, weigher);
            } else if seen.count == 1 {
                node.tried += 1;
                // Nobody looks at scores before the last action is tried.
                if node.tried == node.actions {
                    for edge in node.first_edge..node.first_edge + node.actions {
                        self.score(edge, weigher);
                    }
                }
            }
        }
    }

    /// Brings what selection looks at up to date.
    #[inline]
    fn score(&mut self, edge: EdgeId, weigher: &Weigher) {
        let seen = &self.edges[edge as usize].seen;
        let rarity =
            self.rarities.get(seen.count as usize).copied().unwrap_or_else(|| 1.0 / (seen.count as f64).sqrt());
        self.scores[edge as usize] = Score { risk: weigher.risk(seen, rarity * rarity), rarity };
    }

    /// Keeps only what is below `root`, which becomes the root. `spare` and `origins` are memory to work in.
    pub(in crate::planner) fn reroot(&mut self, root: NodeId, spare: &mut Self, origins: &mut Vec<NodeId>) {
        let Node { state, first_pair, actions, .. } = *self.node(root);
        spare.reset(state, first_pair..first_pair + actions);
        origins.clear();
        origins.push(root);
        // Breadth first: copied nodes wait in `spare` itself until their edges are copied.
        let mut copied = 0;
        while copied < origins.len() {
            let from = *self.node(origins[copied]);
            if from.first_edge != NO_EDGES {
                let to = spare.visit(copied as NodeId).first_edge;
                spare.nodes[copied].tried = from.tried;
                spare.nodes[copied].visits = from.visits;
                for k in 0..from.actions {
                    let (old, new) = ((from.first_edge + k) as usize, (to + k) as usize);
                    spare.scores[new] = self.scores[old];
                    spare.edges[new] = Edge { first_child: NO_NODE, ..self.edges[old] };
                    let mut child = self.edges[old].first_child;
                    while child != NO_NODE {
                        let Node { state, first_pair, actions, next_sibling, .. } = *self.node(child);
                        spare.add_child(new as EdgeId, state, first_pair..first_pair + actions);
                        origins.push(child);
                        child = next_sibling;
                    }
                }
            }
            copied += 1;
        }
        std::mem::swap(self, spare);
    }

    fn push(&mut self, state: State, pairs: Range<u32>, next_sibling: NodeId) -> NodeId {
        let node = self.nodes.len() as NodeId;
        let (first_pair, actions) = (pairs.start, pairs.end - pairs.start);
        self.nodes.push(Node { state, first_pair, actions, first_edge: NO_EDGES, tried: 0, visits: 0, next_sibling });
        node
    }

    fn grow_edges(&mut self, node: NodeId) {
        let node = &mut self.nodes[node as usize];
        node.first_edge = self.edges.len() as EdgeId;
        let end = self.edges.len() + node.actions as usize;
        self.scores.resize(end, Score::UNTRIED);
        self.edges.resize(end, Edge::UNTRIED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Mdp;
    use crate::risk::Erm;

    fn mean() -> Weigher {
        Weigher::new(Erm::MEAN, 4.0, 0.0, 9.0)
    }

    fn coin() -> Mdp {
        let half = [(0, 0.5), (1, 0.5)];
        let certain = [(0, 1.0)];
        let mdp = Mdp::sized(2, 3).start(0).transition(0, 0, half).transition(0, 1, half).transition(0, 2, half);
        mdp.transition(1, 0, certain).transition(1, 2, certain).build().unwrap()
    }

    /// Three actions with means 3, 1, 2 at the root: the second is the best, the rarest is preferred with a large bonus.
    #[test]
    fn lowest_weighs_risk_against_rarity() {
        let mdp = coin();
        let mut tree = Tree::new(Selection::Polynomial);
        tree.reset(State(0), mdp.pairs(State(0)));
        for (edge, cost, times) in [(0, 3.0, 1), (1, 1.0, 100), (2, 2.0, 100)] {
            for _ in 0..times {
                tree.record(&[(ROOT, edge)], &mean(), cost);
            }
        }
        assert_eq!(tree.lowest(tree.node(ROOT), 0.0), 1);
        assert_eq!(tree.lowest(tree.node(ROOT), 10.0), 0);
        assert_eq!(tree.node(ROOT).visits, 201);
        assert_eq!(tree.node(ROOT).tried, 3);
    }

    #[test]
    fn rerooting_keeps_the_subtree_and_nothing_else() {
        let mdp = coin();
        let mut tree = Tree::new(Selection::Polynomial);
        tree.reset(State(0), mdp.pairs(State(0)));
        let other = tree.add_child(0, State(0), mdp.pairs(State(0)));
        let kept = tree.add_child(1, State(1), mdp.pairs(State(1)));
        let edge = tree.visit(other).first_edge;
        tree.record(&[(other, edge)], &mean(), 9.0);
        let edge = tree.visit(kept).first_edge + 1;
        tree.record(&[(kept, edge)], &mean(), 5.0);
        let grandchild = tree.add_child(edge, State(0), mdp.pairs(State(0)));
        let edge = tree.visit(grandchild).first_edge + 2;
        tree.record(&[(grandchild, edge)], &mean(), 7.0);

        tree.reroot(kept, &mut Tree::new(Selection::Polynomial), &mut Vec::new());
        assert_eq!(tree.len(), 2);
        assert_eq!(tree.node(ROOT).state, State(1));
        assert_eq!(tree.node(ROOT).actions, 2);
        assert_eq!(tree.edge(1).seen.total, 5.0);
        let child = tree.child(1, State(0)).unwrap();
        assert_eq!(tree.edge(tree.node(child).first_edge + 2).seen.max, 7.0);
        assert_eq!(tree.child(0, State(0)), None);
    }
}
