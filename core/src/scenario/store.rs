//! Traces as scenarios need them: each made once, and kept while there is room.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use thiserror::Error;

use super::memory::{Held, Memory};
use super::spec::PhySpec;
use super::traces::{Information, InformationSpec, Traces};
use crate::application::{PageContent, PageFault, PageReader};
use crate::budget::Budget;
use crate::config::Fault;
use crate::link::{DelaySeries, DelaySeriesError, DelayTable};
use crate::scheme::{LinkTrace, Scheme, Timing};
use crate::seed::Seed;
use crate::trace::{self, FileError, Files, PhyTrace, TraceError, TraceFile, read_lines};

/// Slots that are kept of each kind of trace: two columns of 8 bytes, so 60 million are about 1 GB.
const ROOM: usize = 60_000_000;
/// The same of what only runs of one number need: that many are kept for the cells that share them,
/// while a study of any length takes no more memory.
const ROOM_OF_RUNS: usize = 8_000_000;
/// Slots that even the shortest takes: its description and its place are about a kilobyte.
const LEAST: usize = 64;
/// About what an object of a web page takes, with its name.
const BYTES_OF_OBJECT: u64 = 256;
/// Number of the random stream of a channel that stands alone.
const ALONE: u32 = 0;
/// Number of the random stream of a channel on top of a trace, which may have drawn from the other.
const ON_TRACE: u32 = 1;

/// Makes traces from their descriptions, and keeps them: what was used longest ago goes first.
/// Threads share a store; one that wants what another is making waits for it.
///
/// ```
/// use clift::scenario::{Scenario, Store};
/// use clift::trace::InMemory;
/// let text = "duration = \"5 us\"\nscheme = \"ARQ\"\n[link]\nwrap = true\n[trace]\nfile = \"x.csv\"\n";
/// let scenario = Scenario::parse("geo.toml", text, &[])?;
/// let mut files = InMemory::default();
/// files.insert("x.csv", "t_ns,d_ns\n0,5\n10,0\n20,5\n");
/// let setup = scenario.cells()[0].setup(0, &Store::new(files)).unwrap();
/// assert_eq!(setup.forward.len(), 1);
/// # Ok::<(), clift::scenario::ScenarioError>(())
/// ```
pub struct Store {
    files: Box<dyn Files>,
    memory: Memory,
    read: Cache<PhyTrace>,
    phy: Cache<PhyTrace>,
    links: Cache<Arc<LinkTrace>>,
    delays: Cache<Arc<DelaySeries>>,
    pages: Cache<Arc<PageContent>>,
}

/// The mutual information of all stores of the process. Its description says everything about it, no
/// file and no object in memory, so that the scenarios of one channel under several transports share
/// it wherever they come from; making it takes longer than a run.
static INFORMATION: Cache<Information> = Cache::new();

