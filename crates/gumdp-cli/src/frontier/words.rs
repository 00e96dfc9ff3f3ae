//! Changes of behaviour in words that a person can decide by. Nothing is said that was not computed.

use gumdp::frontier::{Bargain, Frontier, NO_VISIT, Visits};

use super::{Facts, Swept, TradeOff, Turn};
use crate::number::short;

/// Names that are listed before the rest is counted.
const NAMED: usize = 3;
/// β times the spread of the costs beyond which only the worst case counts, and below which only the mean does.
const EXTREME: f64 = 1e9;

/// From when on it is optimal to do what, and what that costs and saves.
pub fn sentence(measure: Swept, turn: &Turn, before: &Facts, after: &Facts, sampled: bool) -> String {
    let acts = [starts(before, after, sampled), goes(&turn.visits)];
    let acts: Vec<String> = acts.into_iter().flatten().collect();
    let acts = match (acts.is_empty(), sampled) {
        (true, true) => "the costs of the runs are others".to_owned(),
        (true, false) => "the same visits come in another order".to_owned(),
        _ => acts.join("; "),
    };
    format!("{} {acts}. {}.", from(measure, turn, before, after), bill([turn.mean, turn.cvar95, turn.worst], sampled))
}

/// The changes that matter most, and all of them together.
pub fn sentences(trade_off: &TradeOff, most: usize) -> Vec<String> {
    let [level, measure] = trade_off.measure.titles();
    let (Some(first), Some(last)) = (trade_off.levels.first(), trade_off.levels.last()) else { return Vec::new() };
    let ended = trade_off.ended.iter().map(|why| format!("This is not all that was asked for: {why}."));
    if trade_off.changes.is_empty() && trade_off.sampled.is_some() {
        return ended.chain([format!(
            "No two neighbouring levels differ by more than chance in mean, {measure} or worst 5 %; more --runs may show more."
        )]).collect();
    }
    if trade_off.levels.len() == 1 {
        return ended.collect();
    }
    if trade_off.changes.is_empty() {
        let nothing = format!("there is nothing to choose between low mean and low {measure}");
        let known = if trade_off.ended.is_some() { "known level.".to_owned() } else { format!("level: {nothing}.") };
        return ended.chain([format!("The same behaviour is optimal at every {known}")]).collect();
    }
    let told = trade_off.main_changes(most);
    let mut sentences: Vec<String> = told.iter().map(|turn| turn.sentence.clone()).collect();
    let untold = trade_off.changes.len() - told.len();
    if untold > 0 {
        let them =
            if untold == 1 { "One smaller change is".to_owned() } else { format!("{untold} smaller changes are") };
        sentences.push(format!("{them} left out here; frontier.json and --json have all."));
    }
    if !trade_off.complete {
        let left = trade_off.changes.iter().filter(|turn| turn.at.is_none()).count();
        sentences.push(format!(
            "There are more changes than were looked for between the levels; the largest were looked for first, {left} are not \
             located, and more may lie between them; give more --patience, or fewer --levels, closer together."
        ));
    }
    if trade_off.sampled.is_some() {
        sentences.push(
            "All this is sampled: a change is told where the 99 % interval of a paired difference between two levels excludes 0, \
             and lies somewhere between them."
                .to_owned(),
        );
    }
    let (from, to) = (crate::number::beta(first.level), crate::number::beta(last.level));
    let all = bill(
        [last.mean - first.mean, last.cvar95 - first.cvar95, last.worst - first.worst],
        trade_off.sampled.is_some(),
    );
    sentences.extend(ended);
    sentences.extend(trade_off.advice.clone());
    sentences.push(format!("Altogether, going from {level} = {from} to {level} = {to}: {}.", uncapitalised(&all)));
    sentences
}

/// What a little mean buys in the tail, or that nothing is to be had.
pub fn advice(measure: Swept, frontier: &Frontier, bargain: Option<Bargain>) -> String {
    let Some(Bargain { behaviour, paid, saved, .. }) = bargain else {
        let known = if frontier.ended.is_some() { "known level" } else { "level" };
        return format!("No {known} helps: none has a lower mean of the worst 5 % than the behaviour of lowest mean.");
    };
    let ([level, _], number) = (measure.titles(), behaviour + 1);
    let from = frontier.reigns_from(behaviour).map(|from| format!(" (from {level} = {} on)", significant(from)));
    let (from, paid, saved) = (from.unwrap_or_default(), short(paid), short(saved));
    format!(
        "Best bargain: behaviour {number}{from} costs {paid} more in the mean than the lowest, and saves {saved} in the worst 5 %."
    )
}

/// Where the change is.
fn from(measure: Swept, turn: &Turn, before: &Facts, after: &Facts) -> String {
    let [level, _] = measure.titles();
    let spread = before.worst.max(after.worst) - before.best.min(after.best);
    let Some(at) = turn.at else {
        let (low, high) = (crate::number::beta(turn.after_level), crate::number::beta(turn.to_level));
        return format!("From a {level} between {low} and {high} on");
    };
    let size = at.abs() * spread;
    if !measure.is_erm() {
        format!("From {level} ≈ {} on", significant(at))
    } else if size < 1.0 / EXTREME {
        format!("As soon as {level} is above 0,")
    } else if size > EXTREME {
        format!("In the limit {level} = {},", if at > 0.0 { "inf" } else { "-inf" })
    } else {
        format!("From {level} ≈ {} on", significant(at))
    }
}

