//! Bulk TCP flows over one wired link: what `make bench` times beside ns-2 and ns-3.
//!
//! usage: bulk RATE_BPS RTT_MS SECONDS QUEUE_PACKETS WINDOW_PACKETS LOSS FLOWS cubic|newreno
#![allow(clippy::print_stdout)] // data goes to stdout

use clift::link::QueueLimit;
use clift::metrics::HopMetrics;
use clift::seed::Seed;
use clift::simulation::{self, Application, Flow, Hop, LegConfig, Loss, Setup, Transport};
use clift::transport::tcp::TcpConfig;
use clift::units::{BitRate, Duration, Instant, Packets, Probability};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rate, rtt, seconds, queue, window, loss, flows, congestion] = arguments.as_slice() else {
        return Err("usage: bulk rate rtt seconds queue window loss flows congestion".into());
    };
    let rtt = Duration::from_secs_f64(rtt.parse::<f64>()? / 1e3).ok_or("a bad RTT")?;
    let link = LegConfig {
        rate: BitRate::from_bits_per_second(rate.parse()?),
        delay: rtt.half().into(),
        queue: QueueLimit::Packets(queue.parse()?),
        loss: Loss::Random(Probability::new(loss.parse()?)?),
    };
    let back = LegConfig { queue: QueueLimit::Unlimited, loss: Loss::None, ..link.clone() };
    let mut tcp = TcpConfig::papers(congestion.parse()?);
    tcp.cwnd_max = Packets::new(window.parse()?);
    let flow = Flow {
        start: Instant::ZERO,
        transport: Transport::Tcp(tcp),
        application: Application::Bulk,
        source_leg: None,
    };
    let outcome = simulation::run(
        &Setup {
            seed: Seed(1),
            duration: Duration::from_secs_f64(seconds.parse()?).ok_or("a bad duration")?,
            stop_when_done: false,
            forward: vec![Hop::Leg(link)],
            backward: vec![Hop::Leg(back)],
            flows: vec![flow; flows.parse()?],
        },
        &mut (),
    )?;
    let sent: u64 = outcome.flows.iter().map(|flow| flow.segments_sent).sum();
    let HopMetrics::Leg(leg) = outcome.forward[0] else { return Err("not a leg".into()) };
    println!("{sent} {:.3} {}", outcome.goodput() / 1e3, leg.counters.dropped);
    Ok(())
}
