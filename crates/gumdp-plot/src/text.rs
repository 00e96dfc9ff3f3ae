//! Text measuring without a font: widths are estimated from character classes.
//!
//! Widths are those of Helvetica plus an eighth, since DejaVu Sans, a common fallback, is that much wider.
//!
//! The estimate errs on the wide side, because a gap is better than an overlap.

/// Estimated width of `text` in pixels at a font size in pixels.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(char_width).sum::<f64>() * size * 1.12
}

/// Width of the widest text, 0 if there is none.
pub(super) fn widest<T: AsRef<str>>(texts: impl IntoIterator<Item = T>, size: f64) -> f64 {
    texts.into_iter().map(|text| width(text.as_ref(), size)).fold(0.0, f64::max)
}

fn char_width(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.26,
        'f' | 'r' | 't' | 'I' | '(' | ')' | '[' | ']' | '/' | ' ' | '\u{a0}' | '-' | '·' => 0.34,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' | '→' => 0.88,
        '\u{2070}'..='\u{2079}' | '\u{207b}' | '¹' | '²' | '³' | '\u{2080}'..='\u{2089}' => 0.4,
        'A'..='Z' => 0.69,
        c if (c as u32) >= 0x2e80 => 1.0,
        _ => 0.57,
    }
}

/// Cuts `text` to at most `room` pixels, ending with an ellipsis if anything was cut.
pub(super) fn shorten(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let room = room - width("…", size);
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if width(&kept, size) > room {
            kept.pop();
            break;
        }
    }
    format!("{}…", kept.trim_end())
}

/// Breaks `text` at spaces into at most `max_lines` lines of at most `room` pixels; what does not fit is cut.
pub(super) fn wrap(text: &str, size: f64, room: f64, max_lines: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut words = text.split(' ').filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.peek() {
        let joined = if line.is_empty() { (*word).to_owned() } else { format!("{line} {word}") };
        if line.is_empty() || width(&joined, size) <= room {
            line = joined;
            words.next();
        } else if lines.len() + 1 < max_lines {
            lines.push(std::mem::take(&mut line));
        } else {
            // The last line takes all that is left, so that the cut is marked by an ellipsis.
            let rest: Vec<&str> = words.by_ref().collect();
            line = format!("{line} {}", rest.join(" "));
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines.iter().map(|line| shorten(line, size, room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_is_left_alone() {
        assert_eq!(shorten("β = 0.1", 11.0, 100.0), "β = 0.1");
        assert_eq!(wrap("one two", 11.0, 200.0, 2), ["one two"]);
        assert!(wrap("", 11.0, 10.0, 2).is_empty());
    }

    #[test]
    fn long_text_is_cut_with_an_ellipsis() {
        let lines = wrap("a rather long label that cannot fit", 11.0, 60.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].ends_with('…'));
        assert!(lines.iter().all(|line| width(line, 11.0) <= 60.0));
        assert_eq!(shorten("wide", 11.0, 0.0), "…");
    }
}
