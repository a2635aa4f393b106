//! Careful Resume (RFC 9959) over QUIC, by what it promises.

use std::sync::Arc;

use clift::application::{Bulk, File};
use clift::metrics::FlowMetrics;
use clift::transport::quic::QuicOptions;
use clift::transport::tcp::SavedPath;
use clift::units::{Duration, Packets, Size};
use clift_quic::QuicConfig;

use clift::transport::Protocol;

use crate::support::{GEO, Path, quic, run};

fn saved(packets: u64, ms: u64) -> Option<SavedPath> {
    Some(SavedPath { cwnd: Packets::new(packets).unwrap(), rtt: Duration::from_millis(ms) })
}

/// Windows that are no limit.
fn wide(congestion: &str, careful_resume: Option<SavedPath>) -> QuicConfig {
    QuicConfig { careful_resume, receive_window: Some(Size(50_000_000)), ..quic(congestion) }
}

fn seconds(flow: &FlowMetrics) -> f64 {
    flow.completion().expect("a file that arrived").as_secs_f64()
}

/// The path bears 420 packets of 1500 bytes. Half of them at once save the rounds in which slow start
/// comes there, from 10 to 200: more than four, half a second each, less the round in which the jump
/// is paced out.
#[test]
fn a_resumed_connection_saves_the_round_trips_of_slow_start() {
    for congestion in ["newreno", "cubic", "clift-newreno", "clift-cubic", "westwood"] {
        let took = |careful| seconds(&run(&GEO, wide(congestion, careful), 700_000, 1).flows[0]);
        let (plain, resumed) = (took(None), took(saved(420, 500)));
        eprintln!("{congestion}: {plain:.2} s, resumed {resumed:.2} s");
        assert!(resumed < plain - 0.9, "{congestion}: {plain} and {resumed}");
        // Handshake and first window, then half of the product a round trip.
        assert!(resumed > 0.75 + 0.5 + 0.7, "{congestion}: {resumed}");
    }
}

/// A tenth of the round-trip time, or twice of it: the path is another one, and nothing differs.
#[test]
fn a_different_path_does_not_cause_a_jump() {
    let outcome = |careful| run(&GEO, wide("cubic", careful), 700_000, 1);
    let plain = outcome(None);
    assert_eq!(outcome(saved(420, 5_011)).flows, plain.flows);
    assert_ne!(outcome(saved(420, 500)).flows, plain.flows);
    // Nor does a window that is none.
    assert_eq!(outcome(saved(12, 500)).flows, plain.flows);
}

/// Ten times as much as the path bears and its queue holds: the retreat leaves no more than the path,
/// and the connection lives.
#[test]
fn a_jump_that_was_too_far_is_reverted() {
    let path = Path { duration: Duration::from_secs(30), ..GEO };
    for congestion in ["newreno", "cubic", "clift-cubic"] {
        let of = |careful| {
            let transport = Arc::new(wide(congestion, careful));
            path.run(transport, Arc::new(Bulk), 1, &mut ()).flows.remove(0)
        };
        let (far, plain) = (of(saved(20_000, 500)), of(None));
        let goodputs = [&far, &plain].map(|flow| flow.goodput() / 1e6);
        eprintln!(
            "{congestion}: too far {goodputs:?} Mbit/s, {} sent again",
            far.sender.retransmissions
        );
        assert!(far.sender.retransmissions > 1_000, "{congestion}: {}", far.sender.retransmissions);
        assert!((0.5..10.0).contains(&goodputs[0]), "{congestion}: {goodputs:?}");
    }
}

/// A file that a first window holds has nothing to jump for.
#[test]
fn a_short_file_is_not_affected() {
    let file = |careful| {
        let transport = Arc::new(wide("cubic", careful));
        GEO.run(transport, Arc::new(File { size: Size(8000) }), 1, &mut ())
    };
    assert_eq!(file(saved(420, 500)).flows, file(None).flows);
}

#[test]
fn a_model_based_control_is_rejected() {
    let fault = wide("bbr", saved(420, 500)).check().unwrap_err().to_string();
    assert!(fault.starts_with("careful_resume: bbr sets its window from a model"), "{fault}");
    let options = QuicOptions::default();
    assert_eq!(QuicConfig { options, ..wide("cubic", saved(420, 500)) }.check(), Ok(()));
}
