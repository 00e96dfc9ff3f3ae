//! A folder of its own for every test, and the program run in it.

#![allow(dead_code, missing_docs, reason = "every test file uses a part of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What a command did.
#[derive(Debug, PartialEq, Eq)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("stdout is text"),
            // What takes long speaks after some seconds: whether it does is a matter of the clock.
            stderr: String::from_utf8(output.stderr)
                .expect("stderr is text")
                .split_inclusive('\n')
                .filter(|line| !line.trim_end().ends_with(" ..."))
                .collect(),
        }
    }
}

/// An empty folder in which commands are run; it is removed in the end.
pub struct Sandbox(tempfile::TempDir);

impl Sandbox {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a file");
    }

    /// The names of the files below a folder, in order.
    pub fn files(&self, folder: &str) -> Vec<String> {
        fn collect(root: &Path, below: &Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(below).into_iter().flatten().flatten() {
                if entry.path().is_dir() {
                    collect(root, &entry.path(), found);
                } else {
                    found.push(entry.path().strip_prefix(root).expect("below").display().to_string());
                }
            }
        }
        let (root, mut found) = (self.path(folder), Vec::new());
        collect(&root, &root, &mut found);
        found.sort();
        found
    }

    /// `gumdp` with these words as arguments, in this folder.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gumdp"));
        command.args(arguments.split_whitespace()).current_dir(self.0.path()).stdin(Stdio::null());
        command.env_remove("COLUMNS");
        command
    }

    /// Runs `gumdp` to its end.
    pub fn gumdp(&self, arguments: &str) -> Ended {
        self.command(arguments).output().expect("the program starts").into()
    }

    /// Runs a shell script to its end; `$0` is the program.
    pub fn shell(&self, script: &str) -> Ended {
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_gumdp")).current_dir(self.0.path()).stdin(Stdio::null());
        command.output().expect("a shell").into()
    }

    /// The help of each command that the program lists, by its name.
    pub fn helps(&self) -> Vec<(String, String)> {
        let help = self.data("--help");
        let listed = help.split("\nCommands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("commands");
        let names = listed.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        let own = names.filter(|name| !name.is_empty() && *name != "help");
        own.map(|name| (name.to_owned(), self.data(&format!("{name} --help")))).collect()
    }

    /// The examples with `--json` in the help of a command, without that, and the files that they name.
    pub fn json_examples(&self, command: &str, help: &str) -> Vec<String> {
        self.write("mine.toml", COIN);
        self.write("riverswim.csv", "idstatefrom,idaction,idstateto,probability,reward\n0,0,0,1,1\n");
        self.write("sweep.toml", "problems = \"mine.toml\"\npolicies = \"uniform\"\n");
        if command == "status" {
            self.data("sweep sweep.toml --out results --shard 1/2 --quiet");
        }
        let examples = help.lines().filter_map(|line| line.strip_prefix("  gumdp ")?.strip_suffix(" --json"));
        examples.filter(|example| example.split(' ').next() == Some(command)).map(str::to_owned).collect()
    }

    /// The stdout of a command that must succeed and say nothing.
    pub fn data(&self, arguments: &str) -> String {
        let ended = self.gumdp(arguments);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "gumdp {arguments}");
        ended.stdout
    }
}

/// A small problem of one's own, with a β of every kind.
pub const COIN: &str = r#"kind = "explicit"
states = ["heads", "tails"]
actions = ["toss", "keep"]
start = "heads"
discount = 0.9
horizon = 5
transitions = [
  { from = "*", action = "toss", to = { heads = 0.5, tails = 0.5 } },
  { from = "heads", action = "keep", to = "heads" },
  { from = "tails", action = "keep", to = "tails" },
]
[objective]
kind = "linear"
cost = { tails = 1 }
[experiment]
beta = [-inf, 0, inf]
runs = 4
simulations = 20
"#;
