//! Behaviour as a picture and as a page: what `gumdp explain` writes.

use anyhow::Result;
use gumdp::explain::{Ending, Explanation, Node};
use gumdp::frontier::Frontier;
use gumdp_files::Task;

use super::charts::beta_label;
use super::{figure, task_figure, views};
use crate::frontier::TradeOff;
use crate::number::{known, percent, short};
use crate::store::Store;
use gumdp_plot::page::{Figure, Page, View};
use gumdp_plot::{DecisionTree, TreeCard};

/// Draws the tree and writes it as a figure and as a page; `text` is the tree for a terminal, `others` what comes of other attitudes to
/// risk.
pub fn draw_explanation(
    store: &Store,
    of: &Task,
    explanation: &Explanation,
    text: &str,
    others: Option<&(TradeOff, Frontier)>,
) -> Result<()> {
    let kind = if explanation.exact { "Optimal" } else { "Planned" };
    let attitude = explanation.risk.beta().map_or_else(|| explanation.risk.to_string(), beta_label);
    let measure = explanation.measure();
    let tree = DecisionTree {
        title: format!("{kind} behaviour of {}, {attitude}", of.name),
        heat_label: format!("{measure} from here on"),
        root: card(&explanation.tree, measure, true),
    };
    let svg = tree.svg();
    store.write_figure("tree", &svg)?;
    let mut page = Page::new(&of.title);
    page.lead(&of.description);
    let tile = |label: &str, value: String| (label.to_owned(), value, String::new());
    let name = if explanation.risk.beta().is_none() { "risk" } else { "entropic risk" };
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
    page.figures([&Figure { narrow: Some(tree.narrow()), ..figure(of, "tree", svg, caption) }]);
    page.details("The tree as text", |page| {
        page.code(text);
    });
    if let Some((trade_off, frontier)) = others {
        page.section("attitudes", "Other attitudes to risk");
        page.paragraph("What optimal behaviour comes to at other attitudes; the slider begins at this one.");
        let own = trade_off.levels.iter().position(|row| row.risk == explanation.risk);
        page.view(View::Levels, &views::of_frontier(of, trade_off, frontier, own));
    }
    if let Some(figure) = task_figure(of) {
        page.section("task", "The task");
        page.figures([&figure]);
    }
    store.write("tree.html", page.html().as_bytes())
}

fn card(situation: &Node, measure: &str, root: bool) -> TreeCard {
    let mut children: Vec<TreeCard> = situation.outcomes.iter().map(|outcome| card(outcome, measure, false)).collect();
    if let Some(folded) = &situation.folded {
        children.push(TreeCard {
            heading: format!("{} more outcomes", folded.outcomes),
            note: format!("{measure} {} · mean {}", known(folded.value), known(folded.mean)),
            reached: percent(situation.reach * folded.probability),
            branch: percent(folded.probability),
            share: situation.reach * folded.probability,
            heat: folded.value,
            folded: true,
            ..TreeCard::default()
        });
    }
    let steps = situation.actions();
    let detail = match situation.then {
        Ending::Unshown => format!("{steps} …"),
        Ending::Over if steps.is_empty() => "the episode is over".to_owned(),
        _ => steps,
    };
    let alternative = situation.next_best.as_ref();
    TreeCard {
        heading: format!("{} · t = {}", situation.place(), situation.time),
        detail,
        alternative: alternative
            .map_or_else(String::new, |other| format!("or {}: {measure} +{}", other.action, short(other.extra))),
        note: format!("{measure} {} · mean {}", short(situation.value), short(situation.mean)),
        reached: if root { String::new() } else { percent(situation.reach) },
        branch: if root { String::new() } else { percent(situation.probability) },
        share: situation.reach,
        heat: Some(situation.value),
        folded: false,
        children,
    }
}
