//! What stands in files of others does nothing but be shown, and leads nowhere else.
#![cfg(unix)]

mod common;

use common::{COIN, Sandbox};

/// Coin with names that would colour a terminal, start a formula, be a link or an element.
fn hostile() -> String {
    let names = COIN
        .replace("\"heads\"", "\"\\u001b[31mred\\u009b\\u202e\"")
        .replace("heads =", "\"\\u001b[31mred\\u009b\\u202e\" =");
    let names = names.replace("\"toss\"", "\"=cmd()\"").replace("\"keep\"", "\"[a](https://evil.example)<b>\"");
    format!("title = \"\\u001b]0;owned\\u0007[x](https://evil.example)\"\n{names}")
}

fn is_plain(text: &str) -> bool {
    !text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}')
}

#[test]
fn names_do_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("n.toml", &hostile());
    for arguments in [
        "show n.toml",
        "check n.toml",
        "run n.toml --policy uniform --beta 1 --runs 3 --out out",
        "run n.toml --policy uniform --beta 1 --runs 3 --json",
        "replay out --run 0",
        "solve n.toml --beta 1",
        "plan n.toml --beta 1 --json --simulations 5",
        "explain n.toml --beta 1",
        "evaluate n.toml --policy nothing",
        "show \u{1b}[31m",
    ] {
        let ended = sandbox.gumdp(arguments);
        assert!(is_plain(&ended.stdout) && is_plain(&ended.stderr), "{arguments}: {ended:?}");
        assert!(!ended.stdout.is_empty() || ended.code == Some(2), "{arguments}: {ended:?}");
    }
    let table = sandbox.read("out/trajectories.csv");
    assert!(table.contains(",'=cmd()\n") && !table.contains(",=cmd"), "{table}");
    let page = sandbox.read("out/report.html");
    assert!(!page.contains("href=\"https://evil") && !page.contains("<b>\"") && !page.contains('\u{1b}'));
    // JSON still says what the names are.
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.data("plan n.toml --beta 1 --json --simulations 5 -q")).unwrap();
    assert!(json.to_string().contains("=cmd()"));
}

/// A name of several lines could look like a message of the program.
#[test]
fn names_are_one_line() {
    let sandbox = Sandbox::new();
    for (name, what) in [("heads", "state"), ("toss", "action")] {
        sandbox.write("n.toml", &COIN.replace(&format!("\"{name}\""), &format!("\"{name}\\nerror: none\"")));
        let ended = sandbox.gumdp("check n.toml");
        let told = format!("{what} name \"{name}\\nerror: none\" has a line break; a name is one line");
        assert!(ended.code == Some(2) && ended.stdout.contains(&told), "{ended:?}");
    }
    sandbox.write("t.toml", &format!("title = \"one\\ntwo\"\n{COIN}"));
    assert!(sandbox.data("show t.toml").starts_with("t: one two\n"));
}

#[test]
fn problem_files_read_their_own_folder() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("own")).unwrap();
    let model = "idstatefrom,idaction,idstateto,probability,reward\n0,0,0,1,1\n";
    sandbox.write("secret.csv", model);
    sandbox.write("own/model.csv", model);
    std::os::unix::fs::symlink("../secret.csv", sandbox.path("own/link.csv")).unwrap();
    std::os::unix::fs::symlink("model.csv", sandbox.path("own/inner.csv")).unwrap();
    let absolute = sandbox.path("secret.csv").display().to_string();
    for (file, inside) in [
        ("model.csv", true),
        ("inner.csv", true),
        ("../own/model.csv", true),
        ("../secret.csv", false),
        ("link.csv", false),
        ("../nothing.csv", false),
        (&*absolute, false),
    ] {
        sandbox.write("own/p.toml", &format!("kind = \"import\"\nfile = \"{file}\"\n"));
        for command in ["show own/p.toml -q", "check own/p.toml -q"] {
            let ended = sandbox.gumdp(command);
            let refused = ended.stdout.clone() + &ended.stderr;
            assert_eq!(refused.contains("leads out of the folder of the problem file"), !inside, "{file}: {refused}");
            let allowed = sandbox.gumdp(&format!("{command} --allow-files"));
            assert_eq!(allowed.code == Some(0), !file.contains("nothing"), "{file}: {allowed:?}");
        }
    }
}

#[test]
fn what_is_too_large_is_refused_at_once() {
    let sandbox = Sandbox::new();
    sandbox.write("large.toml", &format!("{COIN}# {}\n", "x".repeat(17 << 20)));
    let refused = sandbox.gumdp("check large.toml");
    assert!(
        refused.stdout.contains("17 MiB; at most 16 MiB of TOML are read") && refused.stdout.contains("CSV"),
        "{refused:?}"
    );
    let grid = |map: &str, legend: &str| {
        format!(
            "kind = \"grid\"\ndiscount = 0.9\nhorizon = 9\nmap = \"\"\"\n{map}\n\"\"\"\n[legend]\n{legend}\n[objective]\nkind = \"entropy\"\n"
        )
    };
    let wide = format!("S{}\n{}", ".".repeat(3199), vec![".".repeat(3200); 3199].join("\n"));
    sandbox.write("wide.toml", &grid(&wide, "S = \"start\"\n\".\" = \"floor\""));
    let refused = sandbox.gumdp("check wide.toml");
    assert!(
        refused.stdout.contains("more than 10000000 cells") && refused.stdout.contains("hint"),
        "{}",
        refused.stdout
    );
    for resources in [16, 24] {
        let symbols: Vec<char> = ('a'..='z').take(resources).collect();
        let legend: Vec<String> = symbols.iter().map(|c| format!("{c} = {{ resource = \"R{c}\" }}")).collect();
        let map = format!("S{}H\n{}", symbols.iter().collect::<String>(), ".".repeat(resources + 2));
        sandbox.write(
            "rich.toml",
            &grid(&map, &format!("S = \"start\"\nH = \"home\"\n\".\" = \"floor\"\n{}", legend.join("\n"))),
        );
        let refused = sandbox.gumdp("check rich.toml");
        assert!(refused.stdout.contains("each resource doubles the states"), "{}", refused.stdout);
    }
}
