//! Reading a scenario: parse, apply changes, expand the campaign, deserialise and check each cell.

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeValue, Deserializer};

use super::Scenario;
use super::cell::Cell;
use super::choose::{LeftOut, choose};
use super::config::Config;
use super::error::{Place, Problem, ScenarioError};
use super::plan::Plan;
use super::printed::Printed;
use super::source::{Set, Source};
use super::tree::{self, Table, Value};
use super::vary::{self, Axis, Changes};

/// Cells times bytes of file: bounds the time that any file can take.
const MOST_WORK: usize = 1 << 27;

pub(super) fn read(
    file: &str,
    text: &str,
    changes: &[(String, String)],
) -> Result<Scenario, ScenarioError> {
    let source = Source::new(file, text, changes);
    if text.len() > Scenario::MOST_BYTES {
        let message = format!(
            "{} kB is too large for a scenario (at most {} kB); is this a trace?",
            text.len() / 1000,
            Scenario::MOST_BYTES / 1000
        );
        return Err(source.error(Place::File, "", message));
    }
    let mut root = source.parse()?;
    let mut sets = source.changes()?;
    apply(&source, &mut root, sets.iter().filter(|set| set.path[0] == "vary"))?;
    let (axes, ended) = axes(&source, &mut root, &mut sets)?;
    let printed = printed(&source, &mut root, &axes, &ended)?;
    let cells = cells(&source, &root, &axes, &sets)?;
    let axes = axes
        .into_iter()
        .map(|axis| Axis {
            name: axis.name,
            labels: axis.points.into_iter().map(|point| point.label).collect(),
        })
        .collect();
    Ok(Scenario { file: file.to_owned(), text: text.to_owned(), axes, cells, printed })
}

/// An axis that a change from outside has ended, and the label that it is now.
type Fixed = (String, Option<String>);

/// What changes from outside have taken from the campaign.
struct Ended {
    axes: Vec<Fixed>,
    points: Vec<LeftOut>,
}

/// The axes that are left, and what changes have ended.
fn axes<'i>(
    source: &Source<'_>,
    root: &mut Table<'i>,
    sets: &mut Vec<Set<'i>>,
) -> Result<(Vec<Changes<'i>>, Ended), ScenarioError> {
    let axes = match root.get("vary") {
        None => return Ok((Vec::new(), Ended { axes: Vec::new(), points: Vec::new() })),
        Some(value) => match value.get_ref() {
            DeValue::Table(table) => vary::axes(table, KEYS),
            _ => Err(Problem::at("vary", "is no section; write [vary] and lists of values below")),
        },
    };
    let mut axes = axes.map_err(|problem| source.problem(root, problem))?;
    let mut fixed = Vec::new();
    axes.retain(|axis| {
        let set = sets.iter().rfind(|set| set.path.join(".") == axis.key);
        fixed.extend(set.map(|set| (axis.name.clone(), vary::plain(&set.value))));
        set.is_none()
    });
    let points = choose(source, &mut axes, sets)?;
    let count = axes.iter().try_fold(1usize, |count, axis| count.checked_mul(axis.points.len()));
    let most = Scenario::MOST_CELLS.min(MOST_WORK / (source.text.len() + 1));
    if count.is_none_or(|count| count > most) {
        let message = format!("more than {most} cells; vary less, or split the campaign");
        return Err(source.problem(root, Problem::at("vary", message)));
    }
    root.remove("vary");
    Ok((axes, Ended { axes: fixed, points }))
}

fn printed<'i>(
    source: &Source<'_>,
    root: &mut Table<'i>,
    axes: &[Changes<'i>],
    ended: &Ended,
) -> Result<Vec<Printed>, ScenarioError> {
    let Some(value) = root.get("printed") else { return Ok(Vec::new()) };
    let mut printed = Vec::<Printed>::deserialize(toml::de::ValueDeserializer::from(value.clone()))
        .map_err(|error| source.serde(root, &error))?;
    // What belongs to other labels of an ended axis has no cell; the rest says no more of it.
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
        check_printed(*index, value, axes).map_err(|problem| source.problem(root, problem))?;
    }
    root.remove("printed");
    Ok(printed.into_iter().map(|(_, value)| value).collect())
}

