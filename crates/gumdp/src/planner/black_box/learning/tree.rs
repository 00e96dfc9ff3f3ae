//! The search tree of samples: Bellman backups of the entropic risk over stored outcomes.
//!
//! The value of an edge is the ERM of its outcomes, each as likely as it was drawn; that of a node the lowest of its edges; that of a leaf the ERM
//! of its rollouts. An edge that was taken N times has at most k·√N outcomes, so that states that never recur are met again; then one of
//! those is taken, the one that is most behind its share. A node has at most as many edges, where actions are many.

use crate::risk::Erm;

/// Index of a node.
pub(super) type NodeId = u32;
/// Index of an edge.
pub(super) type EdgeId = u32;

/// The node of the present situation.
pub(super) const ROOT: NodeId = 0;
const NONE: u32 = u32::MAX;

/// A situation that a history leads to.
#[derive(Clone, Debug)]
pub(super) struct Node<T> {
    /// `None` where the episode is over.
    pub(super) state: Option<T>,
    /// Its number in the table, and that of the outcome that it is.
    pub(super) number: u32,
    outcome: u32,
    pub(super) rollouts: u32,
    /// Its edges are a linked list, since they come one by one.
    first_edge: EdgeId,
    pub(super) edges: u32,
    pub(super) visits: u32,
    pub(super) value: f64,
    /// How often it was drawn, and taken.
    drawn: u32,
    taken: u32,
    next_sibling: NodeId,
}

/// An action in a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) action: u32,
    pub(super) visits: u32,
    pub(super) value: f64,
    first_child: NodeId,
    pub(super) children: u32,
    /// Whether its outcomes have the counts of the table.
    counted: bool,
    next: EdgeId,
}

/// Vectors of nodes and edges.
#[derive(Clone, Debug)]
pub(super) struct Tree<T> {
    nodes: Vec<Node<T>>,
    edges: Vec<Edge>,
    /// The sums of features at each node, one after the other.
    sums: Vec<f64>,
    width: usize,
    /// Squared deviations of rollouts from the same leaf, and their number.
    deviations: (f64, f64),
}

impl<T: Clone + PartialEq> Tree<T> {
    pub(super) fn new(width: usize) -> Self {
        Self { nodes: Vec::new(), edges: Vec::new(), sums: Vec::new(), width, deviations: (0.0, 0.0) }
    }

