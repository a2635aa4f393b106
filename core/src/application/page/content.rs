//! Content of a page: its objects and the dependencies among them.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::units::{Duration, counted};

/// A page: a list of objects in which each object follows its parent.
///
/// In text form, the first line names the columns, and each further line is an object; lines that
/// begin with `#` are comments. `name` and `bytes` are required. The client requests an object
/// `parse_ms` after its `parent` has arrived, or at the start if it has no parent. The server
/// processes it for `think_ms`. `request_bytes` is the size of the request.
///
/// ```
/// use clift::application::PageContent;
/// let page = PageContent::parse(
///     "name,bytes,parent,parse_ms\n\
///      html,18000,,\n\
///      style,9000,html,20\n",
/// )?;
/// assert_eq!(page.objects()[1].parent, Some(0));
/// let fault = PageContent::parse("name,bytes,parent\nhtml,18000,style\nstyle,9000,html\n");
/// let fault = fault.unwrap_err().to_string();
/// assert_eq!(fault, "line 2: `html` waits for itself: html -> style -> html; leave one parent out");
/// # Ok::<(), clift::application::PageFault>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PageContent {
    objects: Vec<PageObject>,
}

/// An object of a page.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PageObject {
    /// Name of the object.
    pub name: String,
    /// Bytes that the server sends for the object, including headers.
    pub bytes: u64,
    /// Index of the object whose arrival reveals this one; `None` if the client knows it from the
    /// start.
    pub parent: Option<usize>,
    /// Time from that arrival, or from the start, to the request.
    pub parse: Duration,
    /// Processing time of the server for this object; `None` for the page's common value.
    pub think: Option<Duration>,
    /// Bytes of the request; `None` for the page's common value.
    pub request: Option<u64>,
}

/// An error in a page, with its line.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("{}{what}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct PageFault {
    /// The line, from 1; `None` if the error concerns the whole page.
    pub line: Option<usize>,
    /// What is wrong, and how to correct it.
    pub what: String,
}

/// Maximum number of objects of a page.
const MOST: usize = 10_000;
/// Maximum size of an object: 1 TB.
const MOST_BYTES: u64 = 1_000_000_000_000;
const COLUMNS: [&str; 6] = ["name", "bytes", "parent", "parse_ms", "think_ms", "request_bytes"];

impl PageContent {
    /// Reads a page from text.
    ///
    /// # Errors
    /// A [`PageFault`]: a line that is not a valid object, an unknown parent, or a cycle of
    /// parents.
    pub fn parse(text: &str) -> Result<Self, PageFault> {
        let mut reader = PageReader::default();
        for line in text.lines() {
            reader.line(line)?;
        }
        reader.finish()
    }

    /// A page without objects, which no text can describe.
    pub(in crate::application) fn empty() -> Self {
        Self { objects: Vec::new() }
    }

    /// A page of objects that follow their parents.
    pub(super) fn of(objects: Vec<PageObject>) -> Self {
        Self { objects }
    }

    /// The objects; each follows its parent.
    pub fn objects(&self) -> &[PageObject] {
        &self.objects
    }

    /// Total bytes of all objects.
    pub fn bytes(&self) -> u64 {
        self.objects.iter().map(|object| object.bytes).sum()
    }
}

/// Reads a page line by line.
#[derive(Debug, Default)]
pub struct PageReader {
    line: usize,
    columns: Vec<usize>,
    rows: Vec<Row>,
    places: BTreeMap<String, usize>,
}

#[derive(Debug)]
struct Row {
    line: usize,
    parent: String,
    object: PageObject,
}

impl PageReader {
    /// Reads the next line.
    ///
    /// # Errors
    /// An error in the line.
    pub fn line(&mut self, line: &str) -> Result<(), PageFault> {
        self.line += 1;
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        if line.trim().is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let cells: Vec<&str> = line.split(',').map(bare).collect();
        let taken = if self.columns.is_empty() { self.head(&cells) } else { self.row(&cells) };
        taken.map_err(|what| PageFault { line: Some(self.line), what })
    }

    fn head(&mut self, cells: &[&str]) -> Result<(), String> {
        let known = COLUMNS.join(", ");
        for (place, cell) in cells.iter().enumerate() {
            let column = COLUMNS.iter().position(|name| name == cell);
            let column = column.ok_or_else(|| {
                format!("unknown column `{}`; the columns are {known}", short(cell))
            })?;
            if cells[..place].contains(cell) {
                return Err(format!("the column {cell} occurs twice; keep one"));
            }
            self.columns.push(column);
        }
        match COLUMNS[..2].iter().find(|name| !cells.contains(name)) {
            Some(name) => {
                self.columns.clear();
                Err(format!(
                    "the column {name} is missing; the first line names the columns: {known}"
                ))
            }
            None => Ok(()),
        }
    }

