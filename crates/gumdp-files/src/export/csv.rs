//! Transitions as CSV.

use std::fmt::Write as _;

use super::super::import::some_of;
use super::{Export, Task, groups, has_plain_names, linear_costs, lost_objective};
use gumdp::Pair;

pub(super) fn write(task: &Task) -> Export {
    let mdp = task.problem.mdp();
    let mut notes = Vec::new();
    let costs = linear_costs(task).unwrap_or_else(|| {
        notes.push(format!("{}; all rewards are 0", lost_objective(task)));
        vec![0.0; mdp.pair_count()]
    });
    if !has_plain_names(mdp) {
        notes.push("CSV has no names: states and actions are written by number".to_owned());
    }
    let groups: Vec<String> = groups(task).into_iter().map(|(name, _)| name).collect();
    if !groups.is_empty() {
        notes.push(format!(
            "CSV has no labels: these groups of states are not written: {}",
            some_of(groups.into_iter())
        ));
    }
    if task.costs.len() > 1 {
        notes.push("CSV has one reward: only the cost of the objective is written".to_owned());
    }
    let mut transitions = String::from("idstatefrom,idaction,idstateto,probability,reward\n");
    for pair in (0..mdp.pair_count() as u32).map(Pair) {
        let (state, action) = (mdp.state(pair).index(), mdp.action(pair).index());
        let reward = 0.0 - costs[pair.index()];
        for (next, probability) in mdp.successors(pair) {
            let _ = writeln!(transitions, "{state},{action},{},{probability:?},{reward:?}", next.index());
        }
    }
    let mut initial = String::from("idstate,probability\n");
    for &(state, probability) in mdp.initial() {
        let _ = writeln!(initial, "{},{probability:?}", state.index());
    }
    let (discount, horizon) = (task.problem.discount(), task.problem.horizon());
    let parameters = format!("parameter,value\ndiscount,{discount:?}\nhorizon,{horizon}\n");
    let files = vec![("csv", transitions), ("initial.csv", initial), ("parameters.csv", parameters)];
    Export { files, notes }
}
