//! Scenario files: the schema of a run, read from TOML.
//!
//! [`Scenario::parse`] checks the whole file and every cell of its campaign. An error is one line
//! with the file, the line, the key and how to correct it. Given a source of traces ([`Traces`]), a
//! [`Cell`] becomes a [`crate::simulation::Setup`].

mod adaptive_harq;
mod arrivals;
mod cell;
mod channel;
mod channel_seeds;
mod config;
mod cure;
mod edited;
mod error;
mod flows;
mod handovers;
mod inherit;
mod kinds;
mod leg;
mod limit;
mod link;
mod link_kind;
mod memory;
mod network;
mod origin;
mod path;
mod phy;
mod plan;
mod presets;
mod printed;
mod read;
mod recipe;
mod reorder;
mod schema;
mod setup;
mod shared;
mod source;
mod spec;
mod store;
mod traces;
mod traffic;
mod vary;
mod window;

#[cfg(test)]
mod tests;

pub use crate::trace::TraceFile as Trace;
pub use adaptive_harq::{AdaptiveHarq, HarqChannel};
pub use arrivals::{Arrivals, Poisson, Times};
pub use cell::Cell;
pub use channel::{Channel, Draw};
pub use config::{Config, Run, Traffic};
pub use edited::{Burst, Edits};
pub use error::{Origin, ScenarioError};
pub use kinds::Sections;
pub use leg::Leg;
pub use limit::Start;
pub use link::{Link, LinkUsage, Overlap, Reports, SlotLink};
pub use link_kind::{LinkKind, Making};
pub use memory::{Memory, MemoryObject};
pub use network::{Ends, Network, NetworkLink, RouteChoice};
pub use origin::InEffect;
pub use path::{Hop, Return, Way, Wire};
pub use phy::{PlannedChannel, PlannedPhy};
pub use plan::{
    NetworkEdge, Plan, PlannedCoding, PlannedDemand, PlannedHop, PlannedLink, PlannedNetwork,
    PlannedProxy,
};
pub use presets::Preset;
pub use printed::Printed;
pub use read::Content;
pub use reorder::{Reorder, ReorderKey};
pub use schema::json_schema;
pub use shared::Shared;
pub use source::Change;
pub use spec::PhySpec;
pub use store::Store;
pub use traces::{Information, InformationSpec, MakeError, SetupFault, Traces};
pub use traffic::{Flow, ProtocolOptions, Transport, TransportKind};
pub use vary::{Axis, Vary};
pub use window::TraceWindow;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use self::recipe::Recipe;
use crate::config::{Fault, Registry, Value};

/// A checked scenario: every cell can be run as soon as its traces are available.
///
/// ```
/// use clift::scenario::Scenario;
/// let text = r#"
///     duration = "10 s"
///     [channel]
///     model = "bernoulli"
///     erasures = "2 %"
///     rate = "263 kbit/s"
///     [vary]
///     scheme = ["ARQ", "HARQ(10/12)"]
/// "#;
/// let scenario = Scenario::parse("geo.toml", text, &[], &clift::Registry::new())?;
/// assert_eq!(scenario.cells().len(), 2);
/// assert_eq!(scenario.cells()[1].labels()[0].1, "HARQ(10/12)");
/// # Ok::<(), clift::scenario::ScenarioError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scenario {
    axes: Vec<Axis>,
    recipe: Arc<Recipe>,
    /// All cells of a small campaign; empty for a large one.
    cells: Vec<Cell>,
    printed: Vec<Printed>,
}

impl Scenario {
    /// Maximum size of a scenario file: 256 KiB.
    pub const MOST_BYTES: usize = read::MOST_BYTES;
    /// Maximum number of cells of one campaign: one million. For a campaign of more than 10,000
    /// cells (fewer if the file is long), reading checks every point of every axis and about 2,000
    /// cells. An error in another cell appears when that cell is made.
    pub const MOST_CELLS: usize = vary::MOST_CELLS;

    /// Reads and checks the text of a scenario file.
    ///
    /// `file` is the name used in errors. `changes` are dotted keys with values that replace those
    /// in the file (TOML, or text without quotes). Changing a key that varies ends its variation.
    /// Changing the name of an axis selects one or several of its points. `registry` has the kinds
    /// of parts that the file may name.
    ///
    /// # Errors
    /// The first error found.
    pub fn parse(
        file: &str,
        text: &str,
        changes: &[(String, String)],
        registry: &Registry,
    ) -> Result<Self, ScenarioError> {
        let content = Content::Text(text.to_owned());
        let text = |(key, text): &(String, String)| (key.clone(), Change::Text(text.clone()));
        Self::read(file, &content, &changes.iter().map(text).collect::<Vec<_>>(), registry)
    }

    /// Reads and checks a scenario with changes: dotted keys and their values. Each change ends the
    /// variation of its key.
    ///
    /// ```
    /// use clift::config::Value;
    /// use clift::scenario::{Change, Content, Scenario};
    /// let text = "hybrid.n = 11\nvary.hybrid.k = [9, 10]\nlink.queue = \"9 packets\"";
    /// let content = Content::Text(text.to_owned());
    /// let nine = Change::Value(Value::from(clift::config::Node::Integer(9)));
    /// let changes = [("hybrid.k".to_owned(), nine), ("link.queue".to_owned(), Change::Nothing)];
    /// let scenario = Scenario::read("", &content, &changes, &clift::Registry::new())?;
    /// assert_eq!(scenario.cells().len(), 1);
    /// let sections = &scenario.cells()[0].config().sections;
    /// assert_eq!(sections.link.clone().unwrap_or_default().usage.queue.to_string(), "1000 packets");
    /// # Ok::<(), clift::scenario::ScenarioError>(())
    /// ```
    ///
    /// # Errors
    /// The first error found.
    pub fn read(
        file: &str,
        content: &Content,
        changes: &[(String, Change)],
        registry: &Registry,
    ) -> Result<Self, ScenarioError> {
        let (recipe, cells, printed) = read::read(file, content, changes, registry)?;
        Ok(Self { axes: recipe.axes(), recipe: Arc::new(recipe), cells, printed })
    }

