//! How well `il` can be played at best. Its occupancy MDP is too large to be solved, but a relaxation is not: outside of s0 both
//! actions of a state do the same, and only the split of the state's mass between them is chosen. If that could be put right at the
//! end, the squared distance of the two cells would be half of that of their sum. What remains is one choice, in s0.

mod common;

use common::task;
use gumdp::{Budget, Erm, GuidedPlanner, GuidedSettings, Objective, Partition, Problem, experiment};

/// Masses of s0/a0, s0/a1, s1, s2 and s3.
type Masses = [f64; 5];

struct Relaxed<'a> {
    problem: &'a Problem,
    /// f if only s0/a0, …, s3 were visited: Σ target² and then, for each entry, the weight and the target of its square.
    squares: [(f64, f64); 5],
    beta: f64,
}

impl Relaxed<'_> {
    /// E e^{βf} of the best policy from here on.
    fn exponential(&self, time: usize, state: usize, masses: Masses) -> f64 {
        let Some(&mass) = self.problem.masses().get(time) else {
            let distance = masses.iter().zip(self.squares).map(|(x, (weight, target))| weight * (x - target).powi(2));
            return (self.beta * distance.sum::<f64>()).exp();
        };
        let after = |entry: usize, next: &[(usize, f64)]| -> f64 {
            let mut masses = masses;
            masses[entry] += mass;
            next.iter().map(|&(state, probability)| probability * self.exponential(time + 1, state, masses)).sum()
        };
        match state {
            0 => after(0, &[(2, 0.85), (3, 0.15)]).min(after(1, &[(1, 1.0)])),
            3 => after(4, &[(0, 0.05), (3, 0.95)]),
            _ => after(state + 1, &[(0, 0.9), (state, 0.1)]),
        }
    }
}

/// The targets of `il`, read off its gradient: 2(x − target).
fn targets(problem: &Problem) -> Vec<f64> {
    let nowhere = vec![0.0; problem.mdp().pair_count()];
    let gradient = problem.objective().gradient(&nowhere).unwrap();
    let targets: Vec<f64> = gradient.iter().map(|slope| -0.5 * slope).collect();
    let same = Objective::squared_distance(Partition::pairs(problem.mdp()), targets.clone()).unwrap();
    assert!((same.value(&nowhere) - problem.objective().value(&nowhere)).abs() < 1e-15);
    targets
}

/// The bounds that docs/planner.md speaks of; and 40 episodes of the planner respect them, up to four standard errors.
#[test]
fn no_policy_imitates_better() {
    let problem = task("il");
    let t = targets(&problem);
    let squares = [(1.0, t[0]), (1.0, t[1]), (0.5, t[2] + t[3]), (0.5, t[4] + t[5]), (0.5, t[6] + t[7])];
    for (beta, expected) in [(0.1, 0.021_096), (40.0, 0.038_864), (80.0, 0.050_219)] {
        let bound = Relaxed { problem: &problem, squares, beta }.exponential(0, 0, [0.0; 5]).ln() / beta;
        assert!((bound - expected).abs() < 1e-6, "beta {beta}: {bound}");

        let erm = Erm::new(beta).unwrap();
        let settings = GuidedSettings { budget: Budget::simulations(2000), ..GuidedSettings::default() };
        let planner = GuidedPlanner::new(&problem, erm, settings).unwrap();
        let runs = experiment(&problem, &planner, 0, 0..40).unwrap();
        let costs: Vec<f64> = runs.iter().map(|run| run.episode.cost).collect();
        let risk = erm.of_samples(&costs);
        let influence = |&x: &f64| (((beta * (x - risk)).exp() - 1.0) / beta).powi(2);
        let error = costs.iter().map(influence).sum::<f64>().sqrt() / costs.len() as f64;
        assert!(risk > bound - 4.0 * error, "beta {beta}: {risk} ± {error} is below {bound}");
    }
}
