//! Sequences of actions and probabilities in few words.

/// Repetitions of blocks up to this length are found.
const LONGEST_BLOCK: usize = 4;

/// "left ×3, (up, right) ×2, stay": what is repeated is said once.
pub fn put_together(actions: &[String]) -> String {
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

/// A probability in per cent, with as many digits as it needs.
pub fn percent(probability: f64) -> String {
    let share = 100.0 * probability;
    let digits = if share >= 99.95 || share == 0.0 {
        0
    } else if share >= 10.0 {
        1
    } else if share >= 0.01 {
        2
    } else {
        return format!("{share:.0e} %");
    };
    let text = format!("{share:.digits$}");
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn together(actions: &str) -> String {
        put_together(&actions.split(' ').filter(|action| !action.is_empty()).map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn repetitions_are_said_once() {
        assert_eq!(together(""), "");
        assert_eq!(together("a"), "a");
        assert_eq!(together("a a a b"), "a ×3, b");
        assert_eq!(together("l r l r l r l"), "(l, r) ×3, l");
        assert_eq!(together("r l r l l l"), "(r, l) ×2, l ×2");
        assert_eq!(together("a b c"), "a, b, c");
    }

    #[test]
    fn shares_are_short() {
        let shares = [1.0, 0.8, 0.05, 0.123_45, 0.0004, 0.000_01, 0.0, 0.999].map(percent);
        assert_eq!(shares, ["100 %", "80 %", "5 %", "12.3 %", "0.04 %", "1e-3 %", "0 %", "99.9 %"]);
    }
}
