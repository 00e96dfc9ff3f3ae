//! Sweeps on machines that misbehave: cut and foreign files, full disks, wrong clocks, and very many cells. Kills and damage are in
//! `sweep.rs`, a real Slurm in `slurm.rs`.
#![cfg(unix)]

mod common;

use std::fs;
use std::time::{Duration, SystemTime};

use common::{COIN, Sandbox};

/// 2 risks × 2 players × 2 seeds.
const SWEEP: &str = r#"problems = "coin.toml"
risks = [0, 10]
policies = ["planner", "uniform"]
presets = "paper"
simulations = 5
runs = 30
seed = [0, 1]
"#;

/// A folder with a sweep, and the three files that one process makes of it.
fn prepared() -> (Sandbox, [String; 3]) {
    let sandbox = Sandbox::new();
    sandbox.write("coin.toml", COIN);
    sandbox.write("sweep.toml", SWEEP);
    sandbox.data("sweep sweep.toml --out whole -q");
    let whole = results(&sandbox, "whole");
    (sandbox, whole)
}

fn results(sandbox: &Sandbox, folder: &str) -> [String; 3] {
    ["samples.csv", "trajectories.csv", "manifest.json"].map(|file| sandbox.read(&format!("{folder}/{file}")))
}

fn play(sandbox: &Sandbox, shard: &str) {
    sandbox.data(&format!("sweep sweep.toml --out out --shard {shard} -q"));
}

/// The journals of a shard.
fn journals(sandbox: &Sandbox, shard: &str) -> Vec<String> {
    let all = sandbox.files("out/runs").into_iter();
    all.filter(|name| name.starts_with(shard)).map(|name| format!("out/runs/{name}")).collect()
}

/// Wherever a journal ends, what stands there is a finished run or is played again.
#[test]
fn a_journal_may_end_at_any_byte() {
    let (sandbox, whole) = prepared();
    play(&sandbox, "1/2");
    play(&sandbox, "2/2");
    let [name] = &journals(&sandbox, "1-of-2")[..] else { panic!("one journal") };
    let text = sandbox.read(name);
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let third_last = ends[ends.len() - 4];
    // The header too: a process that was killed at its begin.
    for end in (third_last..text.len()).chain([0, 1, ends[0], ends[0] + 1]) {
        sandbox.write(name, &text[..end]);
        let complete = end > text.rfind("\nend,").expect("an end");
        assert_eq!(sandbox.data("status out --missing"), if complete { "" } else { "1\n" }, "{end}");
    }
    sandbox.write(name, &text[..third_last + 30]);
    assert_eq!(sandbox.gumdp("merge out").code, Some(2));
    play(&sandbox, "1/2");
    sandbox.data("merge out -q");
    assert!(results(&sandbox, "out") == whole);
}

#[test]
fn foreign_files_are_passed_over_or_refused() {
    let (sandbox, whole) = prepared();
    play(&sandbox, "1/2");
    play(&sandbox, "2/2");
    for name in ["out/runs/notes.txt", "out/runs/.nfs0001", "out/README", "out/runs/empty.csv"] {
        sandbox.write(name, "");
    }
    sandbox.data("merge out -q");
    assert!(results(&sandbox, "out") == whole);
    sandbox.write("out/runs/table.csv", "a,b\n1,2\n");
    for command in ["status out", "merge out", "sweep sweep.toml --out out"] {
        let ended = sandbox.gumdp(command);
        assert_eq!(ended.code, Some(2), "{command}");
        assert!(ended.stderr.contains("out/runs/table.csv: it is not a journal of a sweep"), "{}", ended.stderr);
    }
    fs::remove_file(sandbox.path("out/runs/table.csv")).unwrap();
    // Nobody may change the plan or a problem.
    for (name, from, to) in
        [("out/plan.json", "\"runs\": 30", "\"runs\": 31"), ("out/plan.json", "\"horizon\": 5", "\"horizon\": 6")]
    {
        let text = sandbox.read(name);
        sandbox.write(name, &text.replacen(from, to, 1));
        let ended = sandbox.gumdp("status out");
        assert_eq!(ended.code, Some(2), "{to}");
        assert!(ended.stderr.contains("plan.json: it was changed"), "{}", ended.stderr);
        sandbox.write(name, &text);
    }
    assert!(results(&sandbox, "out") == whole);
    let ended = sandbox.gumdp("sweep sweep.toml --out coin.toml");
    assert_eq!((ended.code, ended.stderr.matches("os error").count()), (Some(1), 1), "{}", ended.stderr);
}

