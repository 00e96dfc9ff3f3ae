//! The tree as text, at most 100 columns wide.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::steps::{percent, put_together};
use super::tree::{Ending, Situation};
use crate::number::{known, short};

const WIDTH: usize = 100;
const COLUMN: usize = 10;
/// The column of the second best action.
const NEXT_BEST: usize = 18;

/// What a line says besides its columns.
pub fn label(situation: &Situation) -> String {
    let place = match &situation.states[..] {
        [only] => only.clone(),
        [a, b] => format!("{a} or {b}"),
        [a, b, rest @ ..] => format!("{a}, {b} or {} more", rest.len()),
        [] => String::new(),
    };
    let steps = put_together(&situation.steps);
    let more = if situation.then == Ending::Unshown { " …" } else { "" };
    if steps.is_empty() { place } else { format!("{place}: {steps}{more}") }
}

/// Prints the tree; `measure` is what the column of the risk is called.
pub fn print(tree: &Situation, measure: &str, out: &mut impl Write) -> io::Result<()> {
    let with_next_best = any_next_best(tree);
    let columns = ["reached", measure, "mean"].map(str::to_owned);
    line(out, "", columns, with_next_best.then(|| "next best".to_owned()))?;
    situation(tree, "", "", with_next_best, out)
}

fn any_next_best(tree: &Situation) -> bool {
    tree.next_best.is_some() || tree.outcomes.iter().any(any_next_best)
}

fn situation(of: &Situation, head: &str, below: &str, next_best: bool, out: &mut impl Write) -> io::Result<()> {
    let share = if head.is_empty() { String::new() } else { format!("{} ", percent(of.probability)) };
    let time = if head.is_empty() { String::new() } else { format!("t={} ", of.time) };
    let text = format!("{head}{share}{time}{}", label(of));
    let best = of.next_best.as_ref().map_or_else(
        || "–".to_owned(),
        |next| {
            let extra = short(next.extra_erm);
            let room = NEXT_BEST.saturating_sub(extra.chars().count() + 4);
            format!("{} +{extra}", cut(&next.action, room))
        },
    );
    line(out, &text, [percent(of.reach), short(of.erm), short(of.mean)], next_best.then_some(best))?;
    let count = of.outcomes.len() + usize::from(of.folded.is_some());
    for (number, outcome) in of.outcomes.iter().enumerate() {
        let (fork, bar) = if number + 1 == count { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        situation(outcome, &format!("{below}{fork}"), &format!("{below}{bar}"), next_best, out)?;
    }
    if let Some(folded) = &of.folded {
        let text = format!("{below}└─ … {} more outcomes, {}", folded.outcomes, percent(folded.probability));
        let reach = percent(of.reach * folded.probability);
        line(out, &text, [reach, known(folded.erm), known(folded.mean)], next_best.then(|| "–".to_owned()))?;
    }
    Ok(())
}

fn line(out: &mut impl Write, text: &str, columns: [String; 3], last: Option<String>) -> io::Result<()> {
    let room = WIDTH - 3 * COLUMN - if last.is_some() { NEXT_BEST } else { 0 };
    let text = cut(text, room);
    let mut line = format!("{text}{}", " ".repeat(room - text.chars().count()));
    for column in columns {
        let _ = write!(line, "{column:>COLUMN$}");
    }
    if let Some(last) = last {
        let _ = write!(line, "{last:>NEXT_BEST$}");
    }
    writeln!(out, "{}", line.trim_end())
}

/// At most so many characters, the last of them an ellipsis if anything was cut.
fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let kept: String = text.chars().take(room.saturating_sub(1)).collect();
    format!("{kept}…")
}
