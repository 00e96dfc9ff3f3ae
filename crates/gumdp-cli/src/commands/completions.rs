//! `gumdp completions`: a completion script for a shell.

use std::io::{self, Write};

use anyhow::Result;
use clap::{Args, CommandFactory};

use super::{Cli, Run};

/// Print a completion script for a shell.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  gumdp completions bash > ~/.local/share/bash-completion/completions/gumdp")]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

impl Run for CompletionsArgs {
    fn run(&self) -> Result<()> {
        // Not straight to stdout: the generator panics if the pipe is closed.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "gumdp", &mut script);
        Ok(io::stdout().lock().write_all(&script)?)
    }
}
