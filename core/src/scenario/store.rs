//! Traces made for runs: each once, and kept while there is room.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::erasures::Erasures;
use super::memory::{Held, Memory};
use super::spec::PhySpec;
use super::traces::{Information, InformationSpec, Traces};
use crate::channel::{Bernoulli, ErasureChannel, GilbertElliott, RegularSlots};
use crate::link::{DelaySeries, DelayTable};
use crate::scheme::{Scheme, Timing};
use crate::seed::Seed;
use crate::trace::{Files, LinkTrace, PhyTrace, TraceFile};
use crate::units::{Bytes, Duration};

/// Slots and rows that are kept: two columns of 8 bytes each make about 1 GB.
const ROOM: usize = 60_000_000;

/// Makes the traces of runs from files and models, and keeps what was used last.
///
/// It may be shared by threads: what one thread makes the others wait for.
///
/// ```
/// use clift::scenario::{Scenario, Store};
/// use clift::trace::Folder;
/// let text = "duration = \"2 s\"\n[channel]\nmodel = \"bernoulli\"\nerasures = 0.1\nrate = \"1 Mbit/s\"\n";
/// let scenario = Scenario::parse("x.toml", text, &[])?;
/// let store = Store::new(Folder::new(""));
/// let setup = scenario.cells()[0].setup(0, &store).unwrap();
/// let outcome = clift::simulation::run(&setup, &mut ()).unwrap();
/// assert!(outcome.goodput() > 0.0);
/// # Ok::<(), clift::scenario::ScenarioError>(())
/// ```
pub struct Store {
    files: Box<dyn Files>,
    memory: Memory,
    kept: Mutex<Kept>,
}

/// What has been made, and when each was last used.
#[derive(Default)]
struct Kept {
    clock: u64,
    made: BTreeMap<String, Entry>,
}

struct Entry {
    used: u64,
    slot: Arc<OnceLock<Result<Held, String>>>,
}

impl Store {
    /// A store over `files`, which holds nothing yet.
    pub fn new(files: impl Files + 'static) -> Self {
        Self::with_memory(files, Memory::default())
    }

    /// A store over `files` in which the objects of `memory` stand for files of their names.
    pub fn with_memory(files: impl Files + 'static, memory: Memory) -> Self {
        Self { files: Box::new(files), memory, kept: Mutex::default() }
    }

    /// What `key` names, made by `make` if it is not there.
    fn get(
        &self,
        key: String,
        make: impl FnOnce() -> Result<Held, String>,
    ) -> Result<Held, String> {
        let slot = {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.clock += 1;
            let used = kept.clock;
            let entry =
                kept.made.entry(key).or_insert_with(|| Entry { used, slot: Arc::default() });
            entry.used = used;
            Arc::clone(&entry.slot)
        };
        let held = slot.get_or_init(make).clone();
        self.make_room();
        held
    }

    /// Forgets what was not used for longest until the rest fits.
    fn make_room(&self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let size = |entry: &Entry| match entry.slot.get() {
            Some(Ok(held)) => held.len(),
            _ => 0,
        };
        let mut all: usize = kept.made.values().map(size).sum();
        while all > ROOM && kept.made.len() > 1 {
            let oldest = kept.made.iter().filter(|(_, entry)| size(entry) > 0);
            let Some((key, entry)) = oldest.min_by_key(|(_, entry)| entry.used) else { return };
            all -= size(entry);
            let key = key.clone();
            kept.made.remove(&key);
        }
    }

    fn make_phy(&self, spec: &PhySpec) -> Result<PhyTrace, String> {
        let base = spec.trace.as_ref().map(|file| self.file(file)).transpose()?;
        let seed = Seed(spec.seed);
        match (&spec.erasures, base) {
            (None, Some(base)) => Ok(base),
            (None, None) => Err("neither a trace nor a channel".to_owned()),
            (Some(Erasures::Bernoulli { p }), base) => {
                erased(Bernoulli::new(*p).map_err(text)?, spec, base, seed)
            }
            (Some(Erasures::GilbertElliott { alpha, beta, p_good, p_bad }), base) => {
                let channel = GilbertElliott::new(*alpha, *beta, *p_good, *p_bad);
                erased(channel.map_err(text)?, spec, base, seed)
            }
            (Some(Erasures::Lms(lms)), _) => {
                let (channel, esn0_db) = &lms.channel;
                let length = Duration::from_nanos(lms.duration_ns);
                channel.trace(*esn0_db, length, seed, 0).map_err(text)
            }
        }
    }

