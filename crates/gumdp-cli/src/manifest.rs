//! The files that hold results.
//!
//! | file | content |
//! |---|---|
//! | `samples.csv` | task, beta (or the name of another risk measure), preset, run, seed, cost: one row per run |
//! | `trajectories.csv` | task, beta, preset, run, time, state, action: one row per step |
//! | `manifest.json` | version, machine, settings and summary of every trial, durations |
//! | `tasks/NAME.toml` | the problem files, so that the folder stands on its own |
//! | `runs/*.csv` | journals of finished runs, from which an interrupted command goes on |

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io;
use std::time::Duration;

use anyhow::Result;
use gumdp::bound::{LowerBound, Method};
use gumdp::stats::Summary;
use gumdp::words::cell;
use gumdp::{Pair, Record, Records, Risk, UNCHECKED, checksum};
use gumdp_files::Task;
use serde::{Deserialize, Serialize};

use crate::exact::Certain;
use crate::failure::BadInput;
use crate::number;
use crate::played::Played;
use crate::results::{Finished, TaskResults};
use crate::store::{Store, json};
use crate::talk::say;
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
    /// Checksums of tables and problem files; earlier versions wrote none.
    #[serde(default)]
    files: BTreeMap<String, String>,
}

/// Before the checksum of all that comes before, which ends a manifest. Earlier versions wrote none.
const CHECK: &str = ",\n  \"check\": \"";

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
    /// Earlier versions did not write them.
    #[serde(default)]
    bounds: Vec<SavedBound>,
    #[serde(rename = "cells")]
    trials: Vec<SavedTrial>,
}

/// Earlier versions wrote `[β or name, value]`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum SavedOptimum {
    Named {
        risk: Risk,
        #[serde(flatten)]
        optimum: Certain,
    },
    Pair(Risk, f64),
}

impl SavedOptimum {
    fn named(&self) -> (Risk, Certain) {
        match *self {
            Self::Named { risk, optimum } => (risk, optimum),
            Self::Pair(risk, value) => (risk, value.into()),
        }
    }
}

/// A proven lower bound.
#[derive(Debug, Serialize, Deserialize)]
struct SavedBound {
    risk: Risk,
    bound: f64,
    method: String,
}

impl SavedBound {
    fn named(&self) -> Option<(Risk, LowerBound)> {
        let method = Method::ALL.into_iter().find(|method| method.to_string() == self.method)?;
        Some((self.risk, LowerBound { value: self.bound, method }))
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedTrial {
    #[serde(flatten)]
    trial: Trial,
    journal: String,
    cpu_seconds: f64,
    simulated_steps: u64,
    /// The summary of all possible runs, if it is known.
    #[serde(default)]
    exact: Option<Summary>,
}

/// Writes samples, trajectories, problem files and manifest, which comes last: what it names is there.
pub fn save(store: &Store, command: &str, experiments: &[TaskResults], wall: Duration) -> Result<Manifest> {
    if let Some(file) = read(store).ok().and_then(|earlier| damaged(store, &earlier)) {
        say!("{file} was not what was written there; it is written anew");
    }
    save_runs(store, experiments)?;
    let mut names = vec!["samples.csv".to_owned(), "trajectories.csv".to_owned()];
    for experiment in experiments {
        let name = task_file(&experiment.task.name);
        store.write(&name, experiment.task.source.as_bytes())?;
        names.push(name);
    }
    let checked = |name: String| store.checksum(&name).map(|sum| (name, sum));
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
        files: names.into_iter().filter_map(checked).collect(),
    };
    let mut text = String::from_utf8(json(&manifest)?)?;
    text.truncate(text.len() - "\n}\n".len());
    let sum = checksum(UNCHECKED, text.as_bytes());
    store.write("manifest.json", format!("{text}{CHECK}{sum:016x}\"\n}}\n").as_bytes())?;
    Ok(manifest)
}

fn task_file(task: &str) -> String {
    format!("tasks/{task}.toml")
}

/// What the same command would mend.
fn refusal(message: impl Display) -> BadInput {
    BadInput::new(message).hint("the command that made the folder, run again, plays what is missing and writes it anew")
}

fn read(store: &Store) -> Result<Manifest> {
    let shown = store.dir().join("manifest.json");
    let text = store.read_text("manifest.json")?;
    let whole = text.rsplit_once(CHECK).is_none_or(|(content, check)| {
        check.trim_end() == format!("{:016x}\"\n}}", checksum(UNCHECKED, content.as_bytes()))
    });
    let manifest = serde_json::from_str(&text).map_err(|error| format!("is not a manifest: {error}"));
    let manifest = manifest.and_then(|read: Manifest| if whole { Ok(read) } else { Err("is damaged".to_owned()) });
    // One without a checksum is whole only if it is of a version that wrote none.
    let is_old = |read: &Manifest| read.files.is_empty();
    let known = manifest
        .and_then(|read| if text.contains(CHECK) || is_old(&read) { Ok(read) } else { Err("is damaged".to_owned()) });
    Ok(known.map_err(|what| refusal(format!("{} {what}", shown.display())))?)
}

/// The first file that is not the one that the manifest is of.
fn damaged(store: &Store, manifest: &Manifest) -> Option<String> {
    let is_damaged = |(name, sum): &(&String, &String)| store.checksum(name).as_ref() != Some(*sum);
    let (name, _) = manifest.files.iter().find(is_damaged)?;
    Some(store.dir().join(name).display().to_string())
}

/// Reads back what `save` wrote.
pub fn load(store: &Store) -> Result<(Manifest, Vec<TaskResults>)> {
    let manifest = read(store)?;
    if let Some(file) = damaged(store, &manifest) {
        let what = "is not the file that manifest.json is of: it was changed or damaged, or a command that wrote it did not end";
        return Err(refusal(format!("{file} {what}")).into());
    }
    let experiments = manifest.experiments.iter().map(|saved| saved.load(store)).collect::<Result<_>>()?;
    Ok((manifest, experiments))
}

impl SavedTask {
    fn load(&self, store: &Store) -> Result<TaskResults> {
        let file = task_file(&self.task);
        let mut task = Task::parse(&file, &store.read_text(&file)?).map_err(BadInput::from)?;
        task.name.clone_from(&self.task);
        let finished = self.trials.iter().map(|saved| saved.load(store, &task)).collect::<Result<_>>()?;
        let optima = self.optima.iter().map(SavedOptimum::named).collect();
        let bounds = self.bounds.iter().filter_map(SavedBound::named).collect();
        Ok(TaskResults { task, finished, optima, bounds })
    }
}

impl SavedTrial {
    /// What is to be known of its runs, if all of them are there and can have happened.
    fn load(&self, store: &Store, task: &Task) -> Result<Finished> {
        let mut played = Played::new(task, self.trial.risk);
        let mut records = self.records(store, task)?;
        for run in 0..self.trial.runs {
            if let Some(record) = records.run(run)? {
                played.add(task, &record);
            }
        }
        Finished::new(self.trial.clone(), played, task, self.exact)
    }

