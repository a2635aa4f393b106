//! What the deserialiser says, in the words of scenario files.

use crate::config::nearest;

/// Rewrites a message of serde: keys for fields, values for variants, a suggestion where a name is
/// nearly right, and words for Rust types.
pub(super) fn reworded(message: &str) -> String {
    if message.starts_with("unknown field") || message.starts_with("unknown variant") {
        let what = if message.starts_with("unknown field") { "key" } else { "value" };
        let mut names = quoted(message);
        let unknown = names.next().unwrap_or_default();
        let known: Vec<&str> = names.collect();
        let hint = nearest(unknown, known.iter().copied())
            .map(|near| format!(" (did you mean {near}?)"))
            .unwrap_or_default();
        let shown = if what == "key" { String::new() } else { format!(" `{unknown}`") };
        return format!("unknown {what}{shown}, one of {}{hint}", known.join(", "));
    }
    if let Some(rest) = message.strip_prefix("missing field ") {
        return format!("missing key {rest}");
    }
    if message == "integer number overflowed" {
        return "too large a number; give a smaller one".to_owned();
    }
    let Some((found, expected)) = message.split_once(", expected ") else {
        return message.to_owned();
    };
    let found = found
        .replace(" as i128", "")
        .replace(" as u128", "")
        .replace("invalid type: ", "")
        .replace("invalid value: ", "")
        .replace("map", "a section")
        .replace("sequence", "a list");
    let cure = most(&found, expected).unwrap_or_else(|| type_name(expected).to_owned());
    format!("{found} does not fit; give {cure}")
}

/// The largest whole number that fits, if `found` is beyond it.
fn most(found: &str, expected: &str) -> Option<String> {
    let number: i128 = quoted(found).next()?.parse().ok()?;
    let most = match expected {
        "u32" | "a nonzero u32" => i128::from(u32::MAX),
        "u64" | "usize" => i128::from(u64::MAX),
        _ => return None,
    };
    (number > most).then(|| format!("a whole number up to {most}"))
}

fn type_name(expected: &str) -> &str {
    match expected {
        "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "a nonzero u32" => "a whole number, 1 or more",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a string" => "text in quotes",
        "a sequence" => "a list, or sections in double brackets",
        "a map" => "a section with keys",
        other if other.starts_with("struct ") => "a section with keys",
        other if other.contains("variant") || other.contains("enum") => "text in quotes",
        other => other,
    }
}

/// What stands between backticks.
fn quoted(message: &str) -> impl Iterator<Item = &str> {
    message.split('`').skip(1).step_by(2)
}
