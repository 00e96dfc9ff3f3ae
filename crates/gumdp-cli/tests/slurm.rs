//! A sweep on a real Slurm of one node: `GUMDP_SLOW=1 cargo test -p gumdp-cli --test slurm -- --nocapture`.
//!
//! `scripts/slurm` installs (Debian, root) and starts it below `target/tmp`. Tasks are killed, time out and are preempted; the merged
//! bytes are those of one process.
#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use common::Sandbox;

/// Each of eight shards takes some seconds of one core, in runs of some hundredths of a second.
const SWEEP: &str = r#"problems = "rooms"
risks = [0, 10, "cvar:0.9"]
policies = ["planner", "uniform"]
presets = "paper"
simulations = [400, 1600]
runs = 60
seed = [0, 1]
"#;

/// A Slurm that ends with the test.
struct Slurm {
    script: PathBuf,
    dir: PathBuf,
}

impl Slurm {
    fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/slurm");
        let slurm = Self { script, dir: Path::new(env!("CARGO_TARGET_TMPDIR")).join("slurm") };
        let _ = fs::remove_dir_all(&slurm.dir);
        let started = Command::new(&slurm.script).arg("start").arg(&slurm.dir).status().expect("scripts/slurm");
        assert!(started.success(), "Slurm does not start");
        slurm
    }

    fn with(&self, mut command: Command) -> String {
        let output = command.env("SLURM_CONF", self.dir.join("slurm.conf")).output().expect("a program");
        let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).trim().to_owned());
        assert!(output.status.success(), "{command:?}: {err}");
        if out.is_empty() { err } else { out }
    }

    fn ask(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(program);
        command.args(arguments);
        self.with(command)
    }

    /// The states of the tasks of an array, or of a job, in their order.
    fn states(&self, job: &str) -> Vec<String> {
        let shown = self.ask("scontrol", &["show", "job", "--oneliner", job]);
        let field = |line: &str, name: &str| {
            let of = line.split(' ').find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
            of.unwrap_or_default().to_owned()
        };
        let mut tasks: Vec<(u64, String)> = shown
            .lines()
            .map(|line| (field(line, "ArrayTaskId").parse().unwrap_or(0), field(line, "JobState")))
            .collect();
        tasks.sort();
        tasks.into_iter().map(|(_, state)| state).collect()
    }

    /// Waits until no task of a job will run any more, and tells how they ended.
    fn ended(&self, job: &str) -> Vec<String> {
        wait(&format!("the end of job {job}"), 400, || {
            let states = self.states(job);
            let over = |state: &String| {
                !["PENDING", "RUNNING", "COMPLETING", "SUSPENDED", "REQUEUED", "PREEMPTED"].contains(&&**state)
            };
            states.iter().all(over).then_some(states)
        })
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        let _ = Command::new(&self.script).arg("stop").arg(&self.dir).status();
    }
}

/// Asks again until there is an answer.
fn wait<T>(for_what: &str, seconds: u64, mut answer: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(answer) = answer() {
            return answer;
        }
        assert!(began.elapsed() < Duration::from_secs(seconds), "waited {seconds} s for {for_what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The process that plays a shard of a folder.
fn process(folder: &Path, shard: &str) -> Option<u32> {
    let wanted = [folder.to_str().expect("a path"), "--shard", shard];
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let id: u32 = entry.file_name().to_str()?.parse().ok()?;
        let words = fs::read_to_string(entry.path().join("cmdline")).ok()?;
        let words: Vec<&str> = words.split('\0').collect();
        words.windows(3).any(|three| three == wanted).then_some(id)
    })
}

/// How many runs the journals of a shard hold, or those of all.
fn runs(sandbox: &Sandbox, folder: &str, shard: &str) -> usize {
    let journals = sandbox.files(&format!("{folder}/runs"));
    let own = journals.iter().filter(|name| name.starts_with(shard));
    own.map(|name| sandbox.read(&format!("{folder}/runs/{name}")).matches("\nrun,").count()).sum()
}

fn signal(process: u32, name: &str) {
    assert!(Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status().expect("kill").success());
}

/// Submits, and tells the numbers of the array and of the merge.
fn submit(slurm: &Slurm, sandbox: &Sandbox, arguments: &str) -> (String, String) {
    let said = slurm.with(sandbox.command(&format!("sweep sweep.toml --engine slurm --submit {arguments}")));
    let after = |word: &str| {
        let number = said.split(word).nth(1).expect("a number").split(|c: char| !c.is_ascii_digit()).next();
        number.expect("a number").to_owned()
    };
    (after("the array "), after("the merge "))
}

fn results(sandbox: &Sandbox, folder: &str) -> [String; 3] {
    ["samples.csv", "trajectories.csv", "manifest.json"].map(|file| sandbox.read(&format!("{folder}/{file}")))
}

