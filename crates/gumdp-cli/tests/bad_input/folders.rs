//! Folders, full disks and results that must stay as they are.

use super::common::{COIN, Sandbox};
use super::refused_in;

#[test]
fn an_output_folder_that_cannot_be_written() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "");
    for command in ["run mdp --runs 1", "compare mdp --runs 1", "reproduce mdp --runs 1"] {
        refused_in(
            &sandbox,
            &format!("{command} --out file/out"),
            "error: cannot create the output folder file/out: Not a directory (os error 20)",
        );
    }
    refused_in(
        &sandbox,
        "show mdp --svg file/mdp.svg",
        "error: cannot write file/mdp.svg: Not a directory (os error 20)",
    );
    refused_in(
        &sandbox,
        "solve mdp --beta 1 --save file/mdp.json -q",
        "error: cannot write file/mdp.json: Not a directory (os error 20)",
    );
    assert_eq!(sandbox.files("."), ["file"]);
}

#[test]
fn folders_and_runs_that_are_not_there() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    for command in ["report", "replay --run 0"] {
        refused_in(&sandbox, &format!("{command} nowhere"), "error: there is no folder nowhere");
        refused_in(&sandbox, &format!("{command} empty"), "error: empty holds no results: there is no manifest.json");
    }
    sandbox.data("run rooms --policy uniform --beta 1 --runs 3 --out out -q");
    refused_in(&sandbox, "replay out --run 3", "error: there is no run 3; it must lie in [0, 2]");
    refused_in(
        &sandbox,
        "replay out --run 0 --beta 2",
        "error: out holds no such results\nhint: it holds --task rooms --beta 1 --preset uniform",
    );
}

/// Space runs out in the middle of a journal (here: a limit on the size of files): what was finished stays finished.
#[cfg(unix)]
#[test]
fn a_journal_that_cannot_grow_keeps_what_it_has() {
    let sandbox = Sandbox::new();
    let run = |runs: u32, out: &str| format!("run mdp --policy uniform --beta 1 --runs {runs} --out {out} -q");
    sandbox.data(&run(3, "out"));
    let before = sandbox.read("out/samples.csv");
    let journal = format!("out/runs/{}", sandbox.files("out/runs")[0]);
    let ended = sandbox.shell(&format!("trap '' XFSZ; ulimit -f 2; exec \"$0\" {}", run(200, "out")));
    assert_eq!(ended.code, Some(1));
    assert_eq!(ended.stderr, format!("error: cannot write {journal}: File too large (os error 27)\n"));
    assert_eq!(sandbox.read("out/samples.csv"), before);
    let kept = sandbox.read(&journal);
    sandbox.data(&run(200, "out"));
    let complete = kept.rfind('\n').unwrap();
    assert!(kept.lines().count() > 4 && sandbox.read(&journal).starts_with(&kept[..complete]));
    sandbox.data(&run(200, "whole"));
    assert_eq!(sandbox.read("out/samples.csv"), sandbox.read("whole/samples.csv"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_stdout_that_is_full_is_a_failure() {
    let ended = Sandbox::new().shell("exec \"$0\" list > /dev/full");
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), "error: No space left on device (os error 28)\n"));
}

/// So is a disk that is full where a file was asked for: the name of the file is no bad input.
#[cfg(target_os = "linux")]
#[test]
fn a_saved_policy_that_finds_no_room_is_a_failure() {
    let ended = Sandbox::new().gumdp("solve mdp --beta 1 --save /dev/full");
    let stderr = "error: cannot write /dev/full: No space left on device (os error 28)\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), stderr));
}

/// A refused file leaves the results of the last good one as they are.
#[test]
fn a_refused_file_leaves_earlier_results_alone() {
    let sandbox = Sandbox::new();
    sandbox.write("coin.toml", COIN);
    assert_eq!(sandbox.gumdp("run coin.toml --runs 2").code, Some(0));
    let contents = || -> Vec<(String, Vec<u8>)> {
        let names = sandbox.files("gumdp-out").into_iter();
        names.map(|name| (name.clone(), std::fs::read(sandbox.path("gumdp-out").join(name)).unwrap())).collect()
    };
    let before = contents();
    assert!(!before.is_empty());
    for (old, new, stderr) in [
        (
            "cost = { tails = 1 }",
            "cost = { tails = 1e308 }",
            "error: coin.toml:12:1: the values of the objective are not bounded by 8e307; scale its costs and weights down",
        ),
        (
            "kind = \"linear\"\ncost =",
            "kind = \"formula\"\nexpression = \"1/t\"\nfeatures.t =",
            "error: coin.toml:14:14: objective.expression is inf for the occupancy 1 of heads/toss; it must be finite everywhere\n\
             hint: keep divisors, roots and logarithms away from 0: ln(x + 0.01), max(0, x)",
        ),
    ] {
        assert!(COIN.contains(old));
        sandbox.write("coin.toml", &COIN.replacen(old, new, 1));
        refused_in(&sandbox, "run coin.toml", stderr);
    }
    sandbox.write("coin.toml", "");
    refused_in(
        &sandbox,
        "run coin.toml",
        "error: coin.toml:1:1: the field \"kind\" is missing\n\
         hint: it is \"explicit\", \"grid\" or \"import\"; `gumdp show rooms --toml` prints an example",
    );
    sandbox.write("coin.toml", "kind = \"import\"\nfile = \"coin.toml\"\n");
    refused_in(
        &sandbox,
        "run coin.toml",
        "error: coin.toml:2:8: the format of the model is not known from its file; give format = \"csv\", \"gymnasium\", \"drn\" or \"cassandra\"\n\
         hint: a problem file needs no import: use it itself",
    );
    assert!(contents() == before, "results were touched");
}

#[test]
fn folders_without_runs_are_named() {
    let sandbox = Sandbox::new();
    sandbox.data("evaluate rooms --policy pi1 --beta 0 --out evaluated -q");
    sandbox.data("explain rooms --beta 0 --depth 1 --out explained -q");
    for (folder, command) in [("evaluated", "evaluate"), ("explained", "explain")] {
        for arguments in [format!("report {folder}"), format!("replay {folder} --run 0")] {
            let ended = sandbox.gumdp(&arguments);
            let begins = format!("error: {folder} holds results of `gumdp {command}`, ");
            assert!(ended.code == Some(2) && ended.stderr.starts_with(&begins), "{arguments}: {}", ended.stderr);
        }
    }
}
