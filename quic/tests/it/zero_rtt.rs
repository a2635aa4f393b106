//! 0-RTT (RFC 9001 section 4.6): what a client says leaves with its first packets.

use std::sync::Arc;

use clift::application::{Application, ConstantRate, File, Requests};
use clift::metrics::FlowMetrics;
use clift::simulation::Loss;
use clift::transport::quic::QuicOptions;
use clift::units::{BitRate, Bytes, Duration, Instant, Probability, Size};
use clift_quic::QuicConfig;

use crate::support::{GEO, Path, quic};

/// With and without.
fn both(path: &Path, own: impl Application + Clone + 'static) -> [FlowMetrics; 2] {
    [true, false].map(|zero_rtt| {
        let options = QuicOptions { zero_rtt, ..QuicOptions::default() };
        let transport = QuicConfig { options, ..quic("cubic") };
        path.run(Arc::new(transport), Arc::new(own.clone()), 1, &mut ()).flows.remove(0)
    })
}

fn request(response: u64) -> Requests {
    Requests {
        request: Bytes(200),
        response: Size(response),
        think: None,
        pause: None,
        count: Some(1),
        tls: None,
        deadline: None,
    }
}

const ROUND_TRIP: f64 = 0.5;

/// The answer to a request is there a round trip earlier; what differs beside is how many bytes of
/// handshake stand before it. Without early data 2.7 kB do (its end, a probe of the MTU, connection
/// ids), 2.2 ms at 10 Mbit/s.
#[test]
fn a_request_is_done_a_round_trip_earlier() {
    let times = |response| {
        both(&GEO, request(response)).map(|flow| {
            assert_eq!(flow.requests.unwrap().answered, 1);
            flow.completed.unwrap().saturating_since(Instant::ZERO).as_secs_f64()
        })
    };
    for response in [1, 100, 1000, 2000] {
        let [early, usual] = times(response);
        assert!((0.5..0.51).contains(&early), "{early}");
        assert!((usual - early - ROUND_TRIP).abs() < 0.0025, "{early} and {usual}");
    }
    // The server says no more than three times the client's 1200 bytes before that has answered (RFC
    // 9000 section 8.1), handshake included: the rest of a longer answer is no earlier.
    let [early, usual] = times(5000);
    assert!((usual - early).abs() < 0.005, "{early} and {usual}");
}

/// So is a file whose first window holds it, and the first of messages.
#[test]
fn the_first_data_leave_at_once() {
    let [early, usual] = both(&GEO, File { size: Size(5000) });
    let [early, usual] = [early, usual].map(|flow| flow.completion().unwrap().as_secs_f64());
    assert!((0.25..0.26).contains(&early), "{early}");
    assert!((usual - early - ROUND_TRIP).abs() < 0.003, "{early} and {usual}");

    let rate = BitRate::from_bits_per_second(40_000).unwrap();
    let messages = ConstantRate { rate, message: Some(Bytes(100)), deadline: None };
    let path = Path { duration: Duration::from_secs(10), ..GEO };
    let [early, usual] = both(&path, messages).map(|flow| flow.messages.unwrap().delay.unwrap());
    assert!(early.max.as_secs_f64() < 0.26, "{early:?}");
    assert!(usual.max.as_secs_f64() > 0.75, "{usual:?}");
}

/// No certificates: those of 5000 bytes, beyond three times what the client said, cost nothing.
#[test]
fn certificates_do_not_matter() {
    let time = |certificate| {
        let certificate = Bytes(certificate);
        let options = QuicOptions { zero_rtt: true, certificate, ..QuicOptions::default() };
        let transport = Arc::new(QuicConfig { options, ..quic("cubic") });
        let outcome = GEO.run(transport, Arc::new(request(1000)), 1, &mut ());
        outcome.flows[0].completed
    };
    assert_eq!(time(300), time(5000));
}

/// Under any losses, of first packets or later ones, everything arrives, once; and the same seed gives
/// the same again.
#[test]
fn all_arrives_whatever_is_lost() {
    for seed in 0..12 {
        let loss = Loss::Random(Probability::new(0.1).unwrap());
        let path = Path { loss, ..GEO };
        let options = QuicOptions { zero_rtt: true, ..QuicOptions::default() };
        let transport = Arc::new(QuicConfig { options, ..quic("cubic") });
        let run = |own: Arc<dyn Application>| path.run(transport.clone(), own, seed, &mut ());
        let file = run(Arc::new(File { size: Size(60_000) }));
        assert_eq!(file.flows[0].bytes_in_order, 60_000, "{seed}");
        assert_eq!(run(Arc::new(File { size: Size(60_000) })), file);
        let asked = run(Arc::new(Requests { count: Some(5), ..request(9000) }));
        assert_eq!(asked.flows[0].requests.unwrap().answered, 5, "{seed}");
    }
    // The very first packet of the client.
    for lost in 0..3 {
        let path = Path { loss: Loss::Packets([lost].into()), ..GEO };
        let [flow, _] = both(&path, File { size: Size(5000) });
        assert_eq!(flow.bytes_in_order, 5000, "{lost}");
    }
}