    fn row(&mut self, cells: &[&str]) -> Result<(), String> {
        if cells.len() != self.columns.len() {
            return Err(format!(
                "{} for {}",
                counted(cells.len(), "value", "values"),
                counted(self.columns.len(), "column", "columns")
            ));
        }
        if self.rows.len() == MOST {
            return Err(format!("more than {MOST} objects; give a smaller page"));
        }
        let (mut object, mut parent) = (PageObject::default(), String::new());
        for (&column, &cell) in self.columns.iter().zip(cells) {
            let name = COLUMNS[column];
            match column {
                0 if cell.is_empty() => return Err("an object without a name".to_owned()),
                0 => object.name = cell.to_owned(),
                1 => object.bytes = bytes(name, cell)?,
                2 => parent = cell.to_owned(),
                _ if cell.is_empty() => {}
                3 => object.parse = milliseconds(name, cell)?,
                4 => object.think = Some(milliseconds(name, cell)?),
                _ => object.request = Some(bytes(name, cell)?),
            }
        }
        if self.places.insert(object.name.clone(), self.rows.len()).is_some() {
            return Err(format!("two objects have the name `{}`; rename one", short(&object.name)));
        }
        self.rows.push(Row { line: self.line, parent, object });
        Ok(())
    }

    /// Returns the page after the last line.
    ///
    /// # Errors
    /// No objects, an unknown parent, or a cycle of parents.
    pub fn finish(self) -> Result<PageContent, PageFault> {
        let Self { rows, places, .. } = self;
        if rows.is_empty() {
            let what = "the page has no objects; give columns name and bytes, and at least one row";
            return Err(PageFault { line: None, what: what.to_owned() });
        }
        let mut parents = Vec::with_capacity(rows.len());
        for row in &rows {
            let parent = (!row.parent.is_empty()).then(|| places.get(&row.parent).copied());
            let unknown = || {
                let (name, parent) = (short(&row.object.name), short(&row.parent));
                let what = format!("`{name}` has the parent `{parent}`, which does not exist");
                PageFault { line: Some(row.line), what }
            };
            parents.push(parent.map(|found| found.ok_or_else(unknown)).transpose()?);
        }
        let order = in_order(&parents).map_err(|start| {
            let mut path = vec![short(&rows[start].object.name)];
            let mut at = parents[start];
            while let Some(place) = at {
                path.push(short(&rows[place].object.name));
                at = parents[place].filter(|_| place != start && path.len() < 12);
            }
            let what = format!(
                "`{}` waits for itself: {}; leave one parent out",
                path[0],
                path.join(" -> ")
            );
            PageFault { line: Some(rows[start].line), what }
        })?;
        let mut place_of = vec![0; rows.len()];
        order.iter().enumerate().for_each(|(place, &row)| place_of[row] = place);
        let mut objects = vec![PageObject::default(); rows.len()];
        for (row, mut own) in rows.into_iter().enumerate() {
            own.object.parent = parents[row].map(|parent| place_of[parent]);
            objects[place_of[row]] = own.object;
        }
        Ok(PageContent { objects })
    }
}

/// Reorders the rows so that each follows its parent; otherwise keeps their order. Fails with the
/// first row of a cycle.
fn in_order(parents: &[Option<usize>]) -> Result<Vec<usize>, usize> {
    let mut children = vec![Vec::new(); parents.len()];
    let mut ready = std::collections::BTreeSet::new();
    for (row, parent) in parents.iter().enumerate() {
        match parent {
            Some(parent) => children[*parent].push(row),
            None => {
                ready.insert(row);
            }
        }
    }
    let mut order = Vec::with_capacity(parents.len());
    while let Some(row) = ready.pop_first() {
        order.push(row);
        ready.extend(&children[row]);
    }
    if order.len() == parents.len() {
        return Ok(order);
    }
    // The remaining rows are on a cycle or behind one. Each has a parent, so following parents as
    // many times as there are rows ends on a cycle.
    let mut left: Vec<bool> = vec![true; parents.len()];
    order.iter().for_each(|&row| left[row] = false);
    let mut at = left.iter().position(|&left| left).unwrap_or_default();
    for _ in 0..parents.len() {
        at = parents[at].unwrap_or(at);
    }
    let (start, mut least) = (at, at);
    while let Some(parent) = parents[at].filter(|&parent| parent != start) {
        at = parent;
        least = least.min(at);
    }
    Err(least)
}

/// Removes white space and quotes around a cell.
fn bare(cell: &str) -> &str {
    let cell = cell.trim();
    cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(cell)
}

