//! What every figure promises: well-formed, deterministic, and unshaken by degenerate data.

use super::*;

/// Checks tags, quotes and ampersands; not a full parser, but enough to catch what string building gets wrong.
fn assert_well_formed(xml: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = xml;
    while let Some(at) = rest.find('<') {
        assert_text(&rest[..at]);
        let end = rest[at..].find('>').map(|end| at + end).expect("an open tag");
        let tag = &rest[at + 1..end];
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes in <{tag}>");
        assert!(!tag.contains('<') && !tag.contains("NaN") && !tag.contains("inf"), "<{tag}>");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().unwrap_or_default());
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "never closed: {open:?}");
    assert_eq!(rest.trim(), "");
    assert!(xml.starts_with("<svg ") && xml.contains(" viewBox=") && xml.contains("<desc id=\"desc\">"));
}

fn assert_text(text: &str) {
    for (at, _) in text.match_indices('&') {
        let entity = &text[at..];
        assert!(["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"].iter().any(|known| entity.starts_with(known)), "{entity}");
    }
}

const NASTY: [f64; 8] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1e308, -1e-308, 3.0];
const MARKUP: &str = "<b> & \"q\" 'p' \u{1}";

fn nasty_box(value: f64) -> BoxStats {
    let risk = Some(RiskMark { value, interval: [value; 2], too_low: value > 0.0 });
    BoxStats { quartiles: [value; 3], whiskers: [value; 2], mean: value, outliers: NASTY.to_vec(), risk }
}

fn nasty_tree() -> DecisionTree {
    let card = |heat: &f64| TreeCard {
        heading: MARKUP.into(),
        detail: MARKUP.repeat(20),
        branch: MARKUP.into(),
        share: *heat,
        heat: Some(*heat),
        children: vec![TreeCard { folded: true, ..TreeCard::default() }],
        ..TreeCard::default()
    };
    let root = TreeCard { children: NASTY.iter().map(card).collect(), ..TreeCard::default() };
    DecisionTree { title: MARKUP.into(), heat_label: MARKUP.into(), root }
}