/// Why a trace could not be made. The message is one line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MakeError {
    /// A file is not there, or does not hold what it should.
    #[error(transparent)]
    File(#[from] FileError),
    /// The rows of a file of delays make no series.
    #[error("{place}: {error}")]
    Delays {
        /// The file.
        place: String,
        /// What is wrong with its rows.
        error: DelaySeriesError,
    },
    /// The objects of a file make no page.
    #[error("{place}: {fault}")]
    Page {
        /// The file.
        place: String,
        /// What is wrong with its objects.
        fault: PageFault,
    },
    /// A channel has parameters out of range, or makes no trace with them.
    #[error(transparent)]
    Channel(#[from] Fault),
    /// An object in memory is of another kind, or leaves nothing.
    #[error("{name}: {fault}")]
    Held {
        /// Name of the object.
        name: String,
        /// What is wrong with it.
        fault: String,
    },
    /// A description names neither a file nor slots.
    #[error("a PHY trace from neither a file nor a channel; give one of them")]
    Nothing,
}

impl From<DelaySeriesError> for MakeError {
    /// Rows of a scenario that make no series.
    fn from(error: DelaySeriesError) -> Self {
        Self::Delays { place: "delays".to_owned(), error }
    }
}

impl Store {
    /// An empty store, whose descriptions name `files`.
    pub fn new(files: impl Files + 'static) -> Self {
        Self::with_memory(files, Memory::default())
    }

    /// An empty store, whose descriptions name `files` and, before those, the objects of `memory`.
    pub fn with_memory(files: impl Files + 'static, memory: Memory) -> Self {
        Self {
            files: Box::new(files),
            memory,
            read: Cache::new(),
            phy: Cache::new(),
            links: Cache::new(),
            delays: Cache::new(),
            pages: Cache::new(),
        }
    }

    /// The same, where what is made has to keep within a budget.
    pub fn within<'a>(&'a self, budget: &'a Budget<'a>) -> impl Traces + 'a {
        Within { store: self, budget }
    }

    /// The PHY trace in a file, or the one in memory that stands for it.
    fn file(&self, file: &TraceFile, budget: &Budget<'_>) -> Result<PhyTrace, MakeError> {
        match self.memory.get(&file.file) {
            None => {
                let read = || Ok(file.read_within(&*self.files, budget)?);
                self.read.get(&key(file), Lasting::Study, |phy| phy.len(), read)
            }
            Some(Held::Phy(phy)) => file
                .cut(PhyTrace::clone(phy))
                .map_err(|error: TraceError| held(&file.file, error.to_string())),
            Some(other) => Err(other_kind(&file.file, other, "a PHY trace")),
        }
    }

    fn make_phy(&self, spec: &PhySpec, budget: &Budget<'_>) -> Result<PhyTrace, MakeError> {
        let base = spec.trace.as_ref().map(|file| self.file(file, budget)).transpose()?;
        let seed = Seed(spec.seed);
        match (&spec.channel, base, spec.slots) {
            (None, Some(base), _) => Ok(base),
            (Some(channel), Some(base), _) => {
                let taken = budget.take(8 * base.len() as u64, Slots(base.len()));
                taken.map_err(Fault::from)?;
                Ok(channel.on(&base, seed, ON_TRACE)?)
            }
            (Some(channel), None, Some(slots)) => {
                Ok(channel.trace_within(slots, seed, ALONE, budget)?)
            }
            _ => Err(MakeError::Nothing),
        }
    }
}

/// A number of slots, in words.
struct Slots(usize);

impl std::fmt::Display for Slots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} slots", self.0)
    }
}

/// A store that makes things within a budget.
struct Within<'a> {
    store: &'a Store,
    budget: &'a Budget<'a>,
}

/// Any amount of memory may be taken.
impl Traces for Store {
    fn phy(&self, spec: &PhySpec) -> Result<PhyTrace, MakeError> {
        self.within(&Budget::unlimited()).phy(spec)
    }

    fn link_trace(
        &self,
        phy: &PhySpec,
        scheme: &Scheme,
        timing: Timing,
    ) -> Result<Arc<LinkTrace>, MakeError> {
        self.within(&Budget::unlimited()).link_trace(phy, scheme, timing)
    }

    fn held_link(&self, name: &Path) -> Result<Arc<LinkTrace>, MakeError> {
        self.within(&Budget::unlimited()).held_link(name)
    }

    fn held_information(&self, name: &Path) -> Result<Information, MakeError> {
        self.within(&Budget::unlimited()).held_information(name)
    }

    fn information(&self, spec: &InformationSpec) -> Result<Information, MakeError> {
        self.within(&Budget::unlimited()).information(spec)
    }

    fn delays(&self, file: &str) -> Result<Arc<DelaySeries>, MakeError> {
        self.within(&Budget::unlimited()).delays(file)
    }

    fn page(&self, file: &str) -> Result<Arc<PageContent>, MakeError> {
        self.within(&Budget::unlimited()).page(file)
    }
}

