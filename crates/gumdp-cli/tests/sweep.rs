//! Sweeps: however they are cut and whatever dies on the way, the merged bytes are those of one process.
#![cfg(unix)]

mod common;

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{COIN, Sandbox};

const SWEEP: &str = r#"problems = "problems/*.toml"
risks = [0, 10, "cvar:0.9"]
policies = ["planner", "uniform", "exact"]
presets = ["default", "paper"]
simulations = [5, 20]
runs = 6
seed = [0, 1]
"#;

/// A folder with a sweep of 2 problems × 3 risks × (2 presets × 2 budgets + 2) × 2 seeds = 72 cells.
fn prepared() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("problems")).unwrap();
    sandbox.write("problems/coin.toml", COIN);
    sandbox.write("problems/long.toml", &COIN.replace("horizon = 5", "horizon = 7"));
    sandbox.write("sweep.toml", SWEEP);
    sandbox
}

/// The three files that must not depend on how the work was cut.
fn results(sandbox: &Sandbox, folder: &str) -> [String; 3] {
    ["samples.csv", "trajectories.csv", "manifest.json"].map(|file| sandbox.read(&format!("{folder}/{file}")))
}

#[track_caller]
fn assert_same(sandbox: &Sandbox, folder: &str, whole: &[String; 3]) {
    for (of, expected) in results(sandbox, folder).iter().zip(whole) {
        assert!(of == expected, "{folder} differs");
    }
}

#[test]
fn shards_merge_to_the_bytes_of_one_process() {
    let sandbox = prepared();
    sandbox.data("sweep sweep.toml --out whole -q");
    let whole = results(&sandbox, "whole");
    assert_eq!(whole[0].lines().count(), 72 * 6 + 1);
    for (count, threads) in [(3, 1), (7, 2)] {
        let folder = format!("of{count}");
        for index in (1..=count).rev() {
            sandbox.data(&format!("sweep sweep.toml --out {folder} --shard {index}/{count} --threads {threads} -q"));
        }
        sandbox.data(&format!("merge {folder} -q"));
        assert_same(&sandbox, &folder, &whole);
        // Again, and it is the same.
        sandbox.data(&format!("merge {folder} -q"));
        assert_same(&sandbox, &folder, &whole);
    }
}

#[test]
fn status_says_what_is_missing() {
    let sandbox = prepared();
    for index in [1, 2, 4, 5] {
        sandbox.data(&format!("sweep sweep.toml --out out --shard {index}/6 -q"));
    }
    assert_eq!(sandbox.data("status out --missing"), "3,6\n");
    assert_eq!(sandbox.data("status out --missing --shards 1"), "1\n");
    let text = sandbox.data("status out");
    assert!(text.contains("of 432 runs done") && text.contains("missing: 3,6"), "{text}");
    let ended = sandbox.gumdp("merge out");
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("of 432 runs are missing") && ended.stderr.contains("gumdp status"),
        "{}",
        ended.stderr
    );
    assert!(!sandbox.path("out/samples.csv").exists() && !sandbox.path("out/manifest.json").exists());
    // What is missing may be played by a process of another cut.
    sandbox.data("sweep sweep.toml --out out -q");
    assert_eq!(sandbox.data("status out --missing"), "");
    sandbox.data("sweep sweep.toml --out whole -q");
    assert_same(&sandbox, "out", &results(&sandbox, "whole"));
}

#[test]
fn kills_and_repeats_change_nothing() {
    let sandbox = prepared();
    sandbox.data("sweep sweep.toml --out whole -q");
    let whole = results(&sandbox, "whole");
    for delay in [10, 40, 90, 160, 300] {
        let mut child = sandbox.command("sweep sweep.toml --out out --shard 1/2 -q").spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(delay));
        Command::new("kill").args(["-KILL", &child.id().to_string()]).status().expect("kill");
        child.wait().expect("a child");
    }
    // The same shard twice at once, and both of two.
    let both = ["1/2", "1/2", "2/2"].map(|shard| {
        let mut command = sandbox.command(&format!("sweep sweep.toml --out out --shard {shard} -q"));
        command.stderr(Stdio::piped()).spawn().expect("it starts")
    });
    for child in both {
        assert!(child.wait_with_output().expect("a child").status.success());
    }
    sandbox.data("merge out -q");
    assert_same(&sandbox, "out", &whole);
}

