//! The objective of a problem file of kind "explicit".

use std::fmt::Write as _;

use super::super::files::quoted;
use super::super::formula::is_feature_name;
use super::Task;
use gumdp::kinds::{Content, Holds, Kind, Part, Written};
use gumdp::{Mdp, Pair, Partition};

/// Writes the objective, and the costs of an imported model as features. Else says why a file of kind "explicit" cannot have
/// it.
pub(super) fn write(task: &Task, notes: &mut Vec<String>) -> Result<String, String> {
    let mdp = task.problem.mdp();
    let mut writer = Writer { mdp, features: Vec::new() };
    let (offset, parts) = task.problem.objective().written();
    let plain = match &parts[..] {
        [(_, Part::Kind(Written { fields, .. }))] => match fields.get("cost") {
            Some(Content::Numbers(cost)) => Some(cost),
            _ => None,
        },
        _ => None,
    };
    if task.costs.len() > 1 || (plain.is_none() && !task.costs.is_empty()) {
        writer.keep_costs(&task.costs, notes);
    }
    let mut fields = match &parts[..] {
        [(weight, part)] => {
            let mut fields = writer.fields(part)?;
            if *weight != 1.0 {
                fields.push(("scale", number(*weight)));
            }
            fields
        }
        parts => {
            let term = |(weight, part): &(f64, Part)| {
                let mut fields = writer.fields(part)?;
                fields.push(("weight", number(*weight)));
                Ok(format!("  {{ {} }},\n", equations(fields)))
            };
            let terms: Vec<String> = parts.iter().map(term).collect::<Result<_, String>>()?;
            vec![("kind", quoted("sum")), ("terms", format!("[\n{}]", terms.concat()))]
        }
    };
    if offset != 0.0 {
        fields.push(("offset", number(offset)));
    }
    // A cost without a name is a table of its own: it may be long.
    let alone = plain.filter(|cost| writer.name(cost).is_none());
    if alone.is_some() {
        fields.retain(|(key, _)| *key != "cost");
    }
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
    fn fields(&mut self, part: &Part) -> Result<Fields, String> {
        match part {
            Part::Kind(written) => self.of_kind(written),
            Part::Formula { text, costs, cells } => {
                let mut parts = Vec::new();
                for (name, cost) in costs {
                    if !self.keeps(name, cost) {
                        parts.push(format!("{} = {{ kind = \"linear\", cost = {} }}", quoted(name), self.cost(cost)));
                    }
                }
                for (name, [weight, offset], written) in cells {
                    let mut fields = self.of_kind(written)?;
                    fields.extend((*weight != 1.0).then(|| ("scale", number(*weight))));
                    fields.extend((*offset != 0.0).then(|| ("offset", number(*offset))));
                    parts.push(format!("{} = {{ {} }}", quoted(name), equations(fields)));
                }
                let mut fields = vec![("kind", quoted("formula")), ("expression", quoted(text))];
                fields.extend((!parts.is_empty()).then(|| ("parts", format!("{{ {} }}", parts.join(", ")))));
                Ok(fields)
            }
            Part::Unwritable => Err("the objective has a part that is a function".to_owned()),
        }
    }

    fn of_kind(&self, Written { kind, fields }: &Written) -> Result<Fields, String> {
        let mut written = vec![("kind", quoted(kind.name))];
        for (name, content) in &fields.0 {
            written.extend(self.content(kind, name, content)?.map(|text| (*name, text)));
        }
        Ok(written)
    }

    /// A field; `None` if it need not be written.
    fn content(&self, kind: &Kind, name: &str, content: &Content) -> Result<Option<String>, String> {
        let is_cost = kind.fields.iter().any(|field| field.name == name && field.holds == Holds::Cost);
        Ok(match content {
            Content::Costs(costs) => {
                Some(format!("[{}]", costs.iter().map(|cost| self.cost(cost)).collect::<Vec<_>>().join(", ")))
            }
            Content::Numbers(cost) if is_cost => Some(self.cost(cost)),
            Content::Numbers(all) => Some(numbers(all.iter().copied())),
            Content::Number(one) => (*one != 0.0).then(|| number(*one)),
            Content::Cells(partition) => Some(self.over(partition)?),
        })
    }

    /// Whether there is now a feature with this name and cost: it may be the name of another, or none for a feature.
    fn keeps(&mut self, name: &str, cost: &[f64]) -> bool {
        if let Some((_, known)) = self.features.iter().find(|(known, _)| known == name) {
            return known == cost;
        }
        let proper = is_feature_name(name);
        self.features.extend(proper.then(|| (name.to_owned(), cost.to_vec())));
        proper
    }

    /// What is counted: states, pairs, or groups of them by name.
    fn over(&self, partition: &Partition) -> Result<String, String> {
        for (name, usual) in [("states", Partition::states(self.mdp)), ("pairs", Partition::pairs(self.mdp))] {
            if *partition == usual {
                return Ok(quoted(name));
            }
        }
        let pairs = 0..self.mdp.pair_count();
        let mut groups = vec![vec![0.0; pairs.len()]; partition.cell_count()];
        for pair in pairs {
            groups[partition.cell(pair)][pair] = 1.0;
        }
        let own = groups.iter().map(|group| group.iter().filter(|own| **own > 0.0).count());
        if own.zip(partition.entries()).any(|(own, entries)| own == 0 || own != *entries as usize) {
            return Err("the objective is over cells that stand for more than states of the model".to_owned());
        }
        let names = |group: &Vec<f64>| entries(self.mdp, group, |key, _| key.to_owned()).join(", ");
        Ok(format!("[{}]", groups.iter().map(|group| format!("[{}]", names(group))).collect::<Vec<_>>().join(", ")))
    }

    /// A cost by its name, or as a table.
    fn cost(&self, cost: &[f64]) -> String {
        match self.name(cost) {
            Some(name) => quoted(name),
            None => format!("{{ {} }}", entries(self.mdp, cost, equation).join(", ")),
        }
    }

    /// The name of a feature with this cost.
    fn name(&self, cost: &[f64]) -> Option<&str> {
        self.features.iter().find(|(_, known)| known == cost).map(|(name, _)| name.as_str())
    }
}

fn lines(mdp: &Mdp, cost: &[f64]) -> String {
    entries(mdp, cost, equation).into_iter().map(|entry| entry + "\n").collect()
}

/// The entries of a cost that are not 0: by state where the actions do not matter.
fn entries(mdp: &Mdp, cost: &[f64], entry: impl Fn(&str, f64) -> String) -> Vec<String> {
    let mut entries = Vec::new();
    for state in mdp.states() {
        let name = mdp.state_name(state);
        let own = &cost[mdp.pairs(state).start as usize..mdp.pairs(state).end as usize];
        if own.iter().all(|other| *other == own[0]) {
            entries.extend((own[0] != 0.0).then(|| entry(&quoted(name), own[0])));
            continue;
        }
        for pair in mdp.pairs(state).map(Pair).filter(|pair| cost[pair.index()] != 0.0) {
            let key = quoted(&format!("{name}/{}", mdp.action_name(mdp.action(pair))));
            entries.push(entry(&key, cost[pair.index()]));
        }
    }
    entries
}

fn equation(key: &str, value: f64) -> String {
    format!("{key} = {}", number(value))
}

fn equations(fields: Fields) -> String {
    fields.into_iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
}

fn number(value: f64) -> String {
    format!("{value:?}")
}

fn numbers(values: impl Iterator<Item = f64>) -> String {
    format!("[{}]", values.map(number).collect::<Vec<_>>().join(", "))
}
