//! `gumdp list`: the built-in tasks.

use std::io;

use anyhow::Result;
use clap::Args;
use gumdp_files::tasks;
use serde::Serialize;

use super::{Run, print_json};
use gumdp_plot::Table;

/// List the built-in tasks.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  gumdp list\n  gumdp list --json")]
pub struct ListArgs {
    /// A JSON array instead of a table.
    #[arg(long)]
    pub json: bool,
}

impl Run for ListArgs {
    fn run(&self, _quiet: bool) -> Result<()> {
        list(self.json)
    }
}

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    title: String,
    states: usize,
    actions: usize,
    discount: f64,
    horizon: usize,
    betas: Vec<f64>,
    runs: u64,
    simulations: u64,
}

/// Prints the built-in tasks.
fn list(json: bool) -> Result<()> {
    let entries = tasks::NAMES.into_iter().filter_map(|name| {
        let task = tasks::get(name)?;
        Some(Entry {
            name,
            title: task.title,
            states: task.problem.mdp().state_count(),
            actions: task.problem.mdp().action_count(),
            discount: task.problem.discount(),
            horizon: task.problem.horizon(),
            betas: task.defaults.betas,
            runs: task.defaults.runs,
            simulations: task.defaults.simulations,
        })
    });
    if json {
        return print_json(&entries.collect::<Vec<Entry>>());
    }
    let mut table = Table::new(&["task", "states", "horizon", "discount", "beta", "title"], &[0, 4, 5]);
    for entry in entries {
        let betas: Vec<String> = entry.betas.iter().map(ToString::to_string).collect();
        table.row(vec![
            entry.name.to_owned(),
            entry.states.to_string(),
            entry.horizon.to_string(),
            entry.discount.to_string(),
            betas.join(", "),
            entry.title,
        ]);
    }
    table.print(&mut io::stdout().lock())?;
    Ok(())
}
