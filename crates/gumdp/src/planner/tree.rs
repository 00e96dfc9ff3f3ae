//! The search tree: an arena of flat vectors, reset and re-rooted without freeing memory.
//!
//! A *node* is an occupancy state (t, s, Φo) reached by one history from the root; it knows the model's real state, hidden
//! flags included, and has one *edge* for each pair of that state, stored next to each other. The nodes that an edge led to
//! form a linked list through `next_sibling`.

use crate::model::{Mdp, State};
use crate::risk::{Erm, ErmAccumulator};

/// Index of a node.
pub(super) type NodeId = u32;
/// Index of an edge.
pub(super) type EdgeId = u32;

/// The node of the current occupancy state.
pub(super) const ROOT: NodeId = 0;
/// The end of a list of siblings.
const NONE: NodeId = NodeId::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// The model's state.
    pub(super) state: State,
    /// Its edges are `first_edge..first_edge + number of pairs of the state`.
    pub(super) first_edge: EdgeId,
    /// Number of edges.
    pub(super) edges: u32,
    /// Edges that have been simulated at least once.
    pub(super) tried: u32,
    /// Simulations that chose an action here, N(s).
    pub(super) visits: u32,
    /// Next outcome of the edge that led here.
    next_sibling: NodeId,
}

/// What an edge knows of the costs of its simulations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) erm: ErmAccumulator,
    pub(super) sum: f64,
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Seen {
    const NOTHING: Self = Self { erm: ErmAccumulator::EMPTY, sum: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY };
}

/// Vectors over nodes and over edges.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// For each edge, the estimate ρ̂ of its ERM.
    risks: Vec<f64>,
    /// For each edge, 1/√N(s, a).
    rarities: Vec<f64>,
    seen: Vec<Seen>,
    /// For each edge, the first of the nodes it led to.
    first_child: Vec<NodeId>,
}