/// Every kind with nothing in it, and with the worst that can be in it.
pub(crate) fn degenerate() -> Vec<String> {
    let points: Vec<(f64, f64)> = NASTY.iter().flat_map(|x| NASTY.iter().map(|y| (*x, *y))).collect();
    let group = |value: &f64| BoxGroup {
        label: MARKUP.into(),
        boxes: vec![Some(nasty_box(*value)), None],
        reference: Some(*value),
    };
    let references: Vec<ReferenceLine> = NASTY
        .iter()
        .flat_map(|at| {
            let label = || MARKUP.to_owned();
            [LineKind::Risk, LineKind::Change].map(|kind| ReferenceLine { kind, at: *at, label: label() })
        })
        .collect();
    let line = |log_x, step| LinePlot {
        labels: Labels::new(MARKUP, "", ""),
        log_x,
        log_y: log_x,
        series: vec![LineSeries {
            name: MARKUP.into(),
            points: points.clone(),
            band: points.clone(),
            bars: step,
            step,
            markers: true,
            style: None,
        }],
        references: references.clone(),
        width: Some(0),
    };
    let multiples = Multiples {
        labels: Labels::new(MARKUP, MARKUP, MARKUP),
        series: vec![MARKUP.into(); 2],
        places: NASTY.to_vec(),
        panels: vec![(MARKUP.into(), line(true, true).series), Default::default()],
        columns: 0,
    };
    let atoms = |count: usize| (0..count).map(|i| (i as f64, 1.0 / count as f64)).collect::<Vec<_>>();
    let bars = BarPlot {
        categories: vec![MARKUP.into(); 9],
        groups: vec![(MARKUP.into(), NASTY.to_vec()), Default::default()],
        ..BarPlot::default()
    };
    let dots = |log_from| {
        let dot = |value: &f64| Some(Dot { value: *value, interval: Some((*value, f64::NAN)) });
        let row = |reference: &f64| DotRow {
            label: MARKUP.into(),
            group: 1,
            dots: NASTY.iter().map(dot).collect(),
            reference: Some(*reference),
        };
        let series = vec![MARKUP.into(); 3];
        DotPlot { series, rows: NASTY.iter().map(row).collect(), log_from, ..DotPlot::default() }.svg()
    };
    let cell = |kind| GridCell { kind, text: MARKUP.into() };
    let map = GridMap {
        cells: vec![
            vec![cell(CellKind::Wall), cell(CellKind::Terrain(99))],
            vec![cell(CellKind::Resource(99))],
            vec![],
        ],
        groups: vec![NamedCells { name: MARKUP.into(), cells: vec![(0, 1), (9, 9)] }],
        paths: vec![NamedCells { name: MARKUP.into(), cells: vec![(0, 0), (0, 0), (9, 9), (1, 1), (0, 1), (0, 0)] }],
        ..GridMap::default()
    };
    let heat = HeatMaps {
        title: MARKUP.into(),
        panels: vec![(MARKUP.into(), vec![NASTY.to_vec(), vec![], vec![1.0]]), Default::default()],
        map: Some(CategoryMap { cells: vec![vec![0, 77]], ..CategoryMap::default() }),
        outlined: vec![(0, 0), (99, 99)],
        cell_labels: true,
        ..HeatMaps::default()
    };
    vec![
        DecisionTree::default().svg(),
        nasty_tree().svg(),
        nasty_tree().narrow(),
        BoxPlot::default().svg(),
        BoxPlot { groups: NASTY.iter().map(group).collect(), ..BoxPlot::default() }.svg(),
        LinePlot::default().svg(),
        Multiples::default().svg(),
        multiples.svg(),
        line(false, false).svg(),
        line(true, true).svg(),
        panels(MARKUP, &[dots(None), line(true, false).svg(), dots(Some(1.0))], 2),
        StemPlot::default().svg(),
        StemPlot { distributions: vec![(MARKUP.into(), points.clone())], ..StemPlot::default() }.svg(),
        StemPlot { distributions: vec![("a".into(), atoms(1))], ..StemPlot::default() }.svg(),
        StemPlot { distributions: vec![("b".into(), atoms(500))], references, ..StemPlot::default() }.svg(),
        DotPlot::default().svg(),
        dots(None),
        dots(Some(1e-3)),
        panels(MARKUP, &[], 0),
        BarPlot::default().svg(),
        bars.svg(),
        GridMap::default().svg(),
        map.svg(),
        HeatMaps::default().svg(),
        heat.svg(),
    ]
}

#[test]
fn degenerate_data_give_well_formed_figures() {
    for svg in degenerate() {
        assert_well_formed(&svg);
    }
}

#[test]
fn equal_data_give_equal_bytes() {
    assert_eq!(degenerate(), degenerate());
}

fn graph(count: usize) -> StateGraph {
    let node = |index| GraphNode { name: format!("s{index}"), note: MARKUP.into(), start: index == 0 };
    let edge = |from, to| GraphEdge { from, to, action: from + to, probability: 0.5, label: MARKUP.into() };
    let all = (0..count).flat_map(|from| (0..count).map(move |to| edge(from, to)));
    StateGraph { nodes: (0..count).map(node).collect(), edges: all.collect(), ..StateGraph::default() }
}

#[test]
fn graphs_with_many_arrows_are_matrices() {
    assert_eq!(StateGraph::default().svg(), None);
    assert_eq!(graph(61).svg(), None);
    for count in [1, 2, 4, 5, 12, 13, 60] {
        let svg = graph(count).svg().expect("a small graph");
        assert_well_formed(&svg);
        // Four states have 16 arrows here, five have 25.
        assert_eq!(svg.contains("From the state of the row"), count > 4);
        let narrow = graph(count).narrow();
        assert!(narrow.iter().all(|svg| svg::side(svg, "width").unwrap() <= 361.0));
    }
    let positions = Some(vec![(0.0, 0.0), (f64::NAN, 1.0)]);
    let edges = vec![GraphEdge { from: 0, to: 99, ..GraphEdge::default() }];
    assert_well_formed(&StateGraph { edges, positions, ..graph(2) }.svg().expect("a small graph"));
}