    pub(super) fn reset(&mut self, state: T, number: u32, sums: &[f64]) {
        self.nodes.clear();
        self.edges.clear();
        self.sums.clear();
        self.deviations = (0.0, 0.0);
        self.push(Some(state), (number, NONE), sums, NONE);
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    #[inline]
    pub(super) fn node(&self, node: NodeId) -> &Node<T> {
        &self.nodes[node as usize]
    }

    #[inline]
    pub(super) fn edge(&self, edge: EdgeId) -> &Edge {
        &self.edges[edge as usize]
    }

    #[inline]
    pub(super) fn sums(&self, node: NodeId) -> &[f64] {
        &self.sums[node as usize * self.width..(node as usize + 1) * self.width]
    }

    /// The edges of a node.
    pub(super) fn edges_of(&self, node: NodeId) -> impl Iterator<Item = (EdgeId, &Edge)> + Clone {
        let at = |id: EdgeId| self.edges.get(id as usize).map(|edge| (id, edge));
        std::iter::successors(at(self.nodes[node as usize].first_edge), move |(_, edge)| at(edge.next))
    }

    /// Whether a node is to have another edge.
    pub(super) fn wants_edge(&self, node: NodeId, actions: u32, widening: f64) -> bool {
        let node = &self.nodes[node as usize];
        node.edges < actions && f64::from(node.edges) <= widening * f64::from(node.visits).sqrt()
    }

    /// The edge of an action, which it gets if it has none.
    pub(super) fn edge_for(&mut self, node: NodeId, action: u32) -> EdgeId {
        if let Some((known, _)) = self.edges_of(node).find(|(_, edge)| edge.action == action) {
            return known;
        }
        let id = self.edges.len() as EdgeId;
        let own = &mut self.nodes[node as usize];
        let next = std::mem::replace(&mut own.first_edge, id);
        own.edges += 1;
        self.edges.push(Edge {
            action,
            visits: 0,
            value: f64::INFINITY,
            first_child: NONE,
            children: 0,
            counted: false,
            next,
        });
        id
    }

    /// The edge with the lowest value − θ·√(√N(s)/N(s, a)).
    #[inline]
    pub(super) fn select(&self, node: NodeId, theta: f64) -> EdgeId {
        let bonus = theta * f64::from(self.nodes[node as usize].visits).sqrt().sqrt();
        let mut best = (f64::INFINITY, self.nodes[node as usize].first_edge);
        for (id, edge) in self.edges_of(node) {
            let score = edge.value - bonus / f64::from(edge.visits).sqrt();
            if score < best.0 || edge.visits == 0 {
                best = (score, id);
            }
        }
        best.1
    }

    /// Whether another outcome of an edge is to be drawn.
    #[inline]
    pub(super) fn wants_outcome(&self, edge: EdgeId, cap: f64) -> bool {
        let edge = &self.edges[edge as usize];
        f64::from(edge.children) < cap * f64::from(edge.visits + 1).sqrt()
    }

    /// The stored outcome that is most behind its share.
    pub(super) fn stored(&mut self, edge: EdgeId) -> NodeId {
        let behind = |node: &Node<T>| f64::from(node.taken) / f64::from(node.drawn);
        let least =
            self.children(edge).min_by(|a, b| behind(a.1).total_cmp(&behind(b.1))).map_or(ROOT, |child| child.0);
        self.nodes[least as usize].taken += 1;
        least
    }

    /// The node of an outcome that was drawn.
    #[inline]
    pub(super) fn draw(&mut self, edge: EdgeId, state: Option<T>, numbers: (u32, u32), sums: &[f64]) -> NodeId {
        let known = if numbers.1 == NONE {
            self.children(edge).find(|(id, child)| child.state == state && self.sums(*id) == sums).map(|(id, _)| id)
        } else {
            self.child_of(edge, numbers.1)
        };
        if let Some(id) = known {
            self.nodes[id as usize].drawn += 1;
            self.nodes[id as usize].taken += 1;
            return id;
        }
        self.add(edge, state, numbers, sums)
    }

    /// A new node for an outcome, with its state's number and its own.
    pub(super) fn add(&mut self, edge: EdgeId, state: Option<T>, numbers: (u32, u32), sums: &[f64]) -> NodeId {
        let id = self.push(state, numbers, sums, self.edges[edge as usize].first_child);
        let edge = &mut self.edges[edge as usize];
        edge.first_child = id;
        edge.children += 1;
        id
    }

    /// The node of an outcome with this number.
    pub(super) fn child_of(&self, edge: EdgeId, outcome: u32) -> Option<NodeId> {
        self.children(edge).find(|(_, child)| child.outcome == outcome).map(|(id, _)| id)
    }

    /// Whether the outcomes of an edge are to have the counts of the table: the first time, and whenever its visits have doubled.
    pub(super) fn wants_counts(&mut self, edge: EdgeId) -> bool {
        let edge = &mut self.edges[edge as usize];
        !std::mem::replace(&mut edge.counted, true) || edge.visits.is_power_of_two()
    }

    /// Says how often an outcome was drawn, if the edge has it.
    pub(super) fn count(&mut self, edge: EdgeId, outcome: u32, drawn: u32) {
        if let Some(child) = self.child_of(edge, outcome) {
            self.nodes[child as usize].drawn = drawn;
        }
    }

    /// A rollout from a leaf, or an episode that is over there, cost this.
    #[inline]
    pub(super) fn evaluate(&mut self, leaf: NodeId, erm: Erm, cost: f64) {
        let leaf = &mut self.nodes[leaf as usize];
        let before = f64::from(leaf.rollouts);
        leaf.rollouts += 1;
        if before == 0.0 {
            leaf.value = cost;
        } else {
            self.deviations.0 += (cost - leaf.value).powi(2) * before / (before + 1.0);
            self.deviations.1 += 1.0;
            leaf.value = erm.quickly([(leaf.value, before), (cost, 1.0)].into_iter());
        }
    }

    /// A simulation took these edges in these nodes.
    pub(super) fn back_up(&mut self, trail: &[(NodeId, EdgeId)], erm: Erm) {
        for &(node, edge) in trail.iter().rev() {
            let value = {
                let mut children = self.children(edge).map(|(_, child)| (child.value, f64::from(child.drawn)));
                match (children.next(), children.next()) {
                    (Some((only, _)), None) => only,
                    _ => erm.quickly(self.children(edge).map(|(_, child)| (child.value, f64::from(child.drawn)))),
                }
            };
            let edge = &mut self.edges[edge as usize];
            edge.visits += 1;
            edge.value = value;
            let lowest = self.edges_of(node).map(|(_, edge)| edge.value).fold(f64::INFINITY, f64::min);
            let node = &mut self.nodes[node as usize];
            node.visits += 1;
            node.value = lowest;
        }
    }

    /// A rollout is made from a leaf.
    pub(super) fn visit(&mut self, leaf: NodeId) {
        self.nodes[leaf as usize].rollouts += 1;
    }

    /// The published backup: a simulation took these edges in these nodes and cost this; values are those of all simulations.
    pub(super) fn average(&mut self, trail: &[(NodeId, EdgeId)], erm: Erm, cost: f64) {
        for &(node, edge) in trail {
            let edge = &mut self.edges[edge as usize];
            let before = f64::from(edge.visits);
            edge.visits += 1;
            edge.value =
                if before == 0.0 { cost } else { erm.quickly([(edge.value, before), (cost, 1.0)].into_iter()) };
            let node = &mut self.nodes[node as usize];
            node.visits += 1;
            node.value = if node.visits == 1 { edge.value } else { node.value.min(edge.value) };
        }
    }

    /// The root's edge that was taken most often; of several the one with the lowest value.
    pub(super) fn most_visited(&self) -> Option<&Edge> {
        let tried = self.edges_of(ROOT).map(|(_, edge)| edge).filter(|edge| edge.visits > 0);
        tried.max_by(|a, b| a.visits.cmp(&b.visits).then(b.value.total_cmp(&a.value)))
    }

    /// The root's edge to play: the lowest value, but another than that of the action `base` must be better by `caution` standard
    /// errors of its rollouts.
    pub(super) fn best(&self, base: Option<u32>, caution: f64) -> Option<&Edge> {
        let (sum, count) = self.deviations;
        let deviation = if count > 0.0 { (sum / count).sqrt() } else { 0.0 };
        let score = |edge: &Edge| {
            let sure = base.is_none() || base == Some(edge.action);
            edge.value + if sure { 0.0 } else { caution * deviation / f64::from(edge.visits).sqrt() }
        };
        let tried = self.edges_of(ROOT).map(|(_, edge)| edge).filter(|edge| edge.visits > 0);
        tried.min_by(|a, b| score(a).total_cmp(&score(b)))
    }

    fn children(&self, edge: EdgeId) -> impl Iterator<Item = (NodeId, &Node<T>)> + Clone {
        let at = |id: NodeId| self.nodes.get(id as usize).map(|node| (id, node));
        std::iter::successors(at(self.edges[edge as usize].first_child), move |(_, node)| at(node.next_sibling))
    }

    fn push(&mut self, state: Option<T>, (number, outcome): (u32, u32), sums: &[f64], next_sibling: NodeId) -> NodeId {
        self.sums.extend_from_slice(sums);
        self.nodes.push(Node {
            state,
            number,
            outcome,
            rollouts: 0,
            first_edge: NONE,
            edges: 0,
            visits: 0,
            value: f64::NAN,
            drawn: 1,
            taken: 1,
            next_sibling,
        });
        self.nodes.len() as NodeId - 1
    }
}
