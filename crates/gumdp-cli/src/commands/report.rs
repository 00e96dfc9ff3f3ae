//! `gumdp report`: figures and report again from saved results.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use gumdp_files::sweep::Plan;

use super::sweep::refused;
use super::{Run, reproduce};
use crate::args::FiguresArgs;
use crate::store::Store;
use crate::talk::say;
use crate::{draw, manifest, side_by_side};

/// Draw figures and report again from saved results.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  gumdp report gumdp-out/rooms")]
pub struct ReportArgs {
    /// A folder written by `run`, `compare`, `reproduce` or a merged `sweep`.
    pub dir: PathBuf,
    /// Formats of the figures.
    #[command(flatten)]
    pub figures: FiguresArgs,
}

impl Run for ReportArgs {
    fn run(&self) -> Result<()> {
        let store = Store::open(&self.dir)?.drawing(&self.figures);
        if draw::is_sweep(&self.dir) {
            let plan = Plan::of_folder(&self.dir).map_err(refused)?;
            draw::draw_sweep(&store, &plan)?;
            say!("figures, summary.csv and report.html are in {}", self.dir.display());
            return Ok(());
        }
        let (manifest, experiments) = manifest::load(&store)?;
        match experiments.as_slice() {
            [experiment] if manifest.command == "run" => draw::draw(&store, &manifest, experiment)?,
            [experiment] if manifest.command == "compare" => side_by_side::draw(&store, &manifest, experiment)?,
            experiments => reproduce::write_report(&store, &manifest, experiments)?,
        }
        say!("figures and report.html are in {}", self.dir.display());
        Ok(())
    }
}