/// What is done first, if that changes.
fn starts(before: &Facts, after: &Facts, sampled: bool) -> Option<String> {
    let changed: Vec<_> = before.first.iter().zip(&after.first).filter(|(old, new)| old.action != new.action).collect();
    let (old, new) = changed.first()?;
    let place = if before.first.len() > 1 { format!(" in {}", old.state) } else { String::new() };
    let more = match changed.len() - 1 {
        0 => String::new(),
        1 => " (and another first action changes)".to_owned(),
        count => format!(" (and {count} other first actions change)"),
    };
    let who = if sampled { "runs mostly begin" } else { "it is optimal to begin" };
    Some(format!("{who}{place} with \"{}\" instead of \"{}\"{more}", new.action, old.action))
}

/// Where one goes, if that changes.
fn goes(visits: &[Visits]) -> Option<String> {
    let first = visits.first()?;
    let place = |visits: &Visits| match &visits.action {
        Some(action) => format!("\"{action}\" in {}", visits.state),
        None => visits.state.clone(),
    };
    let places = |all: &[&Visits]| list(&all.iter().take(NAMED).map(|visits| place(visits)).collect::<Vec<_>>());
    let avoided: Vec<&Visits> = visits.iter().filter(|visits| visits.after < NO_VISIT).collect();
    let entered: Vec<&Visits> = visits.iter().filter(|visits| visits.before < NO_VISIT).collect();
    let mut said = Vec::new();
    if !avoided.is_empty() {
        said.push(format!("{} avoided", is(&places(&avoided), avoided.len().min(NAMED))));
    }
    if !entered.is_empty() {
        said.push(format!("{} visited now", is(&places(&entered), entered.len().min(NAMED))));
    }
    if said.is_empty() {
        let share = |visits: &Visits| format!("{} instead of {} times", times(visits.after), times(visits.before));
        let verb = if first.action.is_some() { "taken" } else { "visited" };
        said.push(format!("{} is {verb} {}", place(first), share(first)));
        let opposite = |visits: &&Visits| (visits.after > visits.before) != (first.after > first.before);
        if let Some(other) = visits.iter().find(opposite) {
            said.push(format!("{} {}", place(other), share(other)));
        }
    }
    Some(said.join(", "))
}

/// What a change costs and what it saves.
fn bill([mean, cvar95, worst]: [f64; 3], sampled: bool) -> String {
    // The worst of some runs is not the worst that can happen.
    let highest = if sampled { "worst run" } else { "worst case" };
    let in_worst = format!("in the {highest}");
    let items = [(mean, "in the mean"), (cvar95, "in the worst 5 %"), (worst, in_worst.as_str())];
    let part = |verb: &str, sign: f64| {
        let wanted = items.iter().filter(|(change, _)| sign * change > 1e-12);
        let texts: Vec<String> = wanted.map(|(change, place)| format!("{} {place}", short(change.abs()))).collect();
        (!texts.is_empty()).then(|| format!("{verb} {}", list(&texts)))
    };
    match (part("costs", 1.0), part("saves", -1.0)) {
        (Some(costs), Some(saves)) => format!("That {costs}, and {saves}"),
        (Some(only), None) | (None, Some(only)) => format!("That {only}"),
        (None, None) => format!("Mean, worst 5 % and {highest} stay the same"),
    }
}

fn uncapitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn is(names: &str, count: usize) -> String {
    format!("{names} {}", if count == 1 { "is" } else { "are" })
}

/// "a, b and c".
fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn times(visits: f64) -> String {
    if visits < 0.01 { format!("{visits:.1e}") } else { format!("{visits:.2}") }
}

/// Five significant digits, without trailing zeros.
pub fn significant(value: f64) -> String {
    let rounded: f64 = format!("{value:.4e}").parse().unwrap_or(value);
    crate::number::beta(rounded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_and_savings_in_words() {
        assert_eq!(
            bill([0.03, -0.31, -0.5], false),
            "That costs 0.0300 in the mean, and saves 0.3100 in the worst 5 % and 0.5000 in the worst case"
        );
        assert_eq!(bill([0.0, 0.0, -0.5], false), "That saves 0.5000 in the worst case");
        assert_eq!(bill([0.0, 0.0, -0.5], true), "That saves 0.5000 in the worst run");
        assert_eq!(bill([0.0; 3], false), "Mean, worst 5 % and worst case stay the same");
    }

    #[test]
    fn places_in_words() {
        let visits =
            |state: &str, before: f64, after: f64| Visits { state: state.to_owned(), action: None, before, after };
        assert_eq!(goes(&[]), None);
        let said = goes(&[visits("s2", 1.5, 0.0), visits("s1", 3.0, 4.5)]);
        assert_eq!(said.as_deref(), Some("s2 is avoided"));
        let said = goes(&[visits("s2", 1.5, 1.0), visits("s1", 3.0, 3.5)]);
        assert_eq!(said.as_deref(), Some("s2 is visited 1.00 instead of 1.50 times, s1 3.50 instead of 3.00 times"));
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([7.300_04, 1234.56, 0.012_345_678].map(significant), ["7.3", "1234.6", "0.012346"]);
    }
}