    /// Reads and checks a scenario file; otherwise as [`Scenario::read`].
    ///
    /// ```
    /// use clift::scenario::Scenario;
    /// let error = Scenario::open("/nowhere/geo.toml".as_ref(), &[], &clift::Registry::new()).unwrap_err();
    /// assert!(error.to_string().starts_with("/nowhere/geo.toml: cannot be read: "));
    /// ```
    ///
    /// # Errors
    /// The first error found, including a file that cannot be read or is not text.
    pub fn open(
        path: &Path,
        changes: &[(String, Change)],
        registry: &Registry,
    ) -> Result<Self, ScenarioError> {
        let file = path.display().to_string();
        let cannot = |error: io::Error| ScenarioError {
            file: file.clone(),
            place: Origin::File,
            key: String::new(),
            message: format!("cannot be read: {error}"),
        };
        let mut text = String::new();
        // Reading one byte more than the maximum detects a file that is too large.
        let source = File::open(path).map_err(cannot)?;
        source.take(Self::MOST_BYTES as u64 + 1).read_to_string(&mut text).map_err(cannot)?;
        Self::read(&file, &Content::Text(text), changes, registry)
    }

    /// Checks a scenario given as a tree of values with the keys of a scenario file.
    ///
    /// ```
    /// use clift::config::Value;
    /// use clift::scenario::Scenario;
    /// let link = Value::table([("n", Value::text("11"))]);
    /// let error = Scenario::of(Value::table([("hybrid", link)]), &clift::Registry::new()).unwrap_err();
    /// assert_eq!(error.to_string(), "hybrid.n: string \"11\" is not valid here; give a whole number, 0 or more");
    /// ```
    ///
    /// # Errors
    /// The first error found.
    pub fn of(tree: Value, registry: &Registry) -> Result<Self, ScenarioError> {
        Self::read("", &Content::Tree(tree), &[], registry)
    }

    /// The file name, as given.
    pub fn file(&self) -> &str {
        self.recipe.file()
    }

    /// The text, as given.
    pub fn text(&self) -> &str {
        self.recipe.text()
    }

    /// The axes of the campaign; empty if there is a single cell.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The cells of a campaign of at most 10,000 cells (fewer if the file is long): every
    /// combination of the axes' points, the last axis fastest. Empty for a larger campaign: use
    /// [`Scenario::cell`].
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Number of cells, at least one.
    pub fn count(&self) -> usize {
        self.recipe.count()
    }

    /// Returns one cell. If the campaign is too large to be kept in memory, the cell is made again.
    ///
    /// ```
    /// use clift::scenario::Scenario;
    /// let text = "[ntn]\n[vary]\nseed = { from = 0, to = 999_999, step = 1 }\n";
    /// let scenario = Scenario::parse("many.toml", text, &[], &clift::Registry::new())?;
    /// assert_eq!((scenario.count(), scenario.cells().len()), (1_000_000, 0));
    /// assert_eq!(scenario.cell(999_998)?.config().run.seed, 999_998);
    /// # Ok::<(), clift::scenario::ScenarioError>(())
    /// ```
    ///
    /// # Errors
    /// The first error in the cell, if reading did not check it already; an index out of range.
    pub fn cell(&self, index: usize) -> Result<Cow<'_, Cell>, ScenarioError> {
        match self.cells.get(index) {
            Some(cell) => Ok(Cow::Borrowed(cell)),
            None => self.recipe.cell(index).map(Cow::Owned),
        }
    }

    /// Axis and label of a cell, for each axis in order.
    pub fn labels(&self, index: usize) -> Vec<(String, String)> {
        self.recipe.labels(index)
    }

    /// Number of replications of a cell.
    ///
    /// # Errors
    /// As for [`Scenario::cell`].
    pub fn runs(&self, index: usize) -> Result<u32, ScenarioError> {
        match self.cells.get(index) {
            Some(cell) => Ok(cell.config.run.runs),
            None => self.recipe.runs(index),
        }
    }

    /// Lists, one line each, the keys with a value that no cell has, as `[vary]` sets them in every
    /// cell. Keys that vary by changes from outside are left out.
    ///
    /// ```
    /// use clift::scenario::Scenario;
    /// let text = r#"
    ///     scheme = "ARQ"
    ///     channel = { model = "bernoulli", erasures = "2 %", rate = "1 Mbit/s" }
    ///     [vary]
    ///     scheme = ["none", "ARQ"]
    /// "#;
    /// let scenario = Scenario::parse("geo.toml", text, &[], &clift::Registry::new())?;
    /// assert!(scenario.overridden()[0].starts_with("geo.toml line 2: scheme: not used"));
    /// # Ok::<(), clift::scenario::ScenarioError>(())
    /// ```
    pub fn overridden(&self) -> Vec<String> {
        let Recipe { source, root, axes, sets, .. } = &*self.recipe;
        let message = "not used, as [vary] sets this key in every cell";
        let line = |path: &vary::Path| source.fault(root, &Fault::new(&path.join("."), message));
        let found = vary::overridden(axes, root, sets);
        found.into_iter().map(|path| line(path).to_string()).collect()
    }

    /// Values that a paper prints.
    pub fn printed(&self) -> &[Printed] {
        &self.printed
    }
}
