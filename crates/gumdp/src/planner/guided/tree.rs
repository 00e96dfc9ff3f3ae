//! The search tree: Bellman backups of the entropic risk with the model's probabilities.
//!
//! The value of an edge is the ERM of the values of its outcomes, that of a node the lowest of its edges, that of a leaf the
//! ERM of its rollouts. What is known exactly is *solved* and never looked at again.

use super::moves::Moves;
use crate::model::State;
use crate::risk::Erm;
use crate::rng::{self, Rng};

/// Index of a node.
pub(super) type NodeId = u32;
/// Index of an edge.
pub(super) type EdgeId = u32;

/// The node of the current occupancy state.
pub(super) const ROOT: NodeId = 0;
/// No node, edge or move.
pub(super) const NONE: u32 = u32::MAX;

/// An occupancy state reached by one history from the root.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) state: State,
    /// Its edges are `first_edge..first_edge + edges`; [`NONE`] as long as it is a leaf.
    first_edge: EdgeId,
    edges: u32,
    /// Simulations that went on from here.
    visits: u32,
    /// The fourth root of that.
    root_of_visits: f64,
    /// Rollouts from here.
    pub(super) rollouts: u32,
    /// The move that a rollout took here: it is tried first.
    pub(super) preferred: u32,
    value: f64,
    /// Of the outcome that it is.
    probability: f64,
    next_sibling: NodeId,
    solved: bool,
}

/// A move in a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) number: u32,
    pub(super) visits: u32,
    pub(super) value: f64,
    /// 1/√visits.
    rarity: f64,
    first_child: NodeId,
    /// Outcomes that are not in the tree yet.
    unseen: u32,
    solved: bool,
}

/// Flat vectors of nodes and edges.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    spare_nodes: Vec<Node>,
    spare_edges: Vec<Edge>,
    /// Squared deviations of rollouts from the same leaf, and their number.
    deviations: (f64, f64),
}

