//! Mistakes and what is said of them, as text: NAME: `old` → `new`, below it the message with its place, then the hint if it counts.

use gumdp_files::Task;

/// What is said of a file, without its name, and the hint.
pub fn refused(file: &str, text: &str) -> (String, Option<String>) {
    let error = Task::parse(file, text).map(|task| task.name).expect_err("this must be refused");
    let said = error.to_string();
    (said.strip_prefix(file).and_then(|said| said.strip_prefix(':')).unwrap_or(&said).to_owned(), error.hint)
}

/// Replaces a part of a file, which must be there.
#[track_caller]
pub fn replaced(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "the file has no {old}");
    text.replacen(old, new, 1)
}

/// Checks all cases; `file` gives the name and the text of a file.
pub fn check(cases: &str, file: impl Fn(&str) -> (&'static str, String)) {
    let mut lines = cases.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).peekable();
    let mut count = 0;
    while let Some(case) = lines.next() {
        let parts =
            case.split_once(": `").and_then(|(name, rest)| Some((name, rest.strip_suffix('`')?.split_once("` → `")?)));
        let (name, (old, new)) = parts.unwrap_or_else(|| panic!("not a case: {case}"));
        let (file, text) = file(name);
        let [old, new] = [old, new].map(|part| part.replace("\\n", "\n"));
        let (said, hint) = refused(file, &replaced(&text, &old, &new));
        assert_eq!(said, lines.next().unwrap_or_default().trim_start(), "{case}");
        if let Some(expected) = lines.next_if(|line| line.starts_with("    hint: ")) {
            assert_eq!(hint.as_deref(), expected.strip_prefix("    hint: "), "{case}");
        }
        count += 1;
    }
    assert!(count > 30, "{count}");
}
