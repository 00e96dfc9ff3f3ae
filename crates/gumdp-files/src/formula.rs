//! Costs with names (`[objective.features]`), formulas of them, and limits on them.

use super::document::{Table, Value, shortened};
use super::error::did_you_mean;
use super::mistakes::{Mistake, every};
use super::objective::Reader;
use gumdp::kinds::{Holds, Kind};
use gumdp::{Mdp, Objective, ObjectiveError, Pair};

/// What other languages have and formulas lack: similar names would be a misleading hint.
const ELSEWHERE: [&str; 22] = [
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "log", "log2", "log10", "pow", "inf",
    "infinity", "nan", "pi", "floor", "ceil", "round", "sign", "cbrt",
];

/// Parts of a formula that are no total costs; what they need stands in parentheses.
fn built_in() -> Vec<&'static str> {
    Kind::all().filter_map(|kind| kind.call).collect()
}

impl<'a> Reader<'a> {
    /// Takes note of the costs with names: those of the model, and `features` of the objective.
    pub(super) fn read_features(&mut self, objective: Table) -> Option<()> {
        self.features.extend(self.world.costs.iter().map(|(name, cost)| (name.clone(), Some(cost.clone()))));
        for (key, value) in objective.get("features").map_or(Some(Vec::new()), Value::entries)? {
            let name = key.text;
            if self.features.contains_key(name) || is_reserved(name) {
                let message = format!("the feature \"{name}\" needs another name; this one has a meaning");
                key.error(message).tell::<()>();
            } else if !is_proper(name) {
                let name = shortened(name);
                let message = format!("the feature \"{name}\" needs a name of letters, digits and _, a letter first");
                key.error(message).tell::<()>();
            }
            let cost = self.cost(value);
            self.features.insert(name.to_owned(), cost);
        }
        Some(())
    }

    /// Whether there may be features that could not be read.
    fn lacks_features(&self) -> bool {
        self.world.doubts.costs || self.features_broken
    }

    /// The feature that a text names.
    pub(super) fn feature(&self, value: Value) -> Option<Vec<f64>> {
        let name = value.text()?;
        if let Some(cost) = self.features.get(name) {
            return cost.clone();
        }
        if self.lacks_features() {
            return None;
        }
        let names = self.features.keys().map(String::as_str);
        let hint = did_you_mean(name, names).unwrap_or_else(|| {
            let names: Vec<String> = self.features.keys().map(|name| format!("\"{}\"", shortened(name))).collect();
            match &names[..] {
                [] => "features are defined in [objective.features]; a cost can also be a table such as { s0 = 1 }"
                    .to_owned(),
                names => format!("there are {}", names.join(", ")),
            }
        });
        value.error(format!("unknown feature \"{}\"", shortened(name))).hint(hint).tell()
    }

    /// A penalty for each limit of an objective: `{ feature, at_most or at_least, penalty }` or a list of them.
    pub(super) fn limits(&self, table: Table) -> Option<Vec<Objective>> {
        table.get("limit").map_or(Some(Vec::new()), |value| value.all(|value| self.limit(value.table()?)))
    }

    fn limit(&self, table: Table) -> Option<Objective> {
        table.only(&["feature", "at_most", "at_least", "penalty"]);
        let costs = table.need("feature").and_then(|feature| self.cost(feature));
        let (most, least) = (table.get("at_most"), table.get("at_least"));
        let (at_most, at_least) = (most.map(Value::finite), least.map(Value::finite));
        match (most, least) {
            (Some(_), Some(least)) => {
                least.error("both at_most and at_least are given; give one limit for each").tell::<()>();
            }
            (None, None) => {
                table.missing::<()>("at_most", Some("or give at_least"));
            }
            _ => {}
        }
        let weight = table.need("penalty").and_then(Value::amount);
        let excess = match (at_most, at_least) {
            (Some(most), None) => Objective::excess(costs?, most?),
            (None, Some(least)) => Objective::excess(costs?.into_iter().map(|cost| -cost).collect(), -least?),
            _ => return None,
        };
        Some(weight? * excess.map_err(|error| self.refuse(&error, table)).ok()?)
    }

    pub(super) fn formula(&mut self, table: Table<'a>) -> Option<Objective> {
        let value = table.need("expression")?;
        let text = value.text()?;
        let names = Objective::formula_inputs(text).map_err(|error| self.explain(&error, value)).ok()?;
        if names.is_empty() {
            return self.constant(text, value);
        }
        if let Some(parts) = table.get("parts") {
            parts.table()?.only(&names.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>());
        }
        let inputs = names.iter().map(|(name, at)| Some((name.as_str(), self.input(name, *at, value, table)?)));
        let inputs: Vec<_> = every(inputs)?;
        Objective::formula(text, &inputs).map_err(|error| self.explain(&error, value)).ok()
    }

    /// An expression that looks at nothing.
    fn constant(&self, text: &str, value: Value) -> Option<Objective> {
        let constant = Objective::formula_constant(text).map_err(|error| self.explain(&error, value)).ok()?;
        if !constant.is_finite() {
            return value.refused(constant, "be finite").tell();
        }
        let nothing = Objective::linear(vec![0.0; self.world.mdp.pair_count()]);
        Some(nothing.map_err(|error| self.explain(&error, value)).ok()?.shifted(constant))
    }

