//! The 3GPP link against laws, and cases computed by hand.

use std::sync::Arc;

use clift::link::{
    Deliveries, Instrument, Link, Packet, PacketFate, PacketId, TraceLinkConfig, TransmissionKind,
    deliver,
};
use clift::scheme::ntn::{
    AmConfig, Asking, Combining, Decoder, Handovers, HarqConfig, HarqMode, NtnConfig, NtnHeaders,
    NtnLink, PRESETS, PdcpConfig, Preset, RlcConfig, SoftCombining, UmConfig, UplinkConfig,
};
use clift::seed::Seed;
use clift::trace::MiTrace;
use clift::units::{Bytes, Instant, Limit, Probability, Timer};
use support::ntn_links::{NS, am, count, feedback, link, n, plain, random, send};

/// A code over a channel whose mutual information is 1 - exp(-Es/N0).
#[derive(Debug)]
struct Curve;

impl Decoder for Curve {
    fn information(&self, esn0: f64) -> f64 {
        1.0 - (-esn0).exp()
    }

    fn esn0(&self, information: f64) -> f64 {
        -(1.0 - information).ln()
    }

    fn bler(&self, information: f64) -> f64 {
        1.0 / (1.0 + ((information - 0.4) / 0.03).exp())
    }
}

/// A block fails its n-th transmission if its draw is below the error rate of what n of them add up
/// to: of those that failed before, the ratio of both rates does.
#[test]
fn combined_transmissions_fail_as_often_as_their_sum_says() {
    let one = 0.22f64;
    for (rule, totals) in [
        (Combining::Chase, [1, 2, 3].map(|n| 1.0 - (1.0 - one).powi(n))),
        (Combining::Incremental, [1, 2, 3].map(|n| one * f64::from(n))),
    ] {
        let information = Arc::new(MiTrace::new(NS(10), vec![one as f32; 100]).unwrap());
        let combining = Some(SoftCombining { rule, information, decoder: Arc::new(Curve) });
        // The fate of the slots does not count.
        let config = NtnConfig { harq: feedback(3), combining, ..plain(&[0, 1, 2, 50]) };
        let usage = TraceLinkConfig { wrap: true, ..TraceLinkConfig::default() };
        let mut link = NtnLink::new(&config, usage, Seed(5), 0).unwrap();
        link.log_units();
        deliver(&mut link, &vec![0; 20_000], Bytes(100)).unwrap();
        let units = link.take_units();
        let mut before = 1.0;
        for (attempt, total) in totals.into_iter().enumerate() {
            let of_attempt = units.iter().filter(|unit| unit.attempt as usize == attempt);
            let sent = of_attempt.clone().count() as f64;
            let failed = of_attempt.filter(|unit| unit.arrival.is_none()).count() as f64;
            let expected = Curve.bler(total) / before;
            let error = (expected * (1.0 - expected) / sent).sqrt();
            assert!(
                (failed / sent - expected).abs() < 4.0 * error,
                "{rule:?} {attempt}: {failed} of {sent} for {expected}"
            );
            before = Curve.bler(total);
        }
        assert_eq!(units.iter().filter(|unit| unit.attempt == 0).count(), 20_000);
    }
}

// --- computed by hand ---

#[test]
fn a_block_carries_pieces_of_packets_and_a_packet_comes_with_its_last() {
    // 150 bytes: slots 0 and 10; slots 10 and 20; slots 30 and 40; ...
    let (delivered, link) = send(&plain(&[]), 4, 150);
    assert_eq!(delivered, [65, 75, 95, 105]);
    assert_eq!(count(&link, "tbs_sent"), 6);
    // Headers take their part: 150 + 10 bytes behind 4 a piece.
    let headers = NtnHeaders { sdu: Bytes(10), pdu: Bytes(4) };
    let (delivered, _) = send(&NtnConfig { headers, ..plain(&[]) }, 2, 150);
    // 96 | 64, 28 | 96 | 36
    assert_eq!(delivered, [65, 85]);
}

