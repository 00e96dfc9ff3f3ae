//! Every command as a person sees it: stdout, stderr and exit code, as snapshots under `snapshots/`.
//!
//! After a wanted change: `INSTA_UPDATE=always cargo test -p gumdp-cli --test commands`, then read the difference.

mod common;

use common::{COIN, Ended, Sandbox};

/// Compares a command with its snapshot; times and the last digits of numbers are left out.
fn snapshot(name: &str, arguments: &str, ended: &Ended) {
    let Ended { code, stdout, stderr } = ended;
    let code = code.map_or_else(|| "killed".to_owned(), |code| code.to_string());
    let text = format!("$ gumdp {arguments}\nexit code {code}\n--- stdout\n{stdout}--- stderr\n{stderr}");
    insta::with_settings!({
        prepend_module_to_snapshot => false,
        omit_expression => true,
        filters => vec![
            (r"(?m) in \d+\.\d+ s$", " in [time] s"),
            (r#""(cpu_seconds|seconds)": [0-9.e-]+"#, r#""$1": "[time]""#),
            (r"(?m)^( *\S+ .* (?:–|exact) .*?)(?: +\d+\.\d\d)+$", "$1  [time]"),
            (r"(\.\d{6})\d+", "$1"),
        ],
    }, { insta::assert_snapshot!(name, text) });
}

fn check(name: &str, arguments: &str) {
    snapshot(name, arguments, &Sandbox::new().gumdp(arguments));
}

#[test]
fn help_of_every_command_has_examples() {
    check("help", "--help");
    let readme = include_str!("../../../README.md");
    let helps = Sandbox::new().helps();
    assert!(helps.len() >= 16, "{helps:?}");
    for (command, help) in helps {
        assert!(help.contains("\nExample"), "{help}");
        assert!(help.contains(&format!("  gumdp {command}")), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 150), "{help}");
        let row = |line: &str| line.split(" | ").next().is_some_and(|names| names.contains(&format!("`{command}`")));
        assert!(readme.lines().any(|line| line.starts_with("| ") && row(line)), "the README has no row for {command}");
        check(&format!("help_{command}"), &format!("{command} --help"));
    }
}

/// What the help of a command says of JSON, for people; `schema.rs` has it for machines.
#[test]
fn examples_of_every_command_with_json_print_text_as_well() {
    // Those of sweeps have times in their text: `sweep.rs` looks at it.
    let timeless = |command: &str| !["sweep", "status"].contains(&command);
    for (command, help) in Sandbox::new().helps().into_iter().filter(|(command, _)| timeless(command)) {
        let sandbox = Sandbox::new();
        for (number, example) in sandbox.json_examples(&command, &help).into_iter().enumerate() {
            let arguments = format!("{example} --quiet");
            snapshot(&format!("example_{command}_{number}"), &arguments, &sandbox.gumdp(&arguments));
        }
    }
}

/// A sure cost of 1, or a coin between 0 and 1.8.
const LOTTERY: &str = r#"kind = "explicit"
states = ["start", "nothing", "sure", "much"]
actions = ["pay", "toss"]
start = "start"
discount = 1
horizon = 2
transitions = [
  { from = "start", action = "pay", to = "sure" },
  { from = "start", action = "toss", to = { nothing = 0.5, much = 0.5 } },
  { from = "nothing", action = "pay", to = "nothing" },
  { from = "sure", action = "pay", to = "sure" },
  { from = "much", action = "pay", to = "much" },
]
[objective]
kind = "linear"
cost = { sure = 2, much = 3.6 }
"#;

#[test]
fn frontier_says_where_behaviour_changes() {
    let sandbox = Sandbox::new();
    sandbox.write("lottery.toml", LOTTERY);
    for (name, arguments) in [
        ("frontier", "frontier lottery.toml"),
        ("frontier_cvar", "frontier lottery.toml --risk cvar --levels 0,0.05,0.5,1 --out cvar"),
        ("frontier_seeking", "frontier mdp --levels=-inf,-5,0,5,inf --patience 1h --out mdp"),
        ("frontier_sampled", "frontier rooms --max-states 100 --runs 30 --simulations 30 --levels 0,50 --out sampled"),
    ] {
        snapshot(name, arguments, &sandbox.gumdp(arguments));
    }
    let files = [
        "figures/lottery-boxes.svg",
        "figures/lottery-distributions.svg",
        "figures/lottery-levels.svg",
        "figures/lottery-task.svg",
        "figures/lottery-trade-off.svg",
        "frontier.csv",
        "frontier.json",
        "report.html",
    ];
    assert_eq!(sandbox.files("gumdp-out/frontier-lottery"), files);
    for figure in files.iter().filter(|file| file.starts_with("figures/")) {
        assert_well_formed(&sandbox.read(&format!("gumdp-out/frontier-lottery/{figure}")));
    }
}

