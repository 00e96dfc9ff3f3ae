//! What is needed to draw a task.

/// How a task can be drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Scene {
    /// States as nodes of a graph.
    Graph(GraphScene),
    /// States as cells of a map.
    Grid(GridScene),
}

/// A task drawn as a graph; the model has the nodes and edges.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphScene {
    /// Where each state is drawn, x to the right and y down, in any unit; `None` if the file has no `layout`.
    pub positions: Option<Vec<[f64; 2]>>,
}

/// A task drawn as a map of rows × columns cells. Cells are numbered row·columns + column, from the top left.
///
/// ```
/// use gumdp_files::{Scene, tasks};
/// let task = tasks::get("grid-mo").unwrap();
/// let Scene::Grid(scene) = &task.scene else { panic!("the task is a grid") };
/// assert_eq!(scene.cells().len(), scene.rows * scene.columns);
/// assert!(scene.terrain(scene.start).start);
/// let walls = scene.cells().filter(|&cell| scene.terrain(cell).wall).count();
/// # let _ = walls;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridScene {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// The kinds of cell, in the order of the file's legend.
    pub terrains: Vec<Terrain>,
    /// For each cell the index of its kind in `terrains`.
    pub terrain_of_cell: Vec<u32>,
    /// For each state the cell it is in; `None` for "defeated" and "over".
    pub cell_of_state: Vec<Option<u32>>,
    /// The cell where episodes start.
    pub start: u32,
    /// The cell to which resources are brought.
    pub home: Option<u32>,
    /// The cells of the path to be imitated; empty if the objective has none.
    pub behaviour: Vec<u32>,
}

impl GridScene {
    /// What a cell is.
    ///
    /// # Panics
    /// If there is no such cell.
    #[must_use]
    pub fn terrain(&self, cell: u32) -> &Terrain {
        &self.terrains[self.terrain_of_cell[cell as usize] as usize]
    }

    /// Row and column of a cell.
    #[must_use]
    pub fn position(&self, cell: u32) -> (usize, usize) {
        (cell as usize / self.columns, cell as usize % self.columns)
    }

    /// All cells, by number.
    #[must_use]
    pub fn cells(&self) -> impl ExactSizeIterator<Item = u32> + use<> {
        0..self.terrain_of_cell.len() as u32
    }
}

/// A kind of cell: one entry of a map's legend.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(clippy::struct_excessive_bools)] // Independent properties, as the legend has them.
pub struct Terrain {
    /// The character that stands for it in the map.
    pub symbol: char,
    /// Its name in the file, or what it is.
    pub name: String,
    /// Nobody can enter it.
    pub wall: bool,
    /// Episodes start here.
    pub start: bool,
    /// Resources are brought here.
    pub home: bool,
    /// The name of the resource found here.
    pub resource: Option<String>,
    /// The probability of being defeated here, in each step.
    pub enemy: Option<f64>,
    /// Where the agent gets stuck.
    pub sticky: Option<Sticky>,
    /// The number of the only action that leaves it, if not all do.
    pub one_way: Option<u32>,
    /// Nobody leaves it.
    pub absorbing: bool,
    /// The cost of being there.
    pub cost: f64,
}

impl Terrain {
    /// A cell with nothing in it.
    pub(super) fn floor(symbol: char) -> Self {
        Self { symbol, name: "floor".to_owned(), ..Self::default() }
    }
}

/// The probabilities of difficult terrain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sticky {
    /// A free agent gets stuck instead of moving.
    pub stuck: f64,
    /// A stuck agent gets free and moves.
    pub unstuck: f64,
}
