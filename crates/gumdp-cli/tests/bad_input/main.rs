//! What a person can get wrong, each with the exact message and exit code 2; and failures that are not the person's, with
//! exit code 1 and earlier files intact.

#[path = "../common/mod.rs"]
mod common;
mod folders;

use common::{COIN, Ended, Sandbox};

/// The command is refused with exactly this on stderr, nothing on stdout, and exit code 2.
#[track_caller]
fn refused_in(sandbox: &Sandbox, arguments: &str, stderr: &str) {
    let expected = Ended { code: Some(2), stdout: String::new(), stderr: format!("{stderr}\n") };
    assert_eq!(sandbox.gumdp(arguments), expected, "gumdp {arguments}");
}

#[track_caller]
fn refused(arguments: &str, stderr: &str) {
    refused_in(&Sandbox::new(), arguments, stderr);
}

/// The message of the command line's own checks.
#[track_caller]
fn refused_value(arguments: &str, message: &str) {
    refused(arguments, &format!("error: invalid value {message}\n\nFor more information, try '--help'."));
}

/// The commands whose help has such a line.
fn commands_with(wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let helps = Sandbox::new().helps().into_iter();
    let named: Vec<String> = helps.filter(|(_, help)| help.lines().any(&wanted)).map(|(command, _)| command).collect();
    assert!(named.len() > 6, "{named:?}");
    named
}

#[test]
fn an_unknown_task_gets_the_nearest_name() {
    for command in commands_with(|line| line.starts_with("Usage: ") && line.ends_with(" <TASK>")) {
        let policy = if command == "evaluate" { " --policy uniform" } else { "" };
        refused(
            &format!("{command} mpd{policy}"),
            "error: unknown task \"mpd\"\nhint: did you mean \"mdp\"? `gumdp list` shows all tasks",
        );
    }
    refused(
        "run grid-mse",
        "error: unknown task \"grid-mse\"\nhint: did you mean \"grid-msee\"? `gumdp list` shows all tasks",
    );
    refused(
        "run something",
        "error: unknown task \"something\"\nhint: `gumdp list` shows all tasks; a problem file is named by its path, such as ./mine.toml",
    );
}