#[test]
fn the_version_is_the_package_s() {
    assert_eq!(Sandbox::new().data("--version"), format!("gumdp {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn list() {
    check("list", "list");
    check("list_json", "list --json");
}

#[test]
fn show_describes_every_task() {
    for name in gumdp_files::tasks::NAMES {
        check(&format!("show_{name}"), &format!("show {name}"));
    }
}

#[test]
fn show_toml_is_the_embedded_file_and_can_be_used_as_one() {
    let sandbox = Sandbox::new();
    for name in gumdp_files::tasks::NAMES {
        assert_eq!(sandbox.data(&format!("show {name} --toml")), gumdp_files::tasks::source(name).unwrap());
    }
    sandbox.write("mine.toml", gumdp_files::tasks::source("rooms").unwrap());
    let [mine, rooms] = ["mine.toml", "rooms"].map(|task| sandbox.data(&format!("show {task}")));
    assert_eq!(mine.replacen("mine:", "rooms:", 1), rooms);
}

#[test]
fn show_svg_writes_a_well_formed_drawing() {
    let sandbox = Sandbox::new();
    for name in gumdp_files::tasks::NAMES {
        assert_eq!(sandbox.data(&format!("show {name} --svg new/{name}.svg")), "");
        assert_well_formed(&sandbox.read(&format!("new/{name}.svg")));
    }
}

/// Tags are closed in order and nothing stands outside the root. Attributes hold no `<` or `>`: they are escaped.
fn assert_well_formed(svg: &str) {
    assert!(
        svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"") && svg.trim_end().ends_with("</svg>")
    );
    let mut open = Vec::new();
    for piece in svg.split('<').skip(1) {
        let (tag, _) = piece.split_once('>').expect("a tag ends");
        let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn run_prints_a_table_and_writes_results() {
    let sandbox = Sandbox::new();
    let arguments = "run mdp --preset paper --runs 6 --simulations 50";
    snapshot("run", arguments, &sandbox.gumdp(arguments));
    let expected = [
        "figures/mdp-boxes.svg",
        "figures/mdp-task.svg",
        "manifest.json",
        "report.html",
        "samples.csv",
        "tasks/mdp.toml",
        "trajectories.csv",
    ];
    let files = sandbox.files("gumdp-out/mdp");
    assert_eq!(files.iter().filter(|name| !name.starts_with("runs/")).collect::<Vec<_>>(), expected);
    assert_eq!(files.iter().filter(|name| name.starts_with("runs/")).count(), 3);
    assert_well_formed(&sandbox.read("gumdp-out/mdp/figures/mdp-boxes.svg"));
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("run_samples_csv", sandbox.read("gumdp-out/mdp/samples.csv"));
    });
    assert!(
        sandbox
            .read("gumdp-out/mdp/trajectories.csv")
            .starts_with("task,beta,preset,run,time,state,action\nmdp,0.1,paper,0,0,s0,")
    );
    assert_eq!(sandbox.read("gumdp-out/mdp/trajectories.csv").lines().count(), 1 + 3 * 6 * 20);
}

#[test]
fn run_json_writes_nothing_unless_asked() {
    let sandbox = Sandbox::new();
    let arguments = "run mdp --preset paper --beta -1,inf --runs 4 --simulations 20 --seed 3 --json";
    let ended = sandbox.gumdp(arguments);
    snapshot("run_json", arguments, &ended);
    assert_eq!(ended.stderr, "");
    assert_eq!(sandbox.files("."), [""; 0]);
    let again = sandbox.gumdp(&format!("{arguments} --out there"));
    assert_eq!(without_times(&again.stdout), without_times(&ended.stdout));
    assert!(sandbox.files("there").contains(&"samples.csv".to_owned()));
}

fn without_times(json: &str) -> String {
    json.lines().filter(|line| !line.contains("seconds")).collect()
}

#[test]
fn run_with_every_policy() {
    check("run_auto", "run msee --beta 50 --runs 5 --quiet");
    check("run_auto_linear", "run mdp --beta 5 --runs 5 --quiet --max-states 80");
    check("run_auto_planning", "run il --beta 40 --runs 3 --simulations 20 --quiet");
    check("run_planner", "run mdp --policy planner --beta 5 --runs 3 --simulations 20 --quiet --max-states 79");
    check("run_uniform", "run rooms --policy uniform --beta 0,1 --runs 5 --quiet");
    check("run_exact", "run rooms --policy exact --beta 1,50 --runs 5 --quiet");
    check("run_backward_induction", "run mdp --policy backward-induction --beta 0,5 --runs 5 --quiet");
}

#[test]
fn compare() {
    let sandbox = Sandbox::new();
    let arguments = "compare msee --beta 0.1,50 --runs 4 --simulations 30";
    snapshot("compare", arguments, &sandbox.gumdp(arguments));
    let files = sandbox.files("gumdp-out/msee-compare");
    let expected = [
        "figures/msee-boxes.svg",
        "figures/msee-task.svg",
        "manifest.json",
        "report.html",
        "samples.csv",
        "tasks/msee.toml",
        "trajectories.csv",
    ];
    assert_eq!(files.iter().filter(|name| !name.starts_with("runs/")).collect::<Vec<_>>(), expected);
    assert_eq!(files.iter().filter(|name| name.starts_with("runs/")).count(), 4 * 2);
    assert_eq!(sandbox.read("gumdp-out/msee-compare/samples.csv").lines().count(), 1 + 4 * 2 * 4);
    let drawing = sandbox.read("gumdp-out/msee-compare/figures/msee-boxes.svg");
    assert_well_formed(&drawing);
    assert!(drawing.contains("exact optimum (risk)"));
    let first = sandbox.read("gumdp-out/msee-compare/report.html");
    std::fs::remove_file(sandbox.path("gumdp-out/msee-compare/report.html")).unwrap();
    sandbox.data("report gumdp-out/msee-compare -q");
    assert!(sandbox.read("gumdp-out/msee-compare/report.html") == first, "the report is another one");
    assert!(
        sandbox.data("replay gumdp-out/msee-compare --run 1 --preset exact").starts_with("msee, beta = 0.1, exact")
    );
    // Too large to be solved: three policies, no optimum; and nothing is written unless asked.
    let sandbox = Sandbox::new();
    check("compare_too_large", "compare il --beta 40 --runs 2 --simulations 10 --max-states 1000 --quiet");
    let arguments = "compare rooms --beta 10 --runs 2 --simulations 10 --seed 4 --json";
    snapshot("compare_json", arguments, &sandbox.gumdp(arguments));
    assert_eq!(sandbox.files("."), [""; 0]);
}

#[test]
fn run_plays_a_problem_file_with_its_own_settings() {
    let sandbox = Sandbox::new();
    sandbox.write("coin.toml", COIN);
    let arguments = "run coin.toml --preset paper";
    snapshot("run_file", arguments, &sandbox.gumdp(arguments));
}

#[test]
fn a_beta_given_twice_is_played_once() {
    let sandbox = Sandbox::new();
    let table = sandbox.data("run mdp --policy uniform --runs 2 --beta 1,0,1.0,-0 --quiet --out out");
    // Two lines of heading, an empty one and the header; after the rows an empty line, for each how far it is from the optimum, and the
    // note on precision.
    assert_eq!(table.lines().count(), 4 + 2 + 2 + 2, "{table}");
    assert_eq!(sandbox.read("out/samples.csv").lines().count(), 1 + 2 * 2);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let sandbox = Sandbox::new();
    for threads in [1, 2, 5] {
        sandbox.data(&format!(
            "run msee --runs 9 --policy planner --simulations 40 --threads {threads} --out t{threads} --quiet"
        ));
    }
    for file in ["samples.csv", "trajectories.csv"] {
        let [one, two, five] = [1, 2, 5].map(|threads| sandbox.read(&format!("t{threads}/{file}")));
        assert!(one == two && one == five, "{file}");
    }
}

#[test]
fn solve() {
    check("solve", "solve rooms --beta 10");
    check("solve_json", "solve rooms --beta 10 --json");
    check("solve_mean", "solve mdp --beta 0");
    check("solve_worst_case", "solve mdp --beta inf");
    check("solve_risk_seeking", "solve mdp --beta -1 --json");
}

#[test]
fn bound() {
    check("bound", "bound grid-il --beta 500");
    check("bound_solved", "bound rooms --beta 50");
}

#[test]
fn plan() {
    check("plan", "plan mdp --beta 5 --policy planner --simulations 200");
    check("plan_json", "plan mdp --beta -1 --preset paper --simulations 50 --seed 2 --json");
    check("plan_untried", "plan grid-mo --beta 8 --policy planner --simulations 2");
    check("plan_state", "plan msee --beta 50 --state s2 --policy planner --simulations 200");
    check("plan_auto", "plan msee --beta 50 --state s2");
    check("plan_auto_json", "plan mdp --beta -1 --json");
    check("plan_auto_planning", "plan il --beta 40 --simulations 30");
    check("plan_cvar", "plan grid-mo --risk cvar:0.9");
    check("plan_cvar_state", "plan msee --risk cvar:0.9 --state s2");
    check("plan_cvar_paper", "plan rooms --risk cvar:0.9 --preset paper --simulations 20");
    check("plan_evar_planner", "plan rooms --risk evar:0.9 --policy planner --simulations 100");
}

#[test]
fn plan_stops_in_time() {
    let text = Sandbox::new().data("plan msee --preset paper --beta 8 --time-limit 50ms");
    assert!(text.trim_end().ends_with("stopped by time limit"), "{text}");
}

#[test]
fn reproduce_report_and_replay() {
    let sandbox = Sandbox::new();
    let arguments = "reproduce mdp rooms --runs 2 --out paper";
    snapshot("reproduce", arguments, &sandbox.gumdp(arguments));
    let first = sandbox.read("paper/report.html");
    for figure in ["mdp-task", "mdp-boxes", "mdp-planners", "rooms-task", "rooms-distributions", "rooms-curve"] {
        assert_well_formed(&sandbox.read(&format!("paper/figures/{figure}.svg")));
    }
    // The paper's figures are in the page, and what is not a part of them.
    for figure in ["figure-1", "figure-2", "figure-3", "mdp-planners"] {
        assert_well_formed(&sandbox.read(&format!("paper/figures/{figure}.svg")));
        assert!(first.contains(&format!("data-name=\"{figure}.svg\"")), "{figure}");
    }
    std::fs::remove_file(sandbox.path("paper/report.html")).unwrap();
    std::fs::remove_dir_all(sandbox.path("paper/figures")).unwrap();
    snapshot("report", "report paper", &sandbox.gumdp("report paper"));
    assert!(sandbox.read("paper/report.html") == first, "the report is another one");
    assert_eq!(sandbox.files("paper/figures").len(), 6 + 3);

    snapshot("replay", "replay paper --run 1", &sandbox.gumdp("replay paper --run 1"));
    let arguments = "replay paper --run 0 --task mdp --beta 5 --preset backward-induction";
    snapshot("replay_chosen", arguments, &sandbox.gumdp(arguments));
}

#[test]
fn reproduce_can_leave_out_the_default_planner() {
    let sandbox = Sandbox::new();
    let table = sandbox.data("reproduce mdp mo-max --runs 2 --out both -q");
    assert!(table.contains("\nThe paper's settings and ours,"));
    assert!(sandbox.read("both/report.html").contains("<section id=\"planners\">"));
    // mdp is linear and has ERM-BI besides.
    assert_eq!(sandbox.read("both/samples.csv").lines().count(), 1 + (3 + 2) * 3 * 2);
    let table = sandbox.data("reproduce mdp mo-max --runs 2 --paper-only --out paper -q");
    assert!(!table.contains("The paper's settings and ours"));
    assert!(!sandbox.read("paper/report.html").contains("<section id=\"planners\">"));
    assert_eq!(sandbox.read("paper/samples.csv").lines().count(), 1 + (2 + 1) * 3 * 2);
    assert!(!sandbox.files("paper/figures").contains(&"mdp-planners.svg".to_owned()));
}

#[test]
fn replay_on_a_map() {
    let sandbox = Sandbox::new();
    sandbox.data("run grid-mo --policy uniform --beta 1 --runs 1 --out grid --quiet");
    snapshot("replay_map", "replay grid --run 0", &sandbox.gumdp("replay grid --run 0"));
}

#[test]
fn quiet_commands_say_nothing() {
    let sandbox = Sandbox::new();
    // `data` wants an empty stderr; without --quiet the place of the results is told.
    sandbox.data("run rooms --runs 2 --simulations 5 -q");
    sandbox.data("--quiet report gumdp-out/rooms");
    sandbox.data("reproduce mo-max --runs 1 -q");
    let ended = sandbox.gumdp("report gumdp-out/rooms");
    assert_eq!(ended.stderr, "figures and report.html are in gumdp-out/rooms\n");
    assert_eq!(ended.stdout, "");
}

#[test]
fn completions_know_every_command() {
    let helps = Sandbox::new().helps();
    for shell in ["bash", "zsh", "fish"] {
        let script = Sandbox::new().data(&format!("completions {shell}"));
        for word in helps.iter().map(|(command, _)| command.as_str()).chain(["max-states", "backward-induction"]) {
            assert!(script.contains(word), "{shell}: {word}");
        }
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("completions_{shell}"), script);
        });
    }
}