#[test]
fn slurm_plays_the_bytes_of_one_process() {
    if std::env::var_os("GUMDP_SLOW").is_none() {
        return;
    }
    let (slurm, sandbox) = (Slurm::start(), Sandbox::new());
    sandbox.write("sweep.toml", SWEEP);
    sandbox.data("sweep sweep.toml --out whole -q");
    let whole = results(&sandbox, "whole");
    let all = whole[0].lines().count() - 1;
    let threads = killed_and_timed_out(&slurm, &sandbox, &whole);
    preempted(&slurm, &sandbox, &whole, all, threads);
}

/// How many threads a process has.
fn threads(process: u32) -> usize {
    fs::read_dir(format!("/proc/{process}/task")).map_or(0, Iterator::count)
}

/// Two tasks of eight are killed, one hangs until its time is over; what is missing is submitted again. How many threads a process
/// has with one core.
fn killed_and_timed_out(slurm: &Slurm, sandbox: &Sandbox, whole: &[String; 3]) -> usize {
    let mut with_one_core = 0;
    let (array, merge) = submit(slurm, sandbox, "--out out --array-size 8 --time 1");
    let folder = sandbox.path("out");
    for (shard, sent) in [("1", "KILL"), ("2", "KILL"), ("3", "STOP")] {
        let process = wait(&format!("some runs of shard {shard}"), 120, || {
            let process = process(&folder, &format!("{shard}/8"))?;
            (runs(sandbox, "out", &format!("{shard}-of-8")) >= 3).then_some(process)
        });
        with_one_core = threads(process);
        println!("shard {shard}: SIG{sent} after {} runs", runs(sandbox, "out", &format!("{shard}-of-8")));
        signal(process, sent);
    }
    let states = slurm.ended(&array);
    println!("the array ended: {}", states.join(" "));
    assert_eq!(states.len(), 8);
    assert!(states[0] != "COMPLETED" && states[1] != "COMPLETED", "{states:?}");
    assert_eq!(states[2], "TIMEOUT");
    // The merge does not wait for what cannot come.
    let state = slurm.ended(&merge);
    println!("its merge ended: {}", state.join(" "));
    assert_eq!(state, ["CANCELLED"]);
    assert!(!sandbox.path("out/samples.csv").exists());
    let missing = sandbox.data("status out --missing").trim().to_owned();
    println!("missing: {missing}\n{}", sandbox.data("status out"));
    assert!(missing.starts_with("1-3"), "{missing}");
    let script = sandbox.path("out/slurm/sweep.sbatch");
    let array = format!("--array={missing}");
    let again = slurm.ask("sbatch", &["--parsable", &array, script.to_str().expect("a path")]);
    let states = slurm.ended(&again);
    println!("submitted again, it ended: {}", states.join(" "));
    assert!(states.iter().all(|state| state == "COMPLETED"), "{states:?}");
    sandbox.data("merge out -q");
    assert!(results(sandbox, "out") == *whole, "the bytes differ");
    with_one_core
}

/// Two tasks of two cores are pushed aside by a job of more importance and begin again by themselves; the dependent job merges.
fn preempted(slurm: &Slurm, sandbox: &Sandbox, whole: &[String; 3], all: usize, with_one_core: usize) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(2);
    let settings = format!("--out pushed --array-size 2 --time 10 --partition main --cpus-per-task {cores}");
    let (array, merge) = submit(slurm, sandbox, &settings);
    let folder = sandbox.path("pushed");
    let first = wait("some runs", 120, || {
        let process = process(&folder, "1/2")?;
        (runs(sandbox, "pushed", "1-of-2") >= 20).then_some(process)
    });
    let with_all = threads(first);
    assert_eq!(with_all, with_one_core + cores - 1, "it has not as many threads as cores");
    let urgent = ["--parsable", "--partition=urgent", "--exclusive", "--output=/dev/null", "--wrap=sleep 1"];
    let urgent = slurm.ask("sbatch", &urgent);
    assert_eq!(slurm.ended(&urgent), ["COMPLETED"]);
    let before = runs(sandbox, "pushed", "1-of-2");
    println!("preempted after {before} runs, {with_all} threads for {cores} cores, {with_one_core} for one");
    assert!(process(&folder, "1/2") != Some(first), "it was not preempted");
    let states = slurm.ended(&array);
    assert!(states.iter().all(|state| state == "COMPLETED"), "{states:?}");
    assert_eq!(slurm.ended(&merge), ["COMPLETED"]);
    assert!(results(sandbox, "pushed") == *whole, "the bytes differ");
    let journals = sandbox.files("pushed/runs");
    println!("{} journals, {} runs for {all}", journals.len(), runs(sandbox, "pushed", ""));
    assert!(journals.len() > 2, "{journals:?}");
    // No run that was finished was played again.
    assert_eq!(runs(sandbox, "pushed", ""), all);
}
