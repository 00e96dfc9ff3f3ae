//! What can be wrong with a problem file.

pub(super) use gumdp::words::alternatives;

/// Why a problem file was refused: where, what, and what to do about it.
///
/// ```
/// use gumdp_files::Task;
/// let error = Task::parse("my.toml", "kind = \"exlicit\"").unwrap_err();
/// assert_eq!(error.to_string(), "my.toml:1:8: kind is \"exlicit\"; it must be \"explicit\", \"grid\" or \"import\"");
/// assert_eq!(error.hint.as_deref(), Some("did you mean \"explicit\"?"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, thiserror::Error)]
#[error("{}: {message}", self.place())]
#[non_exhaustive]
pub struct FileError {
    /// The file, as it was named to the reader.
    pub file: String,
    /// The line, from 1; `None` if the file could not be read at all.
    pub line: Option<usize>,
    /// The column in characters, from 1.
    pub column: Option<usize>,
    /// The field, the value found and what is allowed.
    pub message: String,
    /// A way out, where there is a likely one.
    pub hint: Option<String>,
}

impl FileError {
    /// An error of the file as a whole.
    pub(crate) fn unreadable(file: &str, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: None, column: None, message: message.into(), hint: None }
    }

    /// An error at a byte offset of the file's text.
    pub(crate) fn at(file: &str, text: &str, offset: usize, message: impl Into<String>) -> Self {
        let (line, column) = position(text, offset);
        Self { line: Some(line), column: Some(column), ..Self::unreadable(file, message) }
    }

    /// The file, with line and column where they are known.
    pub(super) fn place(&self) -> String {
        match (self.line, self.column) {
            (Some(line), Some(column)) => format!("{}:{line}:{column}", self.file),
            _ => self.file.clone(),
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Line and column, from 1, of a byte offset.
pub(crate) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// A hint for a number that stands in quotes.
pub(crate) fn without_quotes(text: &str) -> Option<String> {
    let number = text.trim();
    let is_number = number.parse::<f64>().is_ok_and(f64::is_finite);
    (is_number && number.len() < 40).then(|| format!("write it without quotes: {number}"))
}

/// The nearest of some names, or all of them if there are few.
pub(crate) fn nearest_or_all<'a>(what: &str, wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    const FEW: usize = 8;
    let names: Vec<&str> = names.into_iter().collect();
    did_you_mean(wrong, names.iter().copied()).or_else(|| {
        let quoted = || names.iter().map(|name| format!("\"{}\"", super::shortened(name))).collect::<Vec<_>>();
        (1..=FEW).contains(&names.len()).then(|| format!("the {what}s are {}", quoted().join(", ")))
    })
}

/// "did you mean …?" for the [nearest] candidate.
pub(crate) fn did_you_mean<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(wrong, candidates).map(|candidate| format!("did you mean \"{candidate}\"?"))
}

/// The candidate that was probably meant by a mistyped name: at most a third of its letters, and one more, are wrong or swapped, or
/// it is the beginning of the candidate.
///
/// ```
/// assert_eq!(gumdp_files::nearest("roms", ["mdp", "rooms"]), Some("rooms"));
/// assert_eq!(gumdp_files::nearest("x", ["y"]), None);
/// ```
pub fn nearest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 64; // Nobody mistypes longer names; comparing them is slow.
    if wrong.is_empty() || wrong.len() > LONGEST {
        return None;
    }
    let tolerated = wrong.chars().count() / 3 + 1;
    let is_beginning = |candidate: &str| wrong.len() > 2 && candidate.starts_with(wrong);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST)
        .map(|candidate| (strsim::damerau_levenshtein(wrong, candidate), candidate))
        .filter(|&(edits, candidate)| {
            (edits <= tolerated && edits < candidate.chars().count()) || is_beginning(candidate)
        })
        .min_by_key(|&(edits, _)| edits)
        .map(|(_, candidate)| candidate)
}

/// "1 state", "2 states".
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters() {
        assert_eq!(position("ab\näöx", 7), (2, 3));
        assert_eq!(position("", 5), (1, 1));
    }

    #[test]
    fn suggestions_are_close() {
        assert_eq!(did_you_mean("horizn", ["discount", "horizon"]), Some("did you mean \"horizon\"?".to_owned()));
        assert_eq!(nearest("prob", ["state", "probability"]), Some("probability"));
        assert_eq!(nearest_or_all("action", "fly", ["wait"]), Some("the actions are \"wait\"".to_owned()));
        assert_eq!(without_quotes(" 0.3"), Some("write it without quotes: 0.3".to_owned()));
    }
}
