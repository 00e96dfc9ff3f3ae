//! Marked-up text and anchors.

use crate::svg::escape;

/// Escapes text, then turns `` `code` `` and `**strong**` into elements. There are no links: texts come from files of others.
pub(crate) fn inline(text: &str) -> String {
    let escaped = escape(text);
    let mut out = String::with_capacity(escaped.len());
    let mut rest = escaped.as_str();
    while let Some(at) = rest.find(['`', '*']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let element = code(rest).or_else(|| strong(rest));
        let (html, taken) = element.unwrap_or_else(|| (rest[..1].to_owned(), 1));
        out.push_str(&html);
        rest = &rest[taken..];
    }
    out + rest
}

/// The element at the start of the text and the length of its source.
fn code(text: &str) -> Option<(String, usize)> {
    let (inside, _) = text.strip_prefix('`')?.split_once('`')?;
    (!inside.is_empty()).then(|| (format!("<code>{inside}</code>"), inside.len() + 2))
}

fn strong(text: &str) -> Option<(String, usize)> {
    let (inside, _) = text.strip_prefix("**")?.split_once("**")?;
    (!inside.is_empty()).then(|| (format!("<strong>{inside}</strong>"), inside.len() + 4))
}

/// A name that is safe as an id and as a file name: letters, digits, hyphens, dots and underscores.
pub(super) fn anchor(name: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let name: String = name.chars().map(safe).collect();
    if name.is_empty() { "part".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subset_is_marked_up() {
        assert_eq!(inline("a `b` **c**"), "a <code>b</code> <strong>c</strong>");
    }

    #[test]
    fn everything_else_stays_text() {
        assert_eq!(inline("2 * 3 ** 4 ` [x](javascript:y)"), "2 * 3 ** 4 ` [x](javascript:y)");
        assert_eq!(inline("<script>"), "&lt;script&gt;");
        assert_eq!(inline("[x](https://a\")"), "[x](https://a&quot;)");
        assert_eq!(inline("β ≤ `é"), "β ≤ `é");
    }

    #[test]
    fn anchors_are_safe() {
        assert_eq!(anchor("a b\"<c>"), "a-b--c-");
        assert_eq!(anchor(""), "part");
    }
}
