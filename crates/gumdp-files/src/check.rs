//! Checking a file: all mistakes at once, and warnings.
//!
//! Every part of a file that makes sense without the others is read on its own (`mistakes`), so that one mistake does not
//! hide the next. A file without mistakes is a task, which is then looked at as a whole.

use std::path::Path;

use serde::Serialize;

use super::document::{Table, look_at};
use super::error::{FileError, counted};
use super::files::read_problem_text;
use super::import::{Format, some_of};
use super::mistakes::Mistakes;
use super::{Scene, Task, read};
use gumdp::{Effects, Mdp, Pair};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The file cannot be used.
    Error,
    /// The file can be used, but may not say what was meant.
    Warning,
}

/// Something that [`check`] found in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Where it is, what it is, and a way out.
    #[serde(flatten)]
    pub place: FileError,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let severity = if self.severity == Severity::Error { "error" } else { "warning" };
        write!(f, "{}: {severity}: {}", self.place.place(), self.place.message)
    }
}

/// Checks a file on disk, with the files that belong to it; see [`check_text`].
#[must_use]
pub fn check(path: &Path) -> Vec<Finding> {
    check_allowing(path, false)
}

/// The same for a file that may name files outside of its own folder.
#[must_use]
pub fn check_allowing(path: &Path, allow_files: bool) -> Vec<Finding> {
    match read_problem_text(path) {
        Ok(text) => findings(&path.display().to_string(), &text, path.parent(), Mistakes::allowing(allow_files)),
        Err(place) => vec![Finding { severity: Severity::Error, place }],
    }
}

/// Checks the text of a file as [`Task::parse`] would read it.
///
/// ```
/// let found = gumdp_files::check_text("my.toml", r#"
/// kind = "explicit"
/// states = ["on", "off"]
/// actions = ["wait"]
/// start = "onn"
/// discount = 1.5
/// horizon = 10
/// transitions = [{ from = "*", action = "wait", to = "off" }]
/// [objective]
/// kind = "linear"
/// cost = { of = 1 }
/// "#);
/// let messages: Vec<String> = found.iter().map(ToString::to_string).collect();
/// assert_eq!(messages, [
///     "my.toml:5:9: error: unknown state \"onn\"",
///     "my.toml:6:12: error: the discount is 1.5; it must lie in (0, 1]",
///     "my.toml:11:10: error: unknown state or group \"of\"",
/// ]);
/// ```
#[must_use]
pub fn check_text(file: &str, text: &str) -> Vec<Finding> {
    findings(file, text, None, Mistakes::default())
}

fn findings(file: &str, text: &str, folder: Option<&Path>, mistakes: Mistakes) -> Vec<Finding> {
    let task = read(file, text, folder, &mistakes);
    let mut warned = mistakes.warnings();
    let (mut errors, others) = mistakes.into_inner();
    errors.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
    errors.dedup();
    if others > 0 {
        let message = format!("and {} in lines that are not shown", counted(others, "more mistake"));
        errors.push(FileError::unreadable(file, message));
    }
    if let Some(task) = task {
        let notes = task.notes.iter().filter(|note| !warned.iter().any(|warning| warning.message == **note));
        let notes: Vec<FileError> = notes.map(|note| FileError::at(file, text, 0, note)).collect();
        warned.extend(notes);
        warned.extend(warnings(&task, file, text));
    }
    warned.sort_by_key(|warning| (warning.line, warning.column));
    let found = |severity: Severity| move |place: FileError| Finding { severity, place };
    errors.into_iter().map(found(Severity::Error)).chain(warned.into_iter().map(found(Severity::Warning))).collect()
}

/// What is allowed but may not be meant.
fn warnings(task: &Task, file: &str, text: &str) -> Vec<FileError> {
    let of_root = |root: Table| Some(warnings_of(task, file, text, Some(root)));
    let located = if Format::of(file, text).is_none() { look_at(file, text, of_root) } else { None };
    located.unwrap_or_else(|| warnings_of(task, file, text, None))
}