impl Traces for Within<'_> {
    fn phy(&self, spec: &PhySpec) -> Result<PhyTrace, MakeError> {
        let Self { store, budget } = self;
        let lasting = Lasting::of(spec);
        store.phy.get(&key(spec), lasting, |phy| phy.len(), || store.make_phy(spec, budget))
    }

    fn link_trace(
        &self,
        phy: &PhySpec,
        scheme: &Scheme,
        timing: Timing,
    ) -> Result<Arc<LinkTrace>, MakeError> {
        let named = key(&(phy, scheme, timing.rtt, timing.feedback));
        let lasting = Lasting::of(phy);
        let make = || {
            let phy = self.phy(phy)?;
            Ok(Arc::new(scheme.apply_within(&phy, timing, self.budget).map_err(Fault::from)?))
        };
        self.store.links.get(&named, lasting, |link| link.len(), make)
    }

    fn held_link(&self, name: &Path) -> Result<Arc<LinkTrace>, MakeError> {
        match self.store.memory.get(name) {
            Some(Held::Link(trace)) => Ok(Arc::clone(trace)),
            Some(other) => Err(other_kind(name, other, "a link trace")),
            None => Err(held(name, "there is no link trace of this name".to_owned())),
        }
    }

    fn held_information(&self, name: &Path) -> Result<Information, MakeError> {
        match self.store.memory.get(name) {
            Some(Held::Information(information)) => Ok(information.clone()),
            Some(other) => Err(other_kind(name, other, "mutual information")),
            None => Err(held(name, "there is no mutual information of this name".to_owned())),
        }
    }

    fn information(&self, spec: &InformationSpec) -> Result<Information, MakeError> {
        let make = || {
            let channel = &spec.channel;
            let named = (Seed(spec.seed), ALONE);
            let trace =
                channel.information_within(spec.esn0_db, spec.length, named, self.budget)?;
            let mean = channel.mean_information(spec.esn0_db)?;
            Ok(Information { trace: Arc::new(trace), mean })
        };
        let named = format!("{spec:?}");
        let size = |made: &Information| made.trace.values().len();
        INFORMATION.get(&named, Lasting::Study, size, make)
    }

    fn delays(&self, file: &str) -> Result<Arc<DelaySeries>, MakeError> {
        let name = Path::new(file);
        let make = || {
            let table = DelayTable::read_within(name, &*self.store.files, self.budget)?;
            let place = || self.store.files.place(name);
            let series =
                table.series().map_err(|error| MakeError::Delays { place: place(), error })?;
            Ok(Arc::new(series))
        };
        match self.store.memory.get(name) {
            None => self.store.delays.get(file, Lasting::Study, |_| 1, make),
            Some(Held::Delays(series)) => Ok(Arc::clone(series)),
            Some(other) => Err(other_kind(name, other, "delays")),
        }
    }

    fn page(&self, file: &str) -> Result<Arc<PageContent>, MakeError> {
        let name = Path::new(file);
        let files = &*self.store.files;
        let make = || {
            let mut reader = PageReader::default();
            read_lines(name, files, self.budget, |line| {
                self.budget.take(BYTES_OF_OBJECT, format_args!("the objects of a page"))?;
                reader.line(line).map_err(|fault| trace::Fault::Table(fault.what))
            })?;
            let page = reader
                .finish()
                .map_err(|fault| MakeError::Page { place: files.place(name), fault })?;
            Ok(Arc::new(page))
        };
        self.store.pages.get(file, Lasting::Study, |page| page.objects().len(), make)
    }
}

fn held(name: &Path, fault: String) -> MakeError {
    MakeError::Held { name: name.display().to_string(), fault }
}

fn other_kind(name: &Path, found: &Held, wanted: &str) -> MakeError {
    held(name, format!("is {}, not {wanted}", found.what()))
}

/// What tells descriptions apart.
fn key(described: &impl Serialize) -> String {
    // Descriptions are plain structs, which always have a JSON text.
    serde_json::to_string(described).unwrap_or_default()
}

/// How long somebody may ask for a trace.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Lasting {
    /// As long as the study goes on.
    Study,
    /// While runs of one number are done.
    Runs,
}

impl Lasting {
    fn of(phy: &PhySpec) -> Self {
        if phy.is_of_one_run { Self::Runs } else { Self::Study }
    }
}

