//! A store of traces: each is made once, and kept while there is room.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde::Serialize;

use super::arrivals::TimesReader;
use super::memory::{Memory, MemoryObject};
use super::spec::PhySpec;
use super::traces::{Information, InformationSpec, MakeError, Traces};
use crate::application::{PageContent, PageReader};
use crate::budget::Budget;
use crate::config::{Fault, join};
use crate::link::{DelaySeries, DelayTable};
use crate::scheme::{LinkTrace, Scheme, Timing};
use crate::seed::Seed;
use crate::sync::lock;
use crate::trace::{self, FileError, Files, PhyTrace, TraceFile, read_lines};
use crate::units::Duration;

/// Capacity for traces that are needed throughout a study, in slots. A slot is two columns of 8
/// bytes, so 52 million slots take about 830 MB.
const ROOM: usize = 52_000_000;
/// Capacity for traces that only runs of one number need. It covers the cells that share them and
/// keeps the memory of a long study constant.
const ROOM_OF_RUNS: usize = 8_000_000;
/// Minimum size of an entry in slots: a description and its entry take about one kilobyte.
const LEAST: usize = 64;
/// Approximate memory of an object of a web page, with its name.
const BYTES_OF_OBJECT: u64 = 256;
/// Number of the random stream of a channel without a trace.
const ALONE: u32 = 0;
/// Number of the random stream of a channel on top of a trace, which may have used the other
/// stream.
const ON_TRACE: u32 = 1;

/// Makes traces from their descriptions and caches them; the least recently used one is evicted
/// first. Threads share a store: a thread that needs a trace that another is making waits for it.
///
/// ```
/// use clift::scenario::{Scenario, Store};
/// use clift::trace::InMemory;
/// let text = "duration = \"5 us\"\nscheme = \"ARQ\"\n[link]\nwrap = true\n[trace]\nfile = \"x.csv\"\n";
/// let scenario = Scenario::parse("geo.toml", text, &[], &clift::Registry::new())?;
/// let mut files = InMemory::default();
/// files.insert("x.csv", "t_ns,d_ns\n0,5\n10,0\n20,5\n");
/// let setup = scenario.cells()[0].setup(0, &Store::new(files)).unwrap();
/// assert_eq!(setup.forward.len(), 1);
/// # Ok::<(), clift::scenario::ScenarioError>(())
/// ```
pub struct Store<'a> {
    kept: Arc<Contents>,
    budget: &'a Budget<'a>,
}

/// Files, memory objects and caches of a store.
struct Contents {
    files: Box<dyn Files>,
    memory: Memory,
    read: Cache<PhyTrace>,
    phy: CachePair<PhyTrace>,
    links: CachePair<Arc<LinkTrace>>,
    delays: Cache<Arc<DelaySeries>>,
    pages: Cache<Arc<PageContent>>,
}

/// The budget of a store without a limit.
static ANY: Budget<'static> = Budget::unlimited();

/// The mutual information of all stores of the process. Its description defines it completely,
/// without files or objects in memory, so scenarios from any source that use one channel under
/// several transports share it. Making it takes longer than a run.
static INFORMATION: Cache<Information> = Cache::new(ROOM);

impl Store<'static> {
    /// An empty store that reads the files of descriptions from `files`. Its memory is not limited.
    pub fn new(files: impl Files + 'static) -> Self {
        Self::with_memory(files, Memory::default())
    }

    /// An empty store that looks up names in `memory` first, then in `files`.
    pub fn with_memory(files: impl Files + 'static, memory: Memory) -> Self {
        let kept = Contents {
            files: Box::new(files),
            memory,
            read: Cache::new(ROOM),
            phy: CachePair::default(),
            links: CachePair::default(),
            delays: Cache::new(ROOM),
            pages: Cache::new(ROOM),
        };
        Self { kept: Arc::new(kept), budget: &ANY }
    }
}

