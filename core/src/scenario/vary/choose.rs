//! Axes that changes from outside end, and points that they choose.

use std::collections::BTreeSet;

use super::point::{Changes, Label};
use crate::config::{Node, Value};
use crate::scenario::error::{Origin, ScenarioError};
use crate::scenario::source::{Set, Source};

/// Maximum number of labels that a message lists.
const MOST_TOLD: usize = 20;

/// Axis and label of a point that is not selected.
type LeftOut = (String, String);

/// What changes from outside have ended.
#[derive(Default)]
pub(in crate::scenario) struct Ended {
    /// Axes whose key is set, and their labels in the change.
    pub(in crate::scenario) axes: Vec<(String, Option<String>)>,
    pub(in crate::scenario) points: Vec<LeftOut>,
}

/// Removes the axes whose keys `sets` set, and the points that `sets` do not select (`--set
/// buffer=none`), one or a list; then those sets. If an axis has the same name as a key of the
/// scenario, the name refers to the key.
pub(super) fn choose(
    source: &Source,
    label: Label<'_>,
    axes: &mut Vec<Changes>,
    sets: &mut Vec<Set>,
    keys: &[&str],
) -> Result<Ended, ScenarioError> {
    let mut ended = Ended::default();
    axes.retain(|axis| {
        let set = sets.iter().rfind(|set| set.covers(&axis.key) && !set.chooses_of(&axis.name));
        let label = |set: &Set| (axis.name.clone(), set.value.as_ref().and_then(label));
        ended.axes.extend(set.map(label));
        set.is_none()
    });
    let mut other = Vec::new();
    for set in sets.drain(..) {
        let name = set.path.join(".");
        let free = set.chooses_of(&name) || !keys.contains(&name.as_str());
        match axes.iter_mut().find(|axis| axis.name == name && free) {
            Some(axis) => ended.points.extend(narrow(source, label, axis, set.value.as_ref())?),
            None => other.push(set),
        }
    }
    *sets = other;
    Ok(ended)
}

fn narrow(
    source: &Source,
    label: Label<'_>,
    axis: &mut Changes,
    value: Option<&Value>,
) -> Result<Vec<LeftOut>, ScenarioError> {
    let all: Vec<String> = axis.points.iter().map(|point| point.label.clone()).collect();
    let known: BTreeSet<&String> = all.iter().collect();
    let chosen: Option<BTreeSet<String>> = value.and_then(|value| match &value.node {
        Node::List(list) => list.iter().map(label).collect(),
        _ => label(value).map(|label| BTreeSet::from([label])),
    });
    let chosen = chosen
        .filter(|chosen| !chosen.is_empty() && chosen.iter().all(|label| known.contains(label)));
    let Some(chosen) = chosen else {
        let more = if all.len() > MOST_TOLD { ", ..." } else { "" };
        let told = all[..all.len().min(MOST_TOLD)].join(", ");
        let message = format!("is an axis of [vary]; choose one or a list of {told}{more}");
        return Err(source.error(
            value.map_or(Origin::File, |value| source.place(&value.place)),
            &axis.name,
            message,
        ));
    };
    axis.points.retain(|point| chosen.contains(&point.label));
    let left_out = all.into_iter().filter(|label| !chosen.contains(label));
    Ok(left_out.map(|label| (axis.name.clone(), label)).collect())
}
