//! Reads a scenario: parses it, applies changes, expands the campaign, and deserialises and checks
//! each cell.

use std::sync::{Arc, Mutex};

use super::Scenario;
use super::cell::Cell;
use super::config::Config;
use super::error::{Origin, ScenarioError};
use super::origin::origins;
use super::plan::Plan;
use super::presets;
use super::printed::Printed;
use super::recipe::Recipe;
use super::source::{Change, Set, Source};
use super::vary::{self, Changes, LeftOut};
use crate::config::{self, Fault, Node, Registry, Table, Value};
use crate::scheme::Scheme;

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
    let root = match content {
        Content::Text(_) => source.parse()?,
        Content::Tree(Value { node: Node::Table(root), .. }) => root.clone(),
        Content::Tree(_) => {
            return Err(source.error(Origin::File, "", "is not a section; give keys and values"));
        }
    };
    expanded(source, root, registry)
}

/// Applies changes from outside, expands the campaign and reads its cells.
fn expanded(
    source: Source,
    mut root: Table,
    registry: &Registry,
) -> Result<Scenario, ScenarioError> {
    let mut sets = source.changes()?;
    apply(&source, &mut root, sets.iter().filter(|set| is_of_campaign(set)))?;
    let (axes, ended) = axes(&source, &mut root, &mut sets)?;
    let printed = printed(&source, &mut root, &axes, &ended)?;
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

/// Whether a change concerns the campaign rather than its cells.
pub(super) fn is_of_campaign(set: &Set) -> bool {
    matches!(set.path[0].as_str(), "vary" | "printed")
}

/// An axis that a change from outside has ended, and its label in that change.
type Fixed = (String, Option<String>);

/// Axes that changes from outside have ended.
struct Ended {
    axes: Vec<Fixed>,
    points: Vec<LeftOut>,
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

fn printed(
    source: &Source,
    root: &mut Table,
    axes: &[Changes],
    ended: &Ended,
) -> Result<Vec<Printed>, ScenarioError> {
    let Some(value) = root.get("printed") else { return Ok(Vec::new()) };
    let mut printed: Vec<Printed> =
        config::read(value).map_err(|fault| source.fault(root, &fault.within("printed")))?;
    // Entries with other labels of an ended axis have no cell; drop them, and the axis from the
    // others.
    let mut numbers: Vec<usize> = (0..printed.len()).collect();
    let points = &ended.points;
    numbers.retain(|&number| {
        !points.iter().any(|(axis, label)| printed[number].cell.get(axis) == Some(label))
    });
    for (name, label) in &ended.axes {
        let keep = |value: &Printed| value.cell.get(name).is_none_or(|l| Some(l) == label.as_ref());
        numbers.retain(|&number| keep(&printed[number]));
        for value in &mut printed {
            value.cell.remove(name);
        }
    }
    let printed: Vec<(usize, Printed)> =
        numbers.into_iter().map(|number| (number, printed[number].clone())).collect();
    for (index, value) in &printed {
        check_printed(value, axes)
            .map_err(|fault| source.fault(root, &fault.within(&format!("printed.{index}"))))?;
    }
    root.remove("printed");
    Ok(printed.into_iter().map(|(_, value)| value).collect())
}

fn check_printed(printed: &Printed, axes: &[Changes]) -> Result<(), Fault> {
    if !printed.value.is_finite() {
        return Err(Fault::new("value", "is not a number; give one"));
    }
    for (name, label) in &printed.cell {
        let fault = |message: String| Fault::at(message).within(name).within("where");
        let Some(axis) = axes.iter().find(|axis| axis.name == *name) else {
            let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
            return Err(fault(format!("no such axis; [vary] has {}", or_none(&names))));
        };
        if !axis.points.iter().any(|point| point.label == *label) {
            let labels: Vec<&str> = axis.points.iter().map(|point| point.label.as_str()).collect();
            return Err(fault(format!("no label `{label}`; the axis has {}", or_none(&labels))));
        }
    }
    Ok(())
}

fn or_none(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Makes the cell of a complete table of keys.
pub(super) fn made(
    source: &Source,
    mut table: Table,
    labels: Vec<(String, String)>,
) -> Result<Cell, ScenarioError> {
    presets::lay_under(&mut table);
    inherit(&mut table);
    let origins = origins(source, &table);
    let root = Value::from(Node::Table(table));
    let read = config::read::<Config>(&root)
        .and_then(|config| {
            // In a campaign a section may be for other cells.
            if labels.is_empty() {
                config.traffic.check_sections()?;
            }
            Ok((Plan::new(&config)?, config))
        })
        .map_err(|fault| source.fault(root.as_table().unwrap_or(&Table::default()), &fault));
    let (plan, mut config) = read?;
    // Fill in every default.
    config.sections.scheme.get_or_insert(Scheme::None);
    config.sections.link.get_or_insert_default();
    Ok(Cell { labels, config, plan, origins })
}

/// Copies the scenario's keys into flows that leave them out, and those of `[link]` into the link
/// of the return path.
fn inherit(table: &mut Table) {
    let transport = section(table.get("transport"));
    let application = table.get("application").cloned();
    let link = section(table.get("link"));
    if let Some(Node::List(flows)) = table.get_mut("flow").map(|flows| &mut flows.node) {
        for flow in flows.iter_mut().filter_map(Value::as_table_mut) {
            if let Some(base) = &transport {
                inherit_section(flow, "transport", base);
                let own = flow.get_mut("transport").and_then(Value::as_table_mut);
                if let Some(own) = own {
                    for name in ["linux", "quic"] {
                        if let Some(parts) = section(base.get(name)) {
                            inherit_section(own, name, &parts);
                        }
                    }
                }
            }
            if let (false, Some(base)) = (flow.contains("application"), &application) {
                flow.insert("application", base.clone());
            }
        }
    }
    if let Some(back) = table.get_mut("return").and_then(Value::as_table_mut)
        && ["trace", "channel", "link_trace"].into_iter().any(|name| back.contains(name))
        && let Some(mut base) = link
    {
        let own = section(back.get("link")).unwrap_or_default();
        // Reports about the return path travel on the forward path, so the link's feedback trace
        // does not apply.
        let mut others: Vec<&str> = FEEDBACK_TRACE.to_vec();
        if others.iter().any(|name| own.contains(name)) {
            others.push("feedback_loss");
        }
        if back.contains("link_trace") {
            others.extend(["rtt", "feedback", "live"]);
        }
        // Proxies belong to the forward path.
        others.push("pep");
        others.iter().for_each(|name| drop(base.remove(name)));
        inherit_section(back, "link", &base);
    }
}

/// The keys of a link that decide, slot by slot, which reports are lost.
const FEEDBACK_TRACE: [&str; 2] = ["feedback_trace", "feedback_channel"];

fn section(value: Option<&Value>) -> Option<Table> {
    value.and_then(Value::as_table).cloned()
}

fn inherit_section(table: &mut Table, name: &str, base: &Table) {
    match table.get_mut(name) {
        Some(Value { node: Node::Table(own), .. }) => own.inherit(base),
        Some(_) => {} // not a section: reported when it is read
        None => table.insert(name, Node::Table(base.clone()).into()),
    }
}

pub(super) fn apply<'s>(
    source: &Source,
    table: &mut Table,
    sets: impl Iterator<Item = &'s Set>,
) -> Result<(), ScenarioError> {
    for set in sets {
        put(source, table, &set.path, set.value.as_ref())?;
    }
    Ok(())
}

pub(super) fn put(
    source: &Source,
    table: &mut Table,
    path: &[String],
    value: Option<&Value>,
) -> Result<(), ScenarioError> {
    let Some(value) = value else {
        table.take(path);
        return Ok(());
    };
    table.set(path, value.clone()).map_err(|part| {
        let message = format!("`{part}` is not a section or an entry; check the dotted key");
        let fault = Fault::new(&path.join("."), message);
        match &value.place {
            place if place.is_empty() => source.error(Origin::File, &fault.path(), fault.message()),
            place => source.error(source.place(place), &fault.path(), fault.message()),
        }
    })
}

/// The keys of a scenario's top level that may vary.
pub(super) fn keys() -> Vec<&'static str> {
    let mut keys = config::fields_of::<Config>();
    keys.retain(|key| !["vary", "printed"].contains(key));
    keys
}
