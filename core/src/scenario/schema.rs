//! The JSON Schema of scenario files, for editors and other programs.

use std::collections::BTreeSet;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::config::Config;

/// The JSON Schema (draft 2020-12), indented.
///
/// In a file with `[vary]`, a key that a section requires may be given in `[vary]` alone. The
/// schema for such files therefore requires no keys and accepts any alternative of a choice.
///
/// ```
/// let schema = clift::scenario::json_schema();
/// assert!(schema.contains("\"CLIFT scenario\""));
/// assert!(!schema.contains("```"));
/// ```
pub fn json_schema() -> String {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Config>();
    let mut schema = with_variation(schema.to_value());
    leave_out_examples(&mut schema);
    // A schema is a tree of JSON values, which always serialises.
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}

/// Cuts descriptions before their examples, which are Rust.
fn leave_out_examples(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(text)) = members.get_mut("description")
                && let Some((said, _)) = text.split_once("```")
            {
                *text = said.trim_end().to_owned();
            }
            members.values_mut().for_each(leave_out_examples);
        }
        Value::Array(values) => values.iter_mut().for_each(leave_out_examples),
        _ => {}
    }
}

/// Suffix of the definitions that require no keys.
const VARIED: &str = "Varied";

/// Adds definitions in which `[vary]` may give the required keys.
fn with_variation(mut root: Value) -> Value {
    let Some(definitions) = root["$defs"].as_object().cloned() else { return root };
    let strict = requiring(&definitions);
    for name in &strict {
        root["$defs"][format!("{name}{VARIED}")] = relaxed(&definitions[name], &strict);
    }
    let Some(properties) = root["properties"].as_object().cloned() else { return root };
    let mut required = Map::new();
    for (key, property) in properties {
        // Printed values and the campaign are not part of a cell.
        let of_cells = !["printed", "vary"].contains(&key.as_str());
        if of_cells && refers(&property, &strict) {
            let lax = relaxed(&property, &strict);
            required.insert(key.clone(), property);
            root["properties"][key] = lax;
        }
    }
    root["if"] = json!({ "not": { "required": ["vary"] } });
    root["then"] = json!({ "properties": required });
    root
}

/// Definitions that require a key, or refer to a definition that does.
fn requiring(definitions: &Map<String, Value>) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = BTreeSet::new();
    loop {
        let more = definitions.iter().filter(|(name, definition)| {
            !found.contains(*name) && (requires(definition) || refers(definition, &found))
        });
        let more: Vec<String> = more.map(|(name, _)| name.clone()).collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// Whether a schema requires a key, apart from those inside `not`.
fn requires(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(name, value)| {
            (name == "required" && value.is_array()) || (name != "not" && requires(value))
        }),
        Value::Array(values) => values.iter().any(requires),
        _ => false,
    }
}

/// Whether a schema refers to one of these definitions.
fn refers(schema: &Value, names: &BTreeSet<String>) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(name, value)| {
            let target = value.as_str().filter(|_| name == "$ref").and_then(definition);
            target.is_some_and(|target| names.contains(target)) || refers(value, names)
        }),
        Value::Array(values) => values.iter().any(|value| refers(value, names)),
        _ => false,
    }
}

/// The schema without its requirements.
fn relaxed(schema: &Value, names: &BTreeSet<String>) -> Value {
    match schema {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, value)| {
                let rule = ["required", "dependentRequired"].contains(&name.as_str());
                !(rule && (value.is_array() || name.as_str() == "dependentRequired"))
            });
            let relax = |(name, value): (&String, &Value)| match (name.as_str(), value) {
                ("$ref", Value::String(path)) => {
                    let varied = definition(path).is_some_and(|target| names.contains(target));
                    let end = if varied { VARIED } else { "" };
                    (name.clone(), Value::String(format!("{path}{end}")))
                }
                // While the key that decides a choice varies, several alternatives may match.
                ("oneOf", value) => ("anyOf".to_owned(), relaxed(value, names)),
                ("not", value) => (name.clone(), value.clone()),
                (_, value) => (name.clone(), relaxed(value, names)),
            };
            Value::Object(kept.map(relax).collect())
        }
        Value::Array(values) => values.iter().map(|value| relaxed(value, names)).collect(),
        other => other.clone(),
    }
}

fn definition(path: &str) -> Option<&str> {
    path.strip_prefix("#/$defs/")
}
