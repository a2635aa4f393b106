//! Runs over legs, with proxies on the way.

use std::sync::Arc;

use clift::application::Application;
use clift::link::QueueLimit;
use clift::queue::Aqm;
use clift::seed::Seed;
use clift::simulation::{
    self, Event, Flow, Hop, LegConfig, Loss, Observer, Outcome, Proxy, Routing, Setup, Wants,
};
use clift::transport::tcp::{ProxyConfig, TcpConfig};
use clift::units::{BitRate, Duration, Instant, Probability};
use proptest::prelude::*;

pub fn leg(rate: u64, delay_ms: u64, loss: Loss) -> Hop {
    Hop::Leg(LegConfig {
        rate: BitRate::from_bits_per_second(rate),
        delay: Duration::from_millis(delay_ms).into(),
        queue: QueueLimit::Unlimited,
        aqm: Aqm::None,
        loss,
    })
}

/// A leg that only takes time.
pub fn wire(delay_ms: u64) -> Hop {
    Hop::Leg(LegConfig::of_delay(Duration::from_millis(delay_ms)))
}

pub fn any_hop() -> impl Strategy<Value = Hop> {
    (prop::option::of(200_000u64..50_000_000), 0u64..300, 0.0..0.05).prop_map(
        |(rate, delay, loss)| {
            leg(rate.unwrap_or(0), delay, Loss::Random(Probability::new(loss).unwrap()))
        },
    )
}

/// Proxies, each after a number of hops there and before a number of hops back.
pub fn in_order(
    proxies: Vec<(ProxyConfig, usize, usize)>,
    forward: &[Hop],
    backward: &[Hop],
) -> Vec<Proxy> {
    let mut there: Vec<usize> = proxies.iter().map(|(_, at, _)| (*at).min(forward.len())).collect();
    let mut ways: Vec<usize> = proxies.iter().map(|(.., at)| (*at).min(backward.len())).collect();
    there.sort_unstable();
    ways.sort_unstable_by(|a, b| b.cmp(a));
    let configs = proxies.into_iter().map(|(config, ..)| config);
    let proxies = configs.zip(there).zip(ways);
    proxies.map(|((config, forward), backward)| Proxy { config, forward, backward }).collect()
}

pub fn flow(tcp: TcpConfig, application: impl Application + 'static) -> Flow {
    Flow {
        start: Instant::ZERO,
        transport: Arc::new(tcp),
        application: Arc::new(application),
        source_leg: None,
    }
}

pub fn setup(
    forward: Vec<Hop>,
    backward: Vec<Hop>,
    flows: Vec<Flow>,
    proxies: Vec<Proxy>,
) -> Setup {
    Setup {
        seed: Seed(1),
        duration: Duration::from_secs(2000),
        stop_when_done: true,
        forward,
        backward,
        flows,
        proxies,
        changes: Vec::new(),
        routing: Routing::default(),
    }
}

pub fn run(setup: &Setup) -> Outcome {
    simulation::run(setup, &mut ()).unwrap()
}

/// Counts first sendings and new arrivals of the bytes of a flow, in every stage.
#[derive(Default)]
pub struct Seen {
    pub first: u64,
    pub new: u64,
}

impl Observer for Seen {
    fn wants(&self) -> Wants {
        Wants { events: true, ..Wants::default() }
    }

    fn event(&mut self, _: Instant, event: &Event) {
        match *event {
            Event::Sent { len, retransmission: 0, .. } => self.first += u64::from(len),
            Event::Received { len, duplicate: false, .. } => self.new += u64::from(len),
            _ => {}
        }
    }
}
