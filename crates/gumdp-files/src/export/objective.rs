//! The objective of a problem file of kind "explicit".

use std::fmt::Write as _;

use super::super::formula::is_feature_name;
use super::super::import::quoted;
use super::Task;
use gumdp::model::{Mdp, Pair};
use gumdp::objective::{Combined, Over, Part, Partition, Shape};

/// Writes the objective, and the costs of an imported model as features. Else says why a file of kind "explicit" cannot have
/// it.
pub(super) fn write(task: &Task, notes: &mut Vec<String>) -> Result<String, String> {
    let mdp = task.problem.mdp();
    let mut writer = Writer { mdp, features: Vec::new() };
    let (offset, parts) = task.problem.objective().written();
    let is_plain = matches!(&parts[..], [Part { shape: Shape::Costs { combined: Combined::Alone, .. }, .. }]);
    if task.costs.len() > 1 || (!is_plain && !task.costs.is_empty()) {
        writer.keep_costs(&task.costs, notes);
    }
    let mut fields = match &parts[..] {
        [part] => {
            let mut fields = writer.fields(&part.shape)?;
            if part.weight != 1.0 {
                fields.push(("scale", number(part.weight)));
            }
            fields
        }
        parts => {
            let term = |part: &Part| {
                let mut fields = writer.fields(&part.shape)?;
                fields.push(("weight", number(part.weight)));
                let fields: Vec<String> = fields.into_iter().map(|(key, value)| format!("{key} = {value}")).collect();
                Ok(format!("  {{ {} }},\n", fields.join(", ")))
            };
            let terms: Vec<String> = parts.iter().map(term).collect::<Result<_, String>>()?;
            vec![("kind", quoted("sum")), ("terms", format!("[\n{}]", terms.concat()))]
        }
    };
    if offset != 0.0 {
        fields.push(("offset", number(offset)));
    }
    // A cost without a name is a table of its own: it may be long.
    let alone = match &parts[..] {
        [Part { shape: Shape::Costs { combined: Combined::Alone, costs }, .. }] if writer.name(&costs[0]).is_none() => {
            fields.retain(|(key, _)| *key != "cost");
            Some(&costs[0])
        }
        _ => None,
    };
    let mut text = String::from("[objective]\n");
    for (key, value) in fields {
        let _ = writeln!(text, "{key} = {value}");
    }
    if let Some(cost) = alone {
        let _ = write!(text, "[objective.cost]\n{}", lines(mdp, cost));
    }
    for (name, cost) in &writer.features {
        let _ = write!(text, "\n[objective.features.{}]\n{}", quoted(name), lines(mdp, cost));
    }
    Ok(text)
}

type Fields = Vec<(&'static str, String)>;

struct Writer<'a> {
    mdp: &'a Mdp,
    /// Costs with names.
    features: Vec<(String, Vec<f64>)>,
}

