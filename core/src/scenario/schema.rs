//! The JSON Schema of scenario files, for editors and other programs.

use schemars::generate::SchemaSettings;

use super::config::Config;

/// The JSON Schema (draft 2020-12), indented.
///
/// ```
/// let schema = clift::scenario::json_schema();
/// assert!(schema.contains("\"CLIFT scenario\""));
/// ```
pub fn json_schema() -> String {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Config>();
    // A schema is a tree of JSON values, which always serialises.
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}