#[test]
fn damage_is_refused_or_played_again() {
    let sandbox = prepared();
    sandbox.data("sweep sweep.toml --out whole -q");
    let whole = results(&sandbox, "whole");
    sandbox.data("sweep sweep.toml --out out --shard 1/2 -q");
    sandbox.data("sweep sweep.toml --out out --shard 2/2 -q");
    let journal = sandbox.files("out/runs").into_iter().find(|name| name.starts_with("1-of-2")).expect("a journal");
    let (journal, path) = (sandbox.read(&format!("out/runs/{journal}")), sandbox.path(&format!("out/runs/{journal}")));
    // Cut off in the middle of a line: what is lost is missing, nothing else.
    fs::write(&path, &journal[..journal.len() / 2]).unwrap();
    assert_eq!(sandbox.data("status out --missing"), "1\n");
    sandbox.data("sweep sweep.toml --out out --shard 1/2 -q");
    sandbox.data("merge out -q");
    assert_same(&sandbox, "out", &whole);
    // A changed digit, another sweep, another version.
    let changed = journal.replacen("run,0,", "run,1,", 1);
    let at = 1 + journal.split("run,0,").next().expect("a run").lines().count();
    let other = journal.replacen(journal.split(',').nth(3).expect("a fingerprint"), "0123456789abcdef", 1);
    let version = journal.replacen(&format!(",{},", env!("CARGO_PKG_VERSION")), ",0.0.9,", 1);
    let (own, now) = (env!("CARGO_PKG_VERSION"), gumdp::RESULTS_VERSION);
    let earlier = journal.replacen(&format!(",{own},{now},"), &format!(",{own},1,"), 1);
    for (text, says) in [
        (changed, &*format!("line {at} is damaged")),
        (other, "of another sweep"),
        (version, "another version of gumdp (0.0.9)"),
        (earlier, &*format!("({own} with results 1); this is {own} with results {now}")),
    ] {
        fs::write(&path, text).unwrap();
        for command in ["merge out", "status out", "sweep sweep.toml --out out"] {
            let ended = sandbox.gumdp(command);
            assert_eq!(ended.code, Some(2), "{command}: {}", ended.stderr);
            assert!(ended.stderr.contains(says) && ended.stderr.contains("1-of-2"), "{command}: {}", ended.stderr);
        }
        assert_same(&sandbox, "out", &whole);
    }
}

#[test]
fn other_sweeps_do_not_mix() {
    let sandbox = prepared();
    sandbox.data("sweep sweep.toml --out out --shard 1/2 -q");
    sandbox.write("sweep.toml", &SWEEP.replace("runs = 6", "runs = 7"));
    let ended = sandbox.gumdp("sweep sweep.toml --out out --shard 2/2");
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("out holds another sweep"), "{}", ended.stderr);
}