#[test]
fn um_gives_up_what_harq_brings_after_t_reassembly() {
    // Slot 10 holds the end of packet 0 and the start of packet 1. Its failure is known at 65, the
    // sender has it at 115, sends again in slot 120, and the block is there at 175.
    let harq = feedback(2);
    let with = |t_reassembly| {
        let rlc = RlcConfig::Um(UmConfig { window: n(32), t_reassembly: Some(NS(t_reassembly)) });
        send(&NtnConfig { harq, rlc, ..plain(&[1]) }, 2, 150)
    };
    // The timer starts at 75, when slot 20 with the end of packet 1 arrives.
    let (delivered, link) = with(101);
    assert_eq!((delivered, count(&link, "reassembly_timeouts")), (vec![175, 175], 0));
    let (delivered, link) = with(99);
    assert_eq!((delivered, count(&link, "reassembly_timeouts")), (vec![-1, -1], 1));
    assert_eq!(count(&link, "sdus_incomplete"), 2);
    // What arrives at the instant of the timer still counts.
    assert_eq!(with(100).0, [175, 175]);
}

#[test]
fn am_reports_after_t_reassembly_and_repeats_what_is_missing() {
    let rlc = RlcConfig::Am(am(40, 0, 1_000));
    let (delivered, link) = send(&NtnConfig { rlc, ..plain(&[1]) }, 4, 100);
    // Packet 2 is there at 75 and starts t-Reassembly; at 115 a report leaves, at 165 it is there,
    // slot 170 repeats packet 1.
    assert_eq!(delivered, [55, 225, 75, 85]);
    assert_eq!(count(&link, "rlc_pdus_sent_again"), 1);
    // A poll with the last packet, and one with the repeated one.
    assert_eq!((count(&link, "polls"), count(&link, "status_reports")), (2, 2));
    let pdcp = PdcpConfig {
        in_order: true,
        t_reordering: Some(Timer::Infinite),
        discard: Timer::Infinite,
    };
    let (delivered, _) = send(&NtnConfig { rlc, pdcp, ..plain(&[1]) }, 4, 100);
    assert_eq!(delivered, [55, 225, 225, 225]);
}

#[test]
fn a_poll_without_answer_is_repeated_after_t_poll_retransmit() {
    // As before, but slot 170 is erased, too: 200 ns after it packet 1 is sent with a poll again.
    let rlc = RlcConfig::Am(am(40, 0, 200));
    let (delivered, link) = send(&NtnConfig { rlc, ..plain(&[1, 17]) }, 4, 100);
    assert_eq!(delivered, [55, 425, 75, 85]);
    assert_eq!(count(&link, "polls"), 3);
}

#[test]
fn a_report_waits_for_t_status_prohibit() {
    let with = |prohibit| {
        let rlc = RlcConfig::Am(am(20, prohibit, 10_000));
        send(&NtnConfig { rlc, ..plain(&[1, 4]) }, 6, 100)
    };
    // Reports on packet 1 at 95, on packets 1 and 4 at 125: they reach the sender at 145 and 175,
    // which sends packet 1 in slots 150 and 180, and packet 4 in slot 190.
    assert_eq!(with(0).0, [55, 205, 75, 85, 245, 105]);
    // The second waits until 195, reaches the sender at 245, which sends packets 1 and 4 in slots
    // 250 and 260.
    assert_eq!(with(100).0, [55, 205, 75, 85, 315, 105]);
}

#[test]
fn pdcp_waits_for_t_reordering_and_discards_what_comes_later() {
    let with = |t_reordering, rlc| {
        let pdcp = PdcpConfig {
            in_order: true,
            t_reordering: Some(Timer::After(NS(t_reordering))),
            discard: Timer::Infinite,
        };
        send(&NtnConfig { rlc, pdcp, ..plain(&[1]) }, 4, 100)
    };
    // Packet 2 comes at 75.
    let (delivered, link) = with(60, plain(&[]).rlc);
    assert_eq!(delivered, [55, -1, 135, 135]);
    assert_eq!(count(&link, "reordering_timeouts"), 1);
    // AM brings packet 1 at 225: in time or not.
    let am = RlcConfig::Am(am(40, 0, 1_000));
    assert_eq!(with(150, am).0, [55, 225, 225, 225]);
    let (delivered, link) = with(149, am);
    assert_eq!((delivered, count(&link, "sdus_late")), (vec![55, -1, 224, 224], 1));
}

