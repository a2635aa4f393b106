//! JSON Schema of a section that contains a tagged enum.

use schemars::Schema;
use serde_json::{Map, Value, json};

/// Adds the keys of all variants to those of the section. Reading the section checks which of them
/// may occur together. The first variant is the default of the tag.
pub(crate) fn flatten_variants(schema: &mut Schema) {
    let Some(Value::Array(variants)) = schema.remove("oneOf") else { return };
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    let mut tags: Map<String, Value> = Map::new();
    for variant in variants {
        let Some(keys) = variant.get("properties").and_then(Value::as_object) else { continue };
        let about = variant.get("description").and_then(Value::as_str).unwrap_or_default();
        for (key, value) in keys {
            let Some(name) = value.get("const") else {
                properties.entry(key).or_insert_with(|| value.clone());
                continue;
            };
            let tag = tags.entry(key).or_insert_with(
                || json!({ "type": "string", "enum": [], "default": name, "description": "" }),
            );
            if let Some(Value::Array(names)) = tag.get_mut("enum") {
                names.push(name.clone());
            }
            if let Some(Value::String(text)) = tag.get_mut("description") {
                let comma = if text.is_empty() { "" } else { ", " };
                *text += &format!("{comma}{name}: {}", about.trim_end_matches('.').to_lowercase());
            }
        }
    }
    properties.append(&mut tags);
}
