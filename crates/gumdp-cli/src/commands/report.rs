//! `gumdp report`: figures and report again from saved results.

use std::path::Path;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::{Run, reproduce};
use crate::failure::BadInput;
use crate::store::Store;
use crate::{draw, manifest, side_by_side};

/// Draw figures and report again from saved results.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  gumdp report gumdp-out/rooms")]
pub struct ReportArgs {
    /// A folder written by `run`, `compare` or `reproduce`.
    pub dir: PathBuf,
}

impl Run for ReportArgs {
    fn run(&self, quiet: bool) -> Result<()> {
        report(&self.dir, quiet)
    }
}

/// Draws again from a results folder.
fn report(dir: &Path, quiet: bool) -> Result<()> {
    let store = Store::open(dir).map_err(|error| BadInput::new(format!("{error:#}")))?;
    let (manifest, experiments) = manifest::load(&store)?;
    match experiments.as_slice() {
        [experiment] if manifest.command == "run" => draw::draw(&store, &manifest, experiment)?,
        [experiment] if manifest.command == "compare" => side_by_side::draw(&store, &manifest, experiment)?,
        experiments => reproduce::write_report(&store, &manifest, experiments)?,
    }
    if !quiet {
        crate::talk::say!("figures and report.html are in {}", dir.display());
    }
    Ok(())
}