#[test]
fn a_packet_sent_again_too_often_is_given_up_and_the_link_goes_on() {
    let rlc = RlcConfig::Am(AmConfig { max_retx: Limit::AtMost(1), ..am(40, 0, 200) });
    // Slot 170, the only retransmission, is erased; the poll with it is repeated at 370, which
    // would be the second. The receiver knows at 420.
    let mut link = link(&NtnConfig { rlc, ..plain(&[1, 17]) });
    let Deliveries { delivered, fate } = deliver(&mut link, &[0; 4], Bytes(100)).unwrap();
    assert_eq!(delivered, [55, -1, 75, 85]);
    assert_eq!(fate[1], PacketFate::Lost);
    assert_eq!(count(&link, "sdus_given_up"), 1);
    assert_eq!(
        link.enqueue(Instant::from_nanos(600), Packet::new(PacketId(9), Bytes(9))),
        clift::link::Admission::Queued
    );
    while link.poll(Instant::MAX).is_some() {}
    assert_eq!(link.counters().delivered, 4);
}

#[test]
fn a_poll_finds_the_next_packet_when_the_one_that_was_to_carry_it_is_given_up() {
    // All three are lost; the poll with packet 2 is repeated at 220, again in vain, and at 420
    // packet 2 is given up: packet 1 takes the poll. At 470 the receiver knows that packet 2 does
    // not come, at 510 it reports packet 0, which goes at 560.
    let rlc = RlcConfig::Am(AmConfig { max_retx: Limit::AtMost(1), ..am(40, 0, 200) });
    let (delivered, link) = send(&NtnConfig { rlc, ..plain(&[0, 1, 2, 22]) }, 3, 100);
    assert_eq!(delivered, [615, 475, -1]);
    assert_eq!(count(&link, "sdus_given_up"), 1);
}

#[test]
fn a_poll_timer_shorter_than_a_slot_starves_nothing() {
    // The rest of the packet is lost in slot 10. Each expiry asks for all of the packet; slot 20
    // repeats its start, slot 30 must go on with the rest although the timer expired again.
    let rlc = RlcConfig::Am(AmConfig { window: n(1), ..am(40, 0, 1) });
    let (delivered, _) = send(&NtnConfig { rlc, ..plain(&[1]) }, 1, 150);
    assert_eq!(delivered, [85]);
}

#[test]
fn packets_that_wait_too_long_are_discarded() {
    let pdcp = PdcpConfig {
        in_order: false,
        t_reordering: Some(Timer::Infinite),
        discard: Timer::After(NS(15)),
    };
    let (delivered, link) = send(&NtnConfig { pdcp, ..plain(&[]) }, 4, 100);
    assert_eq!(delivered, [55, 65, -1, -1]);
    assert_eq!(count(&link, "sdus_discarded"), 2);
}

#[test]
fn repetitions_take_slots_and_the_first_that_gets_through_counts() {
    let harq = HarqConfig { mode: HarqMode::NoFeedback, repetitions: n(3) };
    let (delivered, link) = send(&NtnConfig { harq, ..plain(&[0, 3, 4, 5]) }, 3, 100);
    assert_eq!(delivered, [65, -1, 115]);
    let counts = ["tbs_sent", "tbs_sent_again", "tbs_failed"].map(|name| count(&link, name));
    assert_eq!(counts, [3, 6, 1]);
}

#[test]
fn the_log_says_what_every_slot_carried() {
    let harq = feedback(2);
    let mut link = link(&NtnConfig { harq, ..plain(&[1]) });
    link.log_units();
    deliver(&mut link, &[0; 2], Bytes(150)).unwrap();
    let units = link.take_units();
    let seen: Vec<_> =
        units.iter().map(|u| (u.at.as_nanos(), u.unit, u.attempt, u.packets)).collect();
    assert_eq!(
        seen,
        [(0, 0, 0, (0, 0)), (10, 1, 0, (0, 1)), (20, 2, 0, (1, 1)), (120, 1, 1, (0, 1))]
    );
    assert_eq!(units[1].arrival, None);
    assert_eq!(units[3].arrival, Some(Instant::from_nanos(175)));
    assert_eq!(units[3].kind, TransmissionKind::Again);
}

