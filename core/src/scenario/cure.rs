//! What a missing key takes, in the words of the schema.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::config::Config;

/// What to give for the key `key` of the section at the dotted path `section`; `None` if the schema
/// does not describe its values, and in a web page, which the schema would make a tenth larger.
pub(super) fn of_missing(section: &str, key: &str) -> Option<String> {
    if cfg!(target_family = "wasm") {
        return None;
    }
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Config>();
    let root = schema.to_value();
    let mut found = vec![&root];
    for part in section.split('.').filter(|part| !part.is_empty()).chain([key]) {
        found = found
            .into_iter()
            .flat_map(|one| meant(&root, one))
            .flat_map(|one| inner(one, part))
            .collect();
    }
    let said = found
        .into_iter()
        .flat_map(|one| meant(&root, one))
        .filter_map(|one| one["description"].as_str());
    // Types describe their values ("a time with its unit"), keys say what they are for.
    let mut values = said.filter(|text| text.starts_with("a ") || text.starts_with("an "));
    values.next().map(str::to_owned)
}

/// A part of the schema, as it refers to others or offers alternatives.
fn meant<'a>(root: &'a Value, part: &'a Value) -> Vec<&'a Value> {
    let mut all = vec![part];
    if let Some(name) = part["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
        all.extend(meant(root, &root["$defs"][name]));
    }
    let alternatives =
        ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| part[key].as_array());
    all.extend(alternatives.flatten().flat_map(|one| meant(root, one)));
    all
}

/// What the schema has below a part for a key, or for an element of a list.
fn inner<'a>(part: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    let element = key.bytes().all(|byte| byte.is_ascii_digit()).then(|| &part["items"]);
    [Some(&part["properties"][key]), Some(&part["additionalProperties"]), element]
        .into_iter()
        .flatten()
        .filter(|found| found.is_object())
}