/// Shortens a name for a message.
fn short(name: &str) -> String {
    match name.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

fn bytes(name: &str, cell: &str) -> Result<u64, String> {
    let bytes = cell.parse().ok().filter(|bytes| (1..=MOST_BYTES).contains(bytes));
    bytes.ok_or_else(|| format!("{name} = {}; give a whole number from 1 to 10^12", short(cell)))
}

fn milliseconds(name: &str, cell: &str) -> Result<Duration, String> {
    let fault = || format!("{name} = {}; give a number from 0 to 10^9", short(cell));
    let ms: f64 = cell.parse().map_err(|_| fault())?;
    if !(0.0..=1e9).contains(&ms) {
        return Err(fault());
    }
    Ok(Duration::from_nanos((ms * 1e6).round_ties_even() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_and_rows_may_be_in_any_order() {
        let text = "\u{feff}parent, \"bytes\" ,name,think_ms,request_bytes\r\n#\r\n\r\n\
                    html,9000,style,0.5,99\r\nstyle,70,font,,\r\n,18000,html,,\r\n";
        let page = PageContent::parse(text).unwrap();
        let named: Vec<_> = page.objects().iter().map(|it| (&it.name[..], it.parent)).collect();
        assert_eq!(named, [("html", None), ("style", Some(0)), ("font", Some(1))]);
        let style = &page.objects()[1];
        assert_eq!((style.think, style.request), (Some(Duration::from_micros(500)), Some(99)));
        assert_eq!(page.bytes(), 27_070);
    }

    #[test]
    fn faults_name_the_line_and_a_correction() {
        let cases = [
            ("", "the page has no objects; give columns name and bytes, and at least one row"),
            ("name,bytes\n", "the page has no objects"),
            ("name,size\n", "line 1: unknown column `size`; the columns are name, bytes, parent"),
            (
                "name,parent\n",
                "line 1: the column bytes is missing; the first line names the columns",
            ),
            ("name,bytes,name\n", "line 1: the column name occurs twice; keep one"),
            ("name,bytes\na\n", "line 2: 1 value for 2 columns"),
            ("name,bytes\na,0\n", "line 2: bytes = 0; give a whole number from 1 to 10^12"),
            ("name,bytes\n,1\n", "line 2: an object without a name"),
            ("name,bytes\na,1\n#\na,1\n", "line 4: two objects have the name `a`; rename one"),
            ("name,bytes,parse_ms\na,1,-1\n", "line 2: parse_ms = -1; give a number from 0"),
            ("name,bytes,think_ms\na,1,nan\n", "line 2: think_ms = nan; give a number from 0"),
            ("name,bytes,parent\na,1,b\n", "line 2: `a` has the parent `b`, which does not exist"),
            ("name,bytes,parent\na,1,a\n", "line 2: `a` waits for itself: a -> a; leave one"),
            (
                "name,bytes,parent\na,1,\nx,1,d\nb,1,d\nc,1,b\nd,1,c\n",
                "line 4: `b` waits for itself: b -> d -> c -> b; leave one parent out",
            ),
        ];
        for (text, expected) in cases {
            let fault = PageContent::parse(text).unwrap_err().to_string();
            assert!(fault.starts_with(expected), "{text:?}: {fault}");
        }
    }

    proptest::proptest! {
        /// Any text is either a page or a fault with a line. Objects of a page follow their
        /// parents.
        #[test]
        fn any_text_is_a_page_or_a_fault(
            head in "(name,bytes,parent|bytes,name|[a-z_,]{0,20})",
            rows in proptest::collection::vec("[a-d]?,[0-9a-d]{0,3},[a-d]?|[ -~]{0,12}", 0..8),
        ) {
            let text = format!("{head}\n{}", rows.join("\n"));
            match PageContent::parse(&text) {
                Ok(page) => for (place, object) in page.objects().iter().enumerate() {
                    proptest::prop_assert!(object.parent.is_none_or(|parent| parent < place));
                    proptest::prop_assert!(object.bytes > 0);
                },
                Err(fault) => {
                    proptest::prop_assert!(fault.line.is_none_or(|line| line <= rows.len() + 1));
                    proptest::prop_assert!(!fault.what.contains('\n'));
                }
            }
        }

        /// Rows in any order give the same dependencies; a cycle is detected.
        #[test]
        fn parents_are_kept(parents in proptest::collection::vec(0usize..12, 1..12)) {
            let name = |row: usize| format!("o{row}");
            let rows: Vec<_> = parents.iter().enumerate().map(|(row, &parent)| {
                let parent = if parent < parents.len() { name(parent) } else { String::new() };
                format!("{},{},{parent}", name(row), row + 1)
            }).collect();
            let text = format!("name,bytes,parent\n{}", rows.join("\n"));
            let ends = |start: usize| {
                let mut at = start;
                for _ in 0..=parents.len() {
                    at = match parents[at] { up if up < parents.len() => up, _ => return true };
                }
                false
            };
            let page = PageContent::parse(&text);
            proptest::prop_assert_eq!(page.is_ok(), (0..parents.len()).all(ends));
            for object in page.iter().flat_map(|page| page.objects()) {
                let row: usize = object.name[1..].parse().unwrap();
                let parent = object.parent.map(|it| page.as_ref().unwrap().objects()[it].name.clone());
                let expected = (parents[row] < parents.len()).then(|| name(parents[row]));
                proptest::prop_assert_eq!(parent, expected);
            }
        }
    }
}
