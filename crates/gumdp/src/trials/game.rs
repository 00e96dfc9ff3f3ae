//! Small matrix games, by the simplex method.

/// Entries of a tableau that are 0 but for rounding.
const ZERO: f64 = 1e-11;
/// Turns after which the simplex method gives up.
const MOST_TURNS: usize = 10_000;

/// Optimal mixtures of the rows, of which one wants the most, and of the columns, of which the other wants the least. `None` if
/// rounding gets in the way.
pub(super) fn mixtures(game: &[Vec<f64>]) -> Option<(Vec<f64>, Vec<f64>)> {
    let (rows, columns) = (game.len(), game.first()?.len());
    let low = game.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let high = game.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    let scale = if high > low { high - low } else { 1.0 };
    // All entries between 1 and 2: the most of Σ y with game·y ≤ 1 is 1/value, and y, divided by its sum, the mixture of columns.
    let width = columns + rows + 1;
    let mut table: Vec<Vec<f64>> = (0..=rows).map(|_| vec![0.0; width]).collect();
    for (k, row) in game.iter().enumerate() {
        for (entry, x) in table[k].iter_mut().zip(row) {
            *entry = 1.0 + (x - low) / scale;
        }
        table[k][columns + k] = 1.0;
        table[k][width - 1] = 1.0;
    }
    table[rows][..columns].fill(-1.0);
    let mut basis: Vec<usize> = (columns..columns + rows).collect();
    for turn in 0.. {
        // The steepest at first; then the first that will do, which cannot go round in circles.
        let candidates = (0..width - 1).filter(|&j| table[rows][j] < -ZERO);
        let entering = if turn < MOST_TURNS / 2 {
            candidates.min_by(|&a, &b| table[rows][a].total_cmp(&table[rows][b]))
        } else {
            candidates.min()
        };
        let Some(entering) = entering else { break };
        let ratio = |k: usize| table[k][width - 1] / table[k][entering];
        let leaving = (0..rows)
            .filter(|&k| table[k][entering] > ZERO)
            .min_by(|&a, &b| ratio(a).total_cmp(&ratio(b)).then(basis[a].cmp(&basis[b])))?;
        if turn == MOST_TURNS {
            return None;
        }
        let pivot = table[leaving][entering];
        table[leaving].iter_mut().for_each(|x| *x /= pivot);
        let row = table[leaving].clone();
        for (_, other) in table.iter_mut().enumerate().filter(|(k, _)| *k != leaving) {
            let factor = other[entering];
            if factor != 0.0 {
                other.iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
            }
        }
        basis[leaving] = entering;
    }
    let mut of_columns = vec![0.0; columns];
    for (k, &j) in basis.iter().enumerate().filter(|(_, j)| **j < columns) {
        of_columns[j] = table[k][width - 1].max(0.0);
    }
    let of_rows: Vec<f64> = table[rows][columns..width - 1].iter().map(|x| x.max(0.0)).collect();
    Some((shares(of_rows)?, shares(of_columns)?))
}

/// Divided by their sum.
fn shares(mut weights: Vec<f64>) -> Option<Vec<f64>> {
    let sum: f64 = weights.iter().sum();
    for weight in &mut weights {
        *weight /= sum;
    }
    (sum > 0.0 && sum.is_finite()).then_some(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_with_known_solutions() {
        let game = [vec![3.0, -1.0], vec![-2.0, 4.0]];
        let (rows, columns) = mixtures(&game).unwrap();
        assert!((rows[0] - 0.6).abs() < 1e-9 && (columns[0] - 0.5).abs() < 1e-9, "{rows:?} {columns:?}");
        // Rock, paper, scissors, and a move that loses always.
        let game = [vec![0.0, 1.0, -1.0, 2.0], vec![-1.0, 0.0, 1.0, 2.0], vec![1.0, -1.0, 0.0, 2.0]];
        let (rows, columns) = mixtures(&game).unwrap();
        assert!(rows.iter().chain(&columns[..3]).all(|share| (share - 1.0 / 3.0).abs() < 1e-9) && columns[3] == 0.0);
        assert_eq!(mixtures(&[vec![5.0]]).unwrap(), (vec![1.0], vec![1.0]));
    }
}
