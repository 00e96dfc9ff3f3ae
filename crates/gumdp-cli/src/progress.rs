//! A progress bar with rate and time left, on a terminal only.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shows how far the work is.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar of `total` runs; hidden if quiet or if stderr is not a terminal.
    pub fn new(total: u64, quiet: bool) -> Self {
        Self::bar(total, "runs", quiet)
    }

    /// A bar of `total` situations.
    pub fn situations(total: u64, quiet: bool) -> Self {
        Self::bar(total, "situations", quiet)
    }

    fn bar(total: u64, of: &str, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
        let style = format!("{{msg}}  {{wide_bar}}  {{pos}}/{{len}} {of}  {{per_sec}}  {{eta}} left");
        if let Ok(style) = ProgressStyle::with_template(&style) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    /// A spinner for work of unknown length.
    pub fn spinner(message: &str, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::new_spinner().with_message(message.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    /// Says what is being worked on.
    pub fn message(&self, text: String) {
        self.0.set_message(text);
    }

    /// There are so many more runs to do than was thought.
    pub fn lengthen_by(&self, runs: u64) {
        self.0.inc_length(runs);
    }

    /// So many more runs are done.
    pub fn advance(&self, runs: u64) {
        self.0.inc(runs);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