/// What was made of one kind, by its description.
struct Cache<T>(Mutex<Shelf<T>>);

struct Shelf<T> {
    kept: BTreeMap<Arc<str>, Kept<T>>,
    studys: Queue,
    runs: Queue,
    /// How often anything was asked for.
    asked: u64,
}

struct Kept<T> {
    lasting: Lasting,
    /// When it was asked for last.
    asked: u64,
    /// Slots that it takes, once made.
    size: usize,
    made: Arc<Mutex<Option<T>>>,
}

/// What is kept equally long, by when it was asked for last, and the slots that it takes.
struct Queue {
    keys: BTreeMap<u64, Arc<str>>,
    taken: usize,
}

impl Queue {
    const EMPTY: Self = Self { keys: BTreeMap::new(), taken: 0 };
}

impl<T> Cache<T> {
    const fn new() -> Self {
        Self(Mutex::new(Shelf {
            kept: BTreeMap::new(),
            studys: Queue::EMPTY,
            runs: Queue::EMPTY,
            asked: 0,
        }))
    }
}

impl<T: Clone> Cache<T> {
    /// What is kept under `key`, or what `make` makes of it, which has a `size` in slots.
    fn get<E>(
        &self,
        key: &str,
        lasting: Lasting,
        size: impl FnOnce(&T) -> usize,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let cell = lock(&self.0).last(key, lasting);
        // Whoever wants the same waits here until it is made.
        let mut made = lock(&cell);
        if let Some(value) = &*made {
            return Ok(value.clone());
        }
        let value = make()?;
        *made = Some(value.clone());
        drop(made);
        let gone = lock(&self.0).sized(key, size(&value).max(LEAST));
        // Memory is given back while others may look.
        drop(gone);
        Ok(value)
    }
}

impl<T> Shelf<T> {
    /// The place of `key`, which is now the one used last.
    fn last(&mut self, key: &str, lasting: Lasting) -> Arc<Mutex<Option<T>>> {
        self.asked += 1;
        let asked = self.asked;
        if let Some(known) = self.kept.get_mut(key) {
            let former = std::mem::replace(&mut known.asked, asked);
            let (made, lasting) = (Arc::clone(&known.made), known.lasting);
            let queue = self.queue(lasting);
            if let Some(key) = queue.keys.remove(&former) {
                queue.keys.insert(asked, key);
            }
            return made;
        }
        let (key, made): (Arc<str>, Arc<_>) = (key.into(), Arc::default());
        self.queue(lasting).keys.insert(asked, Arc::clone(&key));
        self.kept.insert(key, Kept { lasting, asked, size: 0, made: Arc::clone(&made) });
        made
    }

    /// Notes what `key` takes, and gives what goes for it: what was used longest ago, until the others
    /// fit into the room. What was used last stays, however large it is.
    fn sized(&mut self, key: &str, size: usize) -> Vec<Kept<T>> {
        if let Some(own) = self.kept.get_mut(key) {
            let (former, lasting) = (std::mem::replace(&mut own.size, size), own.lasting);
            let queue = self.queue(lasting);
            queue.taken = queue.taken - former + size;
        }
        let mut gone = Vec::new();
        while self.runs.taken > ROOM_OF_RUNS && self.remove(Lasting::Runs, &mut gone) {}
        while self.runs.taken + self.studys.taken > ROOM {
            let oldest = |queue: &Queue| queue.keys.keys().next().copied().unwrap_or(u64::MAX);
            let is_of_runs = oldest(&self.runs) < oldest(&self.studys);
            let lasting = if is_of_runs { Lasting::Runs } else { Lasting::Study };
            if !self.remove(lasting, &mut gone) {
                break;
            }
        }
        gone
    }

