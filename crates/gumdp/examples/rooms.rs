//! A robot that wants to explore three rooms; entering room 2 may break it.
//!
//! Prints the exact distribution of two fixed plans, the exact optimum and what ERM-MCTS plays, for several attitudes to risk.
//! Run with `cargo run --release --example rooms`.

use gumdp::oracle::{self, Limits};
use gumdp::stats::Summary;
use gumdp::{Erm, Planner, PlannerSettings, Scripted, experiment};
use gumdp_files::tasks;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let task = tasks::get("rooms").ok_or("the task is built in")?;
    let problem = &task.problem;

    println!("{}", task.title);
    println!("\ntwo fixed plans, exact distribution of the cost:");
    for script in &task.scripts {
        let policy = Scripted::new(problem, script.actions.clone())?;
        let found = oracle::distribution(problem, &policy, &Limits::default())?;
        let erm10 = found.erm(Erm::new(10.0)?);
        println!(
            "  {:<14} mean {:.4}  best {:.4}  worst {:.4}  ERM at beta 10 {erm10:.4}",
            script.name,
            found.mean(),
            found.min(),
            found.max()
        );
    }

    println!("\n  beta  exact optimum  ERM-MCTS (95 % interval)   its mean");
    for &beta in &task.defaults.betas {
        let erm = Erm::new(beta)?;
        let optimum = oracle::solve(problem, erm, &Limits::default())?;
        let planner = Planner::new(problem, erm, PlannerSettings::paper_illustrative())?;
        let runs = experiment(problem, &planner, 0, 0..100)?;
        let costs: Vec<f64> = runs.iter().map(|run| run.episode.cost).collect();
        let summary = Summary::of(&costs, erm, problem.objective().bounds(), 0)?;
        let Summary { value: risk, low, high, mean, .. } = summary;
        println!("{beta:>6}  {:>13.4}  {risk:.4} ({low:.4} – {high:.4})  {mean:>9.4}", optimum.value);
    }
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
