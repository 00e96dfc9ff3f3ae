//! `report.html` in a real browser: Debian's Chromium, headless, where it is installed.

mod common;

use std::process::Command;

use common::{Ended, Sandbox};

/// Runs Chromium on a file of the sandbox; `None` if it is not installed.
fn chromium(sandbox: &Sandbox, options: &[&str], file: &str) -> Option<Ended> {
    let mut command = Command::new("chromium");
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--hide-scrollbars",
        "--enable-logging=stderr",
        "--window-size=1280,2400",
    ]);
    command.arg(format!("--user-data-dir={}", sandbox.path("profile").display()));
    command.args(options).arg(format!("file://{}", sandbox.path(file).display()));
    match command.output() {
        Ok(output) => Some(Ended {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("chromium is not installed: the report was not looked at in a browser");
            None
        }
        Err(error) => panic!("chromium: {error}"),
    }
}

/// Script errors and blocked resources: messages of the browser's console.
fn complaints(page: &Ended) -> Vec<&str> {
    page.stderr.lines().filter(|line| line.contains("CONSOLE")).collect()
}

#[test]
fn errors_of_a_page_are_noticed() {
    let sandbox = Sandbox::new();
    sandbox.write("wrong.html", "<!doctype html><title>wrong</title><script>missing();</script>");
    let Some(page) = chromium(&sandbox, &["--dump-dom"], "wrong.html") else { return };
    assert_eq!(complaints(&page).len(), 1, "{}", page.stderr);
}

/// A page whose scripts have run: headings, figures and tables are there, and nothing was complained about.
fn assert_complete(page: &Ended, headings: &[&str], figures: usize) {
    assert_eq!(page.code, Some(0), "{}", page.stderr);
    assert!(complaints(page).is_empty(), "{:#?}", complaints(page));
    let dom = &page.stdout;
    for heading in headings {
        assert!(dom.contains(&format!("<h2>{heading} <a class=\"anchor\"")), "no section {heading}");
    }
    assert_eq!(dom.matches("<figure id=").count(), figures);
    assert_eq!(dom.matches("<svg xmlns=").count(), figures, "a figure without its drawing");
    for part in ["NaN", "undefined", "Infinity"] {
        let shown = dom.split("<body>").nth(1).expect("a body");
        assert!(!shown.contains(part), "{part} in the page");
    }
    // What the script adds: a theme switch, buttons to sort and to save.
    assert!(dom.contains("<button type=\"button\" class=\"theme\">"), "no theme switch");
    assert!(dom.matches("<button type=\"button\" class=\"save\"").count() == figures);
    assert!(!dom.contains("hidden=\"\""), "a control stayed hidden");
    let headers = dom.matches("<th scope=").count();
    assert!(headers > 10);
    assert_eq!(dom.matches("<button").count(), 1 + figures + headers, "a column that cannot be sorted");
}

#[test]
fn the_report_of_reproduce_is_complete() {
    let sandbox = Sandbox::new();
    sandbox.data("reproduce rooms mdp msee grid-mo grid-il --runs 2 --out paper -q");
    let Some(page) = chromium(&sandbox, &["--dump-dom"], "paper/report.html") else { return };
    let drawings = sandbox.files("paper/figures").len();
    // One of each but the rooms compares the planners.
    assert_eq!(drawings, 3 + 2 + 2 + 4 + 4 + 4);
    let titles =
        ["rooms", "mdp", "msee", "grid-mo", "grid-il"].map(|name| gumdp_files::tasks::get(name).unwrap().title);
    let mut headings: Vec<&str> = titles.iter().map(String::as_str).collect();
    headings.extend(["The paper's numbers and ours", "The paper's settings and ours", "Run time", "Settings"]);
    assert_complete(&page, &headings, drawings);
    assert_pictured(&sandbox, "paper/report.html");
}

/// The command writes a complete report with these sections into `out`.
fn assert_report(arguments: &str, headings: &[&str]) {
    let sandbox = Sandbox::new();
    sandbox.data(&format!("{arguments} --out out -q"));
    let Some(page) = chromium(&sandbox, &["--dump-dom"], "out/report.html") else { return };
    assert_complete(&page, headings, sandbox.files("out/figures").len());
    assert_pictured(&sandbox, "out/report.html");
}

#[test]
fn the_report_of_run_is_complete() {
    assert_report("run grid-msee --runs 2 --simulations 20 --beta -inf,0,inf", &["Results", "Settings"]);
}

#[test]
fn the_report_of_compare_is_complete() {
    assert_report("compare grid-mo --runs 2 --simulations 20", &["Side by side", "Settings"]);
}

/// Screenshots in light and dark are more than blank paper, and differ.
fn assert_pictured(sandbox: &Sandbox, file: &str) {
    let picture = |name: &str, scheme: &str| {
        let shot = format!("--screenshot={}", sandbox.path(name).display());
        chromium(sandbox, &[&shot, &format!("--blink-settings=preferredColorScheme={scheme}")], file);
        std::fs::read(sandbox.path(name)).expect("a screenshot")
    };
    let (light, dark) = (picture("light.png", "1"), picture("dark.png", "0"));
    // Blank paper of this size takes some ten thousand bytes.
    assert!(light.len() > 60_000 && dark.len() > 60_000, "{} and {} bytes", light.len(), dark.len());
    assert!(light != dark, "the dark theme is the light one");
}
