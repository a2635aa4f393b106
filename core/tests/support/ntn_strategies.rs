//! Random 3GPP links with everything on at once, small enough for a nanosecond at a time.

use std::num::NonZeroU32;
use std::sync::Arc;

use clift::link::{DelaySeries, Propagation, QueueLimit, TraceLinkConfig};
use clift::scheme::ntn::{
    AmConfig, Asking, ControlErrors, Handovers, HarqConfig, HarqMode, NtnConfig, NtnHeaders,
    NtnLink, NtnPhy, PdcpConfig, RlcConfig, UmConfig, UplinkConfig,
};
use clift::seed::Seed;
use clift::trace::PhyTrace;
use clift::units::{Bytes, Duration, Instant, Limit, Probability, Timer};
use proptest::prelude::*;

use super::ntn_reference::Case;

impl Case {
    /// The library's link of the case.
    pub fn link(&self) -> NtnLink {
        let usage =
            TraceLinkConfig { queue: self.queue, wrap: self.wrap, ..TraceLinkConfig::default() };
        NtnLink::new(&self.config, usage, self.seed, 0).unwrap()
    }
}

pub fn case() -> impl Strategy<Value = Case> {
    let arrivals = prop::collection::vec((gap(), 1u32..60), 1..30);
    (config(), queue(), any::<bool>(), arrivals, any::<u64>(), 200i64..2_500).prop_map(
        |(config, queue, wrap, traffic, seed, end)| {
            let mut at = 0;
            let arrivals = traffic
                .into_iter()
                .map(|(gap, size)| {
                    at += gap;
                    (at, size)
                })
                .filter(|&(at, _)| at <= end)
                .collect();
            let single = matches!(&config.phy, NtnPhy::Trace(trace) if trace.len() == 1);
            Case { config, queue, wrap: wrap && !single, arrivals, seed: Seed(seed), end }
        },
    )
}

fn config() -> impl Strategy<Value = NtnConfig> {
    let headers =
        (0u32..4, 0u32..3).prop_map(|(sdu, pdu)| NtnHeaders { sdu: Bytes(sdu), pdu: Bytes(pdu) });
    let offset = prop::option::of(0u64..30);
    let mac = (harq(), control(), offset, prop::option::of(uplink()), handovers());
    let all = (phy(), propagation(), propagation(), mac, rlc(), pdcp(), headers);
    let config = all.prop_map(
        |(
            phy,
            propagation,
            way_back,
            (harq, control, beyond, uplink, handovers),
            rlc,
            pdcp,
            headers,
        )| {
            let control = if uplink.is_some() { ControlErrors::default() } else { control };
            let longest = propagation.longest() + way_back.longest();
            let k_offset = beyond.map(|beyond| longest + Duration::from_nanos(beyond));
            NtnConfig {
                phy,
                propagation,
                way_back,
                combining: None,
                k_offset,
                harq,
                uplink,
                handovers,
                control,
                rlc,
                pdcp,
                headers,
            }
        },
    );
    config.prop_filter("a link", |config| config.check().is_ok())
}

fn phy() -> impl Strategy<Value = NtnPhy> {
    let decoding = prop_oneof![3 => 1i64..12, 1 => 12i64..60, 2 => Just(0i64)];
    let trace =
        (prop::collection::vec((1i64..12, decoding), 1..80), 4u32..50).prop_map(|(slots, lldu)| {
            let (mut t, mut d, mut now) = (vec![], vec![], -1);
            for (gap, decoding) in slots {
                now += gap;
                t.push(now);
                d.push(decoding);
            }
            NtnPhy::Trace(Arc::new(PhyTrace::new(t.into(), d.into(), Bytes(lldu)).unwrap()))
        });
    let p = (0u32..=10).prop_map(|tenths| Probability::new(f64::from(tenths) / 10.0).unwrap());
    let random = (1u64..12, 4u32..50, 1u64..20, prop::collection::vec(p, 1..4)).prop_map(
        |(slot, tb, decode, bler)| NtnPhy::Random {
            slot: Duration::from_nanos(slot),
            tb: Bytes(tb),
            decode: Duration::from_nanos(decode),
            bler: bler.into(),
        },
    );
    prop_oneof![trace, random]
}

fn propagation() -> impl Strategy<Value = Propagation> {
    let steps = prop::collection::vec((1u64..300, 0u64..80), 1..6);
    prop_oneof![
        (0u64..80).prop_map(|ns| Duration::from_nanos(ns).into()),
        (steps, any::<bool>()).prop_map(|(steps, keep_order)| {
            let mut at = 0;
            let steps = steps
                .into_iter()
                .map(|(gap, delay)| {
                    at += gap;
                    (Instant::from_nanos(at), Duration::from_nanos(delay))
                })
                .collect();
            Propagation::Varying { series: Arc::new(DelaySeries::new(steps).unwrap()), keep_order }
        }),
    ]
}