#[test]
fn a_risk_measure_out_of_range_is_named() {
    for command in commands_with(|line| line.trim_start().starts_with("--risk <MEASURE")) {
        let arguments = format!("{command} rooms --risk cvar:95");
        let ended = Sandbox::new().gumdp(&arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{arguments}");
        assert!(ended.stderr.contains("cvar:95: level is 95, but must lie in [0, 1]"), "{}", ended.stderr);
        let both = Sandbox::new().gumdp(&format!("{command} rooms --risk mean --beta 1"));
        assert!(both.code == Some(2) && both.stderr.contains("cannot be used with"), "{}", both.stderr);
    }
    refused_value(
        "evaluate rooms --policy pi1 --risk mean,cva:0.5",
        "'cva:0.5' for '--risk <MEASURE,…>': \"cva:0.5\" is no risk measure; allowed are mean, worst, best, erm:BETA, entropic-seeking:BETA, cvar:LEVEL, evar:LEVEL, mean-cvar:LEVEL:WEIGHT, exceed:COST or var:LEVEL, such as cvar:0.95",
    );
    refused(
        "solve rooms",
        "error: the attitude to risk is missing\nhint: give --beta B or --risk MEASURE, such as --beta 5 or --risk cvar:0.95",
    );
}

#[test]
fn trials_are_counted_and_have_no_risk() {
    for wrong in ["0", "-1", "1.5", "abc", "1e3", "nan", "-inf", "1000000001"] {
        let message = "it must be a whole number in [1, 1000000000], or inf";
        refused_value(&format!("solve msee --trials {wrong}"), &format!("'{wrong}' for '--trials <K>': {message}"));
        refused_value(
            &format!("evaluate rooms --policy pi1 --trials {wrong}"),
            &format!("'{wrong}' for '--trials <K,…>': {message}"),
        );
    }
    let hint = "hint: the occupancies of several trials are averaged before the objective is taken; leave out --beta or --risk";
    for (command, risk, named) in [
        ("solve msee", "--risk cvar:0.9", "cvar:0.9"),
        ("solve msee", "--beta 5", "erm:5"),
        ("evaluate rooms --policy pi1", "--risk worst", "worst"),
        ("evaluate rooms --policy pi1", "--beta 0,1", "erm:1"),
    ] {
        refused(
            &format!("{command} --trials inf {risk}"),
            &format!("error: --trials goes with the mean only, not with {named}\n{hint}"),
        );
    }
    refused(
        "solve msee --trials 5",
        "error: solve knows --trials 1 and inf, not 5\nhint: gumdp evaluate TASK --policy P --trials 5 computes the mean for a policy",
    );
    refused(
        "solve mo-min --trials inf",
        "error: mo-min: the objective is not known to be convex; f(E d) is minimised for convex objectives only\nhint: gumdp solve TASK --beta 0 minimises the mean cost of an episode, for any objective",
    );
    refused(
        "evaluate il --policy uniform --trials 100 --runs 150",
        "error: 150 episodes are fewer than two groups of 100 trials; at least 200 are needed\nhint: raise --runs",
    );
}

#[test]
fn levels_of_a_frontier_have_a_range() {
    let hint = "hint: 0 is the mean, 0.95 looks at the worst 5 %, 1 is the worst case";
    for (arguments, level, measure) in
        [("cvar --levels 0,95", "95", "cvar"), ("evar --levels=-0.5,0.5", "-0.5", "evar")]
    {
        refused(
            &format!("frontier rooms --risk {arguments}"),
            &format!("error: --levels: {level} is not a level of {measure}; it must lie in [0, 1]\n{hint}"),
        );
    }
    refused(
        "frontier rooms --levels 5,5",
        "error: --levels holds only 5; at least two different levels are needed\nhint: for one level: gumdp solve",
    );
    refused_value("frontier rooms --levels 1,x", "'x' for '--levels <L,…>': it must be a number in [-inf, inf]");
}

#[test]
fn a_file_that_is_missing_or_a_folder() {
    refused("run mine.toml", "error: mine.toml: there is no such file");
    refused("solve ./mine --beta 1", "error: ./mine: there is no such file");
    refused("show ./", "error: ./: this is a folder; name a problem file");
}

#[test]
fn mistakes_in_a_file_have_their_place() {
    let sandbox = Sandbox::new();
    let wrong = |old: &str, new: &str, stderr: &str| {
        assert!(COIN.contains(old));
        sandbox.write("coin.toml", &COIN.replacen(old, new, 1));
        refused_in(&sandbox, "run coin.toml", stderr);
    };
    wrong("discount = 0.9", "discount = = 0.9", "error: coin.toml:5:12: not valid TOML: extra `=`, expected nothing");
    wrong(
        "horizon = 5",
        "horizn = 5",
        "error: coin.toml:6:1: unknown field \"horizn\"\nhint: did you mean \"horizon\"?",
    );
    wrong(
        "tails = 0.5",
        "tails = 0.4",
        "error: coin.toml:8:3: state \"heads\", action \"toss\": the probabilities sum to 0.9; they must sum to 1 within 1e-9 (and 1 more like it)\nhint: 0.1 is missing to 1",
    );
    wrong(
        "[-inf, 0, inf]",
        "[nan]",
        "error: coin.toml:16:9: experiment.beta[0] is NaN; it must be a number (inf is the worst case)",
    );
    wrong("runs = 4", "runs = 0", "error: coin.toml:17:8: experiment.runs is 0; it must lie in [1, 1000000000]");
}

#[test]
fn beta_may_be_any_number_but_nan() {
    for (command, value) in [
        ("run mdp --beta NaN", "<B,…>"),
        ("compare mdp -b nan", "<B,…>"),
        ("solve mdp -b nan", "<B>"),
        ("plan mdp --beta=-nan", "<B>"),
    ] {
        let given = command.rsplit([' ', '=']).next().unwrap();
        refused_value(command, &format!("'{given}' for '--beta {value}': it must be a number in [-inf, inf]"));
    }
    refused_value("run mdp --beta 1,x", "'x' for '--beta <B,…>': it must be a number in [-inf, inf]");
    let sandbox = Sandbox::new();
    for beta in ["-1", "-inf", "inf", "-0", "0"] {
        sandbox.data(&format!("solve mdp --beta {beta}"));
        sandbox.data(&format!("run mdp --beta {beta} --runs 1 --simulations 1 --json"));
        sandbox.data(&format!("plan mdp --beta {beta} --simulations 1"));
    }
}

/// Options that take any text: names, files and folders.
const FREE: [&str; 10] = [
    "--html",
    "--out",
    "--partition",
    "--save",
    "--svg",
    "--state",
    "--task",
    "evaluate --policy",
    "replay --preset",
    "sweep --time",
];

#[test]
fn every_option_says_what_is_wrong_with_its_value() {
    let sandbox = Sandbox::new();
    let mut looked_at = 0;
    for (command, help) in sandbox.helps() {
        let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
        let with_value = lines.filter_map(|line| line.split("--").nth(1)?.split('>').next()?.split_once(" <"));
        for (option, value) in with_value {
            let (option, of_command) = (format!("--{option}"), format!("{command} --{option}"));
            if FREE.contains(&option.as_str()) || FREE.contains(&of_command.as_str()) {
                continue;
            }
            looked_at += 1;
            let ended = sandbox.gumdp(&format!("{of_command}=nonsense"));
            assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{of_command}");
            let message = format!("error: invalid value 'nonsense' for '{option} <{value}>'");
            assert!(ended.stderr.starts_with(&message), "{of_command}: {}", ended.stderr);
        }
    }
    assert!(looked_at > 60, "{looked_at}");
}

#[test]
fn numbers_out_of_range() {
    let whole = "it must be a whole number in";
    for command in ["run mdp", "compare mdp", "reproduce"] {
        refused_value(&format!("{command} --runs 0"), &format!("'0' for '--runs <N>': {whole} [1, 1000000000]"));
        refused_value(&format!("{command} --threads 0"), &format!("'0' for '--threads <T>': {whole} [1, 1024]"));
        refused_value(&format!("{command} --seed=-1"), &format!("'-1' for '--seed <S>': {whole} [0, {}]", u64::MAX));
    }
    // A negative number is a value, not an option.
    for (command, option, range) in [
        ("run mdp", "--runs", "'--runs <N>': it must be a whole number in [1, 1000000000]"),
        ("run mdp", "--precision", "'--precision <P>': it must be a positive number, half the width of the interval"),
        ("explain mdp --beta 1", "--depth", "'--depth <D>': it must be a whole number in [0, 100]"),
        ("evaluate mdp --policy uniform", "--threads", "'--threads <T>': it must be a whole number in [1, 1024]"),
    ] {
        refused_value(&format!("{command} {option} -1"), &format!("'-1' for {range}"));
    }
    refused_value("run mdp --runs 1e3", &format!("'1e3' for '--runs <N>': {whole} [1, 1000000000]"));
    for command in ["run mdp", "compare mdp", "plan mdp --beta 1"] {
        let most = gumdp::MAX_SIMULATIONS;
        for value in ["0".to_owned(), (most + 1).to_string()] {
            refused_value(
                &format!("{command} --simulations {value}"),
                &format!("'{value}' for '--simulations <n>': {whole} [1, {most}]"),
            );
        }
    }
    for command in ["solve mdp --beta 1", "run mdp", "compare mdp", "plan mdp --beta 1"] {
        refused_value(
            &format!("{command} --max-states 0"),
            &format!("'0' for '--max-states <N>': {whole} [1, {}]", u64::MAX),
        );
    }
    for time in ["50", "0s", "-1s", "2d", "NaNs"] {
        refused_value(
            &format!("plan mdp --beta 1 --time-limit={time}"),
            &format!(
                "'{time}' for '--time-limit <TIME>': it must be a time such as 50ms, 1.5s or 5m, more than 0 and at most one day"
            ),
        );
    }
}

#[test]
fn an_unknown_state_gets_the_known_ones() {
    refused(
        "plan mdp --beta 1 --state s9",
        "error: unknown state \"s9\" of task mdp\nhint: its states are s0, s1, s2, s3",
    );
    refused(
        "plan grid-mo --beta 1 --state (9,9)",
        "error: unknown state \"(9,9)\" of task grid-mo\n\
         hint: its states are start, (0,0), (0,1), (0,2), (0,3), (0,4), (1,0), (1,1), … (107 in all)",
    );
}

#[test]
fn an_unknown_figure_gets_the_known_ones() {
    refused(
        "reproduce mdp fig7",
        "error: unknown figure \"fig7\"\n\
         hint: the figures are rooms, mdp, msee, il, mo-weighted, mo-max, mo-min, grid-msee, grid-il, grid-mo",
    );
}

#[test]
fn policies_that_do_not_fit() {
    for (command, policy) in [("run mdp", "uniform"), ("run mdp", "auto"), ("plan mdp --beta 1", "exact")] {
        refused(
            &format!("{command} --preset paper --policy {policy}"),
            &format!(
                "error: --preset paper means --policy planner and does not go with --policy {policy}\n\
                 hint: leave out --preset or --policy"
            ),
        );
    }
    refused(
        "plan mdp --beta 1 --time-limit 1s --policy auto",
        "error: --time-limit means --policy planner and does not go with --policy auto\n\
         hint: leave out --time-limit or --policy",
    );
    refused(
        "plan mdp --beta 1 --policy uniform",
        "error: --policy uniform has no reasons to show\nhint: leave out --policy",
    );
    for command in ["run msee", "plan msee --beta 1"] {
        refused(
            &format!("{command} --policy backward-induction"),
            "error: backward induction needs a linear objective; that of msee is not\n\
             hint: --policy exact solves any objective whose problem is small enough",
        );
    }
    refused(
        "run mdp --policy greedy",
        "error: invalid value 'greedy' for '--policy <POLICY>'\n  [possible values: auto, planner, uniform, exact, backward-induction]\n\n\
         For more information, try '--help'.",
    );
}

#[test]
fn a_problem_too_large_to_solve_is_refused_soon() {
    let started = std::time::Instant::now();
    let refused_states = |arguments: &str, states: &str, limit: u64| {
        refused(
            arguments,
            &format!(
                "error: grid-msee is too large to be solved exactly: about {states} occupancy states, at most {limit} are \
                 allowed; shorten the horizon, or plan instead: gumdp run with --policy planner"
            ),
        );
    };
    // A single decision is solved from its actions' outcomes on.
    for (command, states) in [("solve", "4.9e23"), ("run --policy exact", "4.9e23"), ("plan --policy exact", "4.5e23")]
    {
        refused_states(&format!("{command} grid-msee --beta 1"), states, 50_000_000);
    }
    refused_states("run grid-msee --beta 1 --policy exact --max-states 1000000", "5.0e21", 1_000_000);
    // Five seconds each, on a machine that does nothing else.
    assert!(started.elapsed().as_secs() < 30);
}

/// The formula passes all samples and breaks after two of seven steps: whoever meets that stops, and says so.
#[test]
fn a_formula_that_breaks_stops_whoever_meets_it() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "breaks.toml",
        "kind = \"explicit\"\nstates = [\"s\"]\nactions = [\"a\", \"b\"]\nstart = \"s\"\ndiscount = 1\nhorizon = 7\n\
         transitions = [{ from = \"s\", action = \"*\", to = \"s\" }]\n[objective]\nkind = \"formula\"\n\
         expression = \"1/(7*x - 2)\"\nfeatures.x = { \"s/a\" = 1 }\n",
    );
    let stderr = "error: breaks.toml:10:14: the formula \"1/(7*x - 2)\" is inf at the end of an episode with x = 0.285714; it must be \
                  finite\nhint: keep divisors, roots and logarithms away from 0: ln(x + 0.01), max(0, x)";
    sandbox.write("uniform.csv", "state,action,probability\ns,a,0.5\ns,b,0.5\n");
    for command in [
        "solve --beta 1",
        "solve --risk cvar:0.9",
        "plan --beta 1 --policy planner",
        "plan --beta 1 --preset paper",
        "run --runs 100",
        "run --runs 100 --policy planner",
        "run --runs 100 --preset paper",
        "run --runs 100 --policy uniform",
        "compare --runs 10",
        "explain --beta 1",
        "frontier",
        "evaluate --policy uniform.csv",
    ] {
        refused_in(&sandbox, &format!("--quiet {command} breaks.toml"), stderr);
    }
    // With a single simulation planners do not meet it at once: saved like that, they are played with more.
    for preset in ["--preset paper", "--policy planner"] {
        sandbox.data(&format!("--quiet plan breaks.toml --beta 1 {preset} --simulations 1 --save planner.json"));
        let saved = sandbox.read("planner.json");
        let more = saved.replace("\"simulations\":1,", "\"simulations\":200,");
        assert_ne!(saved, more);
        sandbox.write("planner.json", &more);
        refused_in(&sandbox, "--quiet evaluate breaks.toml --policy planner.json --runs 1", stderr);
    }
}

#[test]
fn mistakes_in_a_file_that_a_file_names() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "imitate.toml",
        "kind = \"explicit\"\nstates = [\"s\"]\nactions = [\"a\"]\nstart = \"s\"\ndiscount = 1\nhorizon = 7\n\
         transitions = [{ from = \"s\", action = \"*\", to = \"s\" }]\n[objective]\nkind = \"squared-distance\"\n\
         target = { file = \"demo.csv\" }\n",
    );
    let missing = "error: imitate.toml:10:19: objective.target.file is \"demo.csv\": demo.csv: there is no such file";
    refused_in(&sandbox, "show imitate.toml", missing);
    sandbox.write("demo.csv", "state,action\ns,a\ns,b\n");
    refused_in(&sandbox, "show imitate.toml", "error: demo.csv:3:3: unknown action \"b\"\nhint: the actions are \"a\"");
    sandbox.write("demo.csv", "state,action\ns,a\n");
    assert_eq!(sandbox.gumdp("show imitate.toml").code, Some(0));
}
