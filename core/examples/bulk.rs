//! Bulk TCP flows over one link: what `make bench` times beside ns-2 and ns-3.
//!
//! usage: bulk RATE_BPS RTT_MS SECONDS QUEUE_PACKETS WINDOW_PACKETS LOSS FLOWS cubic|newreno [LLDU]
//!        [--profile papers|linux]
//!
//! The link is a wired one, and with LLDU (bytes) a link trace of slots of that size at that rate,
//! which are lost with that probability.
#![allow(clippy::print_stdout)] // data goes to stdout

use std::sync::Arc;

use clift::application::Bulk;
use clift::channel::{Bernoulli, ErasureChannel, RegularSlots};
use clift::link::QueueLimit;
use clift::scheme::{LinkConfig, Scheme, Timing};
use clift::seed::Seed;
use clift::simulation::{self, Flow, Hop, LegConfig, Loss, Routing, Setup};
use clift::transport::tcp::TcpConfig;
use clift::units::{BitRate, Bytes, Duration, Instant, Packets, Probability};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let profile = match arguments.iter().position(|argument| argument == "--profile") {
        None => "papers".to_owned(),
        Some(at) => arguments.drain(at..).nth(1).ok_or("--profile: give papers or linux")?,
    };
    let (arguments, lldu) = arguments.split_at(arguments.len().min(8));
    let [rate, rtt, seconds, queue, window, loss, flows, congestion] = arguments else {
        return Err("usage: bulk rate rtt seconds queue window loss flows congestion [lldu] \
                    [--profile linux]"
            .into());
    };
    let seconds_long = |seconds: f64| Duration::from_nanos((seconds * 1e9).round() as u64);
    let rtt = seconds_long(rtt.parse::<f64>()? / 1e3);
    let rate = BitRate::from_bits_per_second(rate.parse()?).ok_or("a bad rate")?;
    let queue = QueueLimit::Packets(queue.parse()?);
    let duration = seconds_long(seconds.parse()?);
    let (link, back) = match lldu.first() {
        None => {
            let loss = Loss::Random(Probability::new(loss.parse()?)?);
            let link =
                LegConfig { rate: Some(rate), queue, loss, ..LegConfig::of_delay(rtt.half()) };
            let unlimited = QueueLimit::Unlimited;
            let back = LegConfig { queue: unlimited, loss: Loss::None, ..link.clone() };
            (Hop::Leg(link), Hop::Leg(back))
        }
        Some(lldu) => {
            let lldu = Bytes(lldu.parse()?);
            let every = rate.time_to_send(lldu);
            let count = (duration + rtt).as_nanos() / every.as_nanos() + 1;
            let slots = RegularSlots { count, every, decode: every, lldu };
            let phy = Bernoulli::new(loss.parse()?)?.trace(&slots, Seed(1), 0)?;
            let trace = Scheme::None.apply(&phy, Timing { rtt, feedback: None });
            let link = LinkConfig { queue, ..LinkConfig::new(Arc::new(trace)) };
            (Hop::Link(link), Hop::Leg(LegConfig::of_delay(rtt.half())))
        }
    };
    let congestion = congestion.parse()?;
    let mut tcp = match profile.as_str() {
        "papers" => TcpConfig::papers(congestion),
        "linux" => TcpConfig::linux(congestion),
        other => return Err(format!("--profile {other}: give papers or linux").into()),
    };
    tcp.cwnd_max = Packets::new(window.parse()?);
    let flow = Flow {
        start: Instant::ZERO,
        transport: Arc::new(tcp),
        application: Arc::new(Bulk),
        source_leg: None,
    };
    let outcome = simulation::run(
        &Setup {
            seed: Seed(1),
            duration,
            stop_when_done: false,
            forward: vec![link],
            backward: vec![back],
            flows: vec![flow; flows.parse()?],
            proxies: Vec::new(),
            changes: Vec::new(),
            routing: Routing::default(),
        },
        &mut (),
    )?;
    let sent: u64 = outcome.flows.iter().map(|flow| flow.sender.segments_sent).sum();
    println!("{sent} {:.3}", outcome.goodput() / 1e3);
    Ok(())
}
