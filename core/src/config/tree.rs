//! The tree of values that front ends build.

use std::ops::Range;

use super::fault::Fault;

/// A value and its position in the source text.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The value itself.
    pub node: Node,
    /// Byte range in the source text; `0..0` without a text.
    pub place: Range<usize>,
}

/// The kinds of values.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
    /// Text; quantities are text with their unit.
    Text(String),
    /// Values in order.
    List(Vec<Value>),
    /// Values by key.
    Table(Table),
}

/// Values by key, in their original order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table(Vec<Entry>);

#[derive(Clone, Debug, PartialEq)]
struct Entry {
    key: String,
    /// Byte range of the key in the source text.
    place: Range<usize>,
    value: Value,
}

impl From<Node> for Value {
    fn from(node: Node) -> Self {
        Self { node, place: 0..0 }
    }
}

impl Value {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Node::Text(text.into()).into()
    }

    /// A table with these entries.
    pub fn table<'k>(entries: impl IntoIterator<Item = (&'k str, Value)>) -> Self {
        let mut table = Table::default();
        for (key, value) in entries {
            table.insert(key, value);
        }
        Node::Table(table).into()
    }

    /// The value as a table; `None` if it is not a table.
    pub fn as_table(&self) -> Option<&Table> {
        match &self.node {
            Node::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The value as a mutable table; `None` if it is not a table.
    pub fn as_table_mut(&mut self) -> Option<&mut Table> {
        match &mut self.node {
            Node::Table(table) => Some(table),
            _ => None,
        }
    }

    /// A plain value as written without quotes; `None` for lists and tables.
    pub fn plain(&self) -> Option<String> {
        match &self.node {
            Node::Bool(on) => Some(on.to_string()),
            Node::Integer(number) => Some(number.to_string()),
            Node::Float(number) => Some(number.to_string()),
            Node::Text(text) => Some(text.clone()),
            Node::List(_) | Node::Table(_) => None,
        }
    }
}

impl Table {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The mutable value of a key.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.0.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.value)
    }

    /// True if the table has the key.
    pub fn contains(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets the value of a key, replacing any earlier value. The key gets the position of the
    /// value.
    pub fn insert(&mut self, key: &str, value: Value) {
        self.insert_at(key, value.place.clone(), value);
    }

    /// As [`Self::insert`], for a key at position `place`.
    pub fn insert_at(&mut self, key: &str, place: Range<usize>, value: Value) {
        match self.0.iter_mut().find(|entry| entry.key == key) {
            Some(entry) => (entry.place, entry.value) = (place, value),
            None => self.0.push(Entry { key: key.to_owned(), place, value }),
        }
    }

    /// Removes a key.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let index = self.0.iter().position(|entry| entry.key == key)?;
        Some(self.0.remove(index).value)
    }

    /// Keys and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|entry| (entry.key.as_str(), &entry.value))
    }

    /// Keys and mutable values in order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Value)> {
        self.0.iter_mut().map(|entry| (entry.key.as_str(), &mut entry.value))
    }

    /// Copies the entries of `base` whose keys this table does not have.
    pub fn inherit(&mut self, base: &Self) {
        for entry in &base.0 {
            if !self.contains(&entry.key) {
                self.0.push(entry.clone());
            }
        }
    }

    /// Sets `value` at a dotted path and creates missing tables. An element of a list has its index
    /// as key, or the name in its own key `name`.
    ///
    /// # Errors
    /// The part of the path that is neither a table nor an element of a list.
    pub fn set(&mut self, path: &[String], value: Value) -> Result<(), String> {
        self.put(path, value).map_err(|left| path[..path.len() - left].join("."))
    }

    /// As [`Self::set`]; the error is how many parts of the path are left at the fault.
    fn put(&mut self, path: &[String], value: Value) -> Result<(), usize> {
        let Some((first, rest)) = path.split_first() else { return Ok(()) };
        if rest.is_empty() {
            self.insert(first, value);
            return Ok(());
        }
        if !self.contains(first) {
            let table = Node::Table(Self::default());
            self.insert(first, Value { node: table, place: value.place.clone() });
        }
        self.get_mut(first).ok_or(rest.len())?.put(rest, value)
    }

    /// True if there is a value at a dotted path, as [`Self::set`] understands it.
    pub(crate) fn has(&self, path: &[String]) -> bool {
        match path {
            [] => true,
            [first, rest @ ..] => self.get(first).is_some_and(|value| value.has(rest)),
        }
    }

    /// Removes and returns the value at a dotted path, if it exists.
    pub fn take(&mut self, path: &[String]) -> Option<Value> {
        match path {
            [] => None,
            [last] => self.remove(last),
            [first, rest @ ..] => self.get_mut(first)?.as_table_mut()?.take(rest),
        }
    }

    /// The position of the longest known prefix of a dotted path: of its key, else of its value.
    pub fn place_of(&self, path: &str) -> Option<Range<usize>> {
        let mut best: Option<(usize, Range<usize>)> = None;
        self.visit("", &mut |known, key, value| {
            let part =
                path == known || path.strip_prefix(known).is_some_and(|rest| rest.starts_with('.'));
            if part && best.as_ref().is_none_or(|(length, _)| *length <= known.len()) {
                let place = if key.is_empty() { value } else { key };
                best = Some((known.len(), place.clone()));
            }
        });
        best.map(|(_, place)| place)
    }

    /// Calls `see` for each node with its dotted path, the position of its key and of its value.
    fn visit(&self, prefix: &str, see: &mut impl FnMut(&str, &Range<usize>, &Range<usize>)) {
        for entry in &self.0 {
            let path = join(prefix, &entry.key);
            entry.value.visit(&path, &entry.place, see);
        }
    }
}

