//! Killed, damaged, out of space, on any number of threads: the same numbers or an error, never other numbers and never a panic.
//! A few seeded cases of each in the ordinary run, 200 and more with `GUMDP_SLOW=1`; `docs/reliability.md` has the figures.
#![cfg(unix)]

mod common;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use common::{COIN, Ended, Sandbox};
use gumdp::rng::{self, Purpose, Rng};

/// The generator of each case.
fn cases(few: u64, many: u64) -> impl Iterator<Item = Rng> {
    let count = if std::env::var_os("GUMDP_SLOW").is_some() { many } else { few };
    (0..count).map(|case| rng::stream(2024, case, Purpose::Generation))
}

fn one_of<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng::below(rng, all.len() as u32) as usize]
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy(&source, &target);
        } else {
            fs::copy(&source, &target).unwrap();
        }
    }
}

/// A command that failed says why in a line, and does not panic.
fn is_refused(ended: &Ended) -> bool {
    matches!(ended.code, Some(1 | 2)) && ended.stderr.starts_with("error: ") && !ended.stderr.contains("panicked")
}

const TABLES: [&str; 2] = ["out/samples.csv", "out/trajectories.csv"];

fn tables(sandbox: &Sandbox) -> [String; 2] {
    TABLES.map(|table| sandbox.read(table))
}

fn leaves_nothing(sandbox: &Sandbox) {
    assert!(!sandbox.files("out").iter().any(|name| name.contains(".tmp")), "{:?}", sandbox.files("out"));
}

#[test]
fn damaged_folders_give_the_same_numbers_or_an_error() {
    let whole = Sandbox::new();
    whole.write("coin.toml", COIN);
    let run = "run coin.toml --policy uniform --beta 1,-1 --runs 6 --out out -q";
    whole.data(run);
    whole.data("report out -q");
    let (report, replayed, played) = (whole.read("out/report.html"), whole.data("replay out --run 4"), tables(&whole));
    let names: Vec<String> = whole.files("out").into_iter().filter(|name| !name.contains("figures")).collect();
    let (mut refused, mut count) = (0, 0);
    for mut rng in cases(24, 1000) {
        let sandbox = Sandbox::new();
        sandbox.write("coin.toml", COIN);
        copy(&whole.path("out"), &sandbox.path("out"));
        let name = &names[rng::below(&mut rng, names.len() as u32) as usize];
        let file = sandbox.path("out").join(name);
        let damage = damaged(
            &file,
            &sandbox.path("out").join(&names[rng::below(&mut rng, names.len() as u32) as usize]),
            &mut rng,
        );
        let told = |ended: &Ended, command: &str| panic!("{command} after {damage} of {name}: {ended:?}");
        let reported = sandbox.gumdp("report out -q");
        match reported.code {
            Some(0) if sandbox.read("out/report.html") == report => {}
            _ if is_refused(&reported) => refused += 1,
            _ => told(&reported, "report"),
        }
        let ended = sandbox.gumdp("replay out --run 4");
        if !is_refused(&ended) && (ended.code, &ended.stdout) != (Some(0), &replayed) {
            told(&ended, "replay");
        }
        let ended = sandbox.gumdp(run);
        let is_same = ended.code == Some(0) && tables(&sandbox) == played;
        if !is_refused(&ended) && !is_same {
            told(&ended, "run");
        }
        count += 1;
    }
    println!("damage: {count} folders, {refused} reports refused, the others the same");
    assert!(refused > 0);
}

/// Damages a file and says how.
fn damaged(file: &Path, other: &Path, rng: &mut Rng) -> String {
    let mut bytes = fs::read(file).unwrap();
    let at = rng::below(rng, bytes.len() as u32) as usize;
    let end = (at + 1 + rng::below(rng, 40) as usize).min(bytes.len());
    let how = match rng::below(rng, 8) {
        0 => {
            bytes[at] ^= 1 << rng::below(rng, 8);
            "a flipped bit"
        }
        1 => {
            bytes.truncate(at);
            "an early end"
        }
        2 => {
            bytes.drain(at..end);
            "a gap"
        }
        3 => {
            let piece = bytes[at..end].to_vec();
            bytes.splice(at..at, piece);
            "a repetition"
        }
        4 => {
            bytes.splice(at..end, one_of(rng, &["99999", "NaN", "-1", "../", "\n", "\0\0\0\0", "1e999"]).bytes());
            "another word"
        }
        5 => {
            // A whole line is lost.
            let line = bytes[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |start| start + 1);
            let stop = bytes[at..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |stop| at + stop + 1);
            bytes.drain(line..stop);
            "a lost line"
        }
        6 => {
            bytes = fs::read(other).unwrap();
            "another file in its place"
        }
        _ => {
            bytes.fill(0);
            "zeros"
        }
    };
    fs::write(file, bytes).unwrap();
    format!("{how} at {at}")
}

