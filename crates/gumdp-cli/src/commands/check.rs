//! `gumdp check`: everything that is wrong with a file, in one pass.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use gumdp_files::{Finding, Severity};
use serde::Serialize;

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

#[derive(Serialize)]
struct FindingJson<'a> {
    severity: String,
    file: &'a str,
    line: Option<usize>,
    column: Option<usize>,
    message: &'a str,
    hint: Option<&'a str>,
}

impl Run for CheckArgs {
    /// Prints what was found; mistakes end in exit code 2.
    fn run(&self) -> Result<()> {
        let findings = gumdp_files::check(&self.file);
        if self.json {
            let found = findings.iter().map(|Finding { severity, place }| FindingJson {
                severity: severity.to_string(),
                file: &place.file,
                line: place.line,
                column: place.column,
                message: &place.message,
                hint: place.hint.as_deref(),
            });
            print_json(&found.collect::<Vec<_>>())?;
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
            io::stdout().lock().write_all(text.as_bytes())?;
        }
        let refused = findings.iter().any(|finding| finding.severity == Severity::Error);
        if refused { Err(Refused.into()) } else { Ok(()) }
    }
}
