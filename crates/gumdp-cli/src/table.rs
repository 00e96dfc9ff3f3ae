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

    /// Prints it for a terminal.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        for line in self.lines("  ") {
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// Prints it as a table of Markdown, which is as easy to read.
    pub fn print_markdown(&self, out: &mut impl Write) -> io::Result<()> {
        for (number, line) in self.lines(" | ").into_iter().enumerate() {
            writeln!(out, "| {line} |")?;
            if number == 0 {
                let columns = self.rows[0].len();
                let rule = |column| if self.left.contains(&column) { "---" } else { "--:" };
                writeln!(out, "| {} |", (0..columns).map(rule).collect::<Vec<_>>().join(" | "))?;
            }
        }
        Ok(())
    }

    /// The rows, with their cells as wide as their columns.
    fn lines(&self, between: &str) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let line = |row: &Vec<String>| {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let padding = " ".repeat(widths[column] - cell.chars().count());
                if column > 0 {
                    line.push_str(between);
                }
                let (first, second) = if self.left.contains(&column) { (cell, &padding) } else { (&padding, cell) };
                line.push_str(first);
                line.push_str(second);
            }
            line
        };
        self.rows.iter().map(line).collect()
    }
}