/// The x places of the lines in the colour of a series.
fn lines_of(svg: &str, series: usize) -> Vec<String> {
    let colour = format!("stroke=\"{}\"", ink::series_colour(series));
    let lines = svg.split("<line ").filter(|line| line.split("/>").next().is_some_and(|line| line.contains(&colour)));
    let x = |line: &str| Some(line.split("x1=\"").nth(1)?.split('"').next()?.to_owned());
    lines.filter_map(x).collect()
}

#[test]
fn stems_are_where_their_values_are() {
    let atoms = vec![(1.0, 0.5), (2.0, 0.5)];
    let both = vec![("a".to_owned(), atoms.clone()), ("b".to_owned(), atoms)];
    let svg = StemPlot { distributions: both, ..StemPlot::default() }.svg();
    let [first, second] = [0, 1].map(|series| lines_of(&svg, series));
    // The last two are stems, those before are in the legend.
    assert_eq!(first.len(), 3);
    assert_eq!(first[1..], second[1..]);
}

#[test]
fn figures_are_as_wide_as_a_telephone() {
    let many = |count: usize| (0..count).map(|i| (i as f64, 1.0 / count as f64)).collect::<Vec<_>>();
    let stems = StemPlot { distributions: vec![("a".into(), many(300))], ..StemPlot::default() };
    let line = LineSeries { name: "a rather long name of a series".into(), points: many(50), ..LineSeries::default() };
    let lines = LinePlot { series: vec![line; 5], ..LinePlot::default() };
    let group = BoxGroup { label: "β = 0.01".into(), boxes: vec![Some(BoxStats::default()); 4], reference: Some(1.0) };
    let boxes = BoxPlot { groups: vec![group; 3], ..BoxPlot::default() };
    let bars = BarPlot { groups: vec![("β = 0.125".into(), vec![1.0, 2.0])], ..BarPlot::default() };
    let map = GridMap { cells: vec![vec![GridCell::default(); 30]; 3], ..GridMap::default() };
    let panel = ("β = 1".to_owned(), vec![vec![0.5, 1.0, 17.0]; 12]);
    let heat = HeatMaps { panels: vec![panel; 4], width: Some(360), cell_labels: true, ..HeatMaps::default() };
    let series = lines.series.clone();
    let multiples = Multiples { panels: vec![("β = 0.5".into(), series); 4], columns: 1, ..Multiples::default() };
    for svg in [
        stems.svg(),
        multiples.svg(),
        lines.svg(),
        boxes.svg(),
        bars.svg(),
        map.svg(),
        heat.svg(),
        nasty_tree().narrow(),
    ] {
        let width = svg::side(&svg, "width").unwrap();
        assert!(width <= 361.0, "{width}: {}", &svg[..300]);
    }
}

#[test]
fn colours_of_pages_are_defined_once() {
    let literal = |text: &str| {
        let is_colour = |part: &&str| part.len() >= 6 && part[..6].bytes().all(|byte| byte.is_ascii_hexdigit());
        text.split('#').skip(1).filter(is_colour).count()
    };
    assert_eq!(literal(include_str!("../web/views.js")), 0);
    assert_eq!(literal(include_str!("page/controls.js")), 0);
    // What is printed is darker.
    let style = include_str!("page/style.css").split("@media print").next().unwrap();
    assert_eq!(literal(style), 0);
}

/// The same height means the same value in every panel, also where a panel's own values would not need it.
#[test]
fn small_multiples_share_their_axes() {
    let line = |y: f64| LineSeries { points: vec![(10.0, 0.0), (100.0, y)], markers: true, ..LineSeries::default() };
    let panels = [1.0, 50.0].map(|y| (format!("to {y}"), vec![line(y)])).to_vec();
    let places = vec![10.0, 100.0];
    let svg = Multiples { panels, places, columns: 2, series: vec!["a".into()], ..Multiples::default() }.svg();
    let ticks = |label: &str| svg.matches(&format!(">{label}<")).count();
    assert_eq!([ticks("0"), ticks("50"), ticks("10"), ticks("100"), ticks("a")], [2, 2, 2 + 2, 2, 1], "{svg}");
}
