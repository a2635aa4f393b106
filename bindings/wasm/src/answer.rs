//! Requests and their answers.

use clift::Registry;
use clift::budget::{Budget, MemoryLimit};
use clift::diagnosis::diagnose;
use clift::scenario::{Cell, Scenario, Store};
use clift::simulation;
use clift::sync::lock;
use clift::units::Instant;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::log::Log;

/// Memory for the traces and logs of a run; a module has at most 4 GiB.
const MOST_MEMORY: MemoryLimit = MemoryLimit::Bytes(1 << 30);
/// Maximum number of cells that are listed.
const MOST_CELLS: usize = 500;

/// What the page asks for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// Name of the scenario in messages.
    #[serde(default)]
    name: String,
    /// The scenario.
    text: String,
    /// Dotted keys with the values that replace those of the text, as `--set`.
    #[serde(default)]
    changes: Vec<(String, String)>,
    /// Number of the cell.
    #[serde(default)]
    cell: usize,
    /// Number of the run.
    #[serde(default)]
    replication: u32,
    /// Samples over the run; 0: none, and no columns.
    #[serde(default)]
    samples: u32,
    /// The instant to be explained, ns.
    #[serde(default)]
    at_ns: Option<u64>,
}

impl Request {
    fn scenario(&self) -> Result<Scenario, String> {
        let read = Scenario::parse(&self.name, &self.text, &self.changes, &Registry::new());
        read.map_err(|error| error.to_string())
    }
}

/// JSON and the columns that it describes.
pub(crate) struct Answer {
    json: Value,
    columns: Vec<f64>,
}

/// The bytes of the answer to a request.
pub(crate) fn to(request: &[u8], answer: fn(&Request) -> Result<Answer, String>) -> Vec<u8> {
    let read = serde_json::from_slice(request).map_err(|error| format!("request: {error}"));
    let Answer { json, columns } = read
        .and_then(|request| answer(&request))
        .unwrap_or_else(|error| Answer { json: json!({ "error": error }), columns: Vec::new() });
    let json = json.to_string();
    let begin = (4 + json.len()).next_multiple_of(8);
    let mut bytes = Vec::with_capacity(begin + 8 * columns.len());
    bytes.extend((json.len() as u32).to_le_bytes());
    bytes.extend(json.as_bytes());
    bytes.resize(begin, 0);
    columns.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
    bytes
}

/// Lists the cells by their labels, and the keys that the scenario gives for the chosen cell with
/// their values.
pub(crate) fn check(request: &Request) -> Result<Answer, String> {
    let scenario = request.scenario()?;
    let cells = scenario.count();
    let labels: Vec<_> = (0..cells.min(MOST_CELLS)).map(|cell| scenario.labels(cell)).collect();
    let cell = scenario.cell(request.cell).map_err(|error| error.to_string())?;
    let json = json!({ "cells": cells, "labels": labels, "given": given(&cell) });
    Ok(Answer { json, columns: Vec::new() })
}

/// Runs a replication of a cell.
pub(crate) fn run(request: &Request) -> Result<Answer, String> {
    let scenario = request.scenario()?;
    let cell = scenario.cell(request.cell).map_err(|error| error.to_string())?;
    let budget = Budget::of(MOST_MEMORY);
    let store = Store::new(lock(crate::files()).clone());
    let store = store.within(&budget);
    let fault = |fault| cell.error(scenario.file(), &fault).to_string();
    let setup = cell.setup(request.replication, &store).map_err(fault)?;
    let labels: Map<_, _> =
        cell.labels().iter().map(|(axis, label)| (axis.clone(), json!(label))).collect();
    let mut json = json!({ "labels": labels, "replication": request.replication });
    let mut log = Log::new(&setup, request.samples);
    let mut outcome = simulation::run(&setup, &mut log).map_err(|error| error.to_string())?;
    outcome.events -= log.taken();
    let mut all = Vec::new();
    if request.samples > 0 {
        json["notes"] = json!(cell.taken(&store).map_err(fault)?);
        for (name, column) in log.columns() {
            json["columns"][name] = json!([all.len(), column.len()]);
            all.extend(column);
        }
    }
    json["summary"] = json!(outcome.summary());
    Ok(Answer { json, columns: all })
}

/// Says what limited a replication of a cell: [`clift::diagnosis::Diagnosis::explain`].
pub(crate) fn why(request: &Request) -> Result<Answer, String> {
    let scenario = request.scenario()?;
    let cell = scenario.cell(request.cell).map_err(|error| error.to_string())?;
    let budget = Budget::of(MOST_MEMORY);
    let store = Store::new(lock(crate::files()).clone());
    let store = store.within(&budget);
    let fault = |fault| cell.error(scenario.file(), &fault).to_string();
    let setup = cell.setup(request.replication, &store).map_err(fault)?;
    let (_, diagnosis) = diagnose(&setup, &|| true).map_err(|error| error.to_string())?;
    let json = json!(diagnosis.explain(request.at_ns.map(Instant::from_nanos)));
    Ok(Answer { json, columns: Vec::new() })
}

/// The dotted keys that the scenario gives, with their values in the cell.
fn given(cell: &Cell) -> Map<String, Value> {
    let config = serde_json::to_value(cell.config()).unwrap_or_default();
    let value = |key: &str| {
        key.split('.').try_fold(&config, |value, part| match value {
            Value::Array(list) => list.get(part.parse::<usize>().ok()?),
            other => other.get(part),
        })
    };
    let origins = cell.origins().iter();
    origins.filter_map(|(key, _)| Some((key.clone(), value(key)?.clone()))).collect()
}
