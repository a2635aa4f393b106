//! A path with one flow.

use std::sync::Arc;

use clift::application::{Application, File};
use clift::link::QueueLimit;
use clift::metrics::Outcome;
use clift::seed::Seed;
use clift::simulation::{self, Flow, Hop, LegConfig, Loss, Observer, Routing, Setup};
use clift::transport::Protocol;
use clift::units::{BitRate, Duration, Instant, Size};
use clift_quic::QuicConfig;

/// A wired leg there, and its delay back.
#[derive(Clone)]
pub(crate) struct Path {
    /// bit/s.
    pub(crate) rate: u64,
    pub(crate) delay: Duration,
    pub(crate) loss: Loss,
    pub(crate) duration: Duration,
}

/// 10 Mbit/s over a geostationary satellite.
pub(crate) const GEO: Path = Path {
    rate: 10_000_000,
    delay: Duration::from_millis(250),
    loss: Loss::None,
    duration: Duration::from_secs(600),
};

pub(crate) fn quic(congestion: &str) -> QuicConfig {
    QuicConfig { congestion: congestion.parse().unwrap(), ..QuicConfig::default() }
}

/// A file over the path.
pub(crate) fn run(
    path: &Path,
    transport: impl Protocol + 'static,
    size: u64,
    seed: u64,
) -> Outcome {
    path.run(Arc::new(transport), Arc::new(File { size: Size(size) }), seed, &mut ())
}

impl Path {
    pub(crate) fn run<O: Observer>(
        &self,
        transport: Arc<dyn Protocol>,
        application: Arc<dyn Application>,
        seed: u64,
        observer: &mut O,
    ) -> Outcome {
        let there = LegConfig {
            rate: BitRate::from_bits_per_second(self.rate),
            queue: QueueLimit::Packets(500),
            loss: self.loss.clone(),
            ..LegConfig::of_delay(self.delay)
        };
        let flow = Flow { start: Instant::ZERO, transport, application, source_leg: None };
        let setup = Setup {
            seed: Seed(seed),
            duration: self.duration,
            stop_when_done: true,
            forward: vec![Hop::Leg(there)],
            backward: vec![Hop::Leg(LegConfig::of_delay(self.delay))],
            flows: vec![flow],
            proxies: Vec::new(),
            changes: Vec::new(),
            routing: Routing::default(),
        };
        simulation::run(&setup, observer).unwrap()
    }
}
