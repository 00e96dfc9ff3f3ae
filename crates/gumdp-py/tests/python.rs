//! The Python package, installed and tested by `scripts/test-python`: so `cargo test` covers it too.
//!
//! Without a Python that can make virtual environments there is nothing to test. It is said, and no failure, unless
//! `GUMDP_REQUIRE_PYTHON=1` is set.

use std::env;
use std::path::Path;
use std::process::Command;

/// Exits with 0 only if this is Python 3.10 or later and can make virtual environments with pip.
const SUITABLE: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";

#[test]
fn the_python_package_passes_its_tests() {
    let python = env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let suitable = Command::new(&python).args(["-c", SUITABLE]).output().is_ok_and(|output| output.status.success());
    if !suitable {
        let message = format!("{} is no Python 3.10 or later with venv", python.display());
        assert!(env::var_os("GUMDP_REQUIRE_PYTHON").is_none_or(|value| value != "1"), "{message}");
        eprintln!("skipped: {message}");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut script = Command::new(root.join("scripts/test-python"));
    // Built before any test of the workspace runs. If only this package is tested, it may be older, or missing: then the script
    // builds it.
    let program = env::current_exe().ok().and_then(|test| Some(test.parent()?.parent()?.join("gumdp")));
    if let Some(program) = program.filter(|program| program.exists()) {
        script.env("GUMDP_COMMAND", program);
    }
    let output = script.output().expect("the script can be run");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "scripts/test-python failed\n{stdout}\n{stderr}");
}