    fn records(&self, store: &Store, task: &Task) -> Result<Records> {
        let Trial { runs, seed, .. } = self.trial;
        let shown = store.dir().join("runs").join(&self.journal);
        let missing =
            |found: u64| refusal(format!("{} holds {found} of the {runs} runs of the manifest", shown.display()));
        let found = store.records(&self.journal, runs, &task.problem, seed)?;
        Ok(found.and_then(|found| if runs == 0 { Err(0) } else { Ok(found) }).map_err(missing)?)
    }
}

/// One saved run of a trial, if it is there.
pub fn saved_run(store: &Store, task: &Task, trial: &Trial, run: u64) -> Result<Option<Record>> {
    Ok(store.written(&trial.journal(task))?.only(run)?)
}

fn saved_task(experiment: &TaskResults) -> SavedTask {
    SavedTask {
        task: experiment.task.name.clone(),
        optima: experiment.optima.iter().map(|&(risk, optimum)| SavedOptimum::Named { risk, optimum }).collect(),
        bounds: experiment
            .bounds
            .iter()
            .map(|&(risk, LowerBound { value, method })| SavedBound { risk, bound: value, method: method.to_string() })
            .collect(),
        trials: experiment
            .finished
            .iter()
            .map(|finished| SavedTrial {
                trial: finished.trial.clone(),
                journal: finished.trial.journal(&experiment.task),
                cpu_seconds: finished.played.cpu_seconds,
                simulated_steps: finished.played.simulated_steps,
                exact: finished.summary.exact.then_some(finished.summary),
            })
            .collect(),
    }
}

/// Writes samples and trajectories, row by row, as the runs are read from their journals.
fn save_runs(store: &Store, experiments: &[TaskResults]) -> Result<()> {
    let each = |take: &mut dyn FnMut(&Task, &Trial, &Record) -> csv::Result<()>| {
        for (task, Finished { trial, .. }) in
            experiments.iter().flat_map(|of| of.finished.iter().map(move |finished| (&of.task, finished)))
        {
            let mut records = store.written(&trial.journal(task))?;
            for run in 0..trial.runs {
                records.run(run)?.map_or(Ok(()), |record| take(task, trial, &record))?;
            }
        }
        Ok::<(), io::Error>(())
    };
    let named = |Trial { task, risk, preset, .. }: &Trial, record: &Record| {
        [cell(task).into_owned(), number::risk(*risk), preset.to_string(), record.run.to_string()]
    };
    store.write_table("samples.csv", |table| {
        table.write_record(["task", "beta", "preset", "run", "seed", "cost"])?;
        each(&mut |_, trial, record| {
            let [task, beta, preset, run] = named(trial, record);
            table.write_record([task, beta, preset, run, trial.seed.to_string(), record.cost.to_string()])
        })
    })?;
    store.write_table("trajectories.csv", |table| {
        table.write_record(["task", "beta", "preset", "run", "time", "state", "action"])?;
        each(&mut |task, trial, record| {
            let ([name, beta, preset, run], mdp) = (named(trial, record), task.problem.mdp());
            for (time, pair) in record.path.iter().map(|&pair| Pair::from(pair)).enumerate() {
                let [state, action] = [mdp.state_name(mdp.state(pair)), mdp.action_name(mdp.action(pair))].map(cell);
                table.write_record([&*name, &beta, &preset, &run, &time.to_string(), &state, &action])?;
            }
            Ok(())
        })
    })
}
