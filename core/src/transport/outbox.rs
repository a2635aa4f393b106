//! The outbox: storage for the packets that endpoints send.

use std::ops::{Index, IndexMut};

use crate::transport::{Contents, Packet};

/// The packets of a host by number, and the numbers of the packets sent most recently. Numbers are
/// reused, so memory use is proportional to the packets in flight.
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
#[derive(Debug, Default)]
pub struct Outbox {
    packets: Vec<Packet>,
    /// By packet; shorter than the packets where no packet beyond has contents.
    contents: Vec<Option<Contents>>,
    free: Vec<u32>,
    sent: Vec<u32>,
    /// Number of the packet to send next; that of a new one once all are in use.
    draft: u32,
}

impl Outbox {
    /// The packet to send next, to be filled in place. It still holds the values of an earlier
    /// packet; it is sent only by [`Outbox::send`]. (In place because building a packet elsewhere
    /// and copying it here costs more than the rest of an event.)
    #[inline]
    pub fn draft(&mut self) -> &mut Packet {
        let number = self.draft as usize;
        if number == self.packets.len() {
            self.packets.push(Packet::default());
        }
        &mut self.packets[number]
    }

    /// Sends the packet last returned by [`Outbox::draft`].
    #[inline]
    pub fn send(&mut self) {
        self.sent.push(self.draft);
        self.draft = self.free.pop().unwrap_or(self.packets.len() as u32);
    }

    /// Sends a packet that came from elsewhere.
    pub(crate) fn pass(&mut self, number: u32) {
        self.sent.push(number);
    }

    /// Attaches contents to the packet last returned by [`Outbox::draft`].
    pub fn attach(&mut self, contents: Contents) {
        self.attach_to(self.draft, contents);
    }

    /// Attaches contents to the packet with this number.
    pub(crate) fn attach_to(&mut self, number: u32, contents: Contents) {
        let number = number as usize;
        if self.contents.len() <= number {
            self.contents.resize_with(number + 1, || None);
        }
        self.contents[number] = Some(contents);
    }

    /// The contents of the packet with this number, if it has any.
    pub fn contents(&self, number: u32) -> Option<&Contents> {
        self.contents.get(number as usize)?.as_ref()
    }

    /// Takes the contents of the packet with this number, if it has any.
    #[inline]
    pub fn take_contents(&mut self, number: u32) -> Option<Contents> {
        self.contents.get_mut(number as usize)?.take()
    }

    /// Numbers of the packets sent and not yet forgotten, in order.
    #[inline]
    pub fn sent(&self) -> &[u32] {
        &self.sent
    }

    /// Forgets the sent numbers from index `first` on; called once the host has taken them over.
    #[inline]
    pub fn forget_sent(&mut self, first: usize) {
        self.sent.truncate(first);
    }

    /// Releases the packet with this number and its contents.
    #[inline(always)] // called for every packet: a call costs as much as what it does
    pub fn free(&mut self, number: u32) {
        if let Some(contents) = self.contents.get_mut(number as usize) {
            *contents = None;
        }
        self.free.push(number);
    }

    /// Releases packets and their contents.
    pub(crate) fn free_all(&mut self, numbers: impl ExactSizeIterator<Item = u32> + Clone) {
        if !self.contents.is_empty() {
            numbers.clone().for_each(|number| drop(self.take_contents(number)));
        }
        self.free.extend(numbers);
    }

    /// The numbers of packets sent and not yet forgotten, out of the way of what is sent next.
    pub(crate) fn take_sent(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.sent)
    }

    /// Gives back what [`Outbox::take_sent`] took, for its room.
    pub(crate) fn give_back(&mut self, mut sent: Vec<u32>) {
        sent.clear();
        self.sent = sent;
    }

    /// Sets the Congestion Experienced mark of the packet with this number.
    pub(crate) fn mark(&mut self, number: u32) {
        self.packets[number as usize].mark();
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
