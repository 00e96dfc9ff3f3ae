//! The library for a page in the browser: one question in JSON, one answer in JSON.
//!
//! [`Studio::ask`] answers; [`exports`] are its doors in WebAssembly. There is no arithmetic here: what the page shows is computed by
//! the library, with the limits of [`limits`], and has the bits of the command line but for other exponentials and logarithms, which
//! may differ in the last ones.
//!
//! | `op` | fields | answer |
//! |---|---|---|
//! | `gallery` | | problems to begin with |
//! | `open` | `file`, `text` | what `check` finds, and the problem if it can be used |
//! | `levels` | `measure`, `count`, `plan` | the attitudes to look at, in the order in which to ask for them; whether they are solved or planned, which `plan` wants anyway |
//! | `look` | `risk`, `rough` | one attitude: its risk and what comes of it; `too_large` if that is found out now, then ask again to have it planned, `rough` for a first answer |
//! | `bound` | `risk` | a risk that no behaviour can go below |
//! | `changes` | `quick` | where behaviour changes between the levels that were looked at, and the best bargain; `quick` locates no change |
//! | `episode` | `risk`, `number` | one episode of the one who plays |
//! | `situation` | `risk`, `number`, `actions` | where these actions lead in that episode, and the risk of each action there |
//! | `what_if` | `risk`, `number`, `actions`, `action` | the distribution that follows another action |
//! | `figure` | `figure`, `format` | what is shown as a file: SVG, PDF or PNG |
//!
//! Every answer that cannot be given is `{"error": …}`.

pub mod exports;
mod figure;
pub mod fingerprint;
mod gallery;
mod play;
mod studio;

use gumdp_files::shown;

pub use studio::{Studio, limits};
