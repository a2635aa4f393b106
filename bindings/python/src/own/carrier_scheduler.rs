//! Carrier schedulers written in Python.

use clift::config::{Fault, Parameter};
use clift::scheme::carrier::{
    CarrierOptions, Scheduler, SchedulerKind, SchedulerParameters, Terminals,
};
use clift::units::counted;
use numpy::PyArray1;
use pyo3::prelude::*;
use rand_chacha::ChaCha8Rng;

use super::raised::ask;
use super::{Given, Kind, dict, insert, seed};

/// Maximum number of slots of a frame.
const MOST_SLOTS: usize = 1_000_000;

/// `make(seed, carrier, parameters)` makes an instance, where `carrier` is terminals, slot_bytes,
/// slot_ns and delay_ns.
pub(super) fn add(kind: &'static Kind, summary: &'static str) -> PyResult<()> {
    insert(SchedulerKind {
        name: kind.name,
        summary,
        keys: kind.signature.names(),
        make: Box::leak(Box::new(move |given: &[(&'static str, Parameter)]| {
            Box::new(OwnParameters { kind, given: given.to_vec() }) as Box<dyn SchedulerParameters>
        })),
    })
}

struct OwnParameters {
    kind: &'static Kind,
    given: Given,
}

impl SchedulerParameters for OwnParameters {
    fn check(&self, _: &CarrierOptions) -> Result<(), Fault> {
        self.kind.signature.check(&self.given).map_err(Fault::at)
    }

    fn build(&self, carrier: &CarrierOptions, rng: ChaCha8Rng) -> Box<dyn Scheduler> {
        let Self { kind, given } = self;
        let (terminals, seed) = (carrier.terminals, seed(rng));
        let times = (carrier.slot_time().as_nanos(), carrier.delay.as_nanos());
        let made = ask(|py| {
            let carrier = (terminals, carrier.slot.0, times.0, times.1);
            let own = kind.make.bind(py).call1((seed, carrier, dict(py, given)?))?;
            let slots = match own.getattr_opt("frame_slots")? {
                Some(slots) => slots_of(kind, &slots)?,
                None => 1,
            };
            let methods = Methods {
                assign: kind.needed(&own, "assign")?,
                served: kind.method(&own, "served")?,
                own: own.unbind(),
            };
            Ok((slots, methods))
        });
        // Without an instance the run ends before anything is assigned.
        let (slots, methods) = made.map_or((1, None), |(slots, methods)| (slots, Some(methods)));
        Box::new(OwnScheduler { kind, slots, terminals, methods, is_busy: false })
    }
}

fn slots_of(kind: &Kind, slots: &Bound<'_, PyAny>) -> PyResult<usize> {
    let found = slots.extract::<usize>().ok().filter(|slots| (1..=MOST_SLOTS).contains(slots));
    let cure = format!("give a whole number from 1 to {MOST_SLOTS}");
    found.ok_or_else(|| kind.wrong(format!("frame_slots is {slots}; {cure}")))
}

#[derive(Debug)]
struct Methods {
    own: Py<PyAny>,
    assign: Py<PyAny>,
    served: Option<Py<PyAny>>,
}

#[derive(Debug)]
struct OwnScheduler {
    kind: &'static Kind,
    slots: usize,
    terminals: u32,
    /// `None` if making the instance raised an exception.
    methods: Option<Methods>,
    /// `is_busy` of the instance after the last frame.
    is_busy: bool,
}

impl Scheduler for OwnScheduler {
    fn slots(&self) -> usize {
        self.slots
    }

    fn assign(&mut self, frame: u64, terminals: &Terminals, plan: &mut [Option<u32>]) {
        let Self { kind, terminals: count, methods: Some(methods), .. } = self else { return };
        let busy = ask(|py| {
            let (waiting, room) = terminals.columns();
            let waiting = waiting.iter().map(|&bytes| bytes as i64).collect();
            let room = room.iter().map(|&bytes| i64::from(bytes)).collect();
            let columns = (PyArray1::from_vec(py, waiting), PyArray1::from_vec(py, room));
            let returned = methods.assign.bind(py).call1((frame, columns.0, columns.1))?;
            let wrong = || {
                let most = counted(plan.len() as u64, "slot", "slots");
                let cure = format!(
                    "give a list with the terminal of each slot (0 to {}; None: no terminal), for \
                     at most {most}",
                    *count - 1
                );
                kind.wrong(format!("assign returned {returned}; {cure}"))
            };
            let assigned: Vec<Option<u32>> = returned.extract().map_err(|_| wrong())?;
            let is_known = |terminal: &Option<u32>| terminal.is_none_or(|number| number < *count);
            if assigned.len() > plan.len() || !assigned.iter().all(is_known) {
                return Err(wrong());
            }
            plan[..assigned.len()].copy_from_slice(&assigned);
            match methods.own.bind(py).getattr_opt("is_busy")? {
                Some(busy) => busy.is_truthy(),
                None => Ok(false),
            }
        });
        self.is_busy = busy.unwrap_or(false);
    }

    fn served(&mut self, terminal: usize, bytes: u32) {
        let served = self.methods.as_ref().and_then(|methods| methods.served.as_ref());
        if let Some(served) = served {
            ask(|py| served.bind(py).call1((terminal, bytes)).map(drop));
        }
    }

    fn is_busy(&self, _: u64) -> bool {
        self.is_busy
    }
}