    /// Removes what was used longest ago of those; whether that was not the one used last of all.
    fn remove(&mut self, lasting: Lasting, gone: &mut Vec<Kept<T>>) -> bool {
        let asked = self.asked;
        let queue = self.queue(lasting);
        let Some(oldest) = queue.keys.first_entry().filter(|oldest| *oldest.key() < asked) else {
            return false;
        };
        let key = oldest.remove();
        if let Some(kept) = self.kept.remove(&key) {
            self.queue(lasting).taken -= kept.size;
            gone.push(kept);
        }
        true
    }

    fn queue(&mut self, lasting: Lasting) -> &mut Queue {
        match lasting {
            Lasting::Study => &mut self.studys,
            Lasting::Runs => &mut self.runs,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let (cache, made) = (Cache::new(), Cell::new(0));
        let get = |key: &str, slots: usize| {
            let make = || -> Result<usize, ()> {
                made.set(made.get() + 1);
                Ok(slots)
            };
            assert_eq!(cache.get(key, Lasting::Study, |&slots| slots, make), Ok(slots));
            made.get()
        };
        let third = ROOM / 3;
        assert_eq!([get("a", third), get("b", third), get("c", third)], [1, 2, 3]);
        assert_eq!(get("a", third), 3);
        assert_eq!(get("d", third), 4);
        assert_eq!([get("a", third), get("c", third), get("d", third)], [4, 4, 4]);
        assert_eq!(get("b", third), 5);
        // What alone is larger than the room stays until something else is wanted.
        assert_eq!([get("e", 4 * third), get("e", 4 * third)], [6, 6]);
        assert_eq!(get("f", 1), 7);
    }

    #[test]
    fn mutual_information_is_made_once_for_all_stores() {
        let channel = crate::channel::lms::Preset::Its.channel();
        let spec = |seed| InformationSpec {
            channel: channel.clone(),
            esn0_db: 9.25,
            length: crate::units::Duration::from_secs(2),
            seed,
        };
        let made = |seed| {
            let store = Store::new(crate::trace::InMemory::default());
            store.information(&spec(seed)).unwrap().trace
        };
        let first = made(20_261);
        assert!(Arc::ptr_eq(&first, &made(20_261)));
        assert_ne!(first.values(), made(20_262).values());
    }

    #[test]
    fn what_cannot_be_made_is_tried_again() {
        let cache = Cache::new();
        let study = Lasting::Study;
        assert_eq!(cache.get("a", study, |_| 1, || Err("no")), Err("no"));
        assert_eq!(cache.get("a", study, |_| 1, || Ok::<_, &str>(7)), Ok(7));
    }

    #[test]
    fn what_one_run_needs_makes_room_for_the_next_and_not_for_what_all_share() {
        let (cache, made) = (Cache::new(), Cell::new(0));
        let get = |key: &str, lasting, slots: usize| {
            let make = || -> Result<usize, ()> {
                made.set(made.get() + 1);
                Ok(slots)
            };
            assert_eq!(cache.get(key, lasting, |&slots| slots, make), Ok(slots));
            made.get()
        };
        let half = ROOM_OF_RUNS / 2;
        assert_eq!(get("shared", Lasting::Study, ROOM / 2), 1);
        assert_eq!(["a", "b", "c"].map(|key| get(key, Lasting::Runs, half)), [2, 3, 4]);
        assert_eq!(
            [get("shared", Lasting::Study, ROOM / 2), get("b", Lasting::Runs, half)],
            [4; 2]
        );
        assert_eq!(get("a", Lasting::Runs, half), 5);
    }

    #[test]
    fn no_more_short_ones_are_kept_than_there_is_room_for_their_descriptions() {
        let cache = Cache::new();
        let most = ROOM_OF_RUNS / LEAST;
        for number in 0..most + 9 {
            let made = cache.get(&number.to_string(), Lasting::Runs, |_| 1, || Ok::<_, ()>(number));
            assert_eq!(made, Ok(number));
        }
        let shelf = lock(&cache.0);
        assert_eq!([shelf.kept.len(), shelf.runs.keys.len()], [most; 2]);
        assert_eq!(shelf.runs.taken, most * LEAST);
        assert!(!shelf.kept.contains_key("8") && shelf.kept.contains_key("9"));
    }
}
