//! Behaviour as a small decision tree: what is done, what chance does then, how likely it is, and what it costs from there on.
//!
//! Steps that chance has no part in are put together, outcomes that are followed by the same behaviour at the same cost are
//! merged, and unlikely ones are folded, but never the worst. The most likely situations are followed first.

mod steps;
mod text;
mod tree;
mod values;

pub use steps::{percent, put_together};
pub use text::print;
pub use tree::{Ending, Situation, Wanted, grow};
pub use values::{Exact, Planned};
