//! What is refused, and where.

use super::cases::{check, refused, replaced};
use super::{CSV, DIE, GYMNASIUM, wrapper};

/// A file around a model.
fn around() -> String {
    wrapper("drn", "discount = 1\nhorizon = 4\n[objective]\nkind = \"linear\"\ncost = \"flips\"", DIE)
}

/// One mistake in a file each.
#[test]
fn one_mistake_each() {
    check(include_str!("../cases/imports.txt"), |name| match name {
        "chain.csv" => ("x.csv", CSV.to_owned()),
        "gymnasium.json" => ("x.json", GYMNASIUM.to_owned()),
        "maze.mdp" => ("x.mdp", include_str!("../corpus/maze.mdp").to_owned()),
        "die.drn" => ("x.drn", DIE.to_owned()),
        _ => ("my.toml", around()),
    });
}

#[test]
fn files_without_a_model() {
    let said = |file: &str, text: &str| refused(file, text).0;
    assert_eq!(
        said("x.csv", ""),
        "1:1: the file is empty; its first line must be idstatefrom,idaction,idstateto,probability,reward"
    );
    let header = CSV.lines().next().unwrap();
    assert_eq!(said("x.csv", header), "1:1: the file has no transitions; it needs at least one");
    let json = "1:1: the file has no transitions: neither \"P\" nor states such as \"0\"";
    assert_eq!(said("x.json", "{\"Q\": [1, {}]}"), json);
    let deep = format!("{{\"x\": {}", "[".repeat(100_000));
    assert_eq!(said("x.json", &deep), "1:100006: not valid JSON: EOF while parsing a list");
    assert_eq!(said("x.drn", "@type: MDP\n"), "2:1: the line \"@model\" is missing");
    assert_eq!(said("my.toml", "kind = \"import\""), "1:1: the field \"file\" is missing");
}

#[test]
fn names_in_the_file_around() {
    let format = refused("my.toml", &replaced(&around(), "format = \"drn\"", "format = \"dnr\"")).0;
    assert!(format.starts_with("2:10: format is \"dnr\"; it must be \"csv\", \"gymnasium\""), "{format}");
    let costless = "kind = \"explicit\"\nstates = [\"x\"]\nactions = [\"go\"]\nstart = \"x\"\ndiscount = 1\nhorizon = 1\n\
                    transitions = [{ from = \"x\", action = \"go\", to = \"x\" }]\n[objective]\nkind = \"linear\"\ncost = \"flips\"";
    assert_eq!(refused("my.toml", costless).0, "10:8: unknown feature \"flips\"");
}
