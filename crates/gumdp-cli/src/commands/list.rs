//! `gumdp list`: the built-in tasks.

use anyhow::Result;
use clap::Args;
use gumdp_files::tasks;
use serde::Serialize;

use super::{Run, print_json};
use gumdp_plot::{Field, Table};

/// List the built-in tasks.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  gumdp list\n  gumdp list --json")]
pub struct ListArgs {
    /// A JSON array instead of a table.
    #[arg(long)]
    pub json: bool,
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

impl Run for ListArgs {
    fn run(&self) -> Result<()> {
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
        if self.json {
            return print_json(&entries.collect::<Vec<Entry>>());
        }
        let fields = |entry: Entry| {
            let betas: Vec<String> = entry.betas.iter().map(ToString::to_string).collect();
            vec![
                Field::text("task", entry.name),
                Field::number("states", entry.states.to_string()),
                Field::number("horizon", entry.horizon.to_string()),
                Field::number("discount", entry.discount.to_string()),
                Field::text("beta", betas.join(", ")),
                Field::text("title", entry.title),
            ]
        };
        Ok(Table::of(entries, fields).print(&mut crate::talk::stdout())?)
    }
}
