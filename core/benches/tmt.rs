//! Slots per second of each scheme on one core, beside a plain copy of the same arrays.
//!
//! `cargo bench -p clift --bench tmt [-- SLOTS [ROUNDS]]`. Every figure is the best of the rounds,
//! which take turns, so that all of them see the same machine.
#![allow(clippy::disallowed_methods, clippy::print_stdout)] // it measures, and it is a program

use std::hint::black_box;
use std::time::Instant;

use clift::channel::{Bernoulli, ErasureChannel, RegularSlots};
use clift::scheme::{LinkTrace, Scheme, Timing};
use clift::seed::Seed;
use clift::trace::PhyTrace;
use clift::units::{Bytes, Duration};

/// What is measured: (erasure probability, feedback, schemes).
const CASES: [(f64, Option<Duration>, &[&str]); 5] = [
    (
        0.05,
        None,
        &["none", "FEC(10/12)", "FEC(10/12, interleave 8)", "ARQ", "ARQ(max 3)", "HARQ(10/12)"],
    ),
    (0.001, None, &["FEC(10/12)", "ARQ", "HARQ(10/12)"]),
    (0.5, None, &["none", "FEC(10/12)", "ARQ", "HARQ(10/12)"]),
    (0.5, Some(Duration::from_nanos(1)), &["ARQ", "HARQ(10/12)"]),
    (
        1.0,
        Some(Duration::from_nanos(1)),
        &["none", "FEC(10/12)", "ARQ", "ARQ(max 3)", "HARQ(10/12)"],
    ),
];

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse().ok());
    let slots = arguments.next().unwrap_or(20_000_000);
    let rounds = arguments.next().unwrap_or(5);
    for (p, feedback, schemes) in CASES {
        let phy = trace(p, slots);
        let feedback_text =
            feedback.map_or("RTT + d".to_owned(), |f| format!("{} ns", f.as_nanos()));
        println!("\n{slots} slots, {p} erased, feedback {feedback_text}");
        println!("{:<28}{:>16}{:>12}", "", "million slots/s", "of a copy");
        let timing = Timing { rtt: Duration::from_millis(500), feedback };
        let schemes: Vec<Scheme> = schemes.iter().map(|text| text.parse().unwrap()).collect();
        let mut copy = f64::INFINITY;
        let mut seconds = vec![f64::INFINITY; schemes.len()];
        for _ in 0..rounds {
            copy = copy.min(time(|| (phy.t().to_vec(), phy.d().to_vec())));
            for (scheme, best) in schemes.iter().zip(&mut seconds) {
                *best = best.min(time(|| -> LinkTrace { scheme.apply(&phy, timing) }));
            }
        }
        let speed = |seconds: f64| slots as f64 / seconds / 1e6;
        println!("{:<28}{:>16.0}", "copy of t and d", speed(copy));
        for (scheme, seconds) in schemes.iter().zip(seconds) {
            let name = scheme.to_string();
            println!("{name:<28}{:>16.0}{:>12.2}", speed(seconds), copy / seconds);
        }
    }
}

fn trace(p: f64, count: u64) -> PhyTrace {
    let slots = RegularSlots {
        count,
        every: Duration::from_nanos(114_783),
        decode: Duration::from_millis(36),
        lldu: Bytes(33),
    };
    Bernoulli::new(p).unwrap().trace(&slots, Seed(1), 0).unwrap()
}

/// Seconds that `work` takes; its result is dropped outside.
fn time<T>(work: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    let result = black_box(work());
    let seconds = start.elapsed().as_secs_f64();
    drop(result);
    seconds
}
