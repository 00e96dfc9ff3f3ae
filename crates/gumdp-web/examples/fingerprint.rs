//! Prints the fingerprint of the sources of the studio, for `scripts/studio`.

fn main() -> std::io::Result<()> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    println!("{}", gumdp_web::fingerprint::of_tree(&root)?);
    Ok(())
}
