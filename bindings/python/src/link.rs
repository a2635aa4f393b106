//! The link alone, and the re-sequencing buffer behind it.

use std::num::NonZeroU32;
use std::sync::Arc;

use clift::link::{
    self as core, Link, QueueLimit, Reordering, Resequencing, TraceLink, TraceLinkConfig,
};
use clift::units::Bytes;
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::columns::column;
use crate::errors::scenario_error;
use crate::scheme::LinkTrace;

/// What a re-sequencing buffer waits for; `clift.Reorder` makes one.
#[pyclass(frozen, module = "clift._clift")]
pub(crate) struct Reorder(Resequencing);

impl Reorder {
    pub(crate) fn rule(&self) -> Resequencing {
        self.0
    }
}

#[pymethods]
impl Reorder {
    /// `packets` None: in order until given up, and the flags do not matter.
    #[new]
    #[pyo3(signature = (packets, flush_when_full, flush_on_loss))]
    fn new(packets: Option<NonZeroU32>, flush_when_full: bool, flush_on_loss: bool) -> Self {
        Self(match packets {
            None => Resequencing::InOrder,
            Some(packets) => Resequencing::Bounded { packets, flush_when_full, flush_on_loss },
        })
    }
}

/// When each packet was delivered, and its fate.
type Deliveries<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u8>>);

/// When each of the packets that arrive was delivered (-1: not), and its fate: 0 delivered,
/// 1 lost, 2 queue full, 3 pending.
#[pyfunction]
#[pyo3(signature = (link, arrivals_ns, packet_bytes, queue_packets=None, reorder=None))]
pub(crate) fn deliver<'py>(
    py: Python<'py>,
    link: &LinkTrace,
    arrivals_ns: &Bound<'py, PyAny>,
    packet_bytes: u32,
    queue_packets: Option<u32>,
    reorder: Option<&Reorder>,
) -> PyResult<Deliveries<'py>> {
    let arrivals = column("arrivals_ns", arrivals_ns)?;
    let queue = queue_packets.map_or(QueueLimit::Unlimited, QueueLimit::Packets);
    let config = TraceLinkConfig { queue, ..TraceLinkConfig::default() };
    let link = TraceLink::new(Arc::clone(link.inner()), config).map_err(scenario_error)?;
    let mut link: Box<dyn Link + Send> = match reorder {
        None => Box::new(link),
        Some(reorder) => Box::new(Reordering::new(link, reorder.rule())),
    };
    let (delivered, fate) = py
        .detach(|| {
            let packets = core::deliver(&mut *link, &arrivals, Bytes(packet_bytes))?;
            let fate: Vec<u8> = packets.fate.iter().map(|&fate| fate as u8).collect();
            Ok::<_, core::DeliverError>((packets.delivered, fate))
        })
        .map_err(scenario_error)?;
    Ok((PyArray1::from_vec(py, delivered), PyArray1::from_vec(py, fate)))
}
