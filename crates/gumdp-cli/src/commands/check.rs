//! `gumdp check`: everything that is wrong with a file, in one pass.

use std::fmt::{self, Write as _};
use std::io::{self, Write};
use std::path::Path;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use gumdp_files::{Finding, Severity};
use serde::Serialize;

use super::{Run, print_json};

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
    fn run(&self, _quiet: bool) -> Result<()> {
        check(&self.file, self.json)
    }
}

/// The file has mistakes, and they are printed already.
#[derive(Debug)]
pub struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the file has mistakes")
    }
}

impl std::error::Error for Refused {}

#[derive(Serialize)]
struct Row<'a> {
    severity: String,
    file: &'a str,
    line: Option<usize>,
    column: Option<usize>,
    message: &'a str,
    hint: Option<&'a str>,
}

/// Prints what was found; mistakes end in exit code 2.
fn check(path: &Path, json: bool) -> Result<()> {
    let findings = gumdp_files::check(path);
    if json {
        let rows: Vec<Row> = findings
            .iter()
            .map(|Finding { severity, place }| Row {
                severity: severity.to_string(),
                file: &place.file,
                line: place.line,
                column: place.column,
                message: &place.message,
                hint: place.hint.as_deref(),
            })
            .collect();
        print_json(&rows)?;
    } else {
        let mut text = String::new();
        for finding in &findings {
            let _ = writeln!(text, "{finding}");
            if let Some(hint) = &finding.place.hint {
                let _ = writeln!(text, "  hint: {hint}");
            }
        }
        if findings.is_empty() {
            text = format!("{}: no mistakes found\n", path.display());
        }
        io::stdout().lock().write_all(text.as_bytes())?;
    }
    let refused = findings.iter().any(|finding| finding.severity == Severity::Error);
    if refused { Err(Refused.into()) } else { Ok(()) }
}