impl Tree {
    /// Forgets everything; `state` becomes the root.
    pub(super) fn reset(&mut self, mdp: &Mdp, state: State) {
        self.nodes.clear();
        self.risks.clear();
        self.rarities.clear();
        self.seen.clear();
        self.first_child.clear();
        self.push(mdp, state, NONE);
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    #[inline]
    pub(super) fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node as usize]
    }

    #[inline]
    pub(super) fn seen(&self, edge: EdgeId) -> &Seen {
        &self.seen[edge as usize]
    }

    pub(super) fn risk(&self, edge: EdgeId) -> f64 {
        self.risks[edge as usize]
    }

    /// The edge with the lowest ρ̂ − bonus/√N(s, a); the lowest index on ties.
    #[inline]
    pub(super) fn lowest(&self, node: NodeId, bonus: f64) -> EdgeId {
        let Node { first_edge, edges, .. } = *self.node(node);
        let range = first_edge as usize..(first_edge + edges) as usize;
        let mut best = 0;
        let mut lowest = f64::INFINITY;
        for (k, (risk, rarity)) in self.risks[range.clone()].iter().zip(&self.rarities[range]).enumerate() {
            let score = risk - bonus * rarity;
            if score < lowest {
                lowest = score;
                best = k;
            }
        }
        first_edge + best as u32
    }

    /// The node that `edge` led to with outcome `state`, if it has been met.
    #[inline]
    pub(super) fn child(&self, edge: EdgeId, state: State) -> Option<NodeId> {
        let mut child = self.first_child[edge as usize];
        while child != NONE {
            let node = self.node(child);
            if node.state == state {
                return Some(child);
            }
            child = node.next_sibling;
        }
        None
    }

    /// Adds the node that `edge` led to with outcome `state`.
    #[inline]
    pub(super) fn add_child(&mut self, mdp: &Mdp, edge: EdgeId, state: State) -> NodeId {
        let sibling = self.first_child[edge as usize];
        let child = self.push(mdp, state, sibling);
        self.first_child[edge as usize] = child;
        child
    }

    /// A simulation that took `edge` in `node` ended with this cost.
    #[inline]
    pub(super) fn record(&mut self, node: NodeId, edge: EdgeId, erm: Erm, cost: f64) {
        let seen = &mut self.seen[edge as usize];
        seen.erm.add(erm, cost);
        seen.sum += cost;
        seen.min = seen.min.min(cost);
        seen.max = seen.max.max(cost);
        let count = seen.erm.count();
        self.risks[edge as usize] = seen.erm.value(erm);
        self.rarities[edge as usize] = 1.0 / (count as f64).sqrt();
        let node = &mut self.nodes[node as usize];
        node.visits += 1;
        node.tried += u32::from(count == 1);
    }

    /// Keeps only what is below `root`, which becomes the root. `spare` is memory to work in.
    pub(super) fn reroot(&mut self, mdp: &Mdp, root: NodeId, spare: &mut Self, origins: &mut Vec<NodeId>) {
        spare.reset(mdp, self.node(root).state);
        origins.clear();
        origins.push(root);
        // Breadth first: copied nodes wait in `spare` itself until their edges are copied.
        let mut copied = 0;
        while copied < origins.len() {
            let from = *self.node(origins[copied]);
            let to = &mut spare.nodes[copied];
            to.tried = from.tried;
            to.visits = from.visits;
            let first_edge = to.first_edge;
            for k in 0..from.edges {
                let (old, new) = ((from.first_edge + k) as usize, (first_edge + k) as usize);
                spare.risks[new] = self.risks[old];
                spare.rarities[new] = self.rarities[old];
                spare.seen[new] = self.seen[old];
                let mut child = self.first_child[old];
                while child != NONE {
                    spare.add_child(mdp, new as EdgeId, self.node(child).state);
                    origins.push(child);
                    child = self.node(child).next_sibling;
                }
            }
            copied += 1;
        }
        std::mem::swap(self, spare);
    }

    fn push(&mut self, mdp: &Mdp, state: State, next_sibling: NodeId) -> NodeId {
        let node = self.nodes.len() as NodeId;
        let first_edge = self.risks.len() as EdgeId;
        let edges = mdp.pairs(state).len() as u32;
        self.nodes.push(Node { state, first_edge, edges, tried: 0, visits: 0, next_sibling });
        let end = first_edge as usize + edges as usize;
        self.risks.resize(end, f64::INFINITY);
        self.rarities.resize(end, 0.0);
        self.seen.resize(end, Seen::NOTHING);
        self.first_child.resize(end, NONE);
        node
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut tree = Tree::default();
        tree.reset(&mdp, State(0));
        for (edge, cost, times) in [(0, 3.0, 1), (1, 1.0, 100), (2, 2.0, 100)] {
            for _ in 0..times {
                tree.record(ROOT, edge, Erm::MEAN, cost);
            }
        }
        assert_eq!(tree.lowest(ROOT, 0.0), 1);
        assert_eq!(tree.lowest(ROOT, 10.0), 0);
        assert_eq!(tree.node(ROOT).visits, 201);
        assert_eq!(tree.node(ROOT).tried, 3);
    }

    #[test]
    fn rerooting_keeps_the_subtree_and_nothing_else() {
        let mdp = coin();
        let mut tree = Tree::default();
        tree.reset(&mdp, State(0));
        let other = tree.add_child(&mdp, 0, State(0));
        let kept = tree.add_child(&mdp, 1, State(1));
        tree.record(other, tree.node(other).first_edge, Erm::MEAN, 9.0);
        let edge = tree.node(kept).first_edge + 1;
        tree.record(kept, edge, Erm::MEAN, 5.0);
        let grandchild = tree.add_child(&mdp, edge, State(0));
        tree.record(grandchild, tree.node(grandchild).first_edge + 2, Erm::MEAN, 7.0);

        tree.reroot(&mdp, kept, &mut Tree::default(), &mut Vec::new());
        assert_eq!(tree.len(), 2);
        assert_eq!(tree.node(ROOT).state, State(1));
        assert_eq!(tree.node(ROOT).edges, 2);
        assert_eq!(tree.seen(1).sum, 5.0);
        let child = tree.child(1, State(0)).unwrap();
        assert_eq!(tree.seen(tree.node(child).first_edge + 2).max, 7.0);
        assert_eq!(tree.child(0, State(0)), None);
    }
}
