//! Both planners on worlds nobody tuned on: generated from fixed seeds, with other sizes, traps, objectives and β.

use std::sync::Arc;

use anyhow::Result;
use gumdp_files::Task;

use super::book::Row;
use super::variant::Variant;
use super::{Block, Findings, Job, Verdict, dot, groups, with_interval};
use crate::worlds::{Aim, Sparse, Terrain, explore, gather, imitate};
use gumdp::words::{beta, known};
use gumdp_plot::{DotPlot, DotRow, Labels, Table};

/// Attitudes to risk of all worlds.
const BETAS: &str = "[0.5, 3, 30]";

/// Every world at each β, with both planners.
pub fn jobs() -> Result<Vec<Job>> {
    let mut worlds = Vec::new();
    for (name, text) in maps().into_iter().map(on_map) {
        worlds.push(task(name, &text)?);
    }
    worlds.extend(sparse_tasks(Sample::Fresh)?);
    let of_world = |world: &Arc<Task>| {
        let at = |&beta| Variant::PLANNERS.map(|variant| Job::new(world, beta, variant, world.defaults.runs));
        world.defaults.betas.iter().flat_map(at).collect::<Vec<_>>()
    };
    Ok(worlds.iter().flat_map(of_world).collect())
}

/// Which sparse random problems are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Those that settings were chosen on.
    Known,
    /// Others of the same kinds.
    Fresh,
}

/// The sparse random problems.
pub fn sparse_tasks(sample: Sample) -> Result<Vec<Arc<Task>>> {
    let (prefix, seed, runs) = match sample {
        Sample::Known => ("random", 0, 200),
        Sample::Fresh => ("sparse", 200, 500),
    };
    let of_kind = |(kind, problem): (&str, Sparse)| {
        let text = problem.text(seed + problem.objective as u64) + &without_map(runs);
        task(&format!("{prefix}-{kind}"), &text)
    };
    sparse().into_iter().map(of_kind).collect()
}

fn task(name: &str, text: &str) -> Result<Arc<Task>> {
    Ok(Arc::new(Task::parse(&format!("{name}.toml"), text)?))
}

/// Names, runs and problems; where rare costs decide, more runs are needed to meet them.
fn maps() -> Vec<(&'static str, u32, String)> {
    let terrain = |share, stuck, unstuck| Terrain { share, stuck, unstuck };
    vec![
        ("explore-6", 32, explore(6, 60, &terrain(0.25, 0.2, 0.05))),
        ("explore-12", 32, explore(12, 150, &terrain(0.3, 0.05, 0.02))),
        ("explore-20", 32, explore(20, 200, &terrain(0.15, 0.15, 0.01))),
        ("explore-30", 32, explore(30, 300, &terrain(0.2, 0.3, 0.1))),
        ("imitate-8", 32, imitate(8, 60, &terrain(0.25, 0.1, 0.03))),
        ("gather-7", 2000, gather(7, 40, 6)),
    ]
}

fn sparse() -> Vec<(&'static str, Sparse)> {
    let problem = |states, actions, outcomes, horizon, discount, objective| Sparse {
        states,
        actions,
        outcomes,
        horizon,
        discount,
        objective,
    };
    vec![
        ("linear", problem(30, 4, 3, 30, 0.99, Aim::Linear)),
        ("maximum", problem(15, 3, 3, 20, 0.97, Aim::Maximum)),
        ("minimum", problem(15, 3, 2, 20, 0.97, Aim::Minimum)),
        ("entropy", problem(20, 2, 3, 30, 0.99, Aim::Entropy)),
        ("squared", problem(12, 3, 2, 15, 0.95, Aim::SquaredDistance)),
        ("absolute", problem(12, 2, 3, 20, 0.98, Aim::AbsoluteDistance)),
    ]
}

/// With the settings of the paper's grids.
fn on_map((name, runs, text): (&'static str, u32, String)) -> (&'static str, String) {
    let settings = format!(
        "[experiment]\nbeta = {BETAS}\nruns = {runs}\nsimulations = 1024\n\
         [planner]\nexploration = {}\nvariant = \"grid\"\n",
        std::f64::consts::SQRT_2
    );
    (name, text + &settings)
}

/// The settings of the paper's illustrative tasks.
fn without_map(runs: u32) -> String {
    format!(
        "[experiment]\nbeta = {BETAS}\nruns = {runs}\nsimulations = 500\n\
         [planner]\nexploration = 1\nvariant = \"illustrative\"\n"
    )
}

/// The table and the picture.
pub fn findings(rows: &[Row]) -> Findings {
    let blocks = Block::all(rows);
    let verdicts: Vec<Verdict> = blocks.iter().filter_map(verdict).collect();
    let count = |verdict| verdicts.iter().filter(|&&other| other == verdict).count();
    Findings {
        introduction: format!(
            "ERM with its 95% interval; lower is better. The default is better than the paper's planner in {} of {} cells \
             (the intervals do not meet), equal in {} and worse in {}.",
            count(Verdict::Better),
            verdicts.len(),
            count(Verdict::Equal),
            count(Verdict::Worse)
        ),
        table: table(&blocks),
        picture: picture(&blocks),
    }
}

fn verdict(block: &Block) -> Option<Verdict> {
    block.verdict(Variant::Default, Variant::Paper)
}

fn table(blocks: &[Block]) -> Table {
    let header = ["world", "beta", "paper", "default", "optimum", "paper ms/run", "default ms/run", "default is"];
    let mut table = Table::new(&header, &[0, 7]);
    for block in blocks {
        let first = block.first();
        let mut cells = vec![first.task.clone(), beta(first.beta)];
        let of_both = |say: fn(&Row) -> String| {
            Variant::PLANNERS.map(|variant| block.find(variant).map_or_else(|| known(None), say))
        };
        cells.extend(of_both(with_interval));
        cells.push(known(first.optimum));
        cells.extend(of_both(|row| format!("{:.2}", row.cpu_ms_per_run)));
        cells.push(verdict(block).map_or("", Verdict::name).to_owned());
        table.row(cells);
    }
    table
}

fn picture(blocks: &[Block]) -> String {
    let row = |(block, group): (&Block, usize)| {
        let dot = |variant| block.find(variant).map(|row| dot(row, 0.0));
        let dots = Variant::PLANNERS.map(dot).to_vec();
        DotRow { label: block.label(), group, dots, reference: block.first().optimum }
    };
    DotPlot {
        labels: Labels::new("Worlds nobody tuned on", "ERM with its 95% interval; lower is better", ""),
        series: Variant::PLANNERS.map(|variant| variant.name().to_owned()).to_vec(),
        rows: blocks.iter().zip(groups(blocks)).map(row).collect(),
        reference_label: "exact optimum".to_owned(),
        ..DotPlot::default()
    }
    .svg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_world_is_a_problem_of_its_own() {
        let jobs = jobs().unwrap();
        assert_eq!(jobs.len(), 12 * 3 * 2);
        let sources: std::collections::BTreeSet<&str> = jobs.iter().map(|job| job.task.source.as_str()).collect();
        assert_eq!(sources.len(), 12);
    }
}