fn harq() -> impl Strategy<Value = HarqConfig> {
    let silent = prop_oneof![2 => Just(0u32), 1 => 1u32..4];
    let feedback =
        (1u32..6, silent, 1u32..4, 0u64..20).prop_map(|(hearing, silent, most, processing)| {
            HarqMode::Feedback {
                processes: nonzero(hearing + silent),
                silent,
                max_transmissions: nonzero(most),
                processing: Duration::from_nanos(processing),
            }
        });
    let mode = prop_oneof![3 => feedback, 1 => Just(HarqMode::NoFeedback)];
    (mode, prop_oneof![3 => Just(1u32), 1 => 2u32..4])
        .prop_map(|(mode, repetitions)| HarqConfig { mode, repetitions: nonzero(repetitions) })
}

/// Mostly none.
fn handovers() -> impl Strategy<Value = Option<Handovers>> {
    let some = (1u64..900).prop_flat_map(|every| {
        (0..every.min(100)).prop_map(move |interruption| Handovers {
            every: Duration::from_nanos(every),
            interruption: Duration::from_nanos(interruption),
        })
    });
    prop::option::weighted(0.3, some)
}

fn uplink() -> impl Strategy<Value = UplinkConfig> {
    let every = || (1u64..60).prop_map(Duration::from_nanos);
    let asking = prop_oneof![
        2 => (every(), 1u32..4)
            .prop_map(|(every, blocks)| Asking::Request { every, blocks: nonzero(blocks) }),
        1 => every().prop_map(|every| Asking::Configured { every }),
    ];
    let retx = (1u64..300).prop_map(|ns| Some(Duration::from_nanos(ns)));
    let buffer_status = prop_oneof![3 => Just(true), 1 => Just(false)];
    (asking, buffer_status, 0u64..20, retx).prop_map(
        |(asking, buffer_status, processing, retx_bsr)| UplinkConfig {
            asking,
            buffer_status,
            processing: Duration::from_nanos(processing),
            retx_bsr,
        },
    )
}

/// Half of the links without errors, the others with some of them, up to always.
fn control() -> impl Strategy<Value = ControlErrors> {
    let p = || {
        prop_oneof![
            2 => Just(0.0),
            2 => 0.0..1.0,
            1 => Just(1.0),
        ]
        .prop_map(|p| Probability::new(p).unwrap())
    };
    let some = (p(), p(), p(), p(), p()).prop_map(
        |(missed_grant, missed_feedback, ack_to_nack, nack_to_ack, dtx_to_ack)| ControlErrors {
            missed_grant,
            missed_feedback,
            ack_to_nack,
            nack_to_ack,
            dtx_to_ack,
        },
    );
    prop_oneof![Just(ControlErrors::default()), some]
}

fn rlc() -> impl Strategy<Value = RlcConfig> {
    let um = (1u32..8, time()).prop_map(|(window, t_reassembly)| {
        RlcConfig::Um(UmConfig { window: nonzero(window), t_reassembly: Some(t_reassembly) })
    });
    let poll = time().prop_map(|time| time.max(Duration::from_nanos(1)));
    let timers = (time(), time(), poll, 0u64..10);
    let limit = |most: u32| prop_oneof![Just(Limit::Unlimited), (0..most).prop_map(Limit::AtMost)];
    let loss = (0u32..6).prop_map(|tenths| Probability::new(f64::from(tenths) / 10.0).unwrap());
    let am = (1u32..8, timers, limit(6), limit(80), limit(4), loss).prop_map(
        |(window, (reassembly, prohibit, poll, delay), poll_pdu, poll_bytes, max_retx, loss)| {
            RlcConfig::Am(AmConfig {
                window: nonzero(window),
                t_reassembly: Some(reassembly),
                t_status_prohibit: Some(prohibit),
                t_poll_retransmit: Some(poll),
                poll_pdu,
                poll_bytes,
                max_retx,
                status_delay: Some(Duration::from_nanos(delay)),
                status_loss: loss,
            })
        },
    );
    prop_oneof![1 => um, 2 => am]
}

fn pdcp() -> impl Strategy<Value = PdcpConfig> {
    (
        any::<bool>(),
        prop::option::weighted(0.8, time()),
        prop::option::weighted(0.3, time().prop_map(|time| time.max(Duration::from_nanos(1)))),
    )
        .prop_map(|(in_order, t_reordering, discard)| PdcpConfig {
            in_order,
            t_reordering: Some(timer(t_reordering)),
            discard: timer(discard),
        })
}

fn timer(time: Option<Duration>) -> Timer {
    time.map_or(Timer::Infinite, Timer::After)
}

fn time() -> impl Strategy<Value = Duration> {
    prop_oneof![Just(0u64), 1u64..40, 40u64..300].prop_map(Duration::from_nanos)
}

fn queue() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![
        2 => Just(QueueLimit::Unlimited),
        1 => (0u32..6).prop_map(QueueLimit::Packets),
        1 => (0u64..200).prop_map(QueueLimit::Bytes),
    ]
}

/// Back to back, close, or long idle.
fn gap() -> impl Strategy<Value = i64> {
    prop_oneof![Just(0i64), 0i64..30, 0i64..600]
}

fn nonzero(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}
