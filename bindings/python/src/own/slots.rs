//! Schemes written in Python that are called slot by slot.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use clift::link::{Line, LiveScheme, Slot, Unit};
use clift::scheme::Feedback;
use clift::sync::lock;
use pyo3::prelude::*;

use super::Kind;
use super::raised::ask;
use crate::errors::own_error;

/// Number of latest units whose packets are remembered, for the log of repairs.
const REMEMBERED: usize = 1 << 16;
/// Number of times that a slot may be requested without sending anything in it.
const PATIENCE: u32 = 3;

/// Latest time of a trace, ns: 73 years.
const LATEST: i64 = 1 << 61;

/// A slot of a live link. It carries one unit or none.
#[pyclass(name = "LiveSlot", module = "clift._clift")]
pub(crate) struct LiveSlot {
    /// Start time, ns.
    #[pyo3(get)]
    t_ns: i64,
    /// Decoding time, ns; 0 if the slot is erased. A scheme must not use it before `report_ns`.
    #[pyo3(get)]
    d_ns: i64,
    /// Whether new data is waiting.
    #[pyo3(get)]
    data_waits: bool,
    feedback: Arc<Mutex<Feedback>>,
    /// Data units sent before.
    next: u64,
    sent: Option<Sent>,
    ends: Vec<(u64, Option<i64>)>,
}

/// The unit that a slot carries.
#[derive(Clone, Copy)]
pub(super) enum Sent {
    New,
    Again(u64, u32),
    Repair { block: u64, round: u32, units: (u64, u64) },
}

#[pymethods]
impl LiveSlot {
    /// Sends the next new data unit and returns its number.
    fn send_new(&mut self) -> PyResult<u64> {
        if !self.data_waits {
            return Err(own_error("send_new: no new data is waiting; check slot.data_waits"));
        }
        self.send(Sent::New)?;
        Ok(self.next)
    }

    /// Sends a data unit again that was sent `times` times before.
    fn send_again(&mut self, unit: u64, times: u32) -> PyResult<()> {
        self.check("send_again", unit)?;
        self.send(Sent::Again(unit, times))
    }

    /// Sends a repair unit of block number `block`, which covers the data units `first` to `last`.
    /// `round` is 0 for repair units sent without a request.
    #[pyo3(signature = (block, first, last, round=0))]
    fn send_repair(&mut self, block: u64, first: u64, last: u64, round: u32) -> PyResult<()> {
        self.check("send_repair", first)?;
        self.check("send_repair", last)?;
        self.send(Sent::Repair { block, round, units: (first, last) })
    }

    /// The time at which the sender receives the report on this slot, ns; draws whether reports are
    /// lost.
    fn report_ns(&self) -> i64 {
        lock(&self.feedback).report(self.t_ns)
    }

    /// Marks a data unit as received at the far end, without propagation delay: at the end of
    /// decoding this slot, or at `at_ns` if given.
    #[pyo3(signature = (unit, at_ns=None))]
    fn arrived(&mut self, unit: u64, at_ns: Option<i64>) -> PyResult<()> {
        let at = match at_ns {
            None if self.d_ns == 0 => {
                return Err(own_error("arrived: this slot is erased; give the time as at_ns"));
            }
            None => self.t_ns + self.d_ns,
            Some(at) if at > self.t_ns && at <= LATEST => at,
            Some(at) => {
                let fault = format!(
                    "arrived: at_ns = {at} must be after the slot ({}) and below 73 years",
                    self.t_ns
                );
                return Err(own_error(fault));
            }
        };
        self.ends.push((unit, Some(at)));
        Ok(())
    }

    /// Gives a data unit up, one decoding time after this slot.
    fn give_up(&mut self, unit: u64) {
        self.ends.push((unit, None));
    }
}

impl LiveSlot {
    fn send(&mut self, what: Sent) -> PyResult<()> {
        if self.sent.replace(what).is_some() {
            return Err(own_error("a slot carries one unit; send the second unit in another slot"));
        }
        Ok(())
    }

    fn check(&self, what: &str, unit: u64) -> PyResult<()> {
        if unit < self.next {
            return Ok(());
        }
        Err(own_error(format!("{what}: data unit {unit} was not sent; units are numbered from 0")))
    }
}

/// The unit that a slot carried, and the data units that were received or given up.
type Carried = (Option<Sent>, Vec<(u64, Option<i64>)>);

/// The methods of a scheme.
#[derive(Debug)]
pub(super) struct Methods {
    wants: Py<PyAny>,
    carry: Py<PyAny>,
}

