//! Parser for the parameter tables of this folder: comma-separated, `#` for remarks, a header line.

/// The rows of a table below its header line.
pub(super) fn rows(text: &str) -> impl Iterator<Item = Row<'_>> {
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .skip(1)
        .map(|line| Row(line.split(',').collect()))
}

/// A row of a table.
pub(super) struct Row<'a>(Vec<&'a str>);

impl<'a> Row<'a> {
    pub(super) fn text(&self, column: usize) -> &'a str {
        self.0[column]
    }

    /// The number in a column. The tables are built in, and tests read them completely.
    pub(super) fn number(&self, column: usize) -> f64 {
        let text = self.text(column);
        text.parse().unwrap_or_else(|_| unreachable!("{text} in a built-in table is not a number"))
    }
}
