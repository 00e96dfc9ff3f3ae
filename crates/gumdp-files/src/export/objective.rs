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
            Part::Kind(Written { kind, fields }) => {
                let mut written = vec![("kind", quoted(kind.name))];
                for (name, content) in &fields.0 {
                    written.extend(self.content(kind, name, content)?.map(|text| (*name, text)));
                }
                Ok(written)
            }
            Part::Formula { text, costs, cells } => {
                for (name, cost) in costs {
                    self.feature(name, cost)?;
                }
                let mut fields = vec![("kind", quoted("formula")), ("expression", quoted(text))];
                fields.extend(self.inputs(cells)?);
                Ok(fields)
            }
            Part::Unwritable => Err("the objective has a part that is a function".to_owned()),
        }
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

    /// What an expression says of its sums over cells: those with a field share it.
    fn inputs(&self, cells: &[(&str, Written)]) -> Result<Fields, String> {
        let (mut shared, mut targets) = (Vec::new(), Vec::new());
        let mut usual = true;
        for (name, Written { kind, fields }) in cells {
            for field in kind.fields {
                let content = fields.get(field.name).map(|content| self.content(kind, field.name, content));
                let text = content.transpose()?.flatten();
                if let Holds::Cells { by_pair } = field.holds {
                    usual &= text.as_deref() == Some(if by_pair { "\"pairs\"" } else { "\"states\"" });
                }
                match (field.holds, text, name.trim_end_matches(')').split_once('(')) {
                    (Holds::Target, Some(text), Some((_, target))) => {
                        targets.push(format!("{} = {text}", quoted(target)));
                    }
                    (_, text, _) => shared.push((field.name, text)),
                }
            }
        }
        shared.sort_by_key(|(name, _)| *name != "over");
        dedup(&mut shared);
        dedup(&mut targets);
        // Without a word about it each is over what is usual for it.
        let over = shared.iter().filter(|(name, _)| *name == "over").count();
        if usual && over > 1 {
            shared.retain(|(name, _)| *name != "over");
        }
        if shared.iter().enumerate().any(|(k, (name, _))| shared[..k].iter().any(|(other, _)| other == name)) {
            return Err("the parts of the expression are over different entries, or smoothed differently".to_owned());
        }
        let mut written: Fields = shared.into_iter().filter_map(|(name, text)| Some((name, text?))).collect();
        if !targets.is_empty() {
            written.push(("targets", format!("{{ {} }}", targets.join(", "))));
        }
        Ok(written)
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

/// The first of those that are the same.
fn dedup<T: PartialEq>(all: &mut Vec<T>) {
    let mut kept: Vec<T> = Vec::with_capacity(all.len());
    for one in all.drain(..) {
        if !kept.contains(&one) {
            kept.push(one);
        }
    }
    *all = kept;
}

fn number(value: f64) -> String {
    format!("{value:?}")
}

fn numbers(values: impl Iterator<Item = f64>) -> String {
    format!("[{}]", values.map(number).collect::<Vec<_>>().join(", "))
}
