//! The open-loop link slot by slot, as DESIGN section 5 says it, without any thought of speed.

use std::collections::VecDeque;

use clift::link::{QueueLimit, TraceLinkConfig};
use clift::scheme::LinkTrace;
use clift::trace::Packing;

/// The fate of one packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    Dropped,
    Delivered(i64),
    Lost(i64),
    Pending,
}

/// What the reference says about a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    pub fates: Vec<Fate>,
    /// When each packet left the queue.
    pub departed: Vec<Option<i64>>,
    /// The LLDUs (of all that exist in the run) that each packet took and no packet before it.
    pub lldus: Vec<Vec<usize>>,
    /// The LLDUs that it has a part of.
    pub parts: Vec<Vec<usize>>,
    /// Time from which it is no longer in the queue.
    pub gone: Vec<Option<i64>>,
    /// Packets waiting right after each arrival.
    pub waiting: Vec<usize>,
    /// Time and size of every LLDU that the reference looked at.
    pub came: Vec<(i64, u32)>,
    /// First packet left without slots when the clock passes the last slot, and that moment.
    pub trace_ended: Option<(usize, i64)>,
}

impl Run {
    /// Bytes of the LLDUs up to `until`, if the reference looked as far.
    pub fn passed(&self, until: i64) -> Option<u64> {
        let seen = self.came.last().is_some_and(|&(t, _)| t >= until);
        let passed = self.came.iter().filter(|&&(t, _)| t <= until);
        seen.then(|| passed.map(|&(_, bytes)| u64::from(bytes)).sum())
    }
}

#[derive(Clone, Copy)]
struct Lldu {
    t: i64,
    bytes: u32,
    /// Bytes for packets.
    room: u32,
    /// When it is handed to the queue: the beginning of its tick, if there are ticks.
    served: i64,
    /// When it arrives, or is given up, at the sender's side of the propagation delay.
    end: Option<i64>,
    lost: bool,
}

/// Sends packets of `sizes` bytes at `arrivals` (ns, not falling) over `trace`.
pub fn run(trace: &LinkTrace, config: &TraceLinkConfig, arrivals: &[i64], sizes: &[u32]) -> Run {
    let packing =
        config.fragmentation.packing.or(trace.parts().loading.packing).unwrap_or_default();
    let ticks = trace.parts().loading.tick.as_nanos() > 0;
    let header = config.fragmentation.packet_header.0 + trace.parts().loading.packet_header.0;
    let bytes = |size: u32| (size + header).max(1);
    let wants: Vec<u32> = sizes.iter().map(|&size| bytes(size)).collect();
    // Each LLDU carries a byte at least, and a packet may take one more.
    let most = wants.iter().map(|&want| want as usize + 1).sum();
    let lldus = lldus_of_run(trace, config, arrivals, most);
    let mut state = State {
        run: Run {
            fates: vec![Fate::Pending; arrivals.len()],
            departed: vec![None; arrivals.len()],
            gone: vec![None; arrivals.len()],
            lldus: vec![vec![]; arrivals.len()],
            parts: vec![vec![]; arrivals.len()],
            waiting: vec![],
            came: lldus.iter().map(|lldu| (lldu.t, lldu.bytes)).collect(),
            trace_ended: None,
        },
        queue: VecDeque::new(),
        sending: None,
        wants,
        one_more: vec![config.fragmentation.extra_lldu; sizes.len()],
        shared: packing == Packing::Bytes,
        late: if ticks { None } else { Some(i64::from(packing == Packing::Bytes)) },
    };
    let mut instants: Vec<i64> =
        lldus.iter().map(|lldu| lldu.served).chain(arrivals.to_vec()).collect();
    instants.sort_unstable();
    instants.dedup();
    for now in instants {
        let mut slots: VecDeque<usize> =
            (0..lldus.len()).filter(|&lldu| lldus[lldu].served == now).collect();
        // With bytes to share an LLDU waits for all of its instant, and in ticks for no part of its tick.
        if ticks || packing == Packing::Packet {
            state.use_slots(&mut slots, &lldus);
            if ticks {
                slots.clear();
            }
        }
        for packet in (0..arrivals.len()).filter(|&packet| arrivals[packet] == now) {
            let own = trace.parts().loading.packet_header.0;
            let queued = |packet: usize| u64::from(sizes[packet] + own);
            let waiting_bytes: u64 = state.queue.iter().map(|&other| queued(other)).sum();
            let fits = match config.queue {
                QueueLimit::Unlimited => true,
                QueueLimit::Packets(limit) => state.queue.len() < limit as usize,
                QueueLimit::Bytes(limit) => waiting_bytes + queued(packet) <= limit,
            };
            if fits {
                state.queue.push_back(packet);
            } else {
                state.run.fates[packet] = Fate::Dropped;
            }
            if packing == Packing::Packet {
                state.use_slots(&mut slots, &lldus);
            }
            state.run.waiting.push(state.queue.len());
        }
        state.use_slots(&mut slots, &lldus);
    }
    state.finish(trace, config, &lldus, arrivals)
}

