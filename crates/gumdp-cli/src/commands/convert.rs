//! `gumdp convert`: a task in another format.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use gumdp::oracle::Limits;
use gumdp_files::{Export, ExportFormat, Task, export, export_occupancy, tasks};

use super::{Run, load};
use crate::args::{AttitudeArgs, whole};
use crate::exact::unsolved;
use crate::failure::BadInput;
use crate::progress::Progress;
use crate::store::write_file;
use crate::talk;

/// Write a task in another format: transitions as CSV, Storm's DRN, or a problem file (TOML), by extension.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp convert riverswim.csv riverswim.drn\n  gumdp convert two_dice.drn dice.toml\n  gumdp convert frozen-lake.json lake.csv --rewards split\n  gumdp convert rooms rooms.drn --occupancy --risk cvar:0.9"
)]
pub struct ConvertArgs {
    /// Name of a built-in task, a problem file, or a model as CSV, JSON or DRN.
    #[arg(value_name = "IN")]
    pub task: String,
    /// The file to write: .csv (with .initial.csv and .parameters.csv beside it), .drn or .toml.
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    /// What becomes of rewards that depend on the next state (default: expected).
    #[arg(long, value_enum)]
    pub rewards: Option<RewardsName>,
    /// Write the occupancy MDP instead, with a cost whose lowest expectation tells the lowest risk: for any solver of MDPs (.drn).
    #[arg(long)]
    pub occupancy: bool,
    /// The attitude to risk of the occupancy MDP.
    #[command(flatten)]
    pub attitude: AttitudeArgs,
    /// Refuse to write an occupancy MDP with more states than this.
    #[arg(long, value_name = "N", default_value_t = 2_000_000, requires = "occupancy", allow_negative_numbers = true, value_parser = whole(1, 9_000_000))]
    pub max_states: u64,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
}

impl Run for ConvertArgs {
    /// Writes a task in the format that the extension of `out` stands for.
    fn run(&self) -> Result<()> {
        let format = ExportFormat::of(&self.out).ok_or_else(|| {
            BadInput::new(format!("{}: the format of the output is not known", self.out.display()))
                .hint("its name must end in .csv, .drn or .toml")
        })?;
        if !self.occupancy && (self.attitude.beta.is_some() || self.attitude.risk.is_some()) {
            return Err(BadInput::new("--beta and --risk go with --occupancy only").hint("add --occupancy").into());
        }
        let task = match self.rewards {
            Some(rewards) => load_with(&self.task, rewards)?,
            None => load(&self.task)?,
        };
        let exported = if self.occupancy {
            self.occupancy(&task, format)?
        } else {
            export(&task, format).map_err(BadInput::new)?
        };
        let paths: Vec<_> = exported.files.iter().map(|(extension, _)| self.out.with_extension(extension)).collect();
        if let Some(path) = paths.iter().find(|path| path.exists() && !self.force) {
            return Err(BadInput::new(format!("{} exists", path.display())).hint("--force replaces it").into());
        }
        for (path, (_, text)) in paths.iter().zip(&exported.files) {
            write_file(path, text.as_bytes()).map_err(BadInput::caused)?;
        }
        talk::notes(&exported.notes);
        Ok(())
    }
}

impl ConvertArgs {
    /// The occupancy MDP of a task.
    fn occupancy(&self, task: &Task, format: ExportFormat) -> Result<Export> {
        if format != ExportFormat::Drn {
            let message = format!("{}: an occupancy MDP is written as DRN only", self.out.display());
            return Err(BadInput::new(message).hint("its name must end in .drn").into());
        }
        let limits = Limits { max_states: self.max_states, ..Limits::default() };
        let _progress = Progress::spinner("unfolding");
        export_occupancy(task, self.attitude.risk(task)?, &limits).map_err(|error| unsolved(&task.name, &error))
    }
}

/// What becomes of rewards that depend on the next state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RewardsName {
    /// A state-action pair costs its expected reward.
    Expected,
    /// States are split by the reward that led to them: the distribution of the total is exact.
    Split,
}

/// An imported model with a choice that its own file cannot make.
fn load_with(name: &str, rewards: RewardsName) -> Result<Task> {
    let path = Path::new(name);
    let is_problem_file = path.extension().is_none_or(|extension| extension.eq_ignore_ascii_case("toml"));
    if tasks::source(name).is_some() || is_problem_file {
        return Err(BadInput::new(format!("--rewards is for models to be imported, and {name} is not one"))
            .hint("in a problem file of kind \"import\", write rewards = \"split\"")
            .into());
    }
    let rewards = rewards.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    let file = path.file_name().map_or_else(String::new, |file| file.to_string_lossy().into_owned());
    // A text of JSON is one of TOML.
    let wrapper = format!("kind = \"import\"\nfile = {}\nrewards = \"{rewards}\"\n", serde_json::to_string(&file)?);
    let task = Task::parse(&path.with_extension("toml").display().to_string(), &wrapper).map_err(BadInput::from)?;
    talk::notes(&task.notes);
    Ok(task)
}
