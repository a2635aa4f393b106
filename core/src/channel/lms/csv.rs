//! The parameter tables of this folder: comma-separated, `#` for remarks, a line of names.

/// The rows of a table under its line of names.
pub(super) fn rows(text: &str) -> impl Iterator<Item = Row<'_>> {
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .skip(1)
        .map(|line| Row(line.split(',').collect()))
}

/// One row.
pub(super) struct Row<'a>(Vec<&'a str>);

impl<'a> Row<'a> {
    pub(super) fn text(&self, column: usize) -> &'a str {
        self.0[column]
    }

    /// The number in a column. The tables are part of the program and read whole in tests.
    pub(super) fn number(&self, column: usize) -> f64 {
        let text = self.text(column);
        text.parse().unwrap_or_else(|_| unreachable!("{text} is no number in a built-in table"))
    }
}