// --- laws ---

#[test]
fn stop_and_wait_carries_n_blocks_a_round_trip_exactly() {
    for (processes, slot, one_way, processing) in [
        (16, 1_000, 270_730, 4_000),
        (32, 1_000, 12_885, 4_000),
        (4, 7, 100, 3),
        (1, 10, 0, 0),
        (64, 10, 50, 0),
    ] {
        let round = slot + 2 * one_way + processing; // decoding takes a slot
        let mode = HarqMode::Feedback {
            processes: n(processes),
            silent: 0,
            max_transmissions: n(1),
            processing: NS(processing),
        };
        let config = NtnConfig {
            phy: random(&[0.0], slot),
            propagation: NS(one_way).into(),
            way_back: NS(one_way).into(),
            harq: HarqConfig { mode, repetitions: n(1) },
            ..plain(&[])
        };
        let blocks = 10 * u64::from(processes);
        let (delivered, link) = send(&config, blocks as usize, 100);
        // A process is free again at the first slot from its feedback on.
        let period = (round.div_ceil(slot) * slot).max(u64::from(processes) * slot);
        for (block, at) in (0u64..).zip(&delivered) {
            let (turn, process) = (block / u64::from(processes), block % u64::from(processes));
            let sent = turn * period + process * slot;
            assert_eq!(*at as u64, sent + slot + one_way, "{processes} processes, block {block}");
        }
        let stalled = 9 * (period / slot - u64::from(processes));
        assert_eq!(count(&link, "stalled_slots"), stalled);
    }
}

#[test]
fn what_harq_leaves_is_the_product_of_the_error_rates() {
    for (bler, attempts) in
        [(vec![0.3], 1), (vec![0.3], 3), (vec![0.4, 0.3, 0.2], 3), (vec![0.4, 0.1], 4)]
    {
        let mode = HarqMode::Feedback {
            processes: n(1_000),
            silent: 0,
            max_transmissions: n(attempts),
            processing: NS(0),
        };
        let config = NtnConfig {
            phy: random(&bler, 10),
            harq: HarqConfig { mode, repetitions: n(1) },
            ..plain(&[])
        };
        let packets = 200_000;
        let (delivered, link) = send(&config, packets, 100);
        let p = |attempt: u32| bler[(attempt as usize).min(bler.len() - 1)];
        let residual: f64 = (0..attempts).map(p).product();
        let failed = count(&link, "tbs_failed") as f64;
        let near = |found: f64, p: f64| {
            let error = (p * (1.0 - p) * packets as f64).sqrt();
            assert!(
                (found - p * packets as f64).abs() < 4.5 * error,
                "{bler:?} {attempts}: {found}"
            );
        };
        near(failed, residual);
        // RLC UM loses just those: a packet fills a block.
        assert_eq!(delivered.iter().filter(|&&at| at < 0).count() as f64, failed);
        let again: f64 = (1..attempts).map(|k| (0..k).map(p).product::<f64>()).sum();
        let found = count(&link, "tbs_sent_again") as f64;
        assert!((found / packets as f64 - again).abs() < 0.01, "{found} {again}");
        // Repetitions without feedback leave the same.
        let harq = HarqConfig { mode: HarqMode::NoFeedback, repetitions: n(attempts) };
        let (_, link) = send(&NtnConfig { harq, ..config }, packets, 100);
        near(count(&link, "tbs_failed") as f64, residual);
    }
}

