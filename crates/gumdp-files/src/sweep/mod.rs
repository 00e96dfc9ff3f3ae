//! Sweeps: many problems, attitudes to risk, players, budgets and seeds, cut into shards that any number of processes play.
//!
//! A sweep is a file ([`Plan::read`]). It expands to [`Cell`]s with stable names. [`play`] plays one [`Shard`] of them into a folder
//! that all shards share: each process writes one journal of its own and never one of another's, so there are no locks, and
//! whatever dies loses the runs it was in and nothing else. [`status`] says how far they are, [`merge`] puts the journals together:
//! however the work was cut, the result is byte for byte that of one process.
//!
//! | file of the folder | content |
//! |---|---|
//! | `plan.json` | the cells, the same for every shard |
//! | `tasks/NAME.toml` | the problems, so that the folder stands on its own |
//! | `runs/*.csv` | one journal for each process that played |
//! | `samples.csv`, `trajectories.csv`, `manifest.json` | what [`merge`] writes |
//! | `timings.json` | what depends on the machine: CPU time by cell |

mod error;
mod journal;
mod merge;
mod plan;
mod play;
mod rehearsal;
mod sort;
mod spec;
mod status;
mod summary;

pub use error::SweepError;
pub use merge::{CellResult, Manifest, Merged, merge};
pub use plan::{Cell, Piece, Plan, ProblemEntry, Shard};
pub use play::{Played, Watcher, play};
pub use rehearsal::rehearse;
pub use status::{SILENCE, ShardStatus, Status, status};
pub use summary::summaries;
