//! Arbitrary bytes never panic: files of every kind, mutated, cut, spliced and random, through the public readers.
//!
//! The files of `corpus` are the seeds; what once broke a reader is kept there too. A few thousand cases run with the other
//! tests; `GUMDP_FUZZ_CASES=100000 cargo test --release -p gumdp --test fuzz` runs more.

use std::path::Path;
use std::time::{Duration, Instant};

use gumdp_files::Task;
use gumdp_files::{ExportFormat, Severity, check_text, export};

/// Pieces that are likely to break something.
#[rustfmt::skip]
const PIECES: [&str; 48] = [
    "nan", "-1", "inf", "0", "1e400", "99999999999999999999", "4294967296", "1000000", "\"\"", "\"*\"", "[]", "{}", "\"", "=", "[",
    "]", "{", "}", "\n", "é", "s0", "1979-05-27", "true", "0.5", "[[transition]]", "/", ",", ";", "\t", "\r\n", "\u{feff}", "'''",
    ":", "1/0", "0/0", "@model", "state", "action", "//", "\\", "\\u0000", "init", "idaction", "1e-320", "-0.0", "terminated",
    "*/a0", "#",
];

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// The files of the corpus, in the order of their names.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .expect("the corpus")
        .map(|entry| entry.expect("a file").path())
        .map(|path| {
            (path.file_name().expect("a name").to_string_lossy().into_owned(), std::fs::read(&path).expect("a file"))
        })
        .collect();
    files.sort();
    files
}

fn mutated(random: &mut Random, corpus: &[(String, Vec<u8>)], seed: &[u8]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    let edits = [1, 1, 2, 4][random.below(4)];
    for _ in 0..edits {
        let start = random.below(bytes.len() + 1);
        let length = random.below(12).min(bytes.len() - start);
        match random.below(12) {
            0 => bytes.truncate(start),
            1 => {
                bytes.drain(start..start + length);
            }
            2 if !bytes.is_empty() => {
                let place = random.below(bytes.len());
                bytes[place] ^= 1 << random.below(8);
            }
            3 => {
                let other = &corpus[random.below(corpus.len())].1;
                let from = random.below(other.len());
                let end = (from + random.below(60)).min(other.len());
                bytes.splice(start..start + length, other[from..end].iter().copied());
            }
            4 => {
                // A whole number or word replaced, so that most of the file still makes sense.
                let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+');
                let from = start + bytes[start..].iter().position(word).unwrap_or(0);
                let end = from + bytes[from..].iter().take_while(|byte| word(byte)).count();
                bytes.splice(from..end, PIECES[random.below(PIECES.len())].bytes());
            }
            5..=7 if !bytes.is_empty() => {
                // A whole line gone, twice or elsewhere.
                let mut lines: Vec<Vec<u8>> =
                    bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
                let line = lines.remove(random.below(lines.len()));
                for _ in 0..random.below(3) {
                    lines.insert(random.below(lines.len() + 1), line.clone());
                }
                bytes = lines.concat();
            }
            8 | 9 => {
                // A digit for a digit.
                if let Some(place) = bytes[start..].iter().position(u8::is_ascii_digit) {
                    bytes[start + place] = b'0' + random.below(10) as u8;
                }
            }
            10 => {
                let piece = bytes[start..start + length].to_vec();
                let place = random.below(bytes.len() + 1);
                bytes.splice(place..place, piece);
            }
            _ => {
                bytes.splice(start..start + length, PIECES[random.below(PIECES.len())].bytes());
            }
        }
    }
    bytes
}

/// Everything a user can do with a text. A task that was read can be written and read again.
fn exercise(file: &str, text: &str) -> bool {
    let task = Task::parse(file, text);
    let found = check_text(file, text);
    let refused = found.iter().any(|finding| finding.severity == Severity::Error);
    assert_eq!(refused, task.is_err(), "check and parse disagree: {found:?} {:?}", task.as_ref().err());
    let lines = text.lines().count() + 1;
    assert!(found.iter().all(|finding| finding.place.line.is_none_or(|line| (1..=lines).contains(&line))));
    let Ok(task) = task else { return false };
    if let Err(error) = Task::parse("again.toml", &task.source) {
        panic!("the source is refused: {error}\n{}", task.source);
    }
    for (format, name) in [(ExportFormat::Csv, "x.csv"), (ExportFormat::Drn, "x.drn"), (ExportFormat::Toml, "x.toml")] {
        let Ok(exported) = export(&task, format) else { continue };
        if let Err(error) = Task::parse(name, &exported.files[0].1) {
            panic!("{name} is refused: {error}\n{}", exported.files[0].1);
        }
    }
    true
}

#[test]
fn arbitrary_bytes_never_panic() {
    let cases: u64 = std::env::var("GUMDP_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(3000);
    let corpus = corpus();
    for (file, bytes) in &corpus {
        let text = String::from_utf8_lossy(bytes);
        exercise(file, &text);
    }
    let folder = std::env::temp_dir().join(format!("gumdp-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut read = 0;
    let mut slowest = (Duration::ZERO, 0);
    for case in 0..cases {
        let mut random = Random(case);
        let (file, seed) = &corpus[random.below(corpus.len())];
        let bytes = match random.below(20) {
            0 => (0..random.below(200)).map(|_| random.next() as u8).collect(),
            1 => (0..random.below(60)).flat_map(|_| PIECES[random.below(PIECES.len())].bytes()).collect(),
            _ => mutated(&mut random, &corpus, seed),
        };
        let started = Instant::now();
        let outcome = std::panic::catch_unwind(|| {
            if let Ok(text) = std::str::from_utf8(&bytes) {
                // Without an extension the content decides.
                exercise(if case % 7 == 0 { "model" } else { file }, text)
            } else {
                let path = folder.join(file);
                std::fs::write(&path, &bytes).expect("a file");
                assert!(Task::load(&path).is_err() && !gumdp_files::check(&path).is_empty());
                false
            }
        });
        let Ok(was_read) = outcome else { panic!("case {case} of {file}:\n{}", String::from_utf8_lossy(&bytes)) };
        read += u64::from(was_read);
        slowest = slowest.max((started.elapsed(), case));
    }
    std::fs::remove_dir_all(&folder).expect("the folder");
    println!("{read} of {cases} files were read; the slowest, case {}, took {:?}", slowest.1, slowest.0);
    assert!(read > cases / 50, "the mutations are too wild: {read} of {cases} files were read");
    assert!(slowest.0 < Duration::from_mins(1), "case {} took {:?}", slowest.1, slowest.0);
}