/// A limit on the size of files stands for the full disk of one node: the shard fails with one line, and is played to its end later.
#[test]
fn a_full_disk_of_one_node_loses_nothing_else() {
    let (sandbox, whole) = prepared();
    play(&sandbox, "1/2");
    // In blocks of 512 bytes.
    for blocks in [0, 1, 4, 9] {
        let command = "sweep sweep.toml --out out --shard 2/2 -q";
        let ended = sandbox.shell(&format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" {command}"));
        assert_eq!(ended.code, Some(1), "{blocks}: {}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
        assert!(ended.stderr.contains("cannot write") && ended.stderr.contains("File too large"), "{}", ended.stderr);
        assert_eq!(sandbox.data("status out --missing"), "2\n");
    }
    play(&sandbox, "2/2");
    // Nor does a merge that cannot be written leave half a table.
    let ended = sandbox.shell("trap '' XFSZ; ulimit -f 9; exec \"$0\" merge out -q");
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(!sandbox.path("out/samples.csv").exists() && !sandbox.path("out/manifest.json").exists());
    sandbox.data("merge out -q");
    assert!(results(&sandbox, "out") == whole);
}

/// The clocks of machines differ: what is missing and how it is cut does not depend on them, and nobody plays in the far past or future.
#[test]
fn wrong_clocks_change_no_status() {
    let (sandbox, _) = prepared();
    play(&sandbox, "1/3");
    play(&sandbox, "2/4");
    let day = Duration::from_hours(24);
    let now = SystemTime::now();
    let cut = journals(&sandbox, "2-of-4").remove(0);
    let text = sandbox.read(&cut);
    // One that was killed: it has no end.
    let last = &text[..=text.rfind("\nend,").expect("an end")];
    sandbox.write(&cut, last);
    for (times, playing) in [([now + day, now - day], 0), ([now - day, now + day], 0), ([now + day, now], 1)] {
        for (name, time) in [(journals(&sandbox, "1-of-3").remove(0), times[0]), (cut.clone(), times[1])] {
            fs::File::options().append(true).open(sandbox.path(&name)).unwrap().set_modified(time).unwrap();
        }
        let json: serde_json::Value = serde_json::from_str(&sandbox.data("status out --json")).unwrap();
        // The last process was one of four.
        assert_eq!((json["shards"].as_u64(), json["playing"].as_u64()), (Some(4), Some(playing)), "{json}");
    }
    let text = sandbox.data("status out --shards 3");
    assert!(text.contains("not begun"), "{text}");
}

/// So many cells as a study may have: 10 000, and 100 000 with `GUMDP_SLOW=1`.
#[test]
fn many_cells() {
    let cells = if std::env::var_os("GUMDP_SLOW").is_some() { 100_000 } else { 10_000 };
    let sandbox = Sandbox::new();
    sandbox.write("coin.toml", COIN);
    let seeds: Vec<String> = (0..cells / 4).map(|seed| seed.to_string()).collect();
    let text = format!(
        "problems = \"coin.toml\"\nrisks = [0, 10]\npolicies = [\"uniform\", \"exact\"]\nruns = 1\nseed = [{}]\n",
        seeds.join(",")
    );
    sandbox.write("sweep.toml", &text);
    let json: serde_json::Value = serde_json::from_str(&sandbox.data("sweep sweep.toml --dry-run --json")).unwrap();
    assert_eq!(json["cells"].as_u64(), Some(cells));
    sandbox.data("sweep sweep.toml --out whole -q");
    for index in 1..=3 {
        play(&sandbox, &format!("{index}/3"));
    }
    assert_eq!(sandbox.data("status out --missing"), "");
    sandbox.data("merge out -q");
    assert!(results(&sandbox, "out") == results(&sandbox, "whole"));
}

/// A process has as many threads as Slurm gave it cores.
#[cfg(target_os = "linux")]
#[test]
fn threads_are_those_of_the_slurm_task() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", "problems = \"rooms\"\npresets = \"paper\"\nsimulations = 10000\nruns = 1000\n");
    let threads = |cores: usize| {
        let mut command = sandbox.command(&format!("sweep sweep.toml --out out --shard {cores}/9 -q"));
        let mut child = command.env("SLURM_CPUS_PER_TASK", cores.to_string()).spawn().expect("it starts");
        let own = format!("/proc/{}/task", child.id());
        // It plays: all threads are there.
        while journals(&sandbox, &format!("{cores}-of-9")).is_empty() {
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_millis(200));
        let count = fs::read_dir(own).expect("a process").count();
        child.kill().expect("a child");
        child.wait().expect("a child");
        count
    };
    let alone = threads(1);
    assert_eq!(threads(4), alone + 3);
}
