//! The files that hold results.
//!
//! | file | content |
//! |---|---|
//! | `samples.csv` | task, beta (or the name of another risk measure), preset, run, seed, cost: one row per run |
//! | `trajectories.csv` | task, beta, preset, run, time, state, action: one row per step |
//! | `manifest.json` | version, machine, settings and summary of every trial, durations |
//! | `tasks/NAME.toml` | the problem files, so that the folder stands on its own |
//! | `runs/*.csv` | journals of finished runs, from which an interrupted command goes on |

use std::time::Duration;

use anyhow::{Context, Result};
use gumdp::{Pair, Risk};
use gumdp_files::Task;
use serde::{Deserialize, Serialize};

use crate::exact::Certain;
use crate::number;
use crate::results::{Finished, TaskResults};
use crate::store::Store;
use crate::trial::Trial;

/// What `manifest.json` says.
#[derive(Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the program.
    pub gumdp: String,
    /// The command that made the results.
    pub command: String,
    /// Where they were made.
    pub machine: Machine,
    /// Wall-clock time of the last command that worked on them.
    pub wall_seconds: f64,
    /// What was played.
    pub experiments: Vec<SavedTask>,
}

/// The machine that made results.
#[derive(Debug, Serialize, Deserialize)]
pub struct Machine {
    os: String,
    arch: String,
    cores: usize,
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}, {} cores", self.os, self.arch, self.cores)
    }
}

/// A task of a manifest.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedTask {
    /// Name of the task; its file is `tasks/NAME.toml`.
    pub task: String,
    /// Exact optima, where known.
    optima: Vec<SavedOptimum>,
    #[serde(rename = "cells")]
    trials: Vec<SavedTrial>,
}

/// Earlier versions wrote `[β or name, value]`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum SavedOptimum {
    Named {
        #[serde(with = "crate::number::attitude")]
        risk: Risk,
        #[serde(flatten)]
        optimum: Certain,
    },
    Pair(#[serde(with = "crate::number::attitude")] Risk, f64),
}

impl SavedOptimum {
    fn named(&self) -> (Risk, Certain) {
        match *self {
            Self::Named { risk, optimum } => (risk, optimum),
            Self::Pair(risk, value) => (risk, value.into()),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedTrial {
    #[serde(flatten)]
    trial: Trial,
    journal: String,
    cpu_seconds: f64,
    simulated_steps: u64,
}

/// Writes samples, trajectories, problem files and manifest.
pub fn save(store: &Store, command: &str, experiments: &[TaskResults], wall: Duration) -> Result<Manifest> {
    save_runs(store, experiments)?;
    for experiment in experiments {
        store.write(&format!("tasks/{}.toml", experiment.task.name), experiment.task.source.as_bytes())?;
    }
    let manifest = Manifest {
        gumdp: env!("CARGO_PKG_VERSION").to_owned(),
        command: command.to_owned(),
        machine: Machine {
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        },
        wall_seconds: wall.as_secs_f64(),
        experiments: experiments.iter().map(saved_task).collect(),
    };
    store.write_json("manifest.json", &manifest)?;
    Ok(manifest)
}

/// Reads back what `save` wrote.
pub fn load(store: &Store) -> Result<(Manifest, Vec<TaskResults>)> {
    let path = store.dir().join("manifest.json");
    let manifest: Manifest = serde_json::from_str(&store.read("manifest.json")?)
        .with_context(|| format!("{} is not a manifest", path.display()))?;
    let experiments = manifest
        .experiments
        .iter()
        .map(|saved| {
            let file = format!("tasks/{}.toml", saved.task);
            let mut task = Task::parse(&file, &store.read(&file)?)?;
            task.name.clone_from(&saved.task);
            let finished = saved
                .trials
                .iter()
                .map(|saved| {
                    let records = store.records(&saved.journal)?;
                    let runs = records.into_values().take_while(|record| record.run < saved.trial.runs);
                    Finished::new(saved.trial.clone(), runs.collect())
                })
                .collect::<Result<_>>()?;
            let optima = saved.optima.iter().map(SavedOptimum::named).collect();
            Ok(TaskResults { task, finished, optima })
        })
        .collect::<Result<_>>()?;
    Ok((manifest, experiments))
}

fn saved_task(experiment: &TaskResults) -> SavedTask {
    SavedTask {
        task: experiment.task.name.clone(),
        optima: experiment.optima.iter().map(|&(risk, optimum)| SavedOptimum::Named { risk, optimum }).collect(),
        trials: experiment
            .finished
            .iter()
            .map(|finished| SavedTrial {
                trial: finished.trial.clone(),
                journal: finished.trial.journal(&experiment.task),
                cpu_seconds: finished.cpu_seconds(),
                simulated_steps: finished.simulated_steps(),
            })
            .collect(),
    }
}

/// Writes samples and trajectories.
fn save_runs(store: &Store, experiments: &[TaskResults]) -> Result<()> {
    let [mut samples, mut trajectories] = [(); 2].map(|()| csv::Writer::from_writer(Vec::new()));
    samples.write_record(["task", "beta", "preset", "run", "seed", "cost"])?;
    trajectories.write_record(["task", "beta", "preset", "run", "time", "state", "action"])?;
    for TaskResults { task, finished, .. } in experiments {
        let mdp = task.problem.mdp();
        for Finished { trial, records, .. } in finished {
            let [beta, preset, seed] = [number::risk(trial.risk), trial.preset.to_string(), trial.seed.to_string()];
            for record in records {
                let (run, cost) = (record.run.to_string(), record.cost.to_string());
                samples.write_record([&trial.task, &beta, &preset, &run, &seed, &cost])?;
                for (time, pair) in record.path.iter().map(|&pair| Pair::from(pair)).enumerate() {
                    let (state, action) = (mdp.state_name(mdp.state(pair)), mdp.action_name(mdp.action(pair)));
                    let time = time.to_string();
                    trajectories.write_record([&trial.task, &beta, &preset, &run, &time, state, action])?;
                }
            }
        }
    }
    store.write("samples.csv", &samples.into_inner()?)?;
    store.write("trajectories.csv", &trajectories.into_inner()?)
}