#[test]
fn am_without_a_limit_delivers_everything_whatever_gets_lost() {
    for seed in 0..20 {
        let rlc = RlcConfig::Am(AmConfig {
            window: n(16),
            poll_pdu: Limit::AtMost(4),
            status_loss: Probability::new(0.5).unwrap(),
            ..am(30, 60, 150)
        });
        let pdcp = PdcpConfig {
            in_order: true,
            t_reordering: Some(Timer::Infinite),
            discard: Timer::Infinite,
        };
        let config = NtnConfig { phy: random(&[0.5], 10), rlc, pdcp, ..plain(&[]) };
        let mut link = NtnLink::new(&config, TraceLinkConfig::default(), Seed(seed), 0).unwrap();
        let arrivals: Vec<i64> = (0..500).map(|packet| packet * 13).collect();
        let delivered = deliver(&mut link, &arrivals, Bytes(130)).unwrap().delivered;
        assert!(delivered.iter().all(|&at| at >= 0) && delivered.is_sorted());
        assert_eq!(link.counters().pending(), 0);
    }
}

#[test]
fn a_seed_is_a_run_and_every_preset_works() {
    for Preset { name, rtt, .. } in PRESETS {
        for um in [false, true] {
            let mut config = NtnConfig::preset(name).unwrap();
            if um {
                config.rlc = RlcConfig::Um(UmConfig::default());
            }
            let run = |seed| {
                let mut link =
                    NtnLink::new(&config, TraceLinkConfig::default(), Seed(seed), 3).unwrap();
                let results = deliver(&mut link, &[0; 300], Bytes(1500)).unwrap();
                (results, link.details())
            };
            assert_eq!(run(1), run(1));
            assert_ne!(run(1), run(2));
            let delivered = run(1).0.delivered;
            assert!(
                delivered
                    .iter()
                    .filter(|&&at| at >= 0)
                    .all(|&at| at as u64 > rtt.half().as_nanos())
            );
            assert!(um || delivered.iter().all(|&at| at >= 0), "{name}");
        }
    }
}

// --- K_offset, and feedback in some processes ---

#[test]
fn with_k_offset_feedback_takes_as_long_as_over_the_largest_round_trip() {
    let one = |offset: Option<u64>, one_way| {
        let mode = HarqMode::Feedback {
            processes: n(1),
            silent: 0,
            max_transmissions: n(2),
            processing: NS(3),
        };
        let harq = HarqConfig { mode, repetitions: n(1) };
        let delay = NS(one_way);
        let k_offset = offset.map(NS);
        let config = NtnConfig {
            propagation: delay.into(),
            way_back: delay.into(),
            k_offset,
            harq,
            ..plain(&[0])
        };
        send(&config, 3, 100).0
    };
    // Decoded after 5, an answer after 3 more: at 108 over 50 ns each way, at 128 with an offset
    // of 120.
    assert_eq!(one(None, 50), [165, 275, 385]);
    assert_eq!(one(Some(120), 50), [185, 315, 445]);
    // A satellite overhead brings blocks sooner and no more of them.
    assert_eq!(one(None, 10), [45, 75, 105]);
    assert_eq!(one(Some(120), 10), [145, 275, 405]);
}

#[test]
fn a_process_without_feedback_is_free_at_once_and_repeats_nothing() {
    let mode = HarqMode::Feedback {
        processes: n(3),
        silent: 1,
        max_transmissions: n(2),
        processing: NS(0),
    };
    let harq = HarqConfig { mode, repetitions: n(1) };
    // Slots 0 and 1 take the processes with feedback, which is there at 105 and 115; 2 to 10 the
    // one without. Slot 11 repeats what slot 0 lost; what slot 3 lost stays lost.
    let (delivered, link) = send(&NtnConfig { harq, ..plain(&[0, 3]) }, 12, 100);
    let expected: Vec<i64> = (0..12)
        .map(|packet| match packet {
            0 => 165,
            3 => -1,
            11 => 175,
            other => 10 * other + 55,
        })
        .collect();
    assert_eq!(delivered, expected);
    let counts = ["tbs_sent_again", "tbs_failed", "stalled_slots"].map(|name| count(&link, name));
    assert_eq!(counts, [1, 1, 0]);
}

// --- handovers ---

