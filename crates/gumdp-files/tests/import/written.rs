//! Random objectives of every kind, and expressions and sums of them: written to a problem file and read again, they are the same.

use gumdp::kinds::{Content, Given, Holds, Kind};
use gumdp::rng::{Purpose, Rng, below, stream, unit};
use gumdp::{Mdp, Objective, Partition, Problem};
use gumdp_files::{ExportFormat, Task, export};

use super::parse;

const MODEL: &str = include_str!("../problems/model.toml");

/// Draws what objectives are made of.
struct Draw<'a> {
    mdp: &'a Mdp,
    rng: Rng,
}

impl Draw<'_> {
    fn below(&mut self, count: usize) -> usize {
        below(&mut self.rng, count as u32) as usize
    }

    fn numbers(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| unit(&mut self.rng)).collect()
    }

    /// States, pairs, or groups of pairs, none of which is empty.
    fn partition(&mut self) -> Partition {
        match self.below(3) {
            0 => Partition::states(self.mdp),
            1 => Partition::pairs(self.mdp),
            _ => {
                let cells: Vec<u32> = (0..self.mdp.pair_count())
                    .map(|pair| if pair < 3 { pair as u32 } else { self.below(3) as u32 })
                    .collect();
                let entries = (0..3).map(|cell| cells.iter().filter(|own| **own == cell).count() as u32).collect();
                Partition::new(cells, entries).unwrap()
            }
        }
    }

    fn of_kind(&mut self, kind: &'static Kind) -> Objective {
        let (pairs, partition) = (self.mdp.pair_count(), self.partition());
        let mut given = Given::default();
        for field in kind.fields {
            let content = match field.holds {
                Holds::Cost => Content::Numbers(self.numbers(pairs)),
                Holds::Costs => Content::Costs(vec![self.numbers(pairs), self.numbers(pairs)]),
                Holds::ByCost => Content::Numbers(self.numbers(2)),
                Holds::Number => Content::Number(0.1 * unit(&mut self.rng)),
                Holds::Cells { .. } => Content::Cells(partition.clone()),
                Holds::Target | Holds::ByCell => Content::Numbers(self.numbers(partition.cell_count())),
            };
            given.0.push((field.name, content));
        }
        kind.of(given).unwrap()
    }

    /// One that an expression can have, scaled and shifted.
    fn input(&mut self) -> Objective {
        let kinds: Vec<_> =
            Kind::all().filter(|kind| !matches!(kind.name, "maximum" | "minimum" | "signed-power")).collect();
        let kind = kinds[self.below(kinds.len())];
        let [scale, shift] = [self.below(3), self.below(3)].map(|k| k as f64 - 0.75);
        let own = self.of_kind(kind);
        if self.below(2) == 0 { own } else { (scale * own).shifted(shift) }
    }

    fn expression(&mut self) -> Objective {
        let (text, names) = [
            ("max(h, 2*fuel)^3 - entropy", ["h", "fuel", "entropy"]),
            ("abs(a1) * kl + exp(_x)", ["a1", "kl", "_x"]),
            ("entropy() * min(distance(t), over)", ["entropy()", "distance(t)", "over"]),
            ("2*h - 0.5*fuel + kind", ["h", "fuel", "kind"]),
        ][self.below(4)];
        let inputs = names.map(|name| (name, self.input()));
        Objective::formula(text, &inputs).unwrap()
    }
}

#[test]
fn every_objective_is_written_as_it_is() {
    let task = parse("model.toml", &format!("{MODEL}kind = \"entropy\"\n"));
    let mdp = task.problem.mdp();
    let mut draw = Draw { mdp, rng: stream(7, 0, Purpose::Generation) };
    for round in 0..100 {
        let mut objectives: Vec<Objective> = Kind::all().map(|kind| draw.of_kind(kind)).collect();
        let composed = [draw.expression(), draw.expression(), draw.expression()];
        let [one, two, three] = composed;
        objectives.push(one.clone());
        objectives.push((-2.5 * one + two).shifted(0.3) + draw.of_kind(Kind::all().last().unwrap()));
        objectives.push(0.1 * three);
        for objective in objectives {
            let problem = Problem::new(mdp.clone(), objective, 0.9, 5).unwrap();
            let written = Task { problem, source: String::new(), costs: Vec::new(), ..task.clone() };
            let text = &export(&written, ExportFormat::Toml).unwrap().files[0].1;
            let again = parse("again.toml", text);
            for _ in 0..5 {
                let masses = draw.numbers(mdp.pair_count());
                let sum: f64 = masses.iter().sum();
                let d: Vec<f64> = masses.iter().map(|mass| mass / sum).collect();
                let [value, same] = [&written, &again].map(|task| task.problem.objective().value(&d));
                assert!((value - same).abs() <= 1e-12 * value.abs().max(1.0), "round {round}: {value} {same}\n{text}");
            }
        }
    }
}
