//! Where connections put the packets that they send.

use std::ops::{Index, IndexMut};

use crate::transport::Packet;

/// The packets of a host by number, and the numbers of those that were sent last. Numbers are used
/// again, so that memory follows what is in flight.
///
/// ```
/// use clift::transport::{Outbox, Packet};
/// let mut outbox = Outbox::default();
/// outbox.draft().len = 7;
/// outbox.send();
/// let number = outbox.sent()[0];
/// assert_eq!(outbox[number].len, 7);
/// outbox.forget_sent(0);
/// outbox.free(number);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    packets: Vec<Packet>,
    free: Vec<u32>,
    sent: Vec<u32>,
}

impl Outbox {
    /// The packet to be sent next, to be written in its place; it holds what a former one held, and is
    /// under way only once [`Outbox::send`] was called. (In its place, since a packet that is built
    /// elsewhere and copied here costs more than the rest of an event.)
    #[inline]
    pub fn draft(&mut self) -> &mut Packet {
        let number = match self.free.last() {
            Some(&number) => number,
            None => self.grow(),
        };
        &mut self.packets[number as usize]
    }

    /// A connection sends the packet that was written last.
    #[inline]
    pub fn send(&mut self) {
        self.sent.extend(self.free.pop());
    }

    /// What was sent and not forgotten, in order.
    #[inline]
    pub fn sent(&self) -> &[u32] {
        &self.sent
    }

    /// Forgets what was sent from the `first` on: the host has taken it over.
    #[inline]
    pub fn forget_sent(&mut self, first: usize) {
        self.sent.truncate(first);
    }

    /// The packet with this number is gone.
    #[inline]
    pub fn free(&mut self, number: u32) {
        self.free.push(number);
    }

    /// A queue has marked the packet with this number.
    pub(crate) fn mark(&mut self, number: u32) {
        self.packets[number as usize].mark();
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        let number = self.packets.len() as u32;
        self.packets.push(Packet::default());
        self.free.push(number);
        number
    }
}

impl Index<u32> for Outbox {
    type Output = Packet;

    #[inline]
    fn index(&self, number: u32) -> &Packet {
        &self.packets[number as usize]
    }
}

impl IndexMut<u32> for Outbox {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut Packet {
        &mut self.packets[number as usize]
    }
}
