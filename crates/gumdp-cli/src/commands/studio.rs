//! `gumdp studio`: the page on which worlds are drawn and risk is slid. It is part of this program; `scripts/studio` builds it.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use clap::Args;
use gumdp_files::Task;
use serde::Serialize;

use super::{Run, load};
use crate::store::write_file;
use crate::talk::say;

/// Open a page in the browser: draw a world, slide the attitude to risk, watch what changes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp studio\n  gumdp studio grid-mo\n  gumdp studio mine.toml --out mine.html\n\nThe page needs no network and no server; it can be given to others."
)]
pub struct StudioArgs {
    /// Name of a built-in task, or a problem file.
    pub task: Option<String>,
    /// Write the page into this file instead of opening it.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// The page. It is not stale: `tests/studio.rs`.
const PAGE: &str = include_str!("../../assets/studio.html");
/// Where the problem goes.
const PLACE: &str = "<script type=\"application/json\" id=\"problem\">null</script>";
/// A program that opens pages has failed by then, if it fails.
const PATIENCE: Duration = Duration::from_secs(3);

/// The problem that the page opens.
#[derive(Serialize)]
struct Embedded<'a> {
    file: String,
    text: &'a str,
}

impl Run for StudioArgs {
    fn run(&self) -> Result<()> {
        let task = self.task.as_deref().map(load).transpose()?;
        let page = page(task.as_ref())?;
        if let Some(file) = &self.out {
            write_file(file, page.as_bytes())?;
            say!("the studio is in {}", file.display());
            return Ok(());
        }
        let file = own_folder()?.join("studio.html");
        write_file(&file, page.as_bytes())?;
        if opened(&file) {
            say!("opened {}", file.display());
        } else {
            say!("no browser could be opened; open this file in one: {}", file.display());
        }
        Ok(())
    }
}

/// The page with a problem in it.
fn page(task: Option<&Task>) -> Result<String> {
    let Some(task) = task else { return Ok(PAGE.to_owned()) };
    let problem = serde_json::to_string(&Embedded { file: format!("{}.toml", task.name), text: &task.source })?;
    // Nothing in a text may end the element that it is in.
    let problem = problem.replace('<', "\\u003c");
    Ok(PAGE.replacen(PLACE, &PLACE.replace("null", &problem), 1))
}

/// A new folder for temporary files that is nobody else's.
fn own_folder() -> Result<PathBuf> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let folder = std::env::temp_dir().join(format!("gumdp-studio-{}-{now}", std::process::id()));
    std::fs::create_dir(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

/// Whether the system opens a file with the program meant for it.
fn opened(file: &Path) -> bool {
    let started = if cfg!(target_os = "macos") {
        quietly(Command::new("open").arg(file))
    } else if cfg!(windows) {
        quietly(Command::new("cmd").args(["/C", "start", ""]).arg(file))
    } else {
        quietly(Command::new("xdg-open").arg(file))
    };
    let Ok(mut child) = started else { return false };
    let step = Duration::from_millis(50);
    for _ in 0..PATIENCE.as_millis() / step.as_millis() {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => sleep(step),
            Err(_) => return false,
        }
    }
    // It is the browser itself.
    true
}

fn quietly(command: &mut Command) -> io::Result<Child> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}
