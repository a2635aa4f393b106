//! Finds keys that a configuration sets.

use serde::Serialize;
use serde_json::{Map, Value};

/// The first key of a section whose value is not the default.
pub(crate) fn first_changed_key<T: Serialize + Default>(section: &T) -> Option<String> {
    changed_keys(section, &T::default()).next()
}

/// The keys of a section whose values are not those of another.
pub(crate) fn changed_keys<T: Serialize>(
    section: &T,
    usual: &T,
) -> impl Iterator<Item = String> + use<T> {
    // A section of plain values serialises to a JSON object.
    let [section, usual] = [section, usual].map(|one| match serde_json::to_value(one) {
        Ok(Value::Object(keys)) => keys,
        _ => Map::new(),
    });
    section
        .into_iter()
        .filter(move |(key, value)| usual.get(key) != Some(value))
        .map(|(key, _)| key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    #[derive(Default, Serialize)]
    struct Section {
        live: bool,
        flush: Option<Duration>,
    }

    #[test]
    fn only_a_value_that_differs_from_the_default_is_reported() {
        assert_eq!(first_changed_key(&Section::default()), None);
        let section = Section { flush: Some(Duration::ZERO), ..Section::default() };
        assert_eq!(first_changed_key(&section).as_deref(), Some("flush"));
    }
}
