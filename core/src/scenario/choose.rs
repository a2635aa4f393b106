//! A change that names an axis chooses among its points: `--set buffer=none`.

use toml::de::DeValue;

use super::error::ScenarioError;
use super::read::KEYS;
use super::source::{Set, Source};
use super::tree::Value;
use super::vary::{self, Changes};

/// Axis and label of a point that is left out.
pub(super) type LeftOut = (String, String);

/// Keeps the points that `sets` choose, one or a list, and takes those sets away.
///
/// The name of a key of the scenario is that key, also where an axis is called so.
pub(super) fn choose(
    source: &Source<'_>,
    axes: &mut [Changes<'_>],
    sets: &mut Vec<Set<'_>>,
) -> Result<Vec<LeftOut>, ScenarioError> {
    let mut left_out = Vec::new();
    let mut other = Vec::new();
    for set in sets.drain(..) {
        let name = set.path.join(".");
        match axes.iter_mut().find(|axis| axis.name == name && !KEYS.contains(&name.as_str())) {
            Some(axis) => left_out.extend(narrow(source, axis, &set.value)?),
            None => other.push(set),
        }
    }
    *sets = other;
    Ok(left_out)
}

fn narrow(
    source: &Source<'_>,
    axis: &mut Changes<'_>,
    value: &Value<'_>,
) -> Result<Vec<LeftOut>, ScenarioError> {
    let all: Vec<String> = axis.points.iter().map(|point| point.label.clone()).collect();
    let chosen = labels(value)
        .filter(|chosen| !chosen.is_empty() && chosen.iter().all(|label| all.contains(label)));
    let Some(chosen) = chosen else {
        let message = format!("is an axis of [vary]; choose one or a list of {}", all.join(", "));
        return Err(source.error(source.place(&value.span()), &axis.name, message));
    };
    axis.points.retain(|point| chosen.contains(&point.label));
    let left_out = all.into_iter().filter(|label| !chosen.contains(label));
    Ok(left_out.map(|label| (axis.name.clone(), label)).collect())
}

fn labels(value: &Value<'_>) -> Option<Vec<String>> {
    match value.get_ref() {
        DeValue::Array(array) => array.iter().map(vary::plain).collect(),
        _ => vary::plain(value).map(|label| vec![label]),
    }
}
