//! `gumdp replay`: one saved episode, step by step.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use gumdp::{Pair, Risk};
use gumdp_files::{Scene, Task};

use super::{Run, show};
use crate::args::{beta, entropic, risk, whole};
use crate::draw;
use crate::failure::BadInput;
use crate::manifest;
use crate::number;
use crate::results::Finished;
use crate::store::{Store, put};
use crate::trial::Trial;

/// Show one saved episode step by step.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp replay gumdp-out/grid-mo --run 3\n  gumdp replay gumdp-out/reproduce --run 0 --task grid-msee --beta 1000\n  gumdp replay gumdp-out/rooms --run 0 --html episode.html"
)]
pub struct ReplayArgs {
    /// A folder written by `run`, `compare` or `reproduce`.
    pub dir: PathBuf,
    /// Number of the run, from 0.
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = whole(0, u64::MAX))]
    pub run: u64,
    /// The task, if the folder holds several (default: the first).
    #[arg(long)]
    pub task: Option<String>,
    /// β, if the folder holds several (default: the first).
    #[arg(long, value_name = "B", allow_hyphen_values = true, value_parser = beta)]
    pub beta: Option<f64>,
    /// The risk measure, if the folder holds several (default: the first).
    #[arg(long, value_name = "MEASURE", value_parser = risk, conflicts_with = "beta")]
    pub risk: Option<Risk>,
    /// Preset or policy, if the folder holds several (default: the first).
    #[arg(long)]
    pub preset: Option<String>,
    /// Write a page to this file instead, in which the episode can be played, paused and gone through step by step.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

impl Run for ReplayArgs {
    /// Prints a saved run of the trial that fits the given names, or the first.
    fn run(&self) -> Result<()> {
        let Self { dir, run, task, preset, .. } = self;
        let risk = self.beta.map(entropic).or(self.risk);
        let store = Store::open(dir)?;
        let (_, experiments) = manifest::load(&store)?;
        let trials = experiments.iter().flat_map(|experiment| experiment.finished.iter().map(move |f| (experiment, f)));
        let fits = |Finished { trial, .. }: &Finished| {
            task.as_ref().is_none_or(|task| trial.task == *task)
                && risk.is_none_or(|risk| trial.risk == risk)
                && preset.as_ref().is_none_or(|preset| trial.preset.to_string() == *preset)
        };
        let Some((experiment, finished)) = trials.clone().find(|(_, finished)| fits(finished)) else {
            let name = |Trial { task, risk, preset, .. }: &Trial| {
                let option = if risk.beta().is_some() { "beta" } else { "risk" };
                format!("--task {task} --{option} {} --preset {preset}", number::risk(*risk))
            };
            let known: Vec<String> = trials.map(|(_, finished)| name(&finished.trial)).collect();
            return Err(BadInput::new(format!("{} holds no such results", dir.display()))
                .hint(format!("it holds {}", known.join("; ")))
                .into());
        };
        let Trial { task, risk, preset, runs, .. } = &finished.trial;
        let saved = manifest::saved_run(&store, &experiment.task, &finished.trial, *run)?;
        let Some(record) = saved.filter(|_| run < runs) else {
            return Err(BadInput::new(format!("there is no run {run}; it must lie in [0, {}]", runs - 1)).into());
        };
        let mut text = Vec::new();
        writeln!(text, "{task}, {}, {preset}, run {run}: cost {}", number::risk_label(*risk), record.cost)?;
        print_steps(&experiment.task, &record.path, &mut text)?;
        let Some(file) = &self.html else { return Ok(crate::talk::stdout().write_all(&text)?) };
        let page = draw::draw_replay(&experiment.task, &finished.trial, &record, &String::from_utf8_lossy(&text));
        put(file, "the episode is", &page)
    }
}

fn print_steps(task: &Task, path: &[u32], out: &mut impl Write) -> Result<()> {
    let problem = &task.problem;
    let mdp = problem.mdp();
    let on_map = matches!(task.scene, Scene::Grid(_));
    let width = mdp.states().map(|state| mdp.state_name(state).chars().count()).max().unwrap_or(0);
    let (digits, width) = if on_map { (0, 0) } else { (problem.horizon().to_string().len(), width) };
    for (time, pair) in path.iter().map(|&pair| Pair::from(pair)).enumerate() {
        let state = mdp.state(pair);
        if on_map || time == 0 {
            writeln!(out)?;
        }
        let (place, action) = (mdp.state_name(state), mdp.action_name(mdp.action(pair)));
        writeln!(out, "t = {time:<digits$}  {place:<width$}  → {action}")?;
        if let Scene::Grid(grid) = &task.scene {
            write!(out, "{}", show::map(grid, grid.cell_of_state[state.index()]))?;
        }
    }
    Ok(())
}
