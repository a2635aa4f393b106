//! Makes the cells of a campaign on request, one at a time, since there may be a million.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use super::cell::Cell;
use super::config::Config;
use super::error::{Origin, ScenarioError};
use super::inherit::inherit;
use super::origin::origins;
use super::plan::Plan;
use super::presets;
use super::source::{Set, Source};
use super::vary::{Axis, Changes, Point};
use crate::config::{self, Node, Registry, Table, Value};
use crate::scheme::Scheme;
use crate::sync::lock;

/// Number of cells that reading checks if the campaign is too large to check all.
const LOOKED_AT: usize = 2_000;
/// Maximum of cells times bytes of the file for a full check; limits the reading time of any file.
const MOST_WORK: usize = 1 << 27;

/// Everything that cells are made from.
#[derive(Debug)]
pub(super) struct Recipe {
    pub(super) source: Source,
    pub(super) root: Table,
    /// The product of their lengths fits into `usize`.
    pub(super) axes: Vec<Changes>,
    /// Changes from outside.
    pub(super) sets: Vec<Set>,
    pub(super) registry: Registry,
    /// Whether all cells have the same protocols. Otherwise a key may be for other cells.
    pub(super) has_one_protocol: bool,
    /// Number of replications, by the first cell with these points.
    pub(super) runs: Mutex<BTreeMap<usize, u32>>,
}

impl Recipe {
    pub(super) fn file(&self) -> &str {
        self.source.file()
    }

    pub(super) fn text(&self) -> &str {
        self.source.text()
    }

    /// Names and labels of the axes.
    pub(super) fn axes(&self) -> Vec<Axis> {
        let labels = |axis: &Changes| axis.points.iter().map(|point| point.label.clone()).collect();
        self.axes
            .iter()
            .map(|axis| Axis { name: axis.name.clone(), labels: labels(axis) })
            .collect()
    }

    /// Number of cells.
    pub(super) fn count(&self) -> usize {
        self.axes.iter().map(|axis| axis.points.len()).product()
    }

    /// Whether reading checks every cell.
    pub(super) fn is_small(&self, most: usize) -> bool {
        self.count() <= most.min(self.room())
    }

    fn room(&self) -> usize {
        (MOST_WORK / (self.source.len() + 1)).max(1)
    }

    /// Makes a sample of cells, to check them: every point of each axis with the first points of
    /// the others (a part of them for very long axes), and cells spread over the campaign.
    pub(super) fn look(&self) -> Result<(), ScenarioError> {
        let (count, most) = (self.count(), LOOKED_AT.min(self.room()));
        let mut some = BTreeSet::from([0]);
        let mut stride = count;
        for axis in &self.axes {
            let points = axis.points.len();
            stride /= points;
            let taken = points.min(most / 2 / self.axes.len());
            some.extend((0..taken).map(|n| n * points / taken * stride));
        }
        // Multiples of the golden ratio do not align with the period of any axis.
        let ratio = (5f64.sqrt() - 1.0) / 2.0;
        some.extend((0..most / 2).map(|n| ((n as f64 * ratio).fract() * count as f64) as usize));
        some.into_iter().try_for_each(|index| self.cell(index).map(drop))
    }

    /// The point of each axis for a cell; the last axis is the fastest.
    fn points(&self, index: usize) -> Vec<(&Changes, &Point)> {
        let mut rest = index;
        let mut chosen: Vec<_> = self
            .axes
            .iter()
            .rev()
            .map(|axis| {
                let point = &axis.points[rest % axis.points.len()];
                rest /= axis.points.len();
                (axis, point)
            })
            .collect();
        chosen.reverse();
        chosen
    }

    /// Axis and label, for each axis in order.
    pub(super) fn labels(&self, index: usize) -> Vec<(String, String)> {
        let chosen = self.points(index).into_iter();
        chosen.map(|(axis, point)| (axis.name.clone(), point.label.clone())).collect()
    }

    /// A cell.
    pub(super) fn cell(&self, index: usize) -> Result<Cell, ScenarioError> {
        if index >= self.count() {
            let message = format!("cell {index} does not exist; the scenario has {}", self.count());
            return Err(self.source.error(Origin::File, "", message));
        }
        let mut table = self.root.clone();
        for (_, point) in self.points(index) {
            for (path, value) in &point.changes {
                self.source.put(&mut table, path, Some(value))?;
            }
        }
        self.source.apply(&mut table, self.sets.iter().filter(|set| !set.is_of_campaign()))?;
        let labels = self.labels(index);
        self.registry.within(|| made(&self.source, table, labels, self.has_one_protocol))
    }

    /// Number of replications of a cell. A cell is made only if no similar one was made before.
    pub(super) fn runs(&self, index: usize) -> Result<u32, ScenarioError> {
        let first = self.first_of_runs(index);
        if let Some(&runs) = lock(&self.runs).get(&first) {
            return Ok(runs);
        }
        let runs = self.cell(first)?.config.run.runs;
        lock(&self.runs).insert(first, runs);
        Ok(runs)
    }

    /// The cell with the first point of every axis that does not set `runs`.
    fn first_of_runs(&self, index: usize) -> usize {
        let (mut rest, mut stride, mut first) = (index, 1, 0);
        for axis in self.axes.iter().rev() {
            let points = axis.points.len();
            let sets = |point: &Point| point.changes.iter().any(|(path, _)| path[0] == "runs");
            if axis.points.iter().any(sets) {
                first += rest % points * stride;
            }
            rest /= points;
            stride *= points;
        }
        first
    }
}

/// Makes the cell of a complete table of keys.
fn made(
    source: &Source,
    mut table: Table,
    labels: Vec<(String, String)>,
    has_one_protocol: bool,
) -> Result<Cell, ScenarioError> {
    let of_preset = presets::lay_under(&mut table);
    inherit(&mut table);
    let origins = origins(source, &table);
    let root = Value::from(Node::Table(table));
    let read = config::read::<Config>(&root)
        .and_then(|config| {
            if has_one_protocol {
                config.traffic.check_transports(&of_preset)?;
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