#[test]
fn mistakes_have_their_place() {
    let sandbox = Sandbox::new();
    let cases = [
        ("runs = 3", "sweep.toml:1:1: the field \"problems\" is missing"),
        ("problems = \"roms\"", "there is no such task or file"),
        ("problems = \"none/*.toml\"", "which no file matches"),
        ("problems = \"[.toml\"", "problems is \"[.toml\", which is no pattern"),
        ("problems = []", "problems is empty"),
        ("problems = \"rooms\"\nruns = 0", "sweep.toml:2:8: runs is 0; it must lie in [1, 1000000000]"),
        ("problems = \"rooms\"\nrisks = [\"cvar:2\"]", "sweep.toml:2:10:"),
        ("problems = \"rooms\"\nrisks = nan", "sweep.toml:2:9: risks is NaN"),
        ("problems = \"rooms\"\npolicies = \"best\"", "policies is \"best\"; it must be"),
        ("problems = \"rooms\"\npolicies = \"exact\"\npresets = \"paper\"", "presets are settings of the planner"),
        ("problems = \"rooms\"\nbeta = 3", "sweep.toml:2:1: unknown field \"beta\""),
        ("problems = \"rooms\"\nseed = -1", "seed is -1"),
        (
            "problems = \"rooms\"\npresets = \"paper\"\nsimulations = 1000000000\nruns = 1000000000",
            "sweep.toml: its runs would take one core about",
        ),
    ];
    for (text, says) in cases {
        sandbox.write("sweep.toml", text);
        let ended = sandbox.gumdp("sweep sweep.toml --out out");
        assert_eq!(ended.code, Some(2), "{text}: {}", ended.stderr);
        assert!(ended.stderr.contains(says), "{text}: {}", ended.stderr);
        assert!(!sandbox.path("out").exists(), "{text}");
    }
    for shard in ["0/3", "4/3", "1", "a/b", "1/0", "-1/3"] {
        let ended = sandbox.gumdp(&format!("sweep sweep.toml --shard {shard}"));
        assert_eq!(ended.code, Some(2), "{shard}");
        assert!(ended.stderr.contains("it must be i/n with 1 <= i <= n"), "{}", ended.stderr);
    }
    for command in ["status", "merge"] {
        let ended = sandbox.gumdp(&format!("{command} nowhere"));
        assert_eq!(ended.code, Some(2));
        assert!(ended.stderr.contains("nowhere holds no sweep: there is no plan.json"), "{}", ended.stderr);
    }
}

/// A cell that cannot be played is told of, and all others are kept.
#[test]
fn a_cell_may_fail() {
    let sandbox = Sandbox::new();
    let text = "problems = [\"msee\", \"mdp\"]\nrisks = 1\npolicies = \"backward-induction\"\nruns = 3\n";
    sandbox.write("sweep.toml", text);
    let ended = sandbox.gumdp("sweep sweep.toml --out out");
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("msee_backward-induction") && ended.stderr.contains("1 cell could not be played"));
    let status = sandbox.data("status out");
    assert!(status.contains("3 of 6 runs done") && status.contains("failed:"), "{status}");
}

