//! `gumdp studio`: the page is that of the sources, is written and opened, and works in a real browser (`studio/*.mjs`).

mod common;

use std::path::Path;
use std::process::Command;

use common::{COIN, Sandbox};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn the_page_is_not_stale() {
    let page = std::fs::read_to_string(Path::new(ROOT).join("crates/gumdp-cli/assets/studio.html")).expect("the page");
    let own = gumdp_web::fingerprint::of_tree(Path::new(ROOT)).expect("the sources");
    assert!(
        page.contains(&format!("content=\"{own}\"")),
        "crates/gumdp-cli/assets/studio.html was built from other sources: run scripts/studio"
    );
}

#[test]
fn the_module_is_small() {
    let page = std::fs::read_to_string(Path::new(ROOT).join("crates/gumdp-cli/assets/studio.html")).expect("the page");
    let module = page.split("id=\"module\">").nth(1).and_then(|rest| rest.split('<').next()).expect("the module");
    let compressed = module.trim().len() / 4 * 3;
    assert!((100_000..2_000_000).contains(&compressed), "{compressed} bytes");
}

#[test]
fn the_page_is_written_with_a_problem() {
    let sandbox = Sandbox::new();
    sandbox.write("coin.toml", &format!("# </script> ends nothing\n{COIN}"));
    let ended = sandbox.gumdp("studio coin.toml --out coin.html");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""));
    assert_eq!(ended.stderr, "the studio is in coin.html\n");
    let page = sandbox.read("coin.html");
    let line = page.lines().find(|line| line.contains("id=\"problem\"")).expect("the place of the problem");
    assert!(line.contains(r#""file":"coin.toml""#) && line.contains(r"\u003c/script>"), "{line}");
    let ended = sandbox.gumdp("studio nonsense --out x.html");
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
}

/// A folder with nothing but a program that says what it was asked to open.
#[cfg(target_os = "linux")]
#[test]
fn the_page_is_opened() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("bin")).unwrap();
    let with_path = |path: &Path| {
        let mut command = sandbox.command("studio rooms");
        command.env("PATH", path).env("TMPDIR", sandbox.path("")).output().expect("the program starts")
    };
    let ended = with_path(&sandbox.path("nowhere"));
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(ended.status.success() && told.starts_with("no browser could be opened; open this file"), "{told}");
    let file = told.rsplit(": ").next().unwrap().trim();
    assert!(std::fs::read_to_string(file).unwrap().contains("rooms.toml"));

    sandbox.write("bin/xdg-open", &format!("#!/bin/sh\necho \"$1\" > {}\n", sandbox.path("asked").display()));
    std::fs::set_permissions(sandbox.path("bin/xdg-open"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let ended = with_path(&sandbox.path("bin"));
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(ended.status.success() && told.starts_with("opened "), "{told}");
    assert_eq!(sandbox.read("asked").trim(), told.trim_start_matches("opened ").trim());
}

/// Everything a person does on the page, in Chromium driven by Playwright. Skipped where they are not installed, unless
/// `GUMDP_REQUIRE_BROWSER` is set; `.ci/run` installs them.
#[test]
fn the_page_works_in_a_browser() {
    let tools = Path::new(ROOT).join("target/studio/node_modules");
    let has = |name: &str| tools.join(name).is_dir();
    let installed =
        has("playwright-core") && has("axe-core") && Command::new("chromium").arg("--version").output().is_ok();
    if !installed {
        let missing = "chromium, playwright-core or axe-core is not installed";
        assert!(std::env::var_os("GUMDP_REQUIRE_BROWSER").is_none(), "{missing}");
        eprintln!("{missing}: the studio was not looked at in a browser");
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.data("studio -q --out studio.html");
    sandbox.data("studio grid-mo -q --out with-problem.html");
    let script = Path::new(ROOT).join("crates/gumdp-cli/tests/studio/main.mjs");
    let ended = Command::new("node")
        .arg(script)
        .arg(sandbox.path(""))
        .arg(env!("CARGO_BIN_EXE_gumdp"))
        .arg(tools)
        .output()
        .expect("node starts");
    let (told, complained) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    eprintln!("{told}");
    assert!(ended.status.success(), "{told}\n{complained}");
}