impl Writer<'_> {
    /// Keeps the costs of an imported model under names that features can have.
    fn keep_costs(&mut self, costs: &[(String, Vec<f64>)], notes: &mut Vec<String>) {
        for (name, cost) in costs {
            let mut called = name.clone();
            if !is_feature_name(&called) {
                called = called.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
                called.insert_str(0, "cost_");
            }
            while self.features.iter().any(|(other, _)| *other == called) {
                called.push('_');
            }
            if called != *name {
                notes.push(format!(
                    "the cost \"{name}\" is called \"{called}\": features need names of letters, digits and _"
                ));
            }
            self.features.push((called, cost.clone()));
        }
    }

    /// The kind of a term and its fields.
    fn fields(&mut self, shape: &Shape) -> Result<Fields, String> {
        match shape {
            Shape::Costs { combined, costs } => {
                let costs: Vec<String> = costs.iter().map(|cost| self.cost(cost)).collect();
                let kind = match combined {
                    Combined::Alone => return Ok(vec![("kind", quoted("linear")), ("cost", costs.concat())]),
                    Combined::Maximum => "maximum",
                    Combined::Minimum => "minimum",
                    Combined::SignedPower(_) => "signed-power",
                };
                let mut fields = vec![("kind", quoted(kind)), ("costs", format!("[{}]", costs.join(", ")))];
                if let Combined::SignedPower(parameters) = combined {
                    fields.push(("weights", numbers(parameters.iter().map(|parameter| parameter.0))));
                    fields.push(("powers", numbers(parameters.iter().map(|parameter| parameter.1))));
                }
                Ok(fields)
            }
            Shape::Cells(over) => {
                let mut fields = vec![("kind", quoted(over.kind)), ("over", quoted(self.over(over)?))];
                if over.kind != "entropy" {
                    fields.push(("target", numbers(over.target.iter().copied())));
                }
                if over.epsilon != 0.0 {
                    fields.push(("epsilon", number(over.epsilon)));
                }
                Ok(fields)
            }
            Shape::Formula { text, costs, cells } => {
                for (name, cost) in costs {
                    self.feature(name, cost)?;
                }
                let mut fields = vec![("kind", quoted("formula")), ("expression", quoted(text))];
                fields.extend(self.inputs(cells)?);
                Ok(fields)
            }
            Shape::Unwritable => Err("the objective has a part that is a function".to_owned()),
        }
    }

    /// Makes sure that there is a feature with this name and cost.
    fn feature(&mut self, name: &str, cost: &[f64]) -> Result<(), String> {
        match self.features.iter().find(|(known, _)| known == name) {
            Some((_, known)) if known == cost => Ok(()),
            Some(_) => Err(format!("the objective has two costs called \"{name}\"")),
            None if !is_feature_name(name) => Err(format!("\"{name}\" cannot be the name of a feature")),
            None => {
                self.features.push((name.to_owned(), cost.to_vec()));
                Ok(())
            }
        }
    }

    /// What an expression says of its sums over cells: they share one ε, and what they are over.
    fn inputs(&self, cells: &[(&str, Over)]) -> Result<Fields, String> {
        let mut targets = Vec::new();
        let (mut entropy, mut distance, mut epsilon) = (None, None, None);
        for (name, over) in cells {
            let place = self.over(over)?;
            let others = if over.kind == "entropy" { &mut entropy } else { &mut distance };
            let same = *others.get_or_insert(place) == place;
            let smoothed = ["entropy", "kl"].contains(&over.kind);
            let alike = !smoothed || *epsilon.get_or_insert(over.epsilon) == over.epsilon;
            if !(same && alike) {
                return Err(
                    "the parts of the expression are over different entries, or smoothed differently".to_owned()
                );
            }
            if let Some((_, target)) =
                name.trim_end_matches(')').split_once('(').filter(|(_, target)| !target.is_empty())
            {
                let entry = format!("{} = {}", quoted(target), numbers(over.target.iter().copied()));
                if !targets.contains(&entry) {
                    targets.push(entry);
                }
            }
        }
        let mut fields = Vec::new();
        match (entropy, distance) {
            (None, None) | (Some("states"), Some("pairs")) => {}
            (Some(own), None) | (None, Some(own)) => fields.push(("over", quoted(own))),
            (Some(one), Some(other)) if one == other => fields.push(("over", quoted(one))),
            _ => return Err("the parts of the expression are over different entries".to_owned()),
        }
        if !targets.is_empty() {
            fields.push(("targets", format!("{{ {} }}", targets.join(", "))));
        }
        if let Some(epsilon) = epsilon.filter(|&epsilon| epsilon != 0.0) {
            fields.push(("epsilon", number(epsilon)));
        }
        Ok(fields)
    }

    fn over(&self, over: &Over) -> Result<&'static str, String> {
        if *over.partition == Partition::states(self.mdp) {
            Ok("states")
        } else if *over.partition == Partition::pairs(self.mdp) {
            Ok("pairs")
        } else {
            Err("the objective is over cells that are neither states nor pairs".to_owned())
        }
    }

    /// A cost by its name, or as a table.
    fn cost(&self, cost: &[f64]) -> String {
        match self.name(cost) {
            Some(name) => quoted(name),
            None => format!("{{ {} }}", entries(self.mdp, cost).join(", ")),
        }
    }

    /// The name of a feature with this cost.
    fn name(&self, cost: &[f64]) -> Option<&str> {
        self.features.iter().find(|(_, known)| known == cost).map(|(name, _)| name.as_str())
    }
}

fn lines(mdp: &Mdp, cost: &[f64]) -> String {
    entries(mdp, cost).into_iter().map(|entry| entry + "\n").collect()
}

/// The entries of a cost: by state where the actions do not matter.
fn entries(mdp: &Mdp, cost: &[f64]) -> Vec<String> {
    let mut entries = Vec::new();
    for state in mdp.states() {
        let name = mdp.state_name(state);
        let own = &cost[mdp.pairs(state).start as usize..mdp.pairs(state).end as usize];
        if own.iter().all(|other| *other == own[0]) {
            entries.extend((own[0] != 0.0).then(|| format!("{} = {}", quoted(name), number(own[0]))));
            continue;
        }
        for pair in mdp.pairs(state).map(Pair).filter(|pair| cost[pair.index()] != 0.0) {
            let key = quoted(&format!("{name}/{}", mdp.action_name(mdp.action(pair))));
            entries.push(format!("{key} = {}", number(cost[pair.index()])));
        }
    }
    entries
}

fn number(value: f64) -> String {
    format!("{value:?}")
}

fn numbers(values: impl Iterator<Item = f64>) -> String {
    format!("[{}]", values.map(number).collect::<Vec<_>>().join(", "))
}