    /// The input of a formula with this name, which stands there in the expression.
    fn input(&mut self, name: &str, at: usize, value: Value, table: Table<'a>) -> Option<Objective> {
        if let Some(parts) = table.get("parts")
            && let Some(part) = parts.table()?.get(name)
        {
            return self.read_term(part.table()?, &["kind", "scale", "offset", "range"]);
        }
        if let Some(costs) = self.features.get(name) {
            return Objective::linear(costs.clone()?).map_err(|error| self.refuse(&error, table)).ok();
        }
        let (function, argument) = name.strip_suffix(')').and_then(|name| name.split_once('(')).unwrap_or_default();
        let kind = Kind::all().find(|kind| kind.call == Some(function));
        let targets = if kind.is_some() { table.get("targets") } else { None };
        let target = match targets {
            Some(targets) => targets.table()?.get(argument),
            None => None,
        };
        let fits = |kind: &&Kind| has_target(kind) == target.is_some() && (target.is_some() || argument.is_empty());
        if let Some(kind) = kind.filter(fits) {
            return self.of_kind(kind, table, target);
        }
        self.explain(&ObjectiveError::UnknownName { name: name.to_owned(), at }, value);
        None
    }

    fn unknown_name<'v>(&self, name: &str, at: usize, value: Value<'v>) -> Mistake<'v> {
        let (word, argument) = name.split_once('(').unwrap_or((name, ""));
        let argument = argument.trim_end_matches(')');
        let error = |message: String| value.error_within(at, format!("{}: {message}", value.name()));
        let targets = "targets are defined in [objective.targets]";
        match (Kind::all().find(|kind| kind.call == Some(word)), argument) {
            (Some(kind), _) if !has_target(kind) => return error(format!("{word} has no argument; write {word}()")),
            (Some(_), "") => {
                let message = format!("{word} has one argument, the name of a target; write {word}(target)");
                return error(message).hint(targets);
            }
            (Some(_), target) => return error(format!("\"{}\" is no target", shortened(target))).hint(targets),
            _ => {}
        }
        let names = self.features.keys().map(String::as_str);
        let known = names.chain(Objective::FORMULA_FUNCTIONS).chain(built_in());
        let near = if ELSEWHERE.contains(&word.to_lowercase().as_str()) { None } else { did_you_mean(word, known) };
        let hint = near.unwrap_or_else(|| {
            let features: Vec<&str> = self.features.keys().map(String::as_str).collect();
            let features = if features.is_empty() { "none".to_owned() } else { features.join(", ") };
            let functions = Objective::FORMULA_FUNCTIONS.join(", ");
            format!("the features are: {features}; the functions are: {functions}, {}", built_in().join(", "))
        });
        error(format!("unknown name \"{}\"", shortened(word))).hint(hint)
    }

    /// Tells the formula's complaint, at its place in the expression and with names instead of numbers.
    fn explain(&self, error: &ObjectiveError, value: Value) {
        let mistake = match error {
            ObjectiveError::Expression { at, message } => {
                value.error_within(*at, format!("{}: {message}", value.name()))
            }
            ObjectiveError::UnknownName { .. } if self.lacks_features() => return,
            ObjectiveError::Breaks { .. } if self.world.doubts.any() => return,
            ObjectiveError::UnknownName { name, at } => self.unknown_name(name, *at, value),
            ObjectiveError::Breaks { value: found, point } => {
                let message = format!(
                    "{} is {found} for the occupancy {}; it must be finite everywhere",
                    value.name(),
                    described(&self.world.mdp, point)
                );
                value.error(message).hint(AWAY_FROM_0)
            }
            other => value.error(other.to_string()),
        };
        mistake.tell::<()>();
    }
}

/// What to do about a formula that breaks.
pub(super) const AWAY_FROM_0: &str = "keep divisors, roots and logarithms away from 0: ln(x + 0.01), max(0, x)";

/// Whether a feature can have this name.
pub(super) fn is_feature_name(name: &str) -> bool {
    is_proper(name) && !is_reserved(name)
}

fn is_proper(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && characters.all(|c| c.is_alphanumeric() || c == '_')
}

fn is_reserved(name: &str) -> bool {
    Objective::FORMULA_FUNCTIONS.into_iter().chain(built_in()).any(|word| word == name)
}

fn has_target(kind: &Kind) -> bool {
    kind.fields.iter().any(|field| field.holds == Holds::Target)
}

/// The masses of a point by name: "0.5 of s0/left, 0.5 of s1/right".
fn described(mdp: &Mdp, point: &[(usize, f64)]) -> String {
    const SHOWN: usize = 4;
    let mut largest = point.to_vec();
    largest.sort_by(|a, b| b.1.total_cmp(&a.1));
    let name = |(pair, mass): &(usize, f64)| {
        let pair = Pair(*pair as u32);
        let (state, action) = (mdp.state_name(mdp.state(pair)), mdp.action_name(mdp.action(pair)));
        format!("{} of {}/{}", (mass * 1e4).round() / 1e4, shortened(state), shortened(action))
    };
    let names: Vec<String> = largest.iter().take(SHOWN).map(name).collect();
    let others = if point.len() > SHOWN { format!(" and {} others", point.len() - SHOWN) } else { String::new() };
    format!("{}{others}", names.join(", "))
}