#[test]
fn evaluate_prints_every_measure() {
    check("evaluate", "evaluate rooms --policy pi1 --beta 0,50");
    check("evaluate_risk", "evaluate rooms --policy pi1 --risk mean-cvar:0.9:0.3,cvar:0.8,erm:5");
    check("evaluate_sampled", "evaluate msee --policy uniform --beta 25 --max-states 0 --runs 200 --seed 3");
}

#[test]
fn figures_have_the_formats_that_are_wanted() {
    let sandbox = Sandbox::new();
    sandbox.data("evaluate rooms --policy pi1 --beta 1 --out out --format pdf,png,pdf -q");
    let files: Vec<String> = sandbox.files("out").into_iter().filter(|file| file.starts_with("figures/")).collect();
    let names = ["rooms-distribution.pdf", "rooms-distribution.png", "rooms-task.pdf", "rooms-task.png"];
    assert_eq!(files, names.map(|name| format!("figures/{name}")));
    let begin = |name: &str| std::fs::read(sandbox.path(&format!("out/figures/{name}"))).unwrap()[..5].to_owned();
    assert_eq!((begin(names[0]), begin(names[1])), (b"%PDF-".to_vec(), b"\x89PNG\r".to_vec()));
    let refused = sandbox.gumdp("run rooms --runs 1 --format gif");
    assert!(refused.code == Some(2) && refused.stderr.contains("[possible values: svg, pdf, png]"), "{refused:?}");
}

#[test]
fn explain_prints_a_tree() {
    check("explain", "explain msee --beta 50 --depth 2");
    check("explain_mdp", "explain mdp --beta 0.1 --depth 2");
    check("explain_map", "explain grid-mo --beta 8 --nodes 8");
    check("explain_cvar", "explain grid-mo --risk cvar:0.9 --nodes 8");
    check("explain_evar", "explain mdp --risk evar:0.5 --depth 2");
    check("explain_cvar_planned", "explain il --risk cvar:0.9 --simulations 20 --runs 10 --depth 1");
    let sandbox = Sandbox::new();
    let ended = sandbox.gumdp("explain rooms --beta 50 --out why");
    snapshot("explain_out", "explain rooms --beta 50 --out why", &ended);
    assert_eq!(sandbox.files("why"), ["tree.html", "tree.json", "tree.svg", "tree.txt"]);
    assert_well_formed(&sandbox.read("why/tree.svg"));
    assert_eq!(sandbox.read("why/tree.txt"), ended.stdout);
    assert!(ended.stdout.lines().all(|line| line.chars().count() <= 100));
}