fn check_printed(index: usize, printed: &Printed, axes: &[Changes<'_>]) -> Result<(), Problem> {
    let key = format!("printed.{index}");
    if !printed.value.is_finite() {
        return Err(Problem::new(&key, "value", "is not a number; give one"));
    }
    for (name, label) in &printed.cell {
        let place = format!("where.{name}");
        let Some(axis) = axes.iter().find(|axis| axis.name == *name) else {
            let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
            let message = format!("no such axis; [vary] has {}", or_none(&names));
            return Err(Problem::new(&key, &place, message));
        };
        if !axis.points.iter().any(|point| point.label == *label) {
            let labels: Vec<&str> = axis.points.iter().map(|point| point.label.as_str()).collect();
            let message = format!("no label `{label}`; the axis has {}", or_none(&labels));
            return Err(Problem::new(&key, &place, message));
        }
    }
    Ok(())
}

fn or_none(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn cells<'i>(
    source: &Source<'_>,
    root: &Table<'i>,
    axes: &[Changes<'i>],
    sets: &[Set<'i>],
) -> Result<Vec<Cell>, ScenarioError> {
    let count: usize = axes.iter().map(|axis| axis.points.len()).product();
    (0..count)
        .map(|index| {
            let mut table = root.clone();
            let mut labels = Vec::new();
            let mut rest = index;
            let mut chosen = Vec::new();
            for axis in axes.iter().rev() {
                chosen.push((axis, rest % axis.points.len()));
                rest /= axis.points.len();
            }
            for (axis, point) in chosen.into_iter().rev() {
                let point = &axis.points[point];
                labels.push((axis.name.clone(), point.label.clone()));
                for (path, value) in &point.changes {
                    put(source, &mut table, path, value)?;
                }
            }
            apply(source, &mut table, sets.iter().filter(|set| set.path[0] != "vary"))?;
            cell(source, table, labels)
        })
        .collect()
}

fn cell(
    source: &Source<'_>,
    mut table: Table<'_>,
    labels: Vec<(String, String)>,
) -> Result<Cell, ScenarioError> {
    inherit(&mut table);
    let root = Spanned::new(0..0, table.clone());
    let config = Config::deserialize(Deserializer::from(root))
        .map_err(|error| source.serde(&table, &error))?;
    let plan = Plan::new(&config).map_err(|problem| source.problem(&table, problem))?;
    Ok(Cell { labels, config, plan })
}

/// Lets flows take what they leave out from the scenario, and the link of the way back its keys.
fn inherit(table: &mut Table<'_>) {
    let transport = section(table.get("transport"));
    let application = table.get("application").cloned();
    let link = section(table.get("link"));
    if let Some(DeValue::Array(flows)) = table.get_mut("flow").map(Spanned::get_mut) {
        for flow in flows.iter_mut() {
            let DeValue::Table(flow) = flow.get_mut() else { continue };
            if let Some(base) = &transport {
                inherit_section(flow, "transport", base);
                let own = flow.get_mut("transport").map(Spanned::get_mut);
                if let (Some(DeValue::Table(own)), Some(parts)) = (own, section(base.get("linux")))
                {
                    inherit_section(own, "linux", &parts);
                }
            }
            if let (false, Some(base)) = (flow.contains_key("application"), &application) {
                tree::insert(flow, "application", base.clone());
            }
        }
    }
    if let Some(DeValue::Table(back)) = table.get_mut("return").map(Spanned::get_mut)
        && (back.contains_key("trace") || back.contains_key("channel"))
        && let Some(mut base) = link
    {
        let own = section(back.get("link")).unwrap_or_default();
        // Reports on the way back travel the way there: it has another trace, if any.
        let mut others: Vec<&str> = FEEDBACK_TRACE.to_vec();
        if others.iter().any(|name| own.contains_key(*name)) {
            others.push("feedback_loss");
        }
        others.iter().for_each(|name| drop(base.remove(*name)));
        inherit_section(back, "link", &base);
    }
}

/// The keys of a link that say what loses its reports, slot by slot.
const FEEDBACK_TRACE: [&str; 2] = ["feedback_trace", "feedback_channel"];

fn section<'i>(value: Option<&Value<'i>>) -> Option<Table<'i>> {
    value.and_then(|value| value.get_ref().as_table()).cloned()
}

fn inherit_section<'i>(table: &mut Table<'i>, name: &str, base: &Table<'i>) {
    match table.get_mut(name).map(Spanned::get_mut) {
        Some(DeValue::Table(own)) => tree::inherit(own, base),
        Some(_) => {} // not a section: deserialising it says so
        None => tree::insert(table, name, Spanned::new(0..0, DeValue::Table(base.clone()))),
    }
}

fn apply<'s, 'i: 's>(
    source: &Source<'_>,
    table: &mut Table<'i>,
    sets: impl Iterator<Item = &'s Set<'i>>,
) -> Result<(), ScenarioError> {
    for set in sets {
        put(source, table, &set.path, &set.value)?;
    }
    Ok(())
}

fn put<'i>(
    source: &Source<'_>,
    table: &mut Table<'i>,
    path: &[String],
    value: &Value<'i>,
) -> Result<(), ScenarioError> {
    tree::set(table, path, value.clone()).map_err(|part| {
        let place = source.place(&value.span());
        let message = format!("`{part}` is no section that holds keys; check the dotted key");
        source.error(place, &path.join("."), message)
    })
}

/// The keys of a scenario's top level.
pub(super) const KEYS: &[&str] = &[
    "name",
    "description",
    "source",
    "seed",
    "runs",
    "duration",
    "stop_when_done",
    "trace",
    "channel",
    "scheme",
    "link",
    "hybrid",
    "ntn",
    "adaptive_harq",
    "path",
    "return",
    "access",
    "transport",
    "application",
    "flows",
    "flow",
];
