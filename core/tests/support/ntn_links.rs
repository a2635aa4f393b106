//! Links that are easy to compute by hand, and what comes of them.

use std::num::NonZeroU32;
use std::sync::Arc;

use clift::link::Instrument;
use clift::link::{TraceLinkConfig, deliver};
use clift::scheme::ntn::{
    AmConfig, ControlErrors, HarqConfig, HarqMode, NtnConfig, NtnHeaders, NtnLink, NtnPhy,
    PdcpConfig, RlcConfig, UmConfig,
};
use clift::seed::Seed;
use clift::trace::PhyTrace;
use clift::units::{Bytes, Duration, Limit, Probability, Timer};

pub const NS: fn(u64) -> Duration = Duration::from_nanos;

/// Slots of 100 bytes every 10 ns, decoded in 5; those of `erased` are erased. 50 ns each way.
/// RLC UM, no HARQ feedback, no order, no headers.
pub fn plain(erased: &[usize]) -> NtnConfig {
    let d: Vec<i64> = (0..100).map(|slot| if erased.contains(&slot) { 0 } else { 5 }).collect();
    let t: Vec<i64> = (0..100).map(|slot| slot * 10).collect();
    NtnConfig {
        phy: NtnPhy::Trace(Arc::new(PhyTrace::new(t.into(), d.into(), Bytes(100)).unwrap())),
        combining: None,
        propagation: NS(50).into(),
        way_back: NS(50).into(),
        k_offset: None,
        harq: HarqConfig { mode: HarqMode::NoFeedback, repetitions: n(1) },
        uplink: None,
        handovers: None,
        control: ControlErrors::default(),
        rlc: RlcConfig::Um(UmConfig { window: n(32), t_reassembly: Some(NS(30)) }),
        pdcp: PdcpConfig {
            in_order: false,
            t_reordering: Some(Timer::Infinite),
            discard: Timer::Infinite,
        },
        headers: NtnHeaders { sdu: Bytes(0), pdu: Bytes(0) },
    }
}

/// `t-Reassembly`, `t-StatusProhibit`, `t-PollRetransmit`; polls at the end only.
pub fn am(t_reassembly: u64, t_status_prohibit: u64, t_poll_retransmit: u64) -> AmConfig {
    AmConfig {
        window: n(512),
        t_reassembly: Some(NS(t_reassembly)),
        t_status_prohibit: Some(NS(t_status_prohibit)),
        t_poll_retransmit: Some(NS(t_poll_retransmit)),
        poll_pdu: Limit::Unlimited,
        poll_bytes: Limit::Unlimited,
        max_retx: Limit::Unlimited,
        status_delay: Some(NS(0)),
        status_loss: Probability::ZERO,
    }
}

pub fn random(bler: &[f64], slot: u64) -> NtnPhy {
    NtnPhy::Random {
        slot: NS(slot),
        tb: Bytes(100),
        decode: NS(slot),
        bler: bler.iter().map(|&p| Probability::new(p).unwrap()).collect(),
    }
}

pub fn n(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

pub fn link(config: &NtnConfig) -> NtnLink {
    NtnLink::new(config, TraceLinkConfig::default(), Seed(5), 0).unwrap()
}

/// Packets of `size` that all come at time zero: when each was delivered (-1: not), and the counts.
pub fn send(config: &NtnConfig, packets: usize, size: u32) -> (Vec<i64>, NtnLink) {
    let mut link = link(config);
    let deliveries = deliver(&mut link, &vec![0; packets], Bytes(size)).unwrap();
    (deliveries.delivered, link)
}

pub fn count(link: &NtnLink, name: &str) -> u64 {
    link.details().iter().find(|(known, _)| *known == name).unwrap().1
}

/// Stop and wait in 16 processes, feedback at once.
pub fn feedback(max_transmissions: u32) -> HarqConfig {
    let mode = HarqMode::Feedback {
        processes: n(16),
        silent: 0,
        max_transmissions: n(max_transmissions),
        processing: NS(0),
    };
    HarqConfig { mode, repetitions: n(1) }
}