impl Store<'_> {
    /// The same store with a memory budget for what it makes.
    pub fn within<'b>(&self, budget: &'b Budget<'b>) -> Store<'b> {
        Store { kept: Arc::clone(&self.kept), budget }
    }

    /// The objects in memory; available without reading or making anything.
    pub fn memory(&self) -> &Memory {
        &self.kept.memory
    }

    /// The PHY trace in the file that the section `key` names, or the memory object of that name.
    fn file(&self, key: &str, file: &TraceFile) -> Result<PhyTrace, MakeError> {
        let Self { kept, budget } = self;
        match kept.memory.get(&file.file) {
            None => {
                let read = || file.read_within(&*kept.files, budget);
                let read = kept.read.get(&named(file), |phy| phy.len(), read);
                read.map_err(|error| {
                    let lost = file.losses.as_ref().map(|losses| kept.files.place(losses));
                    let field = match &error {
                        FileError::Open { place, .. } if lost.as_ref() == Some(place) => "losses",
                        _ => "file",
                    };
                    MakeError::Trace { key: join(key, field), error }
                })
            }
            Some(MemoryObject::Phy(phy)) => file
                .cut(PhyTrace::clone(phy))
                .map_err(|error| MakeError::held(&file.file, error.to_string())),
            other => Err(MemoryObject::fault(other, &file.file, "a PHY trace")),
        }
    }

    fn make_phy(&self, spec: &PhySpec) -> Result<PhyTrace, MakeError> {
        let base = spec.trace.as_ref().map(|file| self.file(&spec.key, file)).transpose()?;
        let seed = Seed(spec.seed);
        match (&spec.channel, base, spec.slots) {
            (None, Some(base), _) => Ok(base),
            (Some(channel), Some(base), _) => {
                Ok(channel.on_within(&base, seed, ON_TRACE, self.budget)?)
            }
            (Some(channel), None, Some(slots)) => {
                Ok(channel.trace_within(slots, seed, ALONE, self.budget)?)
            }
            _ => Err(MakeError::Nothing),
        }
    }
}

impl Traces for Store<'_> {
    fn phy(&self, spec: &PhySpec) -> Result<PhyTrace, MakeError> {
        self.kept.phy.of(spec).get(&named(spec), |phy| phy.len(), || self.make_phy(spec))
    }

    fn link_trace(
        &self,
        spec: &PhySpec,
        scheme: &Scheme,
        timing: Timing,
    ) -> Result<Arc<LinkTrace>, MakeError> {
        let make = || {
            let phy = self.phy(spec)?;
            Ok(Arc::new(scheme.apply_within(&phy, timing, self.budget).map_err(Fault::from)?))
        };
        let named = named(&(spec, scheme, timing.rtt, timing.feedback));
        self.kept.links.of(spec).get(&named, |link| link.len(), make)
    }

    fn held_link(&self, name: &Path) -> Result<Arc<LinkTrace>, MakeError> {
        self.kept.memory.held_link(name)
    }

    fn held_information(&self, name: &Path) -> Result<Information, MakeError> {
        self.kept.memory.held_information(name)
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
        let size = |made: &Information| made.trace.values().len();
        INFORMATION.get(&format!("{spec:?}"), size, make)
    }

    fn delays(&self, file: &str) -> Result<Arc<DelaySeries>, MakeError> {
        let (kept, name) = (&self.kept, Path::new(file));
        let make = || {
            let table = DelayTable::read_within(name, &*kept.files, self.budget)?;
            let series = table.series();
            Ok(Arc::new(series.map_err(|fault| FileError::new(kept.files.place(name), fault))?))
        };
        match kept.memory.get(name) {
            None => kept.delays.get(file, |_| 1, make),
            Some(MemoryObject::Delays(series)) => Ok(Arc::clone(series)),
            other => Err(MemoryObject::fault(other, name, "delays")),
        }
    }

    fn times(&self, file: &str) -> Result<Vec<Duration>, MakeError> {
        let (name, files) = (Path::new(file), &*self.kept.files);
        let mut reader = TimesReader::default();
        read_lines(name, files, self.budget, |line| {
            self.budget.take(size_of::<Duration>() as u64, format_args!("a file of times"))?;
            reader.line(line).map_err(trace::Fault::Text)
        })?;
        let finished = reader.finish().map_err(trace::Fault::Text);
        finished.map_err(|fault| FileError::new(files.place(name), fault).into())
    }

    fn page(&self, file: &str) -> Result<Arc<PageContent>, MakeError> {
        let (name, files) = (Path::new(file), &*self.kept.files);
        let make = || {
            let mut reader = PageReader::default();
            read_lines(name, files, self.budget, |line| {
                self.budget.take(BYTES_OF_OBJECT, format_args!("the objects of a page"))?;
                reader.line(line).map_err(|fault| trace::Fault::Text(fault.what))
            })?;
            let page = reader.finish();
            let fault = |fault| Fault::at(format!("{}: {fault}", files.place(name)));
            Ok(Arc::new(page.map_err(fault)?))
        };
        self.kept.pages.get(file, |page| page.objects().len(), make)
    }
}

/// A key that differs for different descriptions.
fn named(described: &impl Serialize) -> String {
    // Descriptions are plain structs, which always serialise to JSON.
    serde_json::to_string(described).unwrap_or_default()
}

