//! The tree as text, at most 100 columns wide.

use std::fmt;

use super::{Ending, Explanation, Node};
use crate::words::{known, percent, short};

const WIDTH: usize = 100;
const COLUMN: usize = 10;
/// The column of the second best action.
const NEXT_BEST: usize = 18;
/// Repetitions of blocks up to this length are found.
const LONGEST_BLOCK: usize = 4;

impl Node {
    /// The states in words: "a", "a or b", "a, b or 3 more".
    #[must_use]
    pub fn place(&self) -> String {
        match &self.states[..] {
            [a, b, rest @ ..] if !rest.is_empty() => format!("{a}, {b} or {} more", rest.len()),
            states => states.join(" or "),
        }
    }

    /// The actions in few words, what is repeated said once: "left ×3, (up, right) ×2, stay".
    #[must_use]
    pub fn actions(&self) -> String {
        put_together(&self.steps)
    }

    fn any_next_best(&self) -> bool {
        self.next_best.is_some() || self.outcomes.iter().any(Self::any_next_best)
    }

    /// Its line and those below; `head` is before the first, `below` before all others.
    fn print(&self, head: &str, below: &str, next_best: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chance =
            if head.is_empty() { String::new() } else { format!("{} t={} ", percent(self.probability), self.time) };
        let more = if self.then == Ending::Unshown { " …" } else { "" };
        let (place, actions) = (self.place(), self.actions());
        let text = if actions.is_empty() {
            format!("{head}{chance}{place}")
        } else {
            format!("{head}{chance}{place}: {actions}{more}")
        };
        let best = self.next_best.as_ref().map_or_else(
            || "–".to_owned(),
            |next| {
                let extra = short(next.extra);
                let room = NEXT_BEST.saturating_sub(extra.chars().count() + 4);
                format!("{} +{extra}", cut(&next.action, room))
            },
        );
        line(f, &text, [percent(self.reach), short(self.value), short(self.mean)], next_best.then_some(best))?;
        let count = self.outcomes.len() + usize::from(self.folded.is_some());
        for (number, outcome) in self.outcomes.iter().enumerate() {
            let (fork, bar) = if number + 1 == count { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            outcome.print(&format!("{below}{fork}"), &format!("{below}{bar}"), next_best, f)?;
        }
        let Some(folded) = &self.folded else { return Ok(()) };
        let text = format!("{below}└─ … {} more outcomes, {}", folded.outcomes, percent(folded.probability));
        let reach = percent(self.reach * folded.probability);
        line(f, &text, [reach, known(folded.value), known(folded.mean)], next_best.then(|| "–".to_owned()))
    }
}

/// The tree, one situation in a line.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let next_best = self.tree.any_next_best();
        let columns = ["reached", self.measure(), "mean"].map(str::to_owned);
        line(f, "", columns, next_best.then(|| "next best".to_owned()))?;
        self.tree.print("", "", next_best, f)
    }
}

fn line(f: &mut fmt::Formatter<'_>, text: &str, columns: [String; 3], last: Option<String>) -> fmt::Result {
    let room = WIDTH - 3 * COLUMN - if last.is_some() { NEXT_BEST } else { 0 };
    let [reach, value, mean] = columns;
    let line = format!("{:<room$}{reach:>COLUMN$}{value:>COLUMN$}{mean:>COLUMN$}", cut(text, room));
    let last = last.map_or_else(String::new, |last| format!("{last:>NEXT_BEST$}"));
    writeln!(f, "{}", format!("{line}{last}").trim_end())
}

/// At most so many characters, the last of them an ellipsis if anything was cut.
fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let kept: String = text.chars().take(room.saturating_sub(1)).collect();
    format!("{kept}…")
}

fn put_together(actions: &[String]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = actions;
    while !rest.is_empty() {
        let repeats = |length: usize| rest.chunks(length).take_while(|block| **block == rest[..length]).count();
        let lengths = (1..=LONGEST_BLOCK.min(rest.len())).map(|length| (length, repeats(length)));
        // The block that covers most with its repetitions; the shortest of several.
        let best = lengths.filter(|&(_, times)| times > 1).rev().max_by_key(|&(length, times)| length * times);
        let (length, times) = best.unwrap_or((1, 1));
        let block = rest[..length].join(", ");
        parts.push(match (length, times) {
            (_, 1) => block,
            (1, _) => format!("{block} ×{times}"),
            _ => format!("({block}) ×{times}"),
        });
        rest = &rest[length * times..];
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_said_once() {
        let together = |actions: &str| put_together(&actions.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(together(""), "");
        assert_eq!(together("a"), "a");
        assert_eq!(together("a a a b"), "a ×3, b");
        assert_eq!(together("l r l r l r l"), "(l, r) ×3, l");
        assert_eq!(together("r l r l l l"), "(r, l) ×2, l ×2");
        assert_eq!(together("a b c"), "a, b, c");
    }
}
