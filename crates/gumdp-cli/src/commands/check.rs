//! `gumdp check`: everything that is wrong with a file, in one pass.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use gumdp_files::Severity;

use super::{Run, print_json};
use crate::failure::Refused;

/// Check a problem file or a model to import: all mistakes at once, and warnings.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  gumdp check mine.toml\n  gumdp check riverswim.csv --json")]
pub struct CheckArgs {
    /// A problem file, or a model as CSV, JSON or DRN.
    pub file: PathBuf,
    /// A JSON array instead of lines.
    #[arg(long)]
    pub json: bool,
}

impl Run for CheckArgs {
    /// Prints what was found; mistakes end in exit code 2.
    fn run(&self) -> Result<()> {
        let findings = gumdp_files::check_allowing(&self.file, super::files_are_allowed());
        if self.json {
            print_json(&findings)?;
        } else {
            let mut text = String::new();
            for finding in &findings {
                let _ = writeln!(text, "{finding}");
                if let Some(hint) = &finding.place.hint {
                    let _ = writeln!(text, "  hint: {hint}");
                }
            }
            if findings.is_empty() {
                text = format!("{}: no mistakes found\n", self.file.display());
            }
            crate::talk::stdout().write_all(text.as_bytes())?;
        }
        let refused = findings.iter().any(|finding| finding.severity == Severity::Error);
        if refused { Err(Refused.into()) } else { Ok(()) }
    }
}