struct State {
    run: Run,
    queue: VecDeque<usize>,
    sending: Option<usize>,
    /// Bytes that each packet still wants, and whether it wants an LLDU after them.
    wants: Vec<u32>,
    one_more: Vec<bool>,
    /// Whether packets share LLDUs.
    shared: bool,
    late: Option<i64>,
}

impl State {
    /// Hands out LLDUs as long as somebody wants one.
    fn use_slots(&mut self, slots: &mut VecDeque<usize>, lldus: &[Lldu]) {
        while let Some(&lldu) = slots.front() {
            if !self.use_slot(lldu, lldus[lldu]) {
                return;
            }
            slots.pop_front();
        }
    }

    fn use_slot(&mut self, number: usize, lldu: Lldu) -> bool {
        let (mut left, mut begun) = (lldu.room, false);
        while left > 0 {
            if self.sending.is_none() {
                self.sending = self.queue.pop_front();
                if let Some(packet) = self.sending {
                    self.run.departed[packet] = Some(lldu.t);
                    self.run.gone[packet] =
                        Some(self.late.map_or(lldu.served, |late| lldu.t + late));
                }
            }
            let Some(packet) = self.sending else { break };
            if !begun {
                self.run.lldus[packet].push(number);
                begun = true;
            }
            self.run.parts[packet].push(number);
            let given = left.min(self.wants[packet]);
            if given == 0 {
                self.one_more[packet] = false;
            }
            left = if self.shared { left - given } else { 0 };
            self.wants[packet] -= given;
            if self.wants[packet] == 0 && !self.one_more[packet] {
                self.sending = None;
            }
        }
        begun
    }

    fn finish(
        mut self,
        trace: &LinkTrace,
        config: &TraceLinkConfig,
        lldus: &[Lldu],
        arrivals: &[i64],
    ) -> Run {
        let one_way = trace.parts().rtt.as_nanos() as i64 / 2;
        let last_slot = trace.parts().span.1 - config.start_offset.as_nanos() as i64;
        let duration = config.duration.map_or(i64::MAX, |end| end.as_nanos() as i64);
        for (packet, &arrival) in arrivals.iter().enumerate() {
            if self.run.fates[packet] == Fate::Dropped {
                continue;
            }
            let taken: Vec<Lldu> = self.run.parts[packet].iter().map(|&i| lldus[i]).collect();
            if self.wants[packet] > 0 || self.one_more[packet] {
                // The last slot lasts as long as the others.
                let ends = arrival.max(last_slot + trace.parts().gap);
                let in_error = !config.wrap && ends < duration;
                if in_error && self.run.trace_ended.is_none() {
                    self.run.trace_ended = Some((packet, arrival.max(last_slot + 1)));
                }
                continue;
            }
            let ends: Option<Vec<i64>> = taken.iter().map(|lldu| lldu.end).collect();
            let Some(end) = ends.and_then(|ends| ends.into_iter().max()) else { continue };
            self.run.fates[packet] = if taken.iter().any(|lldu| lldu.lost) {
                Fate::Lost(end + one_way)
            } else {
                Fate::Delivered(end + one_way)
            };
        }
        self.run
    }
}

/// Every LLDU that the run can see, in run time.
fn lldus_of_run(
    trace: &LinkTrace,
    config: &TraceLinkConfig,
    arrivals: &[i64],
    wanted: usize,
) -> Vec<Lldu> {
    let parts = trace.parts();
    let offset = config.start_offset.as_nanos() as i64;
    let period = parts.span.1 - parts.span.0 + parts.gap;
    let last_arrival = arrivals.last().copied().unwrap_or(0);
    let tick = parts.loading.tick.as_nanos() as i64;
    let phase = parts.loading.phase.as_nanos() as i64;
    let mut lldus = Vec::new();
    let mut spare = 0;
    for cycle in 0.. {
        for i in 0..trace.len() {
            let t = parts.t[i] + cycle * period - offset;
            if t < 0 || config.duration.is_some_and(|end| t > end.as_nanos() as i64) {
                continue;
            }
            spare += usize::from(t >= last_arrival + tick);
            let given_up = parts.lost.iter().find(|&&(index, _)| index as usize == i);
            let end = match (parts.d[i], given_up) {
                (0, Some(&(_, after))) => Some(t + after),
                (0, None) => None,
                (d, _) => Some(t + d),
            };
            let into = if tick > 0 { (parts.t[i] - phase).rem_euclid(tick) } else { 0 };
            let served = t - into;
            let bytes = trace.bytes(i);
            let room = bytes - config.fragmentation.lldu_header.0;
            lldus.push(Lldu {
                t,
                bytes,
                room,
                served,
                end,
                lost: parts.d[i] == 0 && given_up.is_some(),
            });
        }
        let past_the_end = config
            .duration
            .is_some_and(|end| cycle * period + parts.span.0 - offset > end.as_nanos() as i64);
        if !config.wrap || trace.is_empty() || spare >= wanted || past_the_end {
            return lldus;
        }
    }
    unreachable!("every cycle adds LLDUs")
}
