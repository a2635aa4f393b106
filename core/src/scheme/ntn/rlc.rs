//! The RLC entities of both ends, in either mode.

use crate::link::schedule::ReadyQueue;
use crate::scheme::ntn::backlog::Backlog;
use crate::scheme::ntn::config::{NtnConfig, RlcConfig};
use crate::scheme::ntn::pdu::{Pdu, Status};
use crate::scheme::ntn::reassembly::Reassembly;
use crate::scheme::ntn::rlc_am::{AmReceiver, AmSender, Reports};
use crate::scheme::ntn::rlc_um::{UmReceiver, UmSender};
use crate::seed::{Seed, Stream};

#[derive(Clone, Debug)]
pub(super) enum Rlc {
    Um { sender: UmSender, receiver: UmReceiver },
    Am(Box<Am>),
}

/// Acknowledged mode, with the status reports under way between its ends.
#[derive(Clone, Debug)]
pub(super) struct Am {
    pub(super) sender: AmSender,
    pub(super) receiver: AmReceiver,
    pub(super) reports: Reports,
    /// Reports on the way to the sender.
    pub(super) statuses: ReadyQueue<Status>,
    /// Packets given up, of which the receiver does not know yet: number and order.
    pub(super) given_up: ReadyQueue<(u64, u64)>,
    pub(super) gave_up: u64,
}

impl Rlc {
    pub(super) fn new(config: &NtnConfig, seed: Seed, number: u32) -> Self {
        let timers = config.timers();
        match config.rlc {
            RlcConfig::Um(um) => {
                Self::Um { sender: UmSender::default(), receiver: UmReceiver::new(um, timers) }
            }
            RlcConfig::Am(am) => Self::Am(Box::new(Am {
                sender: AmSender::new(am, timers),
                receiver: AmReceiver::new(am, timers),
                reports: Reports::new(am, timers, seed.rng(Stream::Feedback(number))),
                statuses: ReadyQueue::new(),
                given_up: ReadyQueue::new(),
                gave_up: 0,
            })),
        }
    }

    /// Whether there is something to send that HARQ does not have.
    #[inline]
    pub(super) fn wants(&self, backlog: &Backlog) -> bool {
        match self {
            Self::Um { sender, .. } => sender.wants(backlog),
            Self::Am(am) => am.sender.wants(backlog),
        }
    }

    /// Bytes that wait to be sent, without headers of PDUs.
    pub(super) fn volume(&self, backlog: &Backlog) -> u64 {
        match self {
            Self::Um { sender, .. } => sender.volume(backlog),
            Self::Am(am) => am.sender.volume(backlog),
        }
    }

    /// PDUs for a block with room for `room` bytes, each with a header.
    pub(super) fn fill(
        &mut self,
        mut pdus: Vec<Pdu>,
        room: u32,
        header: u32,
        backlog: &mut Backlog,
        now: i64,
    ) -> Vec<Pdu> {
        let mut room = room;
        while room > header {
            let pdu = match self {
                Self::Um { sender, .. } => sender.next_pdu(room - header, backlog, now),
                Self::Am(am) => am.sender.next_pdu(room - header, backlog, now),
            };
            let Some(pdu) = pdu else { break };
            room -= header + (pdu.end - pdu.start);
            pdus.push(pdu);
        }
        pdus
    }

    /// A PDU arrived; whether that completes its packet.
    pub(super) fn receive(&mut self, pdu: &Pdu, now: i64) -> bool {
        match self {
            Self::Um { receiver, .. } => receiver.receive(pdu, now),
            Self::Am(am) => am.receiver.receive(pdu, now),
        }
    }

    #[inline]
    pub(super) fn reassembly(&self) -> &Reassembly {
        match self {
            Self::Um { receiver, .. } => receiver.reassembly(),
            Self::Am(am) => am.receiver.reassembly(),
        }
    }

    /// `t-Reassembly` expired.
    pub(super) fn reassembly_expired(&mut self, now: i64) {
        match self {
            Self::Um { receiver, .. } => receiver.expire(now),
            Self::Am(am) => am.receiver.expire(now),
        }
    }
}