/// The number of the element of a list with this key: its index, or the name in its key `name`.
fn place_in(list: &[Value], key: &String) -> Option<usize> {
    let named = |element: &Value| {
        let name = element.as_table().and_then(|own| own.get("name"));
        name.and_then(Value::plain).as_ref() == Some(key)
    };
    key.parse().ok().or_else(|| list.iter().position(named))
}

impl Value {
    /// As [`Table::put`].
    fn put(&mut self, path: &[String], value: Self) -> Result<(), usize> {
        match (&mut self.node, path) {
            (_, []) => *self = value,
            (Node::Table(table), _) => return table.put(path, value),
            (Node::List(list), [key, rest @ ..]) => {
                let found = place_in(list, key).and_then(|index| list.get_mut(index));
                return found.ok_or(rest.len())?.put(rest, value);
            }
            _ => return Err(path.len()),
        }
        Ok(())
    }

    /// As [`Table::has`].
    fn has(&self, path: &[String]) -> bool {
        match (&self.node, path) {
            (_, []) => true,
            (Node::Table(table), _) => table.has(path),
            (Node::List(list), [key, rest @ ..]) => {
                let found = place_in(list, key).and_then(|index| list.get(index));
                found.is_some_and(|value| value.has(rest))
            }
            _ => false,
        }
    }

    fn visit(
        &self,
        path: &str,
        key: &Range<usize>,
        see: &mut impl FnMut(&str, &Range<usize>, &Range<usize>),
    ) {
        see(path, key, &self.place);
        match &self.node {
            Node::Table(table) => table.visit(path, see),
            Node::List(list) => {
                for (index, value) in list.iter().enumerate() {
                    value.visit(&join(path, &index.to_string()), &(0..0), see);
                }
            }
            _ => {}
        }
    }
}

/// Checks a name that becomes a part of dotted keys.
pub(crate) fn check_name(name: &str) -> Result<(), Fault> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    if name.starts_with(|letter: char| letter.is_ascii_alphabetic()) && name.chars().all(fits) {
        return Ok(());
    }
    let cure = "a name begins with a letter and has letters, digits, _ and - only";
    Err(Fault::at(format!("`{name}`: {cure}")))
}

pub(crate) fn join(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.to_owned() } else { [prefix, ".", key].concat() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn set_creates_tables_along_the_path_and_fails_at_plain_values() {
        let mut table = Table::default();
        table.set(&path("link.reorder.packets"), Node::Integer(3).into()).unwrap();
        let link = table.get("link").and_then(Value::as_table).unwrap();
        let reorder = link.get("reorder").and_then(Value::as_table).unwrap();
        assert_eq!(reorder.get("packets"), Some(&Node::Integer(3).into()));
        table.insert("hops", Node::List(vec![Value::table([("leg", Value::text("a"))])]).into());
        table.set(&path("hops.0.leg"), Value::text("b")).unwrap();
        assert_eq!(table.set(&path("hops.1.leg"), Value::text("c")), Err("hops.1".to_owned()));
        assert_eq!(
            table.set(&path("link.reorder.packets.x"), Value::text("c")),
            Err("link.reorder.packets".to_owned())
        );
    }
}
