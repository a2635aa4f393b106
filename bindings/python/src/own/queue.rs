//! Queues written in Python.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use clift::config::Arguments;
use clift::queue::{BuildQueue, QueueDiscipline, QueueKind, QueuedPacket};
use clift::sync::lock;
use clift::units::{Instant, counted};
use pyo3::prelude::*;

use super::raised::ask;
use super::{Kind, dict, insert, leaked, seed};

/// `make(seed, parameters)` makes an instance.
pub(super) fn add(kind: &'static Kind, summary: &'static str) -> PyResult<()> {
    let build: &BuildQueue = Box::leak(Box::new(move |arguments: &[&str], rng| {
        // The arguments were checked when the text was read.
        let given = kind.signature.bind(arguments).unwrap_or_default();
        let seed = seed(rng);
        let drops = Arc::default();
        let methods = ask(|py| {
            let queue = kind.make.bind(py).call1((seed, dict(py, &given)?))?;
            let enqueue = kind.needed(&queue, "enqueue")?;
            Ok(Methods { enqueue, dequeue: kind.needed(&queue, "dequeue")? })
        });
        Box::new(OwnQueue { kind, methods, drops, waits: BTreeSet::new() })
            as Box<dyn QueueDiscipline>
    }));
    insert(QueueKind {
        name: kind.name,
        summary,
        text: leaked(&kind.text()),
        read: Box::leak(Box::new(move |arguments: Arguments<'_>| {
            let arguments = arguments.all();
            kind.signature.bind(&arguments)?;
            Ok(clift::queue::OwnQueue::new(kind.name, &arguments, build))
        })),
    })
}

/// Numbers of packets that Python dropped.
type Drops = Arc<Mutex<Vec<u64>>>;

/// A packet before a link.
#[pyclass(frozen, name = "QueuedPacket", module = "clift._clift")]
pub(crate) struct PyQueuedPacket {
    /// Number of the packet: packets admitted before it.
    #[pyo3(get)]
    number: u64,
    /// The packet's flow.
    #[pyo3(get)]
    flow: u32,
    /// Size of the IP packet in bytes, including headers.
    #[pyo3(get)]
    size_bytes: u32,
    /// Arrival time, ns.
    #[pyo3(get)]
    arrived_ns: u64,
    drops: Drops,
}

#[pymethods]
impl PyQueuedPacket {
    /// Drops the packet, if it is still waiting.
    fn drop(&self) {
        lock(&self.drops).push(self.number);
    }

    fn __repr__(&self) -> String {
        let Self { number, flow, size_bytes, .. } = self;
        format!("QueuedPacket({number}: {size_bytes} bytes of flow {flow})")
    }
}

#[derive(Debug)]
struct Methods {
    enqueue: Py<PyAny>,
    dequeue: Py<PyAny>,
}

#[derive(Debug)]
struct OwnQueue {
    kind: &'static Kind,
    methods: Option<Methods>,
    drops: Drops,
    /// The waiting packets.
    waits: BTreeSet<u64>,
}

impl OwnQueue {
    /// Takes the packets dropped since the last call.
    fn take_drops(&mut self, dropped: &mut Vec<u64>) {
        dropped.extend(lock(&self.drops).drain(..).filter(|number| self.waits.remove(number)));
    }
}

impl QueueDiscipline for OwnQueue {
    fn enqueue(&mut self, _: Instant, packet: QueuedPacket, dropped: &mut Vec<u64>) {
        self.waits.insert(packet.number);
        let Some(methods) = &self.methods else { return };
        let QueuedPacket { number, flow, size, arrived, .. } = packet;
        let (size_bytes, arrived_ns) = (size.0, arrived.as_nanos());
        let drops = Arc::clone(&self.drops);
        let told = PyQueuedPacket { number, flow, size_bytes, arrived_ns, drops };
        let taken = ask(|py| {
            let returned = methods.enqueue.bind(py).call1((told,))?;
            match returned.extract::<Option<bool>>() {
                Ok(taken) => Ok(taken.unwrap_or(true)),
                Err(_) => Err(self.kind.wrong(format!(
                    "enqueue returned {returned}; give False to drop the packet, else True or None"
                ))),
            }
        });
        self.take_drops(dropped);
        if taken == Some(false) && self.waits.remove(&packet.number) {
            dropped.push(packet.number);
        }
    }

    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<u64>) -> Option<u64> {
        let methods = self.methods.as_ref()?;
        let next = ask(|py| {
            let returned = methods.dequeue.bind(py).call1((now.as_nanos(),))?;
            if returned.is_none() {
                return Ok(None);
            }
            match returned.cast::<PyQueuedPacket>() {
                Ok(own) if Arc::ptr_eq(&own.get().drops, &self.drops) => Ok(Some(own.get().number)),
                _ => Err(self.kind.wrong(format!(
                    "dequeue returned {returned}; give a packet that enqueue was given, or None"
                ))),
            }
        });
        let next = next?;
        self.take_drops(dropped);
        let fault = match next {
            Some(number) if self.waits.remove(&number) => return next,
            None if self.waits.is_empty() => return None,
            Some(number) => {
                format!("dequeue returned packet {number}, which is no longer waiting")
            }
            None => format!(
                "dequeue returned None while {}; give one, or drop them",
                counted(self.waits.len(), "packet waits", "packets wait")
            ),
        };
        ask(|_| Err::<(), _>(self.kind.wrong(fault)));
        None
    }
}
