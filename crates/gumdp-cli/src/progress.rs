//! A progress bar with rate and time left, on a terminal only; runs that take long are told of in any case.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gumdp::{Tell, Watch};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::number;
use crate::talk;
use crate::trial::Trial;

/// A run that takes longer than this is told of.
const LONG_RUN: Duration = Duration::from_secs(10);
/// Work of unknown length that takes longer than this is told of.
const LONG_WORK: Duration = Duration::from_secs(2);
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
    /// Of work of unknown length.
    teller: Option<Teller>,
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
        Self { bar, told: AtomicBool::new(false), shown: Mutex::new(Instant::now()), teller: None }
    }

    /// A bar of `total` of these.
    pub fn bar(total: u64, of: &str) -> Self {
        let style = format!("{{msg}}{{prefix}}  {{wide_bar}}  {{pos}}/{{len}} {of}  {{per_sec}}  {{eta}} left");
        let style = ProgressStyle::with_template(&style).unwrap_or_else(|_| ProgressStyle::default_bar());
        Self::of(ProgressBar::new(total).with_style(style))
    }

    /// A spinner for work of unknown length; where there is no terminal, it is told once it takes long.
    pub fn spinner(message: &str) -> Self {
        let mut progress = Self::of(ProgressBar::new_spinner().with_message(message.to_owned()));
        progress.tell_long(message);
        progress
    }

    /// Tells what is done where no bar is seen, unless the user wants quiet.
    fn tell_long(&mut self, message: &str) {
        let tells = !talk::is_quiet() && self.bar.is_hidden();
        self.teller = tells.then(|| Teller::new(message));
    }

    /// A bar of `total` levels of risk; where there is no terminal, they are told once that takes long.
    pub fn levels(total: u64) -> Self {
        let mut progress = Self::bar(total, "levels");
        progress.message("solving".to_owned());
        progress.tell_long("solving");
        progress
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
        if let Some(teller) = &self.teller {
            text.clone_into(&mut teller.news().stage);
        }
        self.bar.set_message(text);
    }

    /// One more level is known, and what of it. When all levels are known, changes between them are located.
    pub fn solved(&self, what: String) {
        self.bar.inc(1);
        let is_last = self.bar.length() == Some(self.bar.position());
        if let Some(teller) = &self.teller {
            teller.news().known.push(what);
        } else if !self.bar.is_hidden() {
            self.bar.suspend(|| talk::say!("{what}"));
        }
        if is_last {
            self.message("locating changes".to_owned());
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

/// What is done before the first decision.
pub struct Preparing(Arc<Progress>);

impl Preparing {
    /// It begins.
    pub fn new() -> Self {
        Self(Arc::new(Progress::spinner("preparing")))
    }

    /// Listens to what is done.
    pub fn tell(&self) -> Tell {
        let progress = Arc::clone(&self.0);
        Arc::new(move |what| progress.message(format!("preparing: {what}")))
    }
}

/// Tells what is done where there is no terminal, each once, from the time on when it takes long.
#[derive(Debug)]
struct Teller {
    news: Arc<Mutex<News>>,
    /// Ends the thread that tells.
    over: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What can be told.
#[derive(Debug, Default)]
struct News {
    /// What is done now.
    stage: String,
    /// What is known and not told yet.
    known: Vec<String>,
}

impl Teller {
    fn new(stage: &str) -> Self {
        let news = Arc::new(Mutex::new(News { stage: stage.to_owned(), known: Vec::new() }));
        let (over, ended) = mpsc::channel();
        let latest = Arc::clone(&news);
        let thread = Some(std::thread::spawn(move || tell_news(&latest, &ended)));
        Self { news, over: Some(over), thread }
    }

    fn news(&self) -> MutexGuard<'_, News> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        drop(self.over.take());
        if let Some(thread) = self.thread.take() {
            // It only waits and writes.
            let _ = thread.join();
        }
    }
}

fn tell_news(news: &Mutex<News>, ended: &Receiver<()>) {
    let (mut told, mut wait) = (String::new(), LONG_WORK);
    while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        let News { stage, known } = {
            let mut news = news.lock().unwrap_or_else(PoisonError::into_inner);
            News { stage: news.stage.clone(), known: std::mem::take(&mut news.known) }
        };
        for known in known {
            talk::say!("{known} ...");
        }
        if stage != told {
            talk::say!("{stage} ...");
            told = stage;
        }
        wait = SIGN_OF_LIFE;
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