impl Methods {
    pub(super) fn of(kind: &Kind, scheme: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { wants: kind.needed(scheme, "wants")?, carry: kind.needed(scheme, "carry")? })
    }

    fn wants(&self, py: Python<'_>, kind: &Kind, data_waits: bool) -> PyResult<Option<i64>> {
        let returned = self.wants.bind(py).call1((data_waits,))?;
        returned.extract().map_err(|_| {
            kind.wrong(format!(
                "wants returned {returned}; give the time in ns from which the scheme wants a slot, or None"
            ))
        })
    }

    fn carry(&self, py: Python<'_>, slot: LiveSlot) -> PyResult<Carried> {
        let slot = Py::new(py, slot)?;
        self.carry.call1(py, (&slot,))?;
        let mut slot = slot.try_borrow_mut(py)?;
        Ok((slot.sent.take(), std::mem::take(&mut slot.ends)))
    }
}

/// A live scheme.
pub(super) struct OwnLive {
    kind: &'static Kind,
    methods: Methods,
    feedback: Arc<Mutex<Feedback>>,
    next: u64,
    /// Data units neither received nor given up.
    open: BTreeMap<u64, Unit>,
    /// Packets of the latest data units.
    packets: VecDeque<u64>,
    /// The last slot that carried nothing, and how often.
    idle: (i64, u32),
}

impl OwnLive {
    pub(super) fn new(kind: &'static Kind, methods: Methods, feedback: Feedback) -> Self {
        Self {
            kind,
            methods,
            feedback: Arc::new(Mutex::new(feedback)),
            next: 0,
            open: BTreeMap::new(),
            packets: VecDeque::new(),
            idle: (i64::MIN, 0),
        }
    }

    /// The packet number of a data unit that was sent.
    fn packet(&self, unit: u64) -> u64 {
        let oldest = self.next - self.packets.len() as u64;
        let place = unit.saturating_sub(oldest) as usize;
        self.packets.get(place).copied().unwrap_or_default()
    }

    fn put(&mut self, sent: Sent, slot: Slot, line: &mut Line) -> PyResult<()> {
        match sent {
            Sent::New => {
                let unit = line.send_new(slot);
                self.open.insert(self.next, unit);
                self.packets.push_back(unit.packet);
                if self.packets.len() > REMEMBERED {
                    self.packets.pop_front();
                }
                self.next += 1;
            }
            Sent::Again(number, times) => match self.open.get(&number) {
                Some(&unit) => line.send_again(slot, unit, times),
                None => return Err(ended(self.kind, number)),
            },
            Sent::Repair { block, round, units: (first, last) } => {
                line.send_repair(slot, block, round, (self.packet(first), self.packet(last)));
            }
        }
        Ok(())
    }

    fn end(&mut self, number: u64, at: Option<i64>, slot: Slot, line: &mut Line) -> PyResult<()> {
        let unit = self.open.remove(&number).ok_or_else(|| ended(self.kind, number))?;
        match at {
            Some(at) => line.arrived(unit.packet, at),
            None => line.give_up(unit.packet, slot.t),
        }
        Ok(())
    }

    /// Whether the scheme keeps requesting a slot without sending anything in it.
    fn is_stuck(&mut self, t: i64) -> bool {
        self.idle = if self.idle.0 == t { (t, self.idle.1 + 1) } else { (t, 1) };
        self.idle.1 > PATIENCE
    }
}

fn ended(kind: &Kind, number: u64) -> PyErr {
    kind.wrong(format!("data unit {number} was not sent, or has arrived or been given up already"))
}

fn stuck(kind: &Kind, t: i64) -> PyErr {
    kind.wrong(format!(
        "the scheme requests the slot at {t} ns but sends nothing in it; let wants return a later time, or None"
    ))
}

impl LiveScheme for OwnLive {
    fn wants(&self, data_wait: bool) -> Option<i64> {
        ask(|py| self.methods.wants(py, self.kind, data_wait)).flatten()
    }

    fn carry(&mut self, slot: Slot, line: &mut Line) -> bool {
        let told = LiveSlot {
            t_ns: slot.t,
            d_ns: slot.d,
            data_waits: line.data_wait(),
            feedback: Arc::clone(&self.feedback),
            next: self.next,
            sent: None,
            ends: Vec::new(),
        };
        let Some((sent, ends)) = ask(|py| self.methods.carry(py, told)) else { return false };
        ask(|_| {
            if let Some(sent) = sent {
                self.put(sent, slot, line)?;
            } else if self.is_stuck(slot.t) {
                return Err(stuck(self.kind, slot.t));
            }
            ends.into_iter().try_for_each(|(number, at)| self.end(number, at, slot, line))
        });
        sent.is_some()
    }

    fn feedback_lost(&self) -> u64 {
        lock(&self.feedback).lost()
    }
}