#[test]
fn dry_runs_play_nothing() {
    let sandbox = prepared();
    let text = sandbox.data("sweep sweep.toml --dry-run");
    assert!(text.contains("72 cells of 2 problems, 432 runs") && text.contains("of CPU time"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&sandbox.data("sweep sweep.toml --dry-run --json")).unwrap();
    assert_eq!((json["cells"].as_u64(), json["runs"].as_u64()), (Some(72), Some(432)));
    assert!(json["cpu_hours"].as_f64().is_some_and(|hours| hours > 0.0));
    assert_eq!(sandbox.files("."), ["problems/coin.toml", "problems/long.toml", "sweep.toml"]);
}

/// Exact summaries where all possible runs are known; the tidy table has a row for each cell.
#[test]
fn reports_have_all_cells() {
    let sandbox = prepared();
    sandbox.data("sweep sweep.toml --out out -q");
    sandbox.data("report out -q");
    let table = sandbox.read("out/summary.csv");
    assert_eq!(table.lines().count(), 73);
    let exact = table.lines().skip(1).filter(|line| line.contains(",exact,") || line.contains(",uniform,"));
    assert!(exact.clone().count() == 24 && exact.clone().all(|line| line.contains(",true,")), "{table}");
    let page = sandbox.read("out/report.html");
    assert!(page.contains("72 cells of 2 problems") && page.contains("coin"));
    let value = |line: &str| line.split(',').nth(9).unwrap().parse::<f64>().unwrap();
    let row = exact.filter(|line| line.contains("coin_uniform_erm-10_")).map(value).next().unwrap();
    let alone: serde_json::Value =
        serde_json::from_str(&sandbox.data("evaluate problems/coin.toml --policy uniform --beta 10 --json")).unwrap();
    let values: Vec<Option<f64>> =
        alone["risks"].as_array().unwrap().iter().map(|measure| measure["value"].as_f64()).collect();
    assert!(values.contains(&Some(row)), "{row}: {alone}");
}

#[test]
fn slurm_gets_scripts_of_what_is_missing() {
    let sandbox = prepared();
    sandbox.data("sweep sweep.toml --out out --shard 2/4 -q");
    let ended =
        sandbox.gumdp("sweep sweep.toml --out out --engine slurm --array-size 4 --time 00:10:00 --partition short");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let script = sandbox.read("out/slurm/sweep.sbatch");
    for line in [
        "#SBATCH --array=1,3-4",
        "#SBATCH --output=\"/",
        "#SBATCH --time=00:10:00",
        "#SBATCH --partition=short",
        "\"$SLURM_ARRAY_TASK_ID/4\"",
    ] {
        assert!(script.contains(line), "{script}");
    }
    assert!(sandbox.read("out/slurm/merge.sbatch").contains(" merge '"));
    // As the scheduler would.
    for index in [1, 3, 4] {
        let ended =
            sandbox.shell(&format!("SLURM_CPUS_PER_TASK=1 SLURM_ARRAY_TASK_ID={index} sh out/slurm/sweep.sbatch"));
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    }
    assert_eq!(sandbox.shell("sh out/slurm/merge.sbatch").code, Some(0));
    sandbox.data("sweep sweep.toml --out whole -q");
    assert_same(&sandbox, "out", &results(&sandbox, "whole"));
    assert_eq!(sandbox.gumdp("sweep sweep.toml --out out --engine slurm --partition a;b").code, Some(2));
}

/// What is missing is counted as the script of the array cuts, whoever played before.
#[test]
fn what_is_missing_fits_the_script() {
    let sandbox = prepared();
    sandbox.gumdp("sweep sweep.toml --out out --engine slurm --array-size 8");
    assert_eq!(sandbox.data("status out --missing"), "1-8\n");
    sandbox.data("sweep sweep.toml --out out --shard 1/3 -q");
    sandbox.data("sweep sweep.toml --out out --shard 3/8 -q");
    sandbox.data("sweep sweep.toml --out out --shard 2/3 -q");
    let missing = sandbox.data("status out --missing");
    assert!(missing.ends_with("8\n") && !missing.contains('3'), "{missing}");
    assert_eq!(sandbox.data("status out --missing --shards 3"), "3\n");
}

/// A line break in a name would end a line of the script.
#[test]
fn names_that_break_scripts_are_refused() {
    let sandbox = prepared();
    let ended = sandbox.command("sweep sweep.toml --engine slurm --out").arg("two\nlines").output().unwrap();
    let says = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{says}");
    assert!(says.contains("cannot stand in a script") && !says.contains("two\nlines"), "{says}");
}

/// Problems with the same text are not one, however alike their names are without signs.
#[test]
fn names_that_look_alike_are_told_apart() {
    let sandbox = prepared();
    for name in ["a b.toml", "a,b.toml"] {
        sandbox.write(name, &sandbox.read("problems/coin.toml"));
    }
    sandbox
        .write("sweep.toml", "problems = [\"a b.toml\", \"a,b.toml\"]\nrisks = 0\npolicies = \"uniform\"\nruns = 1\n");
    sandbox.data("sweep sweep.toml --out out -q");
    let samples = sandbox.read("out/samples.csv");
    assert!(samples.contains(",a b,") && samples.contains(",\"a,b\","), "{samples}");
}
