//! What the built page was made of: a number over all its sources, so that a test can tell whether it is stale.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Everything that goes into the page, below the root of the repository.
const SOURCES: [&str; 8] = [
    "Cargo.lock",
    "crates/gumdp/src",
    "crates/gumdp-files/src",
    "crates/gumdp-plot/src",
    "crates/gumdp-plot/web",
    "crates/gumdp-web/src",
    "crates/gumdp-web/web",
    "examples",
];

/// The number of a tree, as it is written into the page.
///
/// # Errors
/// If a source cannot be read.
pub fn of_tree(root: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    for source in SOURCES {
        gather(&root.join(source), &mut files)?;
    }
    files.sort();
    let mut text = Vec::new();
    for file in files {
        let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        text.extend(name.bytes());
        // The same text whatever ends its lines.
        text.extend(fs::read(&file)?.into_iter().filter(|byte| *byte != b'\r'));
        text.push(0);
    }
    Ok(format!("{:016x}", fnv(&text)))
}

fn gather(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_file() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?.path();
        let kind = entry.extension().and_then(|end| end.to_str()).unwrap_or_default();
        if entry.is_dir() || ["rs", "js", "css", "html", "toml", "csv"].contains(&kind) {
            gather(&entry, files)?;
        }
    }
    Ok(())
}

/// FNV-1a.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