#[test]
fn kills_lose_nothing() {
    let run = "run mo-max --preset paper --beta 1 --runs 12 --out out -q";
    let whole = Sandbox::new();
    whole.data(run);
    let (mut count, mut killed) = (0, 0);
    for mut rng in cases(4, 200) {
        let sandbox = Sandbox::new();
        for _ in 0..=rng::below(&mut rng, 2) {
            let mut command = sandbox.command(&format!("{run} --threads {}", 1 + rng::below(&mut rng, 3)));
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_micros(u64::from(rng::below(&mut rng, 200_000))));
            let _ = child.kill();
            killed += usize::from(child.wait().unwrap().code().is_none());
        }
        sandbox.data(run);
        assert!(tables(&sandbox) == tables(&whole));
        leaves_nothing(&sandbox);
        count += 1;
    }
    println!("kills: {count} folders, {killed} kills, all end with the same tables");
}

/// A limit on the size of files stands for a disk that is full: writing fails in the middle.
#[test]
fn a_full_disk_is_told_and_loses_nothing() {
    let run = |runs: u32| format!("run mdp --policy uniform --beta 1 --runs {runs} --out out -q");
    let whole = Sandbox::new();
    whole.data(&run(60));
    let largest = whole.files("out").iter().map(|name| fs::metadata(whole.path("out").join(name)).unwrap().len()).max();
    let (mut count, mut failed) = (0, 0);
    for mut rng in cases(4, 200) {
        let sandbox = Sandbox::new();
        let begun = rng::below(&mut rng, 2) == 0;
        if begun {
            sandbox.data(&run(3));
        }
        let before = begun.then(|| tables(&sandbox));
        // In blocks of 512 bytes.
        let blocks = rng::below(&mut rng, (largest.unwrap_or(0) / 512) as u32 + 2);
        let ended = sandbox.shell(&format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" {}", run(60)));
        if ended.code != Some(0) {
            assert!(is_refused(&ended) && ended.stderr.contains("File too large"), "{blocks}: {ended:?}");
            failed += 1;
            // A table is the earlier one or the new one, never half of one.
            let found = TABLES.map(|table| sandbox.path(table).exists().then(|| sandbox.read(table)));
            for (k, found) in found.into_iter().enumerate() {
                assert!(found.is_none_or(
                    |found| Some(&found) == before.as_ref().map(|before| &before[k]) || found == tables(&whole)[k]
                ));
            }
        }
        sandbox.data(&run(60).replace(" -q", " --quiet"));
        assert!(tables(&sandbox) == tables(&whole));
        leaves_nothing(&sandbox);
        count += 1;
    }
    println!("full disk: {count} folders, {failed} failures told, all end with the same tables");
    assert!(failed > 0);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let kinds = [
        "coin.toml --policy uniform --beta 1 --runs 20",
        "coin.toml --policy exact --risk cvar:0.9,mean --runs 20",
        "rooms --preset paper --beta 5 --runs 6 --simulations 40",
        "mo-max --policy planner --beta 1 --runs 6 --simulations 40",
        "rooms --policy exact --beta 1,50 --runs 20",
    ];
    let mut count = 0;
    for mut rng in cases(4, 200) {
        let (kind, seed) = (one_of(&mut rng, &kinds), rng::below(&mut rng, 1000));
        let of = |threads: u32| {
            let sandbox = Sandbox::new();
            sandbox.write("coin.toml", COIN);
            sandbox.data(&format!("run {kind} --seed {seed} --threads {threads} --out out -q"));
            tables(&sandbox)
        };
        let threads = 2 + rng::below(&mut rng, 15);
        assert!(of(1) == of(threads), "{kind} --seed {seed} --threads {threads}");
        count += 1;
    }
    println!("threads: {count} pairs of folders, all the same");
}

