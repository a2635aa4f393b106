//! Messages and calls in datagrams (RFC 9221): neither ordered nor repaired, and under congestion
//! control.

use std::sync::Arc;

use clift::application::{Application, Codec, ConstantRate, Voice};
use clift::metrics::FlowMetrics;
use clift::simulation::Loss;
use clift::transport::Protocol;
use clift::transport::datagram::DatagramConfig;
use clift::transport::quic::QuicOptions;
use clift::units::{BitRate, Bytes, Duration, Packets, Probability};
use clift_quic::QuicConfig;

use crate::support::{GEO, Path, quic};

fn messages(rate: u64, bytes: u32) -> ConstantRate {
    let rate = BitRate::from_bits_per_second(rate).unwrap();
    ConstantRate { rate, message: Some(Bytes(bytes)), deadline: None }
}

fn of(
    path: &Path,
    transport: impl Protocol + 'static,
    own: impl Application + 'static,
) -> FlowMetrics {
    path.run(Arc::new(transport), Arc::new(own), 1, &mut ()).flows.remove(0)
}

fn for_seconds(seconds: u64) -> Path {
    Path { duration: Duration::from_secs(seconds), ..GEO }
}

/// 250 ms and the packet's own time; only what the handshake made wait came later.
#[test]
fn a_message_arrives_after_one_propagation_delay() {
    let flow = of(&for_seconds(20), quic("cubic"), messages(40_000, 100));
    let own = flow.messages.unwrap();
    assert_eq!((own.sent, flow.sender.retransmissions), (1001, 0));
    // The last 250 ms are on their way.
    assert!((987..=988).contains(&own.received), "{own:?}");
    let delay = own.delay.unwrap();
    // Short header with a number of one byte, tag, frame with its length: 29 bytes, and 28 of UDP.
    let least = Duration::from_nanos(250_000_000 + (100 + 29 + 28) * 800);
    assert_eq!(delay.min, least);
    assert!(delay.p50 < least + Duration::from_millis(1), "{delay:?}");
    // The first waits for the handshake: a round trip more.
    assert!((0.75..0.76).contains(&delay.max.as_secs_f64()), "{delay:?}");
}

/// What is lost stays lost, and holds nothing back: as over UDP, and not as over a stream.
#[test]
fn a_lost_message_is_not_retransmitted() {
    let lost: Arc<[u64]> = [50, 51, 200].into();
    let path = Path { loss: Loss::Data { lost, held: Arc::new([]) }, ..for_seconds(20) };
    for congestion in ["newreno", "cubic", "bbr", "hybla"] {
        let flow = of(&path, quic(congestion), messages(200_000, 500));
        let clean = of(&for_seconds(20), quic(congestion), messages(200_000, 500));
        let [own, clean] = [&flow, &clean].map(|flow| flow.messages.unwrap());
        assert_eq!(own.received, clean.received - 3, "{congestion}");
        assert_eq!(flow.sender.retransmissions, 0, "{congestion}");
        let [p99, usual] = [own, clean].map(|own| own.delay.unwrap().p50);
        assert!(p99 < usual + Duration::from_millis(1), "{congestion}: {p99} {usual}");
    }
}

/// More than the path bears: the window bounds what is under way, the oldest that wait are dropped, and
/// the queue of the path does not overflow for ever, as UDP has it.
#[test]
fn messages_above_the_path_rate_wait_at_the_sender() {
    let limited = QuicConfig { cwnd_max: Packets::new(50), ..quic("cubic") };
    let flow = of(&for_seconds(60), limited, messages(20_000_000, 1000));
    // At most 50 packets of 1472 bytes each round trip.
    let most = 50.0 * 1472.0 * 8.0 / 0.5;
    let goodput = flow.messages.unwrap().received as f64 * 8000.0 / 60.0;
    assert!((0.7 * most..most).contains(&goodput), "{goodput} of {most}");
    let udp =
        of(&for_seconds(60), DatagramConfig { packet: Bytes(1500) }, messages(20_000_000, 1000));
    assert!(udp.sender.segments_sent > 5 * flow.sender.segments_sent);
}

/// Every message once and whole, under any losses; sizes from one byte to the largest.
#[test]
fn no_message_arrives_twice() {
    let most = quic("cubic").datagram().unwrap();
    assert_eq!(most, Bytes(1162));
    for bytes in [1, 2, 7, 8, 9, 500, most.0] {
        for loss in [0.0, 0.02, 0.1] {
            let loss = match Probability::new(loss) {
                Ok(loss) if loss != Probability::ZERO => Loss::Random(loss),
                _ => Loss::None,
            };
            let path = Path { loss: loss.clone(), ..for_seconds(30) };
            let flow = of(&path, quic("cubic"), messages(u64::from(bytes) * 8 * 40, bytes));
            let own = flow.messages.unwrap();
            assert!(own.received <= own.sent, "{bytes} {own:?}");
            let share = own.received as f64 / own.sent as f64;
            // Congestion control takes losses for congestion.
            let floor = if matches!(loss, Loss::None) { 0.98 } else { 0.2 };
            assert!(share > floor, "{bytes}, {loss:?}: {share}");
            assert_eq!(flow.bytes_in_order, own.received * u64::from(bytes));
        }
    }
}

/// A call sounds as over UDP, whose delay it has; the first packets wait for the handshake.
#[test]
fn a_call_runs_over_quic() {
    let call = |transport: Arc<dyn Protocol>| {
        let own =
            Voice { codec: Codec::G711, length: Some(Duration::from_secs(30)), ..Voice::default() };
        let path = Path { delay: Duration::from_millis(100), ..for_seconds(40) };
        let flow = path.run(transport, Arc::new(own), 1, &mut ()).flows.remove(0);
        flow.voice.unwrap()
    };
    let udp = call(Arc::new(DatagramConfig { packet: Bytes(1500) }));
    let quic = call(Arc::new(quic("cubic")));
    assert_eq!((quic.sent, quic.received), (udp.sent, udp.received));
    // The first packet waits 200 ms and for the packets that end the handshake; the playout buffer with it.
    let later = quic.mouth_to_ear.unwrap() - udp.mouth_to_ear.unwrap();
    assert!((199.0..205.0).contains(&later), "{later}");
    assert_eq!(quic.played, udp.played);
}

#[test]
fn messages_too_large_for_a_datagram_are_rejected() {
    let told = |own: &dyn Application, transport: QuicConfig| {
        own.check_over(&transport).map_err(|fault| fault.to_string())
    };
    assert_eq!(told(&messages(1000, 1162), quic("cubic")), Ok(()));
    assert_eq!(
        told(&messages(1000, 1163), quic("cubic")).unwrap_err(),
        "message: 1163 bytes do not fit into a datagram of at most 1162; give no more, a larger \
         [transport.quic] initial_mtu, or protocol = \"udp\" or \"tcp\""
    );
    let options = QuicOptions { initial_mtu: Bytes(1400), ..QuicOptions::default() };
    assert_eq!(told(&messages(1000, 1362), QuicConfig { options, ..quic("cubic") }), Ok(()));
}
