//! How the cells of a campaign are made: one by one when they are asked for, since there may be a
//! million.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use super::cell::Cell;
use super::error::{Place, ScenarioError};
use super::read::{apply, is_of_campaign, made, put};
use super::source::{Set, Source};
use super::vary::{Axis, Changes, Point};
use crate::config::Table;
use crate::sync::lock;

/// Cells that are looked at of a campaign that is too large for all of them.
const LOOKED_AT: usize = 2_000;
/// Cells times bytes of file that reading looks at: bounds the time that any file can take.
const MOST_WORK: usize = 1 << 27;

/// Everything that cells are made of.
#[derive(Debug)]
pub(super) struct Recipe {
    source: Source,
    root: Table,
    axes: Vec<Changes>,
    sets: Vec<Set>,
    /// Replications by the first cell that has them.
    runs: Mutex<BTreeMap<usize, u32>>,
}

impl Recipe {
    /// What the sections of a file, its axes and changes from outside make; the product of the axes
    /// fits into a number.
    pub(super) fn new(source: Source, root: Table, axes: Vec<Changes>, sets: Vec<Set>) -> Self {
        Self { source, root, axes, sets, runs: Mutex::default() }
    }

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

    /// How many cells there are.
    pub(super) fn count(&self) -> usize {
        self.axes.iter().map(|axis| axis.points.len()).product()
    }

    /// Whether reading looks at every cell.
    pub(super) fn is_small(&self, most: usize) -> bool {
        self.count() <= most.min(self.room())
    }

    fn room(&self) -> usize {
        (MOST_WORK / (self.source.len() + 1)).max(1)
    }

    /// Makes some cells: every point of each axis beside the first ones of the others, of axes with
    /// very many some, and cells from all over the campaign.
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
        // Multiples of the golden ratio fall into step with no axis.
        let ratio = (5f64.sqrt() - 1.0) / 2.0;
        some.extend((0..most / 2).map(|n| ((n as f64 * ratio).fract() * count as f64) as usize));
        some.into_iter().try_for_each(|index| self.cell(index).map(drop))
    }

    /// The point of each axis that a cell has, the last axis fastest.
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
            let message = format!("no cell {index}; there are {}", self.count());
            return Err(self.source.error(Place::File, "", message));
        }
        let mut table = self.root.clone();
        for (_, point) in self.points(index) {
            for (path, value) in &point.changes {
                put(&self.source, &mut table, path, Some(value))?;
            }
        }
        apply(&self.source, &mut table, self.sets.iter().filter(|set| !is_of_campaign(set)))?;
        made(&self.source, table, self.labels(index))
    }

    /// Replications of a cell, which is made only if no cell like it has been.
    pub(super) fn runs(&self, index: usize) -> Result<u32, ScenarioError> {
        let first = self.first_of_runs(index);
        if let Some(&runs) = lock(&self.runs).get(&first) {
            return Ok(runs);
        }
        let runs = self.cell(first)?.config.run.runs;
        lock(&self.runs).insert(first, runs);
        Ok(runs)
    }

    /// The cell with the first points of the axes that set no number of replications.
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