    /// The trace of a file, or the one in memory that stands for it.
    fn file(&self, file: &TraceFile) -> Result<PhyTrace, String> {
        if let Some(held) = self.memory.get(&file.file) {
            return match held {
                Held::Phy(phy) => file.cut(phy.clone()).map_err(text),
                other => Err(format!("{}: {}, not a PHY trace", file.file.display(), other.what())),
            };
        }
        let made =
            self.get(key("file", file)?, || file.read(&*self.files).map(Held::Phy).map_err(text));
        match made? {
            Held::Phy(phy) => Ok(phy),
            other => Err(format!("{} in the place of a PHY trace", other.what())),
        }
    }
}

/// A channel over the slots of a spec, or on a trace; on a trace it draws from another stream than
/// the one that may have made it.
fn erased(
    channel: impl ErasureChannel,
    spec: &PhySpec,
    base: Option<PhyTrace>,
    seed: Seed,
) -> Result<PhyTrace, String> {
    match (base, &spec.slots) {
        (Some(base), _) => Ok(channel.on(&base, seed, 1)),
        (None, Some(slots)) => {
            let slots = RegularSlots {
                count: slots.slots,
                every: Duration::from_nanos(slots.slot_ns),
                decode: Duration::from_nanos(slots.decode_ns),
                lldu: Bytes(slots.lldu_bytes),
            };
            channel.trace(&slots, seed, 0).map_err(text)
        }
        (None, None) => Err("a channel without slots".to_owned()),
    }
}

impl Traces for Store {
    fn phy(&self, spec: &PhySpec) -> Result<PhyTrace, String> {
        match self.get(key("phy", spec)?, || self.make_phy(spec).map(Held::Phy))? {
            Held::Phy(phy) => Ok(phy),
            other => Err(format!("{} in the place of a PHY trace", other.what())),
        }
    }

    fn link_trace(
        &self,
        spec: &PhySpec,
        scheme: Scheme,
        timing: Timing,
    ) -> Result<Arc<LinkTrace>, String> {
        let name = format!("{scheme} {:?} {}", timing, key("link", spec)?);
        let made =
            self.get(name, || Ok(Held::Link(Arc::new(scheme.apply(&self.phy(spec)?, timing)))));
        match made? {
            Held::Link(trace) => Ok(trace),
            other => Err(format!("{} in the place of a link trace", other.what())),
        }
    }

    fn held_link(&self, name: &Path) -> Result<Arc<LinkTrace>, String> {
        match self.memory.get(name) {
            Some(Held::Link(trace)) => Ok(Arc::clone(trace)),
            Some(other) => Err(format!("{}: {}, not a link trace", name.display(), other.what())),
            None => Err(format!("{}: no link trace of this name", name.display())),
        }
    }

    fn information(&self, spec: &InformationSpec) -> Result<Information, String> {
        let made = self.get(format!("information {spec:?}"), || {
            let channel = spec.preset.channel();
            let trace = channel.information(spec.esn0_db, spec.length, Seed(spec.seed), 0);
            let mean = channel.mean_information(spec.esn0_db).map_err(text)?;
            Ok(Held::Information(Information { trace: Arc::new(trace.map_err(text)?), mean }))
        });
        match made? {
            Held::Information(information) => Ok(information),
            other => Err(format!("{} in the place of mutual information", other.what())),
        }
    }

    fn delays(&self, file: &str) -> Result<Arc<DelaySeries>, String> {
        let name = Path::new(file);
        let held = match self.memory.get(name) {
            Some(held) => held.clone(),
            None => self.get(format!("delays {file}"), || {
                let table = DelayTable::read(name, &*self.files).map_err(text)?;
                let series = table.series().map_err(|e| format!("{}: {e}", self.files.place(name)));
                Ok(Held::Delays(Arc::new(series?)))
            })?,
        };
        match held {
            Held::Delays(series) => Ok(series),
            other => Err(format!("{file}: {}, not delays", other.what())),
        }
    }
}

fn key(kind: &str, spec: &impl serde::Serialize) -> Result<String, String> {
    serde_json::to_string(spec).map(|json| format!("{kind} {json}")).map_err(text)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