/// The caches of one kind of trace: one for entries needed throughout a study, one for entries that
/// only runs of one number need. Each has its own capacity, so runs do not evict what all share.
struct CachePair<T> {
    study: Cache<T>,
    runs: Cache<T>,
}

impl<T> Default for CachePair<T> {
    fn default() -> Self {
        Self { study: Cache::new(ROOM), runs: Cache::new(ROOM_OF_RUNS) }
    }
}

impl<T> CachePair<T> {
    fn of(&self, phy: &PhySpec) -> &Cache<T> {
        if phy.is_of_one_run { &self.runs } else { &self.study }
    }
}

/// Cached values by description; the least recently used is evicted when the capacity is exceeded.
struct Cache<T> {
    /// Capacity in slots.
    room: usize,
    shelf: Mutex<CacheState<T>>,
}

struct CacheState<T> {
    kept: BTreeMap<Arc<str>, Entry<T>>,
    /// Keys by the time of their last request.
    by_age: BTreeMap<u64, Arc<str>>,
    /// Slots of all entries.
    taken: usize,
    /// Number of requests so far.
    asked: u64,
}

struct Entry<T> {
    /// Request number of the last use.
    asked: u64,
    /// Size in slots, once made.
    size: usize,
    made: Arc<Mutex<Option<T>>>,
}

impl<T> Cache<T> {
    const fn new(room: usize) -> Self {
        let shelf =
            CacheState { kept: BTreeMap::new(), by_age: BTreeMap::new(), taken: 0, asked: 0 };
        Self { room, shelf: Mutex::new(shelf) }
    }
}

impl<T: Clone> Cache<T> {
    /// Returns the value of `key`; if absent, calls `make` and stores the result, whose size in
    /// slots is `size`.
    fn get<E>(
        &self,
        key: &str,
        size: impl FnOnce(&T) -> usize,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let cell = lock(&self.shelf).last(key);
        // A thread that needs the same value waits here until it is made.
        let mut made = lock(&cell);
        if let Some(value) = &*made {
            return Ok(value.clone());
        }
        let value = make()?;
        *made = Some(value.clone());
        drop(made);
        let gone = lock(&self.shelf).sized(key, size(&value).max(LEAST), self.room);
        // Free memory after the lock is released.
        drop(gone);
        Ok(value)
    }
}

impl<T> CacheState<T> {
    /// Returns the entry of `key` and marks it as the most recently used.
    fn last(&mut self, key: &str) -> Arc<Mutex<Option<T>>> {
        self.asked += 1;
        let asked = self.asked;
        if let Some(known) = self.kept.get_mut(key) {
            let former = std::mem::replace(&mut known.asked, asked);
            if let Some(key) = self.by_age.remove(&former) {
                self.by_age.insert(asked, key);
            }
            return Arc::clone(&known.made);
        }
        let (key, made): (Arc<str>, Arc<_>) = (key.into(), Arc::default());
        self.by_age.insert(asked, Arc::clone(&key));
        self.kept.insert(key, Entry { asked, size: 0, made: Arc::clone(&made) });
        made
    }

