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
    let drawn = |class: &str| dom.matches(&format!("<div class=\"drawing{class}\">\n<svg xmlns=")).count();
    assert_eq!(drawn("") + drawn(" wide"), figures, "a figure without its drawing");
    assert_eq!(drawn(" wide"), drawn(" narrow"), "a wide figure without a narrow one");
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
    // One of each but the rooms compares the planners; six figures of the paper.
    assert_eq!(drawings, 3 + 2 + 2 + 4 + 4 + 4 + 6);
    // Parts of the paper's figures are not shown again: of the grids the map and the visits are not in it.
    let shown = 6 + 4 + 2 + 2;
    let titles =
        ["rooms", "mdp", "msee", "grid-mo", "grid-il"].map(|name| gumdp_files::tasks::get(name).unwrap().title);
    let mut headings: Vec<&str> = titles.iter().map(String::as_str).collect();
    headings.extend(["The paper's numbers and ours", "The paper's figures", "The paper's settings and ours"]);
    headings.extend(["Run time", "Settings"]);
    assert_complete(&page, &headings, shown);
    assert_pictured(&sandbox, "paper/report.html");
    assert_fits(&sandbox, "paper/report.html");
}

/// The command writes a complete report with these sections into `out`.
fn assert_report(arguments: &str, headings: &[&str]) {
    let sandbox = Sandbox::new();
    sandbox.data(&format!("{arguments} --out out -q"));
    let Some(page) = chromium(&sandbox, &["--dump-dom"], "out/report.html") else { return };
    assert_complete(&page, headings, sandbox.files("out/figures").len());
    assert!(page.stdout.matches("<section class=\"view\">").count() > 2, "no views");
    assert_pictured(&sandbox, "out/report.html");
    assert_fits(&sandbox, "out/report.html");
}

/// The page after a script was run in it, as if a reader had done that.
fn after(sandbox: &Sandbox, file: &str, script: &str, options: &[&str]) -> Option<Ended> {
    let page = std::fs::read_to_string(sandbox.path(file)).expect("a page");
    let changed = page.replace("</body>", &format!("<script type=\"module\">\n{script}\n</script>\n</body>"));
    sandbox.write("changed.html", &changed);
    let page = chromium(sandbox, &[options, &["--dump-dom"]].concat(), "changed.html")?;
    assert!(complaints(&page).is_empty(), "{:#?}", complaints(&page));
    Some(page)
}

/// On a telephone nothing is wider than the screen but tables and code, which scroll, and no text of a figure is tiny.
fn assert_fits(sandbox: &Sandbox, file: &str) {
    // Windows are not narrower than 500 pixels, pages are.
    let script = "document.documentElement.style.width = '390px';
        await new Promise((drawn) => setTimeout(drawn, 300));
        const wide = [...document.querySelectorAll('.drawing, .views, .view svg, h1, p, dl')]
          .filter((node) => node.getBoundingClientRect().right > 391 || (node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 0));
        const scale = ({ a, b }) => Math.hypot(a, b);
        const small = [...document.querySelectorAll('.drawing text')].filter((text) => text.getBoundingClientRect().width > 0)
          .filter((text) => scale(text.getScreenCTM()) * parseFloat(text.getAttribute('font-size')) < 6.5);
        document.title = `${wide.length} too wide, ${small.length} too small: `
          + [...wide, ...small].map((node) => node.outerHTML.slice(0, 200)).join(' ');";
    let Some(page) = after(sandbox, file, script, &["--window-size=500,1200", "--virtual-time-budget=2000"]) else {
        return;
    };
    let title = page.stdout.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next()).expect("a title");
    assert_eq!(title, "0 too wide, 0 too small: ");
}

#[test]
fn the_slider_of_a_frontier_moves_all_views() {
    let sandbox = Sandbox::new();
    sandbox.data("frontier rooms --levels 0,5,50 --patience 0 --out out -q");
    let file = "out/report.html";
    let Some(page) = chromium(&sandbox, &["--dump-dom"], file) else { return };
    assert_complete(&page, &["What to choose between", "All levels", "The task"], sandbox.files("out/figures").len());
    let shown = |page: &Ended| {
        let part = page.stdout.split("<div class=\"grid\">").nth(1).expect("views");
        part.split("</section>\n").next().unwrap_or_default().to_owned()
    };
    let move_to = |level: usize| {
        let script = format!(
            "const slider = document.querySelector('.views input[type=range]'); slider.value = {level};
             slider.dispatchEvent(new Event('input'));"
        );
        after(&sandbox, file, &script, &[]).expect("chromium")
    };
    let [mean, careful] = [0, 2].map(move_to);
    assert!(mean.stdout.contains("aria-valuetext=\"β = 0\"") && careful.stdout.contains("aria-valuetext=\"β = 50\""));
    assert_ne!(shown(&mean), shown(&careful));
    assert_fits(&sandbox, file);
}

/// Where all possible runs are known, what is drawn beside the numbers does not follow the few that were played.
#[test]
fn lines_in_a_plot_stand_where_the_exact_numbers_say() {
    let sandbox = Sandbox::new();
    sandbox.data("run rooms --runs 3 --beta 0 --out out -q");
    let page = sandbox.read("out/report.html");
    let data = page.split("<script type=\"application/json\">").nth(1).and_then(|rest| rest.split("</script>").next());
    let data: serde_json::Value = serde_json::from_str(data.expect("data")).expect("JSON");
    let solved: serde_json::Value =
        serde_json::from_str(&sandbox.data("solve rooms --risk mean --json -q")).expect("JSON");
    let [drawn, exact] = [&data["behaviours"][0]["mean"], &solved["mean"]].map(|mean| mean.as_f64().expect("a mean"));
    assert!((drawn - exact).abs() < 1e-12, "{drawn} and {exact}");
}

#[test]
fn a_run_can_be_replayed_in_a_page() {
    let sandbox = Sandbox::new();
    sandbox.data("run rooms --runs 2 --beta 5 --out out -q");
    let text = sandbox.data("replay out --run 1");
    sandbox.data("replay out --run 1 --html episode.html -q");
    let script =
        "const next = document.querySelector('button[aria-label=\"Step forward\"]'); next.click(); next.click();";
    let Some(page) = after(&sandbox, "episode.html", script, &[]) else { return };
    let line = text.lines().find(|line| line.starts_with("t = 2 ")).expect("a step");
    let words: Vec<&str> = line.split_whitespace().collect();
    let (place, action) = (words[3], words[5]);
    let told = format!("t = 2: in {place}, the choice is {action}.");
    assert!(page.stdout.contains(&told), "{told}");
    assert!(page.stdout.contains("class=\"agent\""), "nobody is seen");
    assert_fits(&sandbox, "episode.html");
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
