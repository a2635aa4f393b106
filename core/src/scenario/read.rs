//! Reads a scenario: parses it, applies changes and expands the campaign.

use std::sync::Mutex;

use super::cell::Cell;
use super::config::Config;
use super::error::{Origin, ScenarioError};
use super::printed::{self, Printed};
use super::recipe::Recipe;
use super::source::{Change, Source};
use super::vary;
use crate::config::{self, Node, Registry, Value};

/// See [`Scenario::MOST_BYTES`](super::Scenario::MOST_BYTES).
pub(super) const MOST_BYTES: usize = 256 * 1024;
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

/// Parses a scenario, applies changes from outside, expands the campaign and reads its cells, if
/// they are few. Also returns the values that a paper prints.
pub(super) fn read(
    file: &str,
    content: &Content,
    changes: &[(String, Change)],
    registry: &Registry,
) -> Result<(Recipe, Vec<Cell>, Vec<Printed>), ScenarioError> {
    let text = match content {
        Content::Text(text) => text,
        Content::Tree(_) => "",
    };
    let source = Source::new(file, text, changes);
    if text.len() > MOST_BYTES {
        let message = format!(
            "{} kB is too large for a scenario (at most {} kB); did you give a trace?",
            text.len() / 1000,
            MOST_BYTES / 1000
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
    let (axes, ended) = vary::take(&source, &mut root, &mut sets, &keys())?;
    let printed = printed::take(&source, &mut root, &axes, &ended)?;
    let registry = registry.clone();
    let mut varied = axes.iter().flat_map(|axis| &axis.points).flat_map(|point| &point.changes);
    let has_one_protocol = !varied.any(|(path, value)| {
        let is_protocol = path.last().is_some_and(|last| last == "protocol");
        ["transport", "flow"].contains(&&*path[0]) && (is_protocol || value.plain().is_none())
    });
    let runs = Mutex::default();
    let recipe = Recipe { source, root, axes, sets, registry, has_one_protocol, runs };
    let mut cells = Vec::new();
    if recipe.is_small(MADE) {
        cells = (0..recipe.count()).map(|index| recipe.cell(index)).collect::<Result<_, _>>()?;
    } else {
        recipe.look()?;
    }
    Ok((recipe, cells, printed))
}

/// The keys of a scenario's top level that may vary.
pub(super) fn keys() -> Vec<&'static str> {
    let mut keys = config::fields_of::<Config>();
    keys.retain(|key| !["vary", "printed"].contains(key));
    keys
}
