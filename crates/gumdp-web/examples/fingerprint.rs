//! Prints the fingerprint of the sources of the studio below a folder. `scripts/studio` compiles it by itself, which takes a second.

#[path = "../src/fingerprint.rs"]
mod fingerprint;

fn main() -> std::io::Result<()> {
    let root = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    println!("{}", fingerprint::of_tree(std::path::Path::new(&root))?);
    Ok(())
}