fn warnings_of(task: &Task, file: &str, text: &str, root: Option<Table>) -> Vec<FileError> {
    // At one of these fields, or at the beginning.
    let at = |fields: &[&str], message: &str| {
        let value = root.and_then(|root| root.any(fields));
        FileError::at(file, text, value.map_or(0, |value| value.span().start), message)
    };
    let mdp = task.problem.mdp();
    let reached = reached(mdp);
    let mut warnings = Vec::new();
    let lost: Vec<usize> = (0..reached.len()).filter(|&state| !reached[state]).collect();
    if !lost.is_empty() {
        let names = some_of(lost.iter().map(|&state| mdp.state_name((state as u32).into()).to_owned()));
        let (count, all) = (lost.len(), mdp.state_count());
        let message = format!("{count} of {all} states cannot be reached from the start: {names}");
        warnings.push(at(&["states", "map"], &message));
    }
    let unused: Vec<u32> = unused_actions(mdp);
    if !unused.is_empty() {
        let names = some_of(unused.iter().map(|&action| mdp.action_name(action.into()).to_owned()));
        warnings.push(at(&["actions"], &format!("no state allows these actions: {names}")));
    }
    if matches!(task.scene, Scene::Graph(_)) {
        let warning = |message: String| at(&["transitions", "transition"], &message);
        warnings.extend(same_effect(task).map(warning).map(|w| w.hint("the solvers treat such actions as one")));
    }
    if mdp.pair_count() > 1 && ignores_everything(task, &reached) {
        let message = "the objective is the same whatever happens: every policy is optimal";
        warnings.push(at(&["objective"], message));
    }
    if task.problem.horizon() == 1 {
        let message = "the horizon is 1: only the first action counts";
        warnings.push(at(&["horizon", "accuracy"], message));
    }
    warnings
}

/// For each state whether an episode can come there.
fn reached(mdp: &Mdp) -> Vec<bool> {
    let mut reached = vec![false; mdp.state_count()];
    let mut open: Vec<_> = mdp.initial().iter().map(|&(state, _)| state).collect();
    while let Some(state) = open.pop() {
        if !std::mem::replace(&mut reached[state.index()], true) {
            open.extend(mdp.pairs(state).flat_map(|pair| mdp.successors(Pair(pair)).map(|(next, _)| next)));
        }
    }
    reached
}

fn unused_actions(mdp: &Mdp) -> Vec<u32> {
    let mut used = vec![false; mdp.action_count()];
    for pair in (0..mdp.pair_count() as u32).map(Pair) {
        used[mdp.action(pair).index()] = true;
    }
    (0..mdp.action_count() as u32).filter(|&action| !used[action as usize]).collect()
}

/// Actions that lead to the same states and count alike, except where an episode comes to stay for ever.
fn same_effect(task: &Task) -> Option<String> {
    let mdp = task.problem.mdp();
    let mut example = None;
    let mut count = 0;
    let mut effects = Effects::new(&task.problem);
    for state in mdp.states() {
        let begins = mdp.initial().iter().any(|&(initial, _)| initial == state);
        let absorbs = !begins && mdp.pairs(state).all(|pair| mdp.successors(Pair(pair)).all(|(next, _)| next == state));
        let mut pairs = mdp.pairs(state).map(Pair).zip(effects.firsts(state, false)).filter(|_| !absorbs);
        let same = pairs.find(|(pair, first)| pair != *first).map(|(pair, &first)| (first, pair));
        count += usize::from(same.is_some());
        example = example.or(same);
    }
    let (one, other) = example?;
    let (one, other, state) = (mdp.action(one), mdp.action(other), mdp.state(one));
    let (one, other, state) = (mdp.action_name(one), mdp.action_name(other), mdp.state_name(state));
    let states = counted(count, "state");
    Some(format!("in {states} actions have the same effect, such as \"{one}\" and \"{other}\" in \"{state}\""))
}

/// Whether f is the same for all that can happen.
fn ignores_everything(task: &Task, reached: &[bool]) -> bool {
    let (mdp, objective) = (task.problem.mdp(), task.problem.objective());
    let pairs = || (0..mdp.pair_count() as u32).map(Pair).filter(|&pair| reached[mdp.state(pair).index()]);
    if let Some((costs, _)) = objective.as_linear() {
        let mut costs = pairs().map(|pair| costs[pair.index()]);
        let first = costs.next();
        return costs.all(|cost| Some(cost) == first);
    }
    let mut pairs = pairs();
    let first = pairs.next();
    first.is_some_and(|first| pairs.all(|pair| objective.effect(pair.index()).eq(objective.effect(first.index()))))
}
