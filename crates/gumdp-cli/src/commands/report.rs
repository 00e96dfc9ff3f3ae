//! `gumdp report`: figures and report again from saved results.

use std::path::Path;

use anyhow::Result;

use super::reproduce;
use crate::failure::BadInput;
use crate::store::Store;
use crate::{draw, results, side_by_side};

/// Draws again from a results folder.
pub fn report(dir: &Path, quiet: bool) -> Result<()> {
    let store = Store::open(dir).map_err(|error| BadInput::new(format!("{error:#}")))?;
    let (manifest, experiments) = results::load(&store)?;
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
