//! Requests and their answers.

use clift::Registry;
use clift::budget::{Budget, MemoryLimit};
use clift::diagnosis::{LossSegment, LossUnit, diagnose, loss_after};
use clift::scenario::{Cell, Scenario, SetupFault, Store};
use clift::simulation::{self, Setup};
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

    /// Answers with the chosen cell, its files, and what makes a line of a fault in them.
    fn with_cell(
        &self,
        answer: impl FnOnce(&Cell, &Store<'_>, &dyn Fn(SetupFault) -> String) -> Result<Answer, String>,
    ) -> Result<Answer, String> {
        let scenario = self.scenario()?;
        let cell = scenario.cell(self.cell).map_err(|error| error.to_string())?;
        let budget = Budget::of(MOST_MEMORY);
        let store = Store::new(lock(crate::files()).clone());
        let fault = |fault| cell.error(scenario.file(), &fault).to_string();
        answer(&cell, &store.within(&budget), &fault)
    }

    /// Answers with the setup of the chosen run.
    fn with_setup(
        &self,
        answer: impl FnOnce(&Setup) -> Result<Answer, String>,
    ) -> Result<Answer, String> {
        self.with_cell(|cell, store, fault| {
            answer(&cell.setup(self.replication, store).map_err(fault)?)
        })
    }
}

/// JSON and the columns that it describes.
pub(crate) struct Answer {
    json: Value,
    columns: Vec<f64>,
}

impl Answer {
    /// Adds a column, and to the JSON where it begins and its length.
    fn add(&mut self, name: &str, column: Vec<f64>) {
        self.json["columns"][name] = json!([self.columns.len(), column.len()]);
        self.columns.extend(column);
    }
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
    request.with_cell(|cell, store, fault| {
        let setup = cell.setup(request.replication, store).map_err(fault)?;
        let labels: Map<_, _> =
            cell.labels().iter().map(|(axis, label)| (axis.clone(), json!(label))).collect();
        let json = json!({ "labels": labels, "replication": request.replication });
        let mut answer = Answer { json, columns: Vec::new() };
        let mut log = Log::new(&setup, request.samples);
        let mut outcome = simulation::run(&setup, &mut log).map_err(|error| error.to_string())?;
        outcome.events -= log.taken();
        if request.samples > 0 {
            answer.json["notes"] = json!(cell.taken(store).map_err(fault)?);
            log.columns().into_iter().for_each(|(name, column)| answer.add(name, column));
        }
        answer.json["summary"] = json!(outcome.summary());
        Ok(answer)
    })
}

/// Says what limited a replication of a cell: [`clift::diagnosis::Diagnosis::explain`].
pub(crate) fn why(request: &Request) -> Result<Answer, String> {
    request.with_setup(|setup| {
        let (_, diagnosis) = diagnose(setup, &|| true).map_err(|error| error.to_string())?;
        let json = json!(diagnosis.explain(request.at_ns.map(Instant::from_nanos)));
        Ok(Answer { json, columns: Vec::new() })
    })
}

/// The first loss on a live link at the instant or later: [`clift::diagnosis::loss_after`]. Its units
/// and segments are columns; an erased unit has no arrival. JSON without columns: there is none.
pub(crate) fn loss(request: &Request) -> Result<Answer, String> {
    request.with_setup(|setup| {
        let from = Instant::from_nanos(request.at_ns.unwrap_or(0));
        let found = loss_after(setup, from).map_err(|error| error.to_string())?;
        let mut answer = Answer { json: json!({}), columns: Vec::new() };
        let Some(loss) = found else { return Ok(answer) };
        let seconds = |at: Instant| at.as_secs_f64();
        answer.json = json!({
            "at_s": seconds(loss.at),
            "received_s": loss.received.map(seconds),
            "flow": loss.packet.0,
            "seq": loss.packet.1,
        });
        let units = |of: &dyn Fn(&LossUnit) -> f64| loss.units.iter().map(of).collect();
        let segments = |of: &dyn Fn(&LossSegment) -> f64| loss.segments.iter().map(of).collect();
        let columns: [(&str, Vec<f64>); 9] = [
            ("time", units(&|it| seconds(it.sent.at))),
            ("arrival", units(&|it| it.sent.arrival.map_or(f64::NAN, seconds))),
            ("kind", units(&|it| f64::from(it.sent.kind as u8))),
            ("asked", units(&|it| f64::from(u8::from(it.sent.attempt > 0)))),
            ("number", units(&|it| it.number)),
            ("ours", units(&|it| f64::from(u8::from(it.is_of_loss)))),
            ("segment_time", segments(&|it| seconds(it.at))),
            ("segment_kind", segments(&|it| f64::from(it.kind as u8))),
            ("segment_seq", segments(&|it| it.seq as f64)),
        ];
        columns.into_iter().for_each(|(name, column)| answer.add(name, column));
        Ok(answer)
    })
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
