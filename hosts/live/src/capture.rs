//! What a live run carried, kept in memory until the run is over: writing meanwhile would be late for
//! packets.

use std::path::{Path, PathBuf};

use clift::capture::{CaptureError, Fate, Seen, Ticket, Timeline, check_name};
use clift::link::{Admission, DropReason, PacketId, Transit};
use clift::simulation::Units;
use clift::trace::write_file;
use clift::transport::End;

/// A capture to be made.
#[derive(Clone, Debug)]
pub struct CaptureTo {
    /// Its file; the name ends in `.pcapng`.
    pub path: PathBuf,
    /// Bytes kept of each packet.
    pub snap: u32,
    /// Packets kept at most; later ones are left out, and counted.
    pub most: usize,
}

/// What was captured.
#[derive(Clone, Copy, Debug)]
pub struct Captured {
    /// Packets in the file, once for each place where they were seen.
    pub packets: u64,
    /// Packets that were left out because there were too many.
    pub left_out: u64,
}

impl CaptureTo {
    /// Whether there can be such a file: to be asked before the run.
    ///
    /// # Errors
    /// If its name or its folder is wrong.
    pub(crate) fn check(&self) -> Result<(), CaptureError> {
        check_name(&self.path)?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        match folder.is_none_or(Path::is_dir) {
            true => Ok(()),
            false => write_file(&self.path, &|| true, |_| Ok(())).map_err(CaptureError::from),
        }
    }
}

/// What was seen so far.
pub(crate) struct Capture {
    snap: usize,
    most: usize,
    entries: Vec<Entry>,
    /// What happened, in order.
    happened: Vec<Happened>,
    /// The entry of the packet in each place of the store, if it has one.
    numbers: Vec<Option<u32>>,
    left_out: u64,
}

#[derive(Clone, Copy)]
enum Happened {
    Sent(u32),
    Known(u32),
}

/// A packet.
struct Entry {
    from: End,
    sent: u64,
    frame: Box<[u8]>,
    size: u32,
    on_link: Option<u64>,
    arrived: Option<u64>,
    fate: Fate,
    units: Units,
    late: Option<u64>,
}

impl Capture {
    pub(crate) fn new(to: &CaptureTo) -> Self {
        Self {
            snap: to.snap as usize,
            most: to.most.min(u32::MAX as usize),
            entries: Vec::new(),
            happened: Vec::new(),
            numbers: Vec::new(),
            left_out: 0,
        }
    }

    /// A host sent a packet onto its way.
    pub(crate) fn sent(
        &mut self,
        way: usize,
        now: u64,
        id: PacketId,
        bytes: &[u8],
        admission: Admission,
    ) {
        let place = id.0 as usize;
        if place >= self.numbers.len() {
            self.numbers.resize(place + 1, None);
        }
        if self.entries.len() >= self.most {
            self.numbers[place] = None;
            self.left_out += 1;
            return;
        }
        let number = self.entries.len() as u32;
        self.numbers[place] = Some(number);
        self.happened.push(Happened::Sent(number));
        let fate = match admission {
            Admission::Queued => Fate::Open,
            Admission::Dropped(DropReason::TooLarge) => Fate::TooLarge(1),
            Admission::Dropped(_) => Fate::QueueFull(1),
        };
        if fate != Fate::Open {
            self.happened.push(Happened::Known(number));
        }
        self.entries.push(Entry {
            from: if way == 0 { End::Sender } else { End::Receiver },
            sent: now,
            frame: bytes[..bytes.len().min(self.snap)].into(),
            size: bytes.len() as u32,
            on_link: None,
            arrived: None,
            fate,
            units: Units::default(),
            late: None,
        });
    }

    /// A hop, counted from 0, delivered a packet, which was handed over at `arrived`, or lost it.
    pub(crate) fn known(
        &mut self,
        transit: &Transit,
        hop: usize,
        units: Units,
        arrived: Option<u64>,
    ) {
        let Some(Some(number)) = self.numbers.get(transit.packet.0 as usize).copied() else {
            return;
        };
        let entry = &mut self.entries[number as usize];
        let at = transit.at.as_nanos();
        entry.on_link = Some(transit.departed.as_nanos().max(entry.sent));
        entry.units = units;
        entry.arrived = arrived;
        entry.late = arrived.map(|arrived| arrived.saturating_sub(at));
        let after = at.saturating_sub(entry.sent);
        entry.fate = match arrived {
            Some(_) => Fate::Delivered(after),
            None => Fate::Lost(after, hop as u32 + 1),
        };
        self.happened.push(Happened::Known(number));
    }

    /// When the packet was sent that was sent last up to this step: nothing earlier comes.
    fn latest_sent(&self, step: usize) -> u64 {
        let sent = self.happened[..=step].iter().rev().find_map(|happened| match *happened {
            Happened::Sent(number) => Some(self.entries[number as usize].sent),
            Happened::Known(_) => None,
        });
        sent.unwrap_or(0)
    }

    /// Writes the file, with times from `epoch` ns after 1970 on.
    pub(crate) fn write(&self, to: &CaptureTo, epoch: u64) -> Result<Captured, CaptureError> {
        let mut packets = 0;
        write_file(&to.path, &|| true, |out| {
            let mut timeline = Timeline::new(out, epoch, to.snap, 1)?;
            let mut tickets: Vec<Option<Ticket>> = vec![None; self.entries.len()];
            for (step, happened) in self.happened.iter().enumerate() {
                match *happened {
                    Happened::Sent(number) => {
                        let sent = self.entries[number as usize].sent;
                        tickets[number as usize] = Some(timeline.begin(sent));
                    }
                    Happened::Known(number) => {
                        let entry = &self.entries[number as usize];
                        if let Some(ticket) = tickets[number as usize].take() {
                            entry.end(&mut timeline, ticket);
                        }
                    }
                }
                if step % 4096 == 4095 {
                    timeline.write_until(self.latest_sent(step))?;
                }
            }
            for (entry, ticket) in self.entries.iter().zip(tickets) {
                if let Some(ticket) = ticket {
                    entry.end(&mut timeline, ticket);
                }
            }
            packets = timeline.finish()?;
            Ok(())
        })?;
        Ok(Captured { packets, left_out: self.left_out })
    }
}

impl Entry {
    fn end<W: std::io::Write>(&self, timeline: &mut Timeline<W>, ticket: Ticket) {
        let seen = Seen {
            from: self.from,
            frame: self.frame.to_vec(),
            size: self.size,
            on_link: self.on_link,
            arrived: self.arrived,
            fate: self.fate,
            queued: self.on_link.map(|at| at.saturating_sub(self.sent)),
            units: self.units,
            late: self.late,
            ..Seen::default()
        };
        timeline.end(ticket, &seen);
    }
}
