//! A custom congestion control, chosen by name: additive increase and multiplicative decrease
//! with constants of one's choice, beside the core's `newreno` over the same link.
//!
//! `cargo run --release --example own_congestion_control`
#![allow(clippy::print_stdout)] // data goes to stdout

use std::process::ExitCode;
use std::sync::Arc;

use clift::Registry;
use clift::application::Bulk;
use clift::link::QueueLimit;
use clift::seed::Seed;
use clift::simulation::{self, Flow, Hop, LegConfig, Loss as Losses, Routing, Setup};
use clift::transport::tcp::{
    Ack, CongestionControl, CongestionControlKind, Loss, Profile, Reduction, TcpConfig, Window,
};
use clift::units::{BitRate, Duration, Instant, Probability};

/// Two segments more a round trip, and a quarter less after a loss.
#[derive(Debug)]
struct Aimd;

impl CongestionControl for Aimd {
    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        if ack.fills(window) {
            let left =
                if window.in_slow_start() { window.slow_start(ack.segments) } else { ack.segments };
            window.increase(window.cwnd(), 2 * left);
        }
    }

    fn reduce(&mut self, _: Loss, window: &Window) -> Reduction {
        Reduction::to((window.cwnd() / 4 * 3).max(2))
    }
}

pub(crate) fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // An error that `main` returns would be printed in its Debug form.
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    for name in ["newreno", "aimd"] {
        println!("{name}: {:.0} kbit/s", goodput(name)? / 1e3);
    }
    Ok(())
}

/// The built-in kinds of congestion controls and the custom one.
pub(crate) fn registry() -> Result<Registry, clift::config::NameTaken> {
    let mut registry = Registry::new();
    registry.add(CongestionControlKind {
        name: "aimd",
        aliases: &[],
        summary: "Two segments more a round trip, and a quarter less after a loss.",
        profiles: &[Profile::Papers, Profile::Linux],
        build: &|_config, _rng| Box::new(Aimd),
    })?;
    Ok(registry)
}

/// Goodput in bit/s of a minute over 10 Mbit/s and 100 ms, a packet in 200 being lost.
pub(crate) fn goodput(congestion: &str) -> Result<f64, Box<dyn std::error::Error>> {
    let forth = LegConfig {
        rate: BitRate::from_bits_per_second(10_000_000),
        queue: QueueLimit::Packets(100),
        loss: Losses::Random(Probability::new(0.005)?),
        ..LegConfig::of_delay(Duration::from_millis(50))
    };
    let back = LegConfig { loss: Losses::None, ..forth.clone() };
    let flow = Flow {
        start: Instant::ZERO,
        transport: Arc::new(TcpConfig::linux(registry()?.within(|| congestion.parse())?)),
        application: Arc::new(Bulk),
        source_leg: None,
    };
    let setup = Setup {
        seed: Seed(1),
        duration: Duration::from_secs(60),
        stop_when_done: false,
        forward: vec![Hop::Leg(forth)],
        backward: vec![Hop::Leg(back)],
        flows: vec![flow],
        proxies: Vec::new(),
        changes: Vec::new(),
        routing: Routing::default(),
    };
    Ok(simulation::run(&setup, &mut ())?.goodput())
}
