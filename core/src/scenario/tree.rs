//! The parsed file with the place of every key and value, and the few edits that a campaign needs.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(super) type Value<'i> = Spanned<DeValue<'i>>;
pub(super) type Table<'i> = DeTable<'i>;

/// Puts `value` at a dotted path, making the tables on the way.
///
/// # Errors
/// The part of the path that is not a table and so cannot hold a key.
pub(super) fn set<'i>(
    table: &mut Table<'i>,
    path: &[String],
    value: Value<'i>,
) -> Result<(), String> {
    let Some((last, way)) = path.split_last() else { return Ok(()) };
    let Some((first, rest)) = way.split_first() else {
        insert(table, last, value);
        return Ok(());
    };
    let span = value.span();
    let mut here = child(table, first, &span);
    for (depth, key) in rest.iter().enumerate() {
        here = match here.get_mut() {
            DeValue::Table(table) => child(table, key, &span),
            DeValue::Array(array) => {
                let index = key.parse::<usize>().ok();
                match index.and_then(|index| array.get_mut(index)) {
                    Some(element) => element,
                    None => return Err(path[..=depth].join(".")),
                }
            }
            _ => return Err(path[..=depth].join(".")),
        };
    }
    match here.get_mut() {
        DeValue::Table(table) => insert(table, last, value),
        DeValue::Array(array) => {
            let index = last.parse::<usize>().ok();
            match index.and_then(|index| array.get_mut(index)) {
                Some(element) => *element = value,
                None => return Err(way.join(".")),
            }
        }
        _ => return Err(way.join(".")),
    }
    Ok(())
}

/// Copies what `base` has and `table` has not.
pub(super) fn inherit<'i>(table: &mut Table<'i>, base: &Table<'i>) {
    for (key, value) in base {
        if !table.contains_key(key.get_ref().as_ref()) {
            table.insert(key.clone(), value.clone());
        }
    }
}

/// The same value with its places moved by `by` bytes.
pub(super) fn shifted<'i>(value: Value<'i>, by: usize) -> Value<'i> {
    let span = value.span();
    let inner = match value.into_inner() {
        DeValue::Table(table) => DeValue::Table(
            table
                .into_iter()
                .map(|(key, value)| {
                    let at = key.span();
                    (Spanned::new(at.start + by..at.end + by, key.into_inner()), shifted(value, by))
                })
                .collect(),
        ),
        DeValue::Array(array) => {
            let mut moved = toml::de::DeArray::default();
            for value in array.into_iter() {
                moved.push(shifted(value, by));
            }
            DeValue::Array(moved)
        }
        other => other,
    };
    Spanned::new(span.start + by..span.end + by, inner)
}

/// The dotted key whose name or value stands exactly at `span`, else the innermost around it.
pub(super) fn key_at(table: &Table<'_>, span: &Range<usize>) -> String {
    let mut best = (false, usize::MAX, String::new());
    visit(table, "", &mut |path, key, value| {
        let exact = key == *span || value == *span;
        let around = value.start <= span.start && span.end <= value.end;
        let size = value.len();
        if exact || (!best.0 && around && size <= best.1) {
            best = (exact, size, path.to_owned());
        }
    });
    best.2
}

/// Where the value at the longest known part of a dotted path stands, its key before itself.
pub(super) fn place_of(table: &Table<'_>, path: &str) -> Option<Range<usize>> {
    let mut best: Option<(usize, Range<usize>)> = None;
    visit(table, "", &mut |known, key, value| {
        let part =
            path == known || path.strip_prefix(known).is_some_and(|rest| rest.starts_with('.'));
        if part && best.as_ref().is_none_or(|(length, _)| *length <= known.len()) {
            best = Some((known.len(), if key.is_empty() { value } else { key }));
        }
    });
    best.map(|(_, span)| span)
}

/// Calls `see` with the dotted path, the place of the key and of the value of each node.
fn visit(table: &Table<'_>, prefix: &str, see: &mut impl FnMut(&str, Range<usize>, Range<usize>)) {
    for (key, value) in table {
        visit_value(&join(prefix, key.get_ref()), key.span(), value, see);
    }
}

fn visit_value(
    path: &str,
    key: Range<usize>,
    value: &Value<'_>,
    see: &mut impl FnMut(&str, Range<usize>, Range<usize>),
) {
    see(path, key, value.span());
    match value.get_ref() {
        DeValue::Table(table) => visit(table, path, see),
        DeValue::Array(array) => {
            for (index, value) in array.iter().enumerate() {
                visit_value(&join(path, &index.to_string()), 0..0, value, see);
            }
        }
        _ => {}
    }
}

pub(super) fn join(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") }
}

fn child<'t, 'i>(table: &'t mut Table<'i>, key: &str, span: &Range<usize>) -> &'t mut Value<'i> {
    table
        .entry(Spanned::new(span.clone(), Cow::Owned(key.to_owned())))
        .or_insert_with(|| Spanned::new(span.clone(), DeValue::Table(DeTable::new())))
}

/// Replaces the pair rather than the value alone, so that the key's place is that of the change.
pub(super) fn insert<'i>(table: &mut Table<'i>, key: &str, value: Value<'i>) {
    table.remove(key);
    table.insert(Spanned::new(value.span(), Cow::Owned(key.to_owned())), value);
}