impl Tree {
    /// Forgets everything; `state` becomes the root.
    pub(super) fn reset(&mut self, state: State) {
        self.deviations = (0.0, 0.0);
        self.nodes.clear();
        self.edges.clear();
        self.push(state, 1.0, NONE);
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node as usize]
    }

    pub(super) fn node_mut(&mut self, node: NodeId) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    pub(super) fn edge(&self, edge: EdgeId) -> &Edge {
        &self.edges[edge as usize]
    }

    /// Nothing is left to be found out.
    pub(super) fn is_solved(&self) -> bool {
        self.nodes[ROOT as usize].solved
    }

    /// The root's edges.
    pub(super) fn root_edges(&self) -> &[Edge] {
        self.edges_of(&self.nodes[ROOT as usize])
    }

    /// Whether rollouts start here: the node has had fewer than `rollouts` and no edges.
    pub(super) fn is_leaf(&self, node: NodeId, rollouts: u32) -> bool {
        let node = &self.nodes[node as usize];
        node.first_edge == NONE && node.rollouts < rollouts
    }

    /// A move not tried yet, else the lowest value − θ √(√N(s) / N(s, a)) among those that are not solved.
    #[inline]
    pub(super) fn select(&mut self, node: NodeId, moves: &Moves, theta: f64) -> EdgeId {
        if self.nodes[node as usize].first_edge == NONE {
            self.expand(node, moves);
        }
        let node = &self.nodes[node as usize];
        let bonus = theta * node.root_of_visits;
        let mut best = (f64::INFINITY, node.first_edge);
        for (id, edge) in (node.first_edge..).zip(self.edges_of(node)) {
            if edge.visits == 0 {
                return id;
            }
            let score = edge.value - bonus * edge.rarity;
            if !edge.solved && score < best.0 {
                best = (score, id);
            }
        }
        best.1
    }

    /// The most likely outcome that has not been met yet, else one of those that are not solved, by their probability.
    #[inline]
    pub(super) fn outcome(&mut self, edge: EdgeId, moves: &Moves, rng: &mut Rng) -> NodeId {
        let Edge { number, first_child, unseen, .. } = self.edges[edge as usize];
        if unseen > 0 {
            let new = moves.outcomes(number).iter().filter(|to| self.child(edge, to.state).is_none());
            if let Some(to) = new.reduce(|a, b| if b.probability > a.probability { b } else { a }) {
                let child = self.push(to.state, to.probability, first_child);
                let edge = &mut self.edges[edge as usize];
                edge.first_child = child;
                edge.unseen -= 1;
                return child;
            }
        }
        let open: f64 = self.children(edge).filter(|child| !child.1.solved).map(|child| child.1.probability).sum();
        let mut left = rng::unit(rng) * open;
        let mut drawn = first_child;
        for (id, child) in self.children(edge).filter(|child| !child.1.solved) {
            drawn = id;
            left -= child.probability;
            if left < 0.0 {
                break;
            }
        }
        drawn
    }

    /// The node that `edge` led to with outcome `state`, if it is in the tree.
    pub(super) fn child(&self, edge: EdgeId, state: State) -> Option<NodeId> {
        self.children(edge).find(|child| child.1.state == state).map(|child| child.0)
    }

    /// A simulation took these edges in these nodes and ended with this cost: at the horizon, or in a rollout from `leaf`, which
    /// is the only way on if it is `certain`.
    pub(super) fn record(
        &mut self,
        trail: &[(NodeId, EdgeId)],
        leaf: Option<NodeId>,
        certain: bool,
        erm: Erm,
        cost: f64,
    ) {
        if let Some(leaf) = leaf {
            let leaf = &mut self.nodes[leaf as usize];
            let before = f64::from(leaf.rollouts);
            leaf.rollouts += 1;
            leaf.solved = certain;
            if before == 0.0 {
                leaf.value = cost;
            } else {
                self.deviations.0 += (cost - leaf.value).powi(2) * before / (before + 1.0);
                self.deviations.1 += 1.0;
                leaf.value = erm.quickly([(leaf.value, before), (cost, 1.0)].into_iter());
            }
        }
        for &(node, edge) in trail.iter().rev() {
            let (value, solved) = self.below(edge, erm, cost);
            let edge = &mut self.edges[edge as usize];
            edge.visits = edge.visits.saturating_add(1);
            edge.rarity = 1.0 / f64::from(edge.visits).sqrt();
            edge.value = value;
            edge.solved = solved;
            let (mut lowest, mut solved) = (f64::INFINITY, true);
            for edge in self.edges_of(&self.nodes[node as usize]) {
                lowest = lowest.min(edge.value);
                solved &= edge.solved;
            }
            let node = &mut self.nodes[node as usize];
            node.visits = node.visits.saturating_add(1);
            node.root_of_visits = f64::from(node.visits).sqrt().sqrt();
            node.value = lowest;
            node.solved = solved;
        }
    }

    /// The value of an edge and whether it is solved; `cost` is that of the path which took it just now.
    #[inline]
    fn below(&self, edge: EdgeId, erm: Erm, cost: f64) -> (f64, bool) {
        let Edge { first_child, unseen, .. } = self.edges[edge as usize];
        if first_child == NONE {
            // The last step: there is no node behind it.
            return (cost, true);
        }
        let first = &self.nodes[first_child as usize];
        if first.next_sibling == NONE {
            return (first.value, unseen == 0 && first.solved);
        }
        let solved = unseen == 0 && self.children(edge).all(|child| child.1.solved);
        (erm.quickly(self.children(edge).map(|child| (child.1.value, child.1.probability))), solved)
    }

    /// The root's edge to play: the lowest value, but another than that of the move `base` must be better by `caution` standard
    /// errors of its rollouts, unless it is solved.
    pub(super) fn best(&self, base: u32, caution: f64) -> EdgeId {
        let (sum, count) = self.deviations;
        // As long as no leaf has had two rollouts, nothing is known of their noise.
        let deviation = if count > 0.0 { (sum / count).sqrt() } else { f64::INFINITY };
        let error = |edge: &Edge| if caution > 0.0 { caution * deviation * edge.rarity } else { 0.0 };
        let mut best = (f64::INFINITY, self.nodes[ROOT as usize].first_edge);
        for (id, edge) in (best.1..).zip(self.root_edges()).filter(|(_, edge)| edge.visits > 0) {
            let sure = edge.solved || edge.number == base;
            let score = edge.value + if sure { 0.0 } else { error(edge) };
            if score < best.0 {
                best = (score, id);
            }
        }
        best.1
    }

    /// Keeps only what is below `root`, which becomes the root.
    pub(super) fn reroot(&mut self, root: NodeId) {
        let (mut nodes, mut edges) = (std::mem::take(&mut self.spare_nodes), std::mem::take(&mut self.spare_edges));
        nodes.clear();
        edges.clear();
        nodes.push(Node { next_sibling: NONE, ..self.nodes[root as usize] });
        let mut copied = 0;
        while copied < nodes.len() {
            let Node { first_edge, edges: count, .. } = nodes[copied];
            if first_edge != NONE {
                nodes[copied].first_edge = edges.len() as EdgeId;
                for edge in first_edge..first_edge + count {
                    let first_child = nodes.len() as NodeId;
                    let children = self.children(edge).count();
                    nodes.extend(self.children(edge).map(|child| *child.1));
                    for (sibling, child) in (first_child + 1..).zip(&mut nodes[first_child as usize..]) {
                        child.next_sibling = sibling;
                    }
                    if children > 0
                        && let Some(last) = nodes.last_mut()
                    {
                        last.next_sibling = NONE;
                    }
                    let first_child = if children > 0 { first_child } else { NONE };
                    edges.push(Edge { first_child, ..self.edges[edge as usize] });
                }
            }
            copied += 1;
        }
        self.spare_nodes = std::mem::replace(&mut self.nodes, nodes);
        self.spare_edges = std::mem::replace(&mut self.edges, edges);
    }

    fn children(&self, edge: EdgeId) -> impl Iterator<Item = (NodeId, &Node)> + Clone {
        let first = self.edges[edge as usize].first_child;
        let id = (first != NONE).then_some(first);
        std::iter::successors(id, |&id| {
            let next = self.nodes[id as usize].next_sibling;
            (next != NONE).then_some(next)
        })
        .map(|id| (id, &self.nodes[id as usize]))
    }

    fn edges_of(&self, node: &Node) -> &[Edge] {
        if node.first_edge == NONE {
            return &[];
        }
        &self.edges[node.first_edge as usize..(node.first_edge + node.edges) as usize]
    }

    fn push(&mut self, state: State, probability: f64, next_sibling: NodeId) -> NodeId {
        self.nodes.push(Node {
            state,
            first_edge: NONE,
            edges: 0,
            visits: 0,
            root_of_visits: 0.0,
            rollouts: 0,
            preferred: NONE,
            value: f64::NAN,
            probability,
            next_sibling,
            solved: false,
        });
        self.nodes.len() as NodeId - 1
    }

    /// Gives a node its edges, the preferred one first.
    pub(super) fn expand(&mut self, node: NodeId, moves: &Moves) {
        let node = &mut self.nodes[node as usize];
        let (own, preferred) = (moves.range(node.state), node.preferred);
        node.first_edge = self.edges.len() as EdgeId;
        node.edges = own.len() as u32;
        // A leaf from which there is only one way is solved, but its edge has to be seen once.
        node.solved = false;
        let preferred_first = own.clone().filter(|&number| number == preferred);
        for number in preferred_first.chain(own.filter(|&number| number != preferred)) {
            let unseen = moves.outcomes(number).len() as u32;
            self.edges.push(Edge {
                number,
                visits: 0,
                value: f64::INFINITY,
                rarity: 0.0,
                first_child: NONE,
                unseen,
                solved: false,
            });
        }
    }
}
