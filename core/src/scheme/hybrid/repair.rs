//! Packets of which a frame failed, and the frames to send again.

use std::collections::VecDeque;

use slab::Slab;

use crate::link::{StreamRange, Transit};

/// Packets under repair. A packet whose frames are all decoded at the first attempt is not entered.
#[derive(Clone, Debug, Default)]
pub(super) struct Repairs {
    packets: Slab<Repair>,
    /// Frames to send again, in order of their NACKs: all NACKs take equally long, so this is the
    /// order in which the frames were sent.
    again: VecDeque<Again>,
}

/// A packet under repair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repair {
    pub(super) transit: Transit,
    pub(super) carries: Option<StreamRange>,
    /// Frames neither decoded nor given up; those not yet sent count.
    pub(super) open: u64,
    /// Whether a frame was given up, and the packet with it.
    pub(super) given_up: bool,
    /// Units sent for it, those of frames sent again included.
    pub(super) units: u64,
}

/// A frame to send again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Again {
    /// When its NACK is at the sender.
    pub(super) ready: i64,
    pub(super) packet: u32,
    /// Its number, in the order of first transmissions.
    pub(super) frame: u64,
    /// How often it was sent again already.
    pub(super) times: u32,
}

impl Repairs {
    #[inline]
    pub(super) fn first(&self) -> Option<&Again> {
        self.again.front()
    }

    pub(super) fn pop_first(&mut self) -> Option<Again> {
        self.again.pop_front()
    }

    pub(super) fn push(&mut self, frame: Again) {
        assert!(self.again.back().is_none_or(|last| last.ready <= frame.ready));
        self.again.push_back(frame);
    }

    /// Takes a packet in; the number names it until [`Repairs::close`].
    pub(super) fn open(&mut self, repair: Repair) -> u32 {
        self.packets.insert(repair) as u32
    }

    pub(super) fn packet(&mut self, number: u32) -> &mut Repair {
        &mut self.packets[number as usize]
    }

    pub(super) fn close(&mut self, number: u32) {
        self.packets.remove(number as usize);
    }
}
