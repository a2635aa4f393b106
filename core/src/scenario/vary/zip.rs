//! `[vary.zip.NAME]`: several keys that vary together as one axis.

use super::point::{Changes, Label, Point, Values, gather, path_of};
use crate::config::{Fault, Value};

/// The axis of keys that vary together.
pub(super) fn zipped(label: Label<'_>, name: &str, value: &Value) -> Result<Changes, Fault> {
    let Some(table) = value.as_table() else {
        let cure = "is not a section; write [vary.zip.my_axis] and lists of equal length below";
        return Err(Fault::at(cure));
    };
    let none = "no key varies; give lists of equal length";
    if table.iter().next().is_none() {
        return Err(Fault::at(none));
    }
    let words = ("one value does not vary; give a list or a range", Some(none));
    let mut found = Vec::new();
    for (key, value) in table.iter() {
        gather(label, key, value, words, &mut found)?;
    }
    // The values of each key, unless other keys give their number.
    let own = found.iter().map(|(key, values)| match values {
        Values::Range(range) if range.count().is_none() => Ok(None),
        values => values.points(key, None).map(Some),
    });
    let own = own.collect::<Result<Vec<_>, _>>()?;
    let columns =
        || found.iter().zip(&own).filter_map(|((key, _), own)| Some((key, own.as_ref()?)));
    let Some((first, count)) = columns().map(|(key, own)| (key, own.len())).next() else {
        return Err(Fault::at(
            "the number of points is missing; give a list, or a range with points",
        ));
    };
    if let Some((key, other)) = columns().find(|(_, own)| own.len() != count) {
        let message = format!(
            "has {} values, and `{first}` has {count}; keys that vary together need as many values",
            other.len()
        );
        return Err(Fault::new(key, message));
    }
    let mut points = vec![Point::default(); count];
    for ((key, values), own) in found.iter().zip(own) {
        let own = own.map_or_else(|| values.points(key, Some(count)), Ok)?;
        let path = path_of(key);
        for (point, own) in points.iter_mut().zip(own) {
            point.add(&path, own);
        }
    }
    Ok(Changes { key: String::new(), name: name.to_owned(), points })
}
