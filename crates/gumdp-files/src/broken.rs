//! A formula that turned out to have no finite value: where it stands, and for which features it breaks.

use super::Task;
use super::document::{Table, Value, look_at};
use super::error::FileError;
use super::formula::AWAY_FROM_0;
use gumdp::rng::{self, Purpose};
use gumdp::words::rounded;
use gumdp::{BrokenFormula, Pair, Problem};

/// Steps of random episodes that are played to find where a formula breaks.
const STEPS: usize = 5_000_000;

/// What to say when a planner or a solver met a formula without a finite value: the place of the expression in the text of its
/// file, and the features of an episode for which it breaks, if one is found among random episodes. `None` if the task has
/// no formula.
///
/// ```
/// use gumdp_files::{broken_formula, Task};
/// let text = r#"
/// kind = "explicit"
/// states = ["a", "b"]
/// actions = ["go"]
/// start = "a"
/// discount = 1
/// horizon = 7
/// transitions = [{ from = "*", action = "go", to = { a = 0.5, b = 0.5 } }]
/// [objective]
/// kind = "formula"
/// expression = "1/(7*b - 2)"
/// features = { b = { b = 1 } }
/// "#;
/// let task = Task::parse("my.toml", text)?;
/// let error = broken_formula(&task, "my.toml", text).unwrap();
/// let expected = "my.toml:11:14: the formula \"1/(7*b - 2)\" is inf at the end of an episode with b = 0.285714; it must be finite";
/// assert_eq!(error.to_string(), expected);
/// # Ok::<(), gumdp_files::FileError>(())
/// ```
#[must_use]
pub fn broken_formula(task: &Task, file: &str, text: &str) -> Option<FileError> {
    let objective = task.problem.objective();
    let found = found(&task.problem);
    let expression = match &found {
        Some(found) => found.expression.clone(),
        None => objective.expressions().next()?.to_owned(),
    };
    let message = match &found {
        Some(BrokenFormula { value, inputs, .. }) => {
            let inputs: Vec<String> =
                inputs.iter().map(|(name, value)| format!("{name} = {}", rounded(*value))).collect();
            format!(
                "the formula \"{expression}\" is {value} at the end of an episode with {}; it must be finite",
                inputs.join(", ")
            )
        }
        None => format!("the formula \"{expression}\" is infinite or not a number at the end of an episode"),
    };
    let place = look_at(file, text, |root| Some(expression_of(root, &expression)?.span().start));
    let error = match place {
        Some(place) => FileError::at(file, text, place, message),
        None => FileError::unreadable(file, message),
    };
    Some(error.hint(AWAY_FROM_0))
}

/// Plays random episodes until a formula breaks.
fn found(problem: &Problem) -> Option<BrokenFormula> {
    let mdp = problem.mdp();
    let mut rng = rng::stream(0, 0, Purpose::Generation);
    for _ in 0..STEPS.div_ceil(problem.horizon()) {
        let mut at = problem.start(mdp.sample_initial(&mut rng));
        while at.time < problem.horizon() {
            let pairs = mdp.pairs(at.state);
            let pair = Pair(pairs.start + rng::below(&mut rng, pairs.len() as u32));
            problem.advance(&mut at, pair, mdp.sample(pair, &mut rng));
        }
        if !problem.cost(&at).is_finite()
            && let Some(broken) = problem.objective().broken_formula(&at.features)
        {
            return Some(broken);
        }
    }
    None
}

/// The expression of the objective, or of one of its terms.
fn expression_of<'a>(table: Table<'a>, expression: &str) -> Option<Value<'a>> {
    let objective = table.get("objective")?.table()?;
    let terms = objective.get("terms").and_then(Value::list).unwrap_or_default();
    let tables = std::iter::once(objective).chain(terms.into_iter().filter_map(Value::table));
    let mut expressions = tables.filter_map(|table| table.get("expression"));
    expressions.find(|value| value.as_text().is_some_and(|text| text.trim() == expression))
}
