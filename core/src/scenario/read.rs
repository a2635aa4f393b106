//! Reads a scenario: parses it, applies changes and expands the campaign.

use std::sync::{Arc, Mutex};

use super::Scenario;
use super::config::Config;
use super::error::{Origin, ScenarioError};
use super::printed::{self, Ended};
use super::recipe::Recipe;
use super::source::{Change, Set, Source};
use super::vary::{self, Changes};
use crate::config::{self, Fault, Node, Registry, Table, Value};

/// Maximum number of cells that are all made while the scenario is read.
const MADE: usize = 10_000;

/// The input of [`super::Scenario::read`].
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// The text of a file.
    Text(String),
    /// A tree of values.
    Tree(Value),
}

/// Parses a scenario, applies changes from outside, expands the campaign and reads its cells.
pub(super) fn read(
    file: &str,
    content: &Content,
    changes: &[(String, Change)],
    registry: &Registry,
) -> Result<Scenario, ScenarioError> {
    let text = match content {
        Content::Text(text) => text,
        Content::Tree(_) => "",
    };
    let source = Source::new(file, text, changes);
    if text.len() > Scenario::MOST_BYTES {
        let message = format!(
            "{} kB is too large for a scenario (at most {} kB); did you give a trace?",
            text.len() / 1000,
            Scenario::MOST_BYTES / 1000
        );
        return Err(source.error(Origin::File, "", message));
    }
    let mut root = match content {
        Content::Text(_) => source.parse()?,
        Content::Tree(Value { node: Node::Table(root), .. }) => root.clone(),
        Content::Tree(_) => {
            return Err(source.error(Origin::File, "", "is not a section; give keys and values"));
        }
    };
    let mut sets = source.changes()?;
    source.apply(&mut root, sets.iter().filter(|set| set.is_of_campaign()))?;
    let (axes, ended) = axes(&source, &mut root, &mut sets)?;
    let printed = printed::take(&source, &mut root, &axes, &ended)?;
    let registry = registry.clone();
    let recipe = Recipe { source, root, axes, sets, registry, runs: Mutex::default() };
    let mut cells = Vec::new();
    if recipe.is_small(MADE) {
        cells = (0..recipe.count()).map(|index| recipe.cell(index)).collect::<Result<_, _>>()?;
    } else {
        recipe.look()?;
    }
    Ok(Scenario { axes: recipe.axes(), recipe: Arc::new(recipe), cells, printed })
}

/// Returns the remaining axes, and those that changes have ended.
fn axes(
    source: &Source,
    root: &mut Table,
    sets: &mut Vec<Set>,
) -> Result<(Vec<Changes>, Ended), ScenarioError> {
    let Some(value) = root.get("vary") else {
        return Ok((Vec::new(), Ended { axes: Vec::new(), points: Vec::new() }));
    };
    let mut axes = vary::axes(source, value, &keys())
        .map_err(|fault| source.fault(root, &fault.within("vary")))?;
    let mut fixed = Vec::new();
    axes.retain(|axis| {
        let set = sets.iter().rfind(|set| set.covers(&axis.key) && !set.chooses_of(&axis.name));
        let label = |set: &Set| set.value.as_ref().and_then(|value| source.label(value));
        fixed.extend(set.map(|set| (axis.name.clone(), label(set))));
        set.is_none()
    });
    let points = vary::choose(source, &mut axes, sets, &keys())?;
    let count = axes.iter().try_fold(1usize, |count, axis| count.checked_mul(axis.points.len()));
    let most = Scenario::MOST_CELLS;
    if count.is_none_or(|count| count > most) {
        let message = format!("more than {most} cells; vary less, or split the campaign");
        return Err(source.fault(root, &Fault::new("vary", message)));
    }
    root.remove("vary");
    Ok((axes, Ended { axes: fixed, points }))
}

/// The keys of a scenario's top level that may vary.
pub(super) fn keys() -> Vec<&'static str> {
    let mut keys = config::fields_of::<Config>();
    keys.retain(|key| !["vary", "printed"].contains(key));
    keys
}
