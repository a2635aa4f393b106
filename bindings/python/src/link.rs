//! The link alone, and the re-sequencing buffer behind it.

use std::num::NonZeroU32;

use clift::link::{self as core, QueueLimit, Resequencing};
use clift::scheme::LinkConfig;
use clift::seed::Seed;
use clift::units::Bytes;
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::columns::column;
use crate::errors::scenario_error;
use crate::medium::AnyMedium;

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
    /// `packets` None: no bound; on link order the flags do not matter then. `tcp`: on TCP
    /// sequence numbers instead.
    #[new]
    #[pyo3(signature = (packets, flush_when_full, flush_on_loss, tcp))]
    fn new(
        packets: Option<NonZeroU32>,
        flush_when_full: bool,
        flush_on_loss: bool,
        tcp: bool,
    ) -> Self {
        Self(match packets {
            _ if tcp => Resequencing::TcpSequence { packets, flush_when_full, flush_on_loss },
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
#[pyo3(signature = (medium, arrivals_ns, packet_bytes, queue_packets=None, reorder=None, seed=1))]
pub(crate) fn deliver<'py>(
    py: Python<'py>,
    medium: AnyMedium<'_>,
    arrivals_ns: &Bound<'py, PyAny>,
    packet_bytes: u32,
    queue_packets: Option<u32>,
    reorder: Option<&Reorder>,
    seed: u64,
) -> PyResult<Deliveries<'py>> {
    let arrivals = column("arrivals_ns", arrivals_ns)?;
    let queue = queue_packets.map_or(QueueLimit::Unlimited, QueueLimit::Packets);
    let config = LinkConfig {
        queue,
        reorder: reorder.map(Reorder::rule),
        ..LinkConfig::new(medium.medium())
    };
    config.check_packet(Bytes(packet_bytes)).map_err(scenario_error)?;
    let mut link = config.build(Seed(seed), 0, None).map_err(scenario_error)?;
    let (delivered, fate) = py
        .detach(|| {
            let packets = core::deliver(&mut *link, &arrivals, Bytes(packet_bytes))?;
            let fate: Vec<u8> = packets.fate.iter().map(|&fate| fate as u8).collect();
            Ok::<_, core::DeliverError>((packets.delivered, fate))
        })
        .map_err(scenario_error)?;
    Ok((PyArray1::from_vec(py, delivered), PyArray1::from_vec(py, fate)))
}
