//! `gumdp merge`: the parts of a sweep put together.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use gumdp_files::sweep::{self, Plan};

use super::{Run, sweep::refused};
use crate::number::counted;
use crate::progress::Progress;
use crate::talk::say;

/// Put the shards of a sweep together: samples.csv, trajectories.csv and manifest.json.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  gumdp merge results\n\nChecks versions, fingerprints and checksums, drops what was played twice, and refuses what does not belong together. The\nthree files do not depend on how the work was cut; times are in timings.json."
)]
pub struct MergeArgs {
    /// The folder that the shards share.
    pub dir: PathBuf,
}

impl Run for MergeArgs {
    fn run(&self) -> Result<()> {
        let plan = Plan::of_folder(&self.dir).map_err(refused)?;
        merge(&plan, &self.dir)
    }
}

/// Merges, and says where the results are.
pub fn merge(plan: &Plan, folder: &Path) -> Result<()> {
    let progress = Progress::spinner("merging");
    let merged = sweep::merge(plan, folder).map_err(refused)?;
    drop(progress);
    let repeated = if merged.repeated > 0 { format!(", {} played twice", merged.repeated) } else { String::new() };
    let (cells, runs) = (counted(merged.cells as u64, "cell"), counted(merged.runs, "run"));
    say!("{cells}, {runs}{repeated}: samples.csv, trajectories.csv and manifest.json are in {}", folder.display());
    Ok(())
}
