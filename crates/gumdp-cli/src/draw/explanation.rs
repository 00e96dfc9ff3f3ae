//! Behaviour as a picture and as a page: what `gumdp explain` writes.

use std::path::Path;

use anyhow::Result;
use gumdp_files::Task;

use super::charts::beta_label;
use super::{figure, task};
use crate::commands::explain::Explanation;
use crate::explain::{Ending, Situation, percent, put_together};
use crate::number::{known, short};
use crate::store::write_atomically;
use gumdp_plot::page::Page;
use gumdp_plot::{DecisionTree, TreeCard};

/// Draws the tree and writes it as SVG and as a page; `text` is the tree for a terminal.
pub fn draw_explanation(dir: &Path, of: &Task, explanation: &Explanation, text: &str) -> Result<()> {
    let kind = if explanation.exact { "Optimal" } else { "Planned" };
    let attitude = explanation.beta.map_or_else(|| explanation.risk.clone(), beta_label);
    let measure = explanation.measure();
    let tree = DecisionTree {
        title: format!("{kind} behaviour of {}, {attitude}", of.name),
        heat_label: format!("{measure} from here on"),
        root: card(&explanation.tree, measure, true),
    };
    let svg = tree.svg();
    write_atomically(&dir.join("tree.svg"), svg.as_bytes())?;
    let mut page = Page::new(&of.title);
    page.lead(&of.description);
    let tile = |label: &str, value: String| (label.to_owned(), value, String::new());
    let name = if explanation.beta.is_none() { "risk" } else { "entropic risk" };
    let mut tiles = vec![
        tile("attitude to risk", attitude),
        tile(name, short(explanation.value)),
        tile("expected cost", short(explanation.tree.mean)),
    ];
    if let Some(outer) = &explanation.outer {
        tiles.push(tile(&format!("{} (fixed)", outer.variable), short(outer.value)));
    }
    page.key_figures(&tiles);
    page.section("behaviour", &format!("{kind} behaviour"));
    page.paragraph(
        "A card is a situation: what is done there until chance has its turn, how likely it is to get there, and risk and \
         expected value of the final cost once one is there. Branches are outcomes of chance, as thick as they are likely. \
         Lower is better.",
    );
    if explanation.outer.is_some() {
        page.paragraph(
            "Beyond the first decision a risk is what the situation contributes to that of the first, and may exceed every cost.",
        );
    }
    page.paragraph(&format!("Policy auto: {}.", explanation.origin));
    let caption = format!("{kind} behaviour. Steps without chance are put together; unlikely outcomes are folded.");
    page.figures([&figure(of, "tree", svg, caption)]);
    page.details("The tree as text", |page| {
        page.code(text);
    });
    if let Some(svg) = task(of) {
        page.section("task", "The task");
        page.figures([&figure(of, "task", svg, &of.title)]);
    }
    write_atomically(&dir.join("tree.html"), page.html().as_bytes())
}

fn card(situation: &Situation, measure: &str, root: bool) -> TreeCard {
    let mut children: Vec<TreeCard> = situation.outcomes.iter().map(|outcome| card(outcome, measure, false)).collect();
    if let Some(folded) = &situation.folded {
        children.push(TreeCard {
            heading: format!("{} more outcomes", folded.outcomes),
            note: format!("{measure} {} · mean {}", known(folded.erm), known(folded.mean)),
            reached: percent(situation.reach * folded.probability),
            branch: percent(folded.probability),
            share: situation.reach * folded.probability,
            heat: folded.erm,
            folded: true,
            ..TreeCard::default()
        });
    }
    let steps = put_together(&situation.steps);
    let detail = match situation.then {
        Ending::Unshown => format!("{steps} …"),
        Ending::Over if steps.is_empty() => "the episode is over".to_owned(),
        _ => steps,
    };
    let states = match &situation.states[..] {
        [a, b, rest @ ..] if !rest.is_empty() => format!("{a}, {b} or {} more", rest.len()),
        states => states.join(" or "),
    };
    let alternative = situation.next_best.as_ref();
    TreeCard {
        heading: format!("{states} · t = {}", situation.time),
        detail,
        alternative: alternative
            .map_or_else(String::new, |other| format!("or {}: {measure} +{}", other.action, short(other.extra_erm))),
        note: format!("{measure} {} · mean {}", short(situation.erm), short(situation.mean)),
        reached: if root { String::new() } else { percent(situation.reach) },
        branch: if root { String::new() } else { percent(situation.probability) },
        share: situation.reach,
        heat: Some(situation.erm),
        folded: false,
        children,
    }
}