#[test]
fn nothing_is_replaced_that_is_no_ordinary_file() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let sandbox = Sandbox::new();
    let drawing = sandbox.data("show mdp --svg /dev/stdout");
    assert!(drawing.starts_with("<svg"));
    // Before and after what others write to the same open file.
    let ended = sandbox.shell("(echo before; \"$0\" show mdp --svg /dev/stdout; echo after) > all");
    assert_eq!((ended.code, sandbox.read("all")), (Some(0), format!("before\n{drawing}after\n")));
    let ended = sandbox.shell("echo before > some; \"$0\" show mdp --svg /dev/stdout >> some");
    assert_eq!((ended.code, sandbox.read("some")), (Some(0), format!("before\n{drawing}")));
    assert!(Path::new("/dev/stdout").is_symlink());
    let ended = sandbox.shell("mkfifo pipe; cat pipe > read & \"$0\" show mdp --svg pipe; wait");
    assert_eq!((ended.code, sandbox.read("read")), (Some(0), drawing.clone()));
    sandbox.write("mine.svg", "");
    fs::set_permissions(sandbox.path("mine.svg"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink("mine.svg", sandbox.path("link.svg")).unwrap();
    sandbox.data("show mdp --svg link.svg");
    assert!(sandbox.path("link.svg").is_symlink() && sandbox.read("mine.svg") == drawing);
    assert_eq!(fs::metadata(sandbox.path("mine.svg")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_results_folder_leads_nowhere_else() {
    use std::os::unix::fs::symlink;
    let sandbox = Sandbox::new();
    sandbox.data("run mdp --policy uniform --beta 1 --runs 3 --out out -q");
    sandbox.write("victim", "precious");
    fs::remove_file(sandbox.path("out/report.html")).unwrap();
    symlink("../victim", sandbox.path("out/report.html")).unwrap();
    let ended = sandbox.gumdp("report out -q");
    assert!(is_refused(&ended) && ended.stderr.contains("out/report.html is a link"), "{ended:?}");
    assert_eq!(sandbox.read("victim"), "precious");
    fs::remove_file(sandbox.path("out/report.html")).unwrap();
    // What a command tries out before it plays, and where it tidies up.
    fs::create_dir_all(sandbox.path("theirs/runs")).unwrap();
    symlink("../../victim", sandbox.path("theirs/runs/.probe")).unwrap();
    let run = "run mdp --policy uniform --beta 1 --runs 3 --out theirs -q";
    assert!(is_refused(&sandbox.gumdp(run)) && sandbox.read("victim") == "precious");
    fs::remove_dir_all(sandbox.path("theirs/runs")).unwrap();
    fs::create_dir(sandbox.path("elsewhere")).unwrap();
    sandbox.write("elsewhere/.a.1-2.tmp", "precious");
    symlink("../elsewhere", sandbox.path("theirs/figures")).unwrap();
    assert!(is_refused(&sandbox.gumdp(run)) && sandbox.path("elsewhere/.a.1-2.tmp").exists());
    // As an earlier version would have written it, without checksums.
    let manifest = sandbox.read("out/manifest.json");
    let begin = manifest.find(",\n  \"files\"").unwrap();
    let old = format!("{}\n}}\n", &manifest[..begin]);
    sandbox.write("out/manifest.json", &old);
    assert_eq!(sandbox.gumdp("report out -q").code, Some(0), "{old}");
    let journal = sandbox.files("out/runs").remove(0);
    fs::copy(sandbox.path("out/runs").join(&journal), sandbox.path("stolen.csv")).unwrap();
    let absolute = sandbox.path("stolen.csv").display().to_string();
    for (field, value) in
        [(&journal, "../../stolen.csv"), (&journal, &absolute), (&"\"task\": \"mdp\"".to_owned(), "\"task\": \"../x\"")]
    {
        sandbox.write("out/manifest.json", &old.replacen(field, value, 1));
        let ended = sandbox.gumdp("report out -q");
        assert!(is_refused(&ended), "{value}: {ended:?}");
    }
}