#[test]
fn a_handover_loses_what_is_under_way_in_um_and_nothing_in_am() {
    // At 195 ns, no slots until 250: what slots 0 to 130 carried has landed, 140 to 190 are lost
    // with the cell.
    let handovers = Some(Handovers { every: NS(195), interruption: NS(55) });
    let before = (0..14).map(|packet| 10 * packet + 55);
    let (delivered, link) = send(&NtnConfig { handovers, ..plain(&[]) }, 22, 100);
    let um = before.clone().chain([-1; 6]).chain([305, 315]);
    assert_eq!(delivered, um.collect::<Vec<i64>>());
    assert_eq!(["tbs_flushed", "sdus_incomplete"].map(|name| count(&link, name)), [6, 6]);
    // AM: forwarded to the new cell, which sends them first.
    let rlc = RlcConfig::Am(am(40, 0, 1_000));
    let (delivered, link) = send(&NtnConfig { handovers, rlc, ..plain(&[]) }, 22, 100);
    let after = (0..8).map(|packet| 10 * packet + 305);
    assert_eq!(delivered, before.chain(after).collect::<Vec<i64>>());
    assert_eq!(count(&link, "tbs_flushed"), 6);
}

// --- grants of an uplink ---

/// An uplink of `plain` that asks every 40 ns.
fn uplink(asking: Asking, erased: &[usize]) -> NtnConfig {
    let uplink =
        UplinkConfig { asking, buffer_status: true, processing: NS(0), retx_bsr: Some(NS(300)) };
    NtnConfig { uplink: Some(uplink), ..plain(erased) }
}

/// Packets of 100 bytes that come at 5 ns: when each was delivered, and counts.
fn send_up(config: &NtnConfig, packets: usize) -> (Vec<i64>, [u64; 3]) {
    let mut link = link(config);
    let deliveries = deliver(&mut link, &vec![5; packets], Bytes(100)).unwrap();
    let names = ["scheduling_requests", "grants", "grants_unused"];
    (deliveries.delivered, names.map(|name| count(&link, name)))
}

#[test]
fn an_empty_buffer_costs_a_request_and_a_grant_before_data_moves() {
    let request = |blocks| Asking::Request { every: NS(40), blocks: n(blocks) };
    // A request at 40, its grant at 140. The TB says that two wait; decoded at 195, their grants
    // are there at 245.
    assert_eq!(send_up(&uplink(request(1), &[]), 1), (vec![195], [1, 1, 0]));
    assert_eq!(send_up(&uplink(request(1), &[]), 3), (vec![195, 305, 315], [1, 3, 0]));
    // An answer for three is enough, or too much.
    assert_eq!(send_up(&uplink(request(3), &[]), 3), (vec![195, 205, 215], [1, 3, 0]));
    assert_eq!(send_up(&uplink(request(3), &[]), 1), (vec![195], [1, 3, 2]));
    // With K_offset the answer is there 120 ns after the request.
    let config = NtnConfig { k_offset: Some(NS(120)), ..uplink(request(1), &[]) };
    assert_eq!(send_up(&config, 3), (vec![215, 345, 355], [1, 3, 0]));
}

#[test]
fn without_reports_each_grant_needs_a_request() {
    let asking = Asking::Request { every: NS(40), blocks: n(1) };
    let mut config = uplink(asking, &[]);
    config.uplink.as_mut().unwrap().buffer_status = false;
    // Requests at 40, 160 and 280, after the TBs in slots 140 and 260.
    assert_eq!(send_up(&config, 3), (vec![195, 315, 435], [3, 3, 0]));
}

#[test]
fn a_report_that_gets_lost_is_repeated_after_its_timer() {
    let asking = Asking::Request { every: NS(40), blocks: n(1) };
    // The TB of slot 140 is lost. The timer expires at 440, an occasion to ask.
    assert_eq!(send_up(&uplink(asking, &[14]), 3), (vec![-1, 595, 705], [2, 3, 0]));
}

#[test]
fn a_configured_grant_needs_no_request_and_its_report_brings_more() {
    let asking = Asking::Configured { every: NS(40) };
    // Slots 40 and 80; the report of the first is there at 95, when one more has been granted, and
    // asks for another, there at 145. The configured grant at 120 is sooner.
    assert_eq!(send_up(&uplink(asking, &[]), 3), (vec![95, 135, 175], [0, 4, 1]));
}