    /// Records the size of `key` and evicts the least recently used entries until the rest fit. The
    /// most recently used entry stays, however large it is.
    fn sized(&mut self, key: &str, size: usize, room: usize) -> Vec<Entry<T>> {
        if let Some(own) = self.kept.get_mut(key) {
            self.taken = self.taken - own.size + size;
            own.size = size;
        }
        let mut gone = Vec::new();
        while self.taken > room
            && let Some(oldest) = self.by_age.first_entry()
            && *oldest.key() < self.asked
        {
            let thing = self.kept.remove(&oldest.remove());
            self.taken -= thing.as_ref().map_or(0, |thing| thing.size);
            gone.extend(thing);
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_least_recently_used_entry_is_evicted_first() {
        let (cache, made) = (Cache::new(ROOM), Cell::new(0));
        let get = |key: &str, slots: usize| {
            let make = || -> Result<usize, ()> {
                made.set(made.get() + 1);
                Ok(slots)
            };
            assert_eq!(cache.get(key, |&slots| slots, make), Ok(slots));
            made.get()
        };
        let third = ROOM / 3;
        assert_eq!([get("a", third), get("b", third), get("c", third)], [1, 2, 3]);
        assert_eq!(get("a", third), 3);
        assert_eq!(get("d", third), 4);
        assert_eq!([get("a", third), get("c", third), get("d", third)], [4, 4, 4]);
        assert_eq!(get("b", third), 5);
        // An entry larger than the capacity stays until another one is requested.
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
    fn a_failed_entry_is_made_again() {
        let cache = Cache::new(ROOM);
        assert_eq!(cache.get("a", |_| 1, || Err("no")), Err("no"));
        assert_eq!(cache.get("a", |_| 1, || Ok::<_, &str>(7)), Ok(7));
    }

    #[test]
    fn entries_of_a_run_do_not_evict_shared_entries() {
        let (kept, made) = (CachePair::default(), Cell::new(0));
        let get = |key: &str, cache: &Cache<usize>, slots: usize| {
            let make = || -> Result<usize, ()> {
                made.set(made.get() + 1);
                Ok(slots)
            };
            assert_eq!(cache.get(key, |&slots| slots, make), Ok(slots));
            made.get()
        };
        let half = ROOM_OF_RUNS / 2;
        assert_eq!(get("shared", &kept.study, ROOM / 2), 1);
        assert_eq!(["a", "b", "c"].map(|key| get(key, &kept.runs, half)), [2, 3, 4]);
        assert_eq!([get("shared", &kept.study, ROOM / 2), get("b", &kept.runs, half)], [4; 2]);
        assert_eq!(get("a", &kept.runs, half), 5);
    }

    /// Refuses each request for memory of a scenario's setup, and then makes it after all.
    #[test]
    fn every_refused_allocation_of_a_scenario_gives_one_line() {
        let mut files = crate::trace::InMemory::default();
        files.insert("x.csv", "t_ns,d_ns\n0,5\n1000000,0\n2000000,5\n");
        files.insert("d.csv", "time_s,delay_ms\n0,5\n1,6\n");
        files.insert("p.csv", "name,bytes\na,100\nb,200\n");
        files.insert("s.txt", "0.1\n0.2\n");
        let trace = "[trace]\nfile = \"x.csv\"\n[link]\nwrap = true\n";
        let drawn = "[channel]\nmodel = \"gilbert-elliott\"\nerasures = 0.1\nburst = 3\nrate = \"1 Mbit/s\"\n";
        let node = "[network.links.w]\nfrom = \"a\"\nto = \"b\"\nduplex = true\n\
                    leg = { rate = \"1 Mbit/s\", delay = \"5 ms\" }\n\
                    [[flow]]\nfrom = \"a\"\nto = \"b\"\napplication = { type = \"file\", size = \"1 kB\" }\n\
                    arrivals = { type = \"times\", file = \"s.txt\" }\n";
        for text in [
            format!("scheme = \"HARQ(10/12)\"\n{trace}"),
            format!("scheme = \"ARQ\"\n{drawn}"),
            format!("scheme = \"ARQ\"\nlink.live = true\n{drawn}"),
            format!("{trace}delays = \"d.csv\"\n"),
            format!("application = {{ type = \"page\", page = \"p.csv\" }}\n{trace}"),
            node.to_owned(),
        ] {
            let text = format!("duration = \"200 ms\"\n{text}");
            let registry = crate::config::Registry::new();
            let scenario =
                crate::scenario::Scenario::parse("x.toml", &text, &[], &registry).unwrap();
            let cells = scenario.cells();
            let whole = cells[0].setup(0, &Store::new(files.clone())).unwrap();
            for request in 1.. {
                let (store, budget) = (Store::new(files.clone()), Budget::refusing(request));
                match cells[0].setup(0, &store.within(&budget)) {
                    Ok(_) if budget.is_short() => panic!("{text}: made without memory"),
                    Ok(_) => {
                        assert!(request > 1, "{text}: asks for no memory");
                        break;
                    }
                    Err(error) => {
                        let line = error.to_string();
                        assert!(line.contains("of memory in total, but the limit is"), "{line}");
                        assert!(!line.contains('\n') && !budget.is_stopped(), "{line}");
                    }
                }
                // The store kept nothing half-made.
                let again = cells[0].setup(0, &store).unwrap();
                assert_eq!(format!("{again:?}"), format!("{whole:?}"), "{text}");
            }
        }
    }

    #[test]
    fn short_entries_count_at_least_their_description() {
        let cache = Cache::new(ROOM_OF_RUNS);
        let most = ROOM_OF_RUNS / LEAST;
        for number in 0..most + 9 {
            let made = cache.get(&number.to_string(), |_| 1, || Ok::<_, ()>(number));
            assert_eq!(made, Ok(number));
        }
        let shelf = lock(&cache.shelf);
        assert_eq!([shelf.kept.len(), shelf.by_age.len()], [most; 2]);
        assert_eq!(shelf.taken, most * LEAST);
        assert!(!shelf.kept.contains_key("8") && shelf.kept.contains_key("9"));
    }
}
