//! The open-loop link slot by slot, as DESIGN section 5 says it, without any thought of speed.

use std::collections::VecDeque;

use clift::link::{QueueLimit, TraceLinkConfig};
use clift::scheme::LinkTrace;

/// What became of one packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fate {
    Dropped,
    Delivered(i64),
    Lost(i64),
    Pending,
}

/// What the reference says about a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Run {
    pub(crate) fates: Vec<Fate>,
    /// When each packet left the queue.
    pub(crate) departed: Vec<Option<i64>>,
    /// The LLDUs (of all that exist in the run) that each packet took.
    pub(crate) lldus: Vec<Vec<usize>>,
    /// Packets waiting right after each arrival.
    pub(crate) waiting: Vec<usize>,
    /// First packet left without slots when the clock passes the last slot, and that moment.
    pub(crate) trace_ended: Option<(usize, i64)>,
}

#[derive(Clone, Copy)]
struct Lldu {
    t: i64,
    /// When it arrives, or is given up, at the sender's side of the propagation delay.
    end: Option<i64>,
    lost: bool,
}

/// Sends packets of `sizes` bytes at `arrivals` (ns, not falling) over `trace`.
pub(crate) fn run(
    trace: &LinkTrace,
    config: &TraceLinkConfig,
    arrivals: &[i64],
    sizes: &[u32],
) -> Run {
    let wants: Vec<usize> = sizes.iter().map(|&size| lldus_of(trace, config, size)).collect();
    let lldus = lldus_of_run(trace, config, arrivals, wants.iter().sum());
    let mut state = State {
        run: Run {
            fates: vec![Fate::Pending; arrivals.len()],
            departed: vec![None; arrivals.len()],
            lldus: vec![vec![]; arrivals.len()],
            waiting: vec![],
            trace_ended: None,
        },
        queue: VecDeque::new(),
        sending: None,
        wants,
    };
    let mut instants: Vec<i64> = lldus.iter().map(|lldu| lldu.t).chain(arrivals.to_vec()).collect();
    instants.sort_unstable();
    instants.dedup();
    for now in instants {
        let mut slot = lldus.iter().position(|lldu| lldu.t == now);
        state.use_slot(&mut slot, now);
        for packet in (0..arrivals.len()).filter(|&packet| arrivals[packet] == now) {
            let waiting_bytes: u64 = state.queue.iter().map(|&other| u64::from(sizes[other])).sum();
            let fits = match config.queue {
                QueueLimit::Unlimited => true,
                QueueLimit::Packets(limit) => state.queue.len() < limit as usize,
                QueueLimit::Bytes(limit) => waiting_bytes + u64::from(sizes[packet]) <= limit,
            };
            if fits {
                state.queue.push_back(packet);
            } else {
                state.run.fates[packet] = Fate::Dropped;
            }
            state.use_slot(&mut slot, now);
            state.run.waiting.push(state.queue.len());
        }
    }
    state.finish(trace, config, &lldus, arrivals)
}

struct State {
    run: Run,
    queue: VecDeque<usize>,
    sending: Option<usize>,
    wants: Vec<usize>,
}

impl State {
    fn use_slot(&mut self, slot: &mut Option<usize>, now: i64) {
        let Some(lldu) = *slot else { return };
        if self.sending.is_none() {
            self.sending = self.queue.pop_front();
            if let Some(packet) = self.sending {
                self.run.departed[packet] = Some(now);
            }
        }
        let Some(packet) = self.sending else { return };
        *slot = None;
        self.run.lldus[packet].push(lldu);
        if self.run.lldus[packet].len() == self.wants[packet] {
            self.sending = None;
        }
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
            let taken: Vec<Lldu> = self.run.lldus[packet].iter().map(|&i| lldus[i]).collect();
            if taken.len() < self.wants[packet] {
                let in_error = !config.wrap && last_slot < duration && arrival < duration;
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

fn lldus_of(trace: &LinkTrace, config: &TraceLinkConfig, size: u32) -> usize {
    let room = trace.parts().lldu.0 - config.fragmentation.lldu_header.0;
    let mut left = i64::from(size) + i64::from(config.fragmentation.packet_header.0);
    let mut count = usize::from(config.fragmentation.extra_lldu);
    loop {
        left -= i64::from(room);
        count += 1;
        if left <= 0 {
            return count;
        }
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
    let mut lldus = Vec::new();
    let mut spare = 0;
    for cycle in 0.. {
        for i in 0..trace.len() {
            let t = parts.t[i] + cycle * period - offset;
            if t < 0 || config.duration.is_some_and(|end| t > end.as_nanos() as i64) {
                continue;
            }
            spare += usize::from(t >= last_arrival);
            let given_up = parts.lost.iter().find(|&&(index, _)| index as usize == i);
            let end = match (parts.d[i], given_up) {
                (0, Some(&(_, after))) => Some(t + after),
                (0, None) => None,
                (d, _) => Some(t + d),
            };
            lldus.push(Lldu { t, end, lost: parts.d[i] == 0 && given_up.is_some() });
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
