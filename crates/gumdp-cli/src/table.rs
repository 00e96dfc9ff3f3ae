//! Text tables: columns as wide as their widest cell.

use std::io::{self, Write};

/// A table for the terminal.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
    /// Columns that are aligned to the left; numbers are aligned to the right.
    left: Vec<usize>,
}

impl Table {
    /// A table with these column names; columns in `left` hold words.
    pub fn new(header: &[&str], left: &[usize]) -> Self {
        Self { rows: vec![header.iter().map(ToString::to_string).collect()], left: left.to_vec() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Prints it.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let padding = " ".repeat(widths[column] - cell.chars().count());
                if column > 0 {
                    line.push_str("  ");
                }
                if self.left.contains(&column) {
                    line.push_str(cell);
                    line.push_str(&padding);
                } else {
                    line.push_str(&padding);
                    line.push_str(cell);
                }
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
