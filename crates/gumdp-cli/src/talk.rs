//! Talk on stderr. Nobody need listen: a closed stderr is no failure.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use gumdp::words::visible;

/// Writes a line to stderr, unless the user wants quiet.
macro_rules! say {
    ($($text:tt)*) => {
        if !$crate::talk::is_quiet() {
            $crate::talk::complain(format_args!($($text)*));
        }
    };
}
pub(crate) use say;

static QUIET: AtomicBool = AtomicBool::new(false);

/// Whether to keep quiet from now on.
pub fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether the user wants quiet.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Writes a line to stderr in any case.
pub fn complain(text: impl Display) {
    drop(writeln!(std::io::stderr(), "{}", visible(&text.to_string())));
}

/// Stdout for people: names from files show what they are and do nothing.
pub fn stdout() -> impl Write {
    Visible(std::io::stdout().lock())
}

struct Visible<W>(W);

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.write_all(visible(&String::from_utf8_lossy(text)).as_bytes())?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// What the user should know about an answer.
pub fn notes(notes: &[String]) {
    for note in notes {
        say!("note: {note}");
    }
}
