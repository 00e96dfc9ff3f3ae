//! Real processes, killed and interrupted: started again they go on where they were and end with the same bits.
#![cfg(unix)]

mod common;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Ended, Sandbox};

/// Starts a command and waits until its journals hold so many runs more than before, or until it has ended.
fn start(sandbox: &Sandbox, arguments: &str, runs: usize) -> Child {
    let before = journalled(sandbox);
    let mut command = sandbox.command(arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    while journalled(sandbox) < before + runs && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

/// Complete lines of all journals, without their headers.
fn journalled(sandbox: &Sandbox) -> usize {
    let lines = |name: &String| sandbox.read(&format!("out/runs/{name}")).matches('\n').count().saturating_sub(1);
    sandbox.files("out/runs").iter().filter(|name| !name.starts_with('.')).map(lines).sum()
}

fn signal(child: &Child, signal: &str) {
    Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill");
}

/// Kills the command again and again, each time after so many more runs, then lets it end.
fn killed_ends_like_whole(arguments: &str, runs_between: &[usize]) {
    let whole = Sandbox::new();
    whole.data(&format!("{arguments} --out out -q"));
    let sandbox = Sandbox::new();
    let mut killed = 0;
    for &runs in runs_between {
        let mut child = start(&sandbox, &format!("{arguments} --out out -q"), runs);
        signal(&child, "-KILL");
        killed += usize::from(child.wait().expect("a child").code().is_none());
        let kept = journalled(&sandbox);
        assert!(!sandbox.path("out/samples.csv").exists() || kept == journalled(&whole));
    }
    assert!(killed >= 2, "the command was too quick to be killed");
    sandbox.data(&format!("{arguments} --out out -q"));
    for file in ["samples.csv", "trajectories.csv"] {
        let name = format!("out/{file}");
        assert!(sandbox.read(&name) == whole.read(&name), "{file} differs");
    }
    assert_eq!(journalled(&sandbox), journalled(&whole), "a run was played twice");
}

#[test]
fn run_survives_kills() {
    killed_ends_like_whole("run msee --preset paper --runs 40", &[0, 1, 7, 20, 3, 40]);
}

#[test]
fn reproduce_survives_kills() {
    killed_ends_like_whole("reproduce mdp grid-mo --runs 12", &[1, 20, 30, 6]);
}

#[test]
fn compare_survives_kills() {
    killed_ends_like_whole("compare msee --runs 15", &[1, 20, 30, 6]);
}

#[test]
fn kills_at_any_time_are_survived() {
    let whole = Sandbox::new();
    let arguments = "run mo-max --preset paper --runs 30 --threads 2 --out out -q";
    whole.data(arguments);
    let sandbox = Sandbox::new();
    for delay in [1, 3, 8, 15, 30, 60, 120] {
        let mut child = start(&sandbox, arguments, 0);
        std::thread::sleep(Duration::from_millis(delay));
        signal(&child, "-KILL");
        child.wait().expect("a child");
    }
    sandbox.data(arguments);
    assert!(sandbox.read("out/samples.csv") == whole.read("out/samples.csv"));
    assert!(sandbox.read("out/trajectories.csv") == whole.read("out/trajectories.csv"));
}

/// Sends SIGINT and waits for the end, which must come soon; what does not end is killed.
fn interrupt(mut child: Child) -> Ended {
    let started = Instant::now();
    signal(&child, "-INT");
    // A second is promised; a machine that is busy with other tests may take longer.
    while child.try_wait().expect("a child").is_none() && started.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let ended: Ended = child.wait_with_output().expect("a child").into();
    assert_eq!(ended.code, Some(130));
    ended
}

/// Levels that are known are printed and written; those that are left, and the search for changes, take far longer than this.
#[test]
fn an_interrupted_frontier_has_the_levels_that_are_known() {
    let sandbox = Sandbox::new();
    let mut child = start(&sandbox, "frontier mo-max --patience 600s --json --out out", 0);
    let told = BufReader::new(child.stderr.take().expect("stderr")).lines().map(Result::unwrap);
    assert_eq!(told.filter(|line| line.starts_with("beta = ")).take(2).count(), 2);
    let ended = interrupt(child);
    assert_eq!(ended.stdout, sandbox.read("out/frontier.json"));
    let known: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert!(known["levels"].as_array().is_some_and(|levels| levels.len() > 1), "{known}");
    assert_eq!((&known["complete"], &known["ended"]), (&false.into(), &"the work was stopped".into()));
}

/// Where there is no terminal, levels are told soon, each as it is known. The first that is told can be kept.
#[test]
fn a_level_that_was_told_is_kept() {
    let sandbox = Sandbox::new();
    let mut child = start(&sandbox, "frontier mdp --risk cvar --patience 600s --out out", 0);
    let mut lines = BufReader::new(child.stderr.take().expect("stderr")).lines().map(Result::unwrap);
    assert!(
        lines.any(|line| line.starts_with("risk cvar:0: 0.1567; mean 0.1567, worst 5 % ")),
        "the mean is told first"
    );
    let ended = interrupt(child);
    assert!(ended.stdout.contains("\n    0  0.1567  0.1567 "), "{ended:?}");
    assert!(ended.stdout.contains("\nThis is not all that was asked for: the work was stopped.\n"), "{ended:?}");
    assert!(sandbox.read("out/frontier.csv").starts_with("level,"));
}

#[test]
fn an_interruption_keeps_finished_runs() {
    let sandbox = Sandbox::new();
    let run = |runs: u32, out: &str| format!("run grid-mo --preset paper --beta 1 --runs {runs} --out {out}");
    let ended = interrupt(start(&sandbox, &run(100_000, "out"), 3));
    assert_eq!(ended.stdout, "");
    assert_eq!(ended.stderr, "interrupted: finished runs are kept, the same command goes on from there\n");
    let journal = format!("out/runs/{}", sandbox.files("out/runs")[0]);
    let kept = sandbox.read(&journal);
    assert!(kept.lines().count() > 3);
    let more = kept.lines().count() as u32 + 5;
    sandbox.gumdp(&run(more, "out"));
    assert!(sandbox.read(&journal).starts_with(&kept), "finished runs were not kept");
    sandbox.gumdp(&run(more, "whole"));
    assert!(sandbox.read("out/samples.csv") == sandbox.read("whole/samples.csv"));
}

#[test]
fn an_interruption_without_results_promises_nothing() {
    let sandbox = Sandbox::new();
    for (arguments, said) in [
        ("run grid-msee --runs 100000 --json", "interrupted\n"),
        ("run grid-msee --runs 100000 --json --quiet", ""),
        ("plan il --beta 1 --time-limit 60s", "interrupted\n"),
    ] {
        let child = start(&sandbox, arguments, 0);
        // Nothing tells from outside that the program is at work; by now it is.
        std::thread::sleep(Duration::from_secs(1));
        let ended = interrupt(child);
        assert_eq!((&*ended.stderr, &*ended.stdout), (said, ""), "{arguments}");
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let sandbox = Sandbox::new();
    sandbox.data("run mdp --policy uniform --beta 1 --runs 2 --out out -q");
    for arguments in [
        "--help",
        "list",
        "list --json",
        "show mdp",
        "show mdp --toml",
        "run mdp --policy uniform --beta 1 --runs 2 --json",
        "run mdp --policy uniform --beta 1 --runs 2 --out piped -q",
        "compare mdp --beta 1 --runs 2 --simulations 5 --json",
        "solve mdp --beta 1",
        "solve mdp --beta 1 --json",
        "plan mdp --beta 1 --simulations 5",
        "plan mdp --beta 1 --simulations 5 --json",
        "reproduce rooms mdp --runs 1 --out reproduced -q",
        "replay out --run 0",
        "completions bash",
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = sandbox.command(arguments).stdout(writer).output().expect("the program starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*stderr), (Some(0), ""), "gumdp {arguments}");
    }
    for file in ["piped/report.html", "reproduced/report.html"] {
        assert!(sandbox.path(file).exists(), "{file} was not written");
    }
}
