//! The search for the y whose bound by visits is highest: steps along u − y, scaled as in Kingma and Ba (*Adam*, ICLR 2015).
//!
//! Cells that look alike share their y: small differences between neighbours are what the relaxed problem lives on. Whatever is found, the
//! bound at it is proven.

/// Steps towards the best y; how long the first and the last are, as a part of y; and how much of y counts as its size at least, in
/// shares of all cells.
pub(super) const STEPS: usize = 100;
const FIRST_STEP: f64 = 0.13;
const LAST_STEP: f64 = 0.004;
const LEAST_SIZE: f64 = 0.3;
/// How much of the slopes before is remembered, and of their squares; slopes below this share of a cell are small.
const MEMORY: f64 = 0.85;
const SQUARE_MEMORY: f64 = 0.95;
const SMALL_SLOPE: f64 = 0.03;
/// y_j is at least this: the slope at 0 may be infinite.
pub(super) const LEAST: f64 = 1e-9;

/// y, the same for all cells of a class.
pub(super) struct Shared<'a> {
    class: &'a [usize],
    sizes: Vec<f64>,
    y: Vec<f64>,
    slopes: Vec<f64>,
    squares: Vec<f64>,
}

impl<'a> Shared<'a> {
    /// The mean of y over each class.
    pub(super) fn new(class: &'a [usize], y: &[f64]) -> Self {
        let count = class.iter().max().map_or(0, |most| most + 1);
        let mut sizes = vec![0.0; count];
        for &class in class {
            sizes[class] += 1.0;
        }
        let mut shared = Self { class, sizes, y: Vec::new(), slopes: vec![0.0; count], squares: vec![0.0; count] };
        shared.y = shared.means(y);
        shared
    }

    fn means(&self, of_cells: &[f64]) -> Vec<f64> {
        let mut means = vec![0.0; self.sizes.len()];
        self.class.iter().zip(of_cells).for_each(|(&class, x)| means[class] += x / self.sizes[class]);
        means
    }

    /// y of each cell.
    pub(super) fn of_cells(&self) -> Vec<f64> {
        self.class.iter().map(|&class| self.y[class]).collect()
    }

    /// A step along u − y.
    pub(super) fn step(&mut self, step: usize, u: &[f64]) {
        let length = FIRST_STEP * (LAST_STEP / FIRST_STEP).powf(step as f64 / (STEPS - 1) as f64);
        let remembered = |memory: f64| 1.0 - memory.powi(step as i32 + 1);
        let one = 1.0 / self.class.len() as f64;
        for (class, u) in self.means(u).into_iter().enumerate() {
            let y = &mut self.y[class];
            let slope = u - *y;
            self.slopes[class] += (1.0 - MEMORY) * (slope - self.slopes[class]);
            self.squares[class] += (1.0 - SQUARE_MEMORY) * (slope * slope - self.squares[class]);
            let mean = self.slopes[class] / remembered(MEMORY);
            let usual = (self.squares[class] / remembered(SQUARE_MEMORY)).sqrt();
            let part = (length * mean / (usual + SMALL_SLOPE * one)).clamp(-1.0, 1.0);
            *y = (*y + (*y + LEAST_SIZE * one) * part).max(0.3 * *y).max(LEAST);
        }
    }
}
