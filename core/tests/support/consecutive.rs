//! HARQ-II whose blocks stay in consecutive slots, drawn slot by slot: what the closed form is
//! about, without any of its code.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// The channel: probabilities of staying good and bad, and of erasing in either.
#[derive(Clone, Copy)]
pub struct Channel {
    pub staying: [f64; 2],
    pub erasing: [f64; 2],
}

/// The scheme, with feedback in slots.
#[derive(Clone, Copy)]
pub struct Harq {
    pub data: usize,
    pub total: usize,
    pub extra: usize,
    pub rounds: Option<u32>,
    pub feedback: u64,
}

/// Sums over blocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    pub blocks: f64,
    pub data: f64,
    pub delivered: f64,
    pub recovered: f64,
    /// Slots that the recovered waited.
    pub waited: f64,
    pub slots: f64,
    pub rounds: f64,
}

/// Runs `blocks` blocks, each over its own channel.
pub fn run(channel: Channel, harq: Harq, blocks: usize, rng: &mut ChaCha8Rng) -> Sums {
    let over_feedback = power(channel.staying, harq.feedback);
    let bad_share = (1.0 - channel.staying[0]) / (2.0 - channel.staying[0] - channel.staying[1]);
    let mut sums = Sums::default();
    for _ in 0..blocks {
        let mut state = usize::from(uniform(rng) < bad_share);
        let mut arrivals = Vec::new(); // slots, counted from the block's first
        let mut erased_data = Vec::new();
        for slot in 0..harq.total as u64 {
            if slot > 0 {
                state = step(state, channel.staying, rng);
            }
            if uniform(rng) >= channel.erasing[state] {
                arrivals.push(slot);
            } else if slot < harq.data as u64 {
                erased_data.push(slot);
            }
        }
        sums.slots += harq.total as f64;
        let mut last = harq.total as u64 - 1;
        let mut rounds = 0;
        while arrivals.len() < harq.data && harq.rounds.is_none_or(|limit| rounds < limit) {
            rounds += 1;
            state = step(state, over_feedback, rng);
            let units = (harq.data - arrivals.len() + harq.extra) as u64;
            let first = last + harq.feedback;
            last = first + units - 1;
            for slot in first..=last {
                if slot > first {
                    state = step(state, channel.staying, rng);
                }
                if uniform(rng) >= channel.erasing[state] {
                    arrivals.push(slot);
                }
            }
            sums.slots += units as f64;
        }
        sums.blocks += 1.0;
        sums.rounds += f64::from(rounds);
        sums.data += harq.data as f64;
        sums.delivered += (harq.data - erased_data.len()) as f64;
        if let Some(&decoded) = arrivals.get(harq.data - 1) {
            sums.delivered += erased_data.len() as f64;
            sums.recovered += erased_data.len() as f64;
            sums.waited += erased_data.iter().map(|slot| (decoded - slot) as f64).sum::<f64>();
        }
    }
    sums
}

fn step(state: usize, staying: [f64; 2], rng: &mut ChaCha8Rng) -> usize {
    if uniform(rng) < staying[state] { state } else { 1 - state }
}

fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Probabilities of being in the state again after `steps` slots, by squaring.
fn power(staying: [f64; 2], mut steps: u64) -> [f64; 2] {
    let product = |a: [f64; 2], b: [f64; 2]| {
        let through = |one: usize| a[one] * b[one] + (1.0 - a[one]) * (1.0 - b[1 - one]);
        [through(0), through(1)]
    };
    let (mut result, mut square) = ([1.0, 1.0], staying);
    while steps > 0 {
        if steps & 1 == 1 {
            result = product(result, square);
        }
        square = product(square, square);
        steps >>= 1;
    }
    result
}
