//! Which keys a configuration gives.

use serde::Serialize;
use serde_json::Value;

/// The first key of a section whose value is not the default.
pub(crate) fn changed<T: Serialize + Default + PartialEq>(section: &T) -> Option<String> {
    let usual = T::default();
    if *section == usual {
        return None;
    }
    // What a struct of plain values is as JSON.
    let (Ok(Value::Object(section)), Ok(Value::Object(usual))) =
        (serde_json::to_value(section), serde_json::to_value(&usual))
    else {
        return None;
    };
    section.into_iter().find(|(key, value)| usual.get(key) != Some(value)).map(|(key, _)| key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    #[derive(Default, PartialEq, Serialize)]
    struct Section {
        live: bool,
        flush: Option<Duration>,
    }

    #[test]
    fn what_is_given_has_its_key_and_what_is_not_has_none() {
        assert_eq!(changed(&Section::default()), None);
        let section = Section { flush: Some(Duration::ZERO), ..Section::default() };
        assert_eq!(changed(&section).as_deref(), Some("flush"));
    }
}
