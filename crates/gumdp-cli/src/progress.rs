//! A progress bar with rate and time left, on a terminal only; runs that take long are told of in any case.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use gumdp::{Risk, Watch};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::number;
use crate::talk;
use crate::trial::Trial;

/// A run that takes longer than this is told of.
const LONG_RUN: Duration = Duration::from_secs(10);
/// Between two signs of life of a run.
const SIGN_OF_LIFE: Duration = Duration::from_millis(500);

/// Shows how far the work is.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    /// Whether a run that takes long was told of.
    told: AtomicBool,
    /// When the decisions of a run were shown last.
    shown: Mutex<Instant>,
}

impl Progress {
    /// A bar of `total` runs.
    pub fn new(total: u64) -> Self {
        Self::bar(total, "runs")
    }

    /// Hidden if the user wants quiet or if stderr is not a terminal.
    fn of(bar: ProgressBar) -> Self {
        if talk::is_quiet() || !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        } else {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Self { bar, told: AtomicBool::new(false), shown: Mutex::new(Instant::now()) }
    }

    /// A bar of `total` of these.
    pub fn bar(total: u64, of: &str) -> Self {
        let style = format!("{{msg}}{{prefix}}  {{wide_bar}}  {{pos}}/{{len}} {of}  {{per_sec}}  {{eta}} left");
        let style = ProgressStyle::with_template(&style).unwrap_or_else(|_| ProgressStyle::default_bar());
        Self::of(ProgressBar::new(total).with_style(style))
    }

    /// A spinner for work of unknown length.
    pub fn spinner(message: &str) -> Self {
        Self::of(ProgressBar::new_spinner().with_message(message.to_owned()))
    }

    /// A bar of `total` levels of risk.
    pub fn levels(total: u64) -> Self {
        let progress = Self::bar(total, "levels");
        progress.message("solving".to_owned());
        progress
    }

    /// Shown while pilot episodes fix the outer variable of a risk measure, before the first decision. `None` if it has none.
    pub fn pilots(risk: Risk) -> Option<Self> {
        let message = || format!("pilot episodes choose the outer variable of {risk}; this takes as long as some runs");
        risk.as_erm().is_none().then(|| Self::spinner(&message()))
    }

    /// Says which trial is being played.
    pub fn working_on(&self, trial: &Trial) {
        self.message(format!(
            "{} {} {}",
            gumdp::words::visible(&trial.task),
            number::risk_label(trial.risk),
            trial.preset
        ));
    }

    /// Says what is being worked on.
    pub fn message(&self, text: String) {
        self.bar.set_message(text);
    }

    /// One more level is known, and what of it: told on a terminal, and elsewhere if that takes long. When all levels are known,
    /// changes between them are located.
    pub fn solved(&self, what: &str) {
        self.bar.inc(1);
        if self.bar.length() == Some(self.bar.position()) {
            self.bar.set_message("locating changes");
        }
        if !self.bar.is_hidden() || self.bar.elapsed() >= LONG_RUN {
            self.bar.suspend(|| talk::say!("{what}"));
        }
    }

    /// So many decisions of one run are made since it began.
    fn within_run(&self, made: usize, all: usize, took: Duration) {
        self.bar.set_prefix(format!(", decision {made} of {all}"));
        if took >= LONG_RUN && !self.told.swap(true, Ordering::Relaxed) {
            let seconds = took.as_secs();
            let note = format!("a run has {all} decisions; {made} took {seconds} s (a smaller horizon takes less)");
            self.bar.suspend(|| talk::notes(&[note]));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Watch for Progress {
    fn decided(&self, made: usize, of: usize, took: Duration) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if took >= SIGN_OF_LIFE && shown.elapsed() >= SIGN_OF_LIFE {
            *shown = Instant::now();
            self.within_run(made, of, took);
        }
    }

    fn finished(&self, runs: u64) {
        self.bar.set_prefix("");
        self.bar.inc(runs);
    }

    fn goes_on(&self, _: f64, runs: u64, next: u64) {
        self.bar.inc_length(next - runs);
    }
}
