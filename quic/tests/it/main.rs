//! QUIC over the engine: laws that every implementation keeps, and the same bytes every time.

mod datagrams;
mod pages;
mod resume;
mod support;
mod zero_rtt;

use std::ops::ControlFlow;
use std::sync::Arc;

use clift::application::{Bulk, File};
use clift::config::Fault;
use clift::metrics::FlowMetrics;
use clift::seed::{Seed, Stream};
use clift::simulation::{Event, Loss, Observer, SenderState, Wants};
use clift::transport::quic::QuicOptions;
use clift::transport::tcp::TcpConfig;
use clift::transport::{Choice, Options, Protocol};
use clift::units::{Bytes, Duration, Instant, Packets, Probability, Size};
use clift_quic::QuicConfig;
use rand::Rng;
use support::{GEO, Path, quic, run};

/// Every event of a run, as one number.
#[derive(Default)]
struct Fingerprint(u64);

impl Observer for Fingerprint {
    fn wants(&self) -> Wants {
        Wants { events: true, ..Wants::default() }
    }

    fn event(&mut self, at: Instant, event: &Event) {
        for byte in format!("{at:?}{event:?}").bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn checkpoint(&mut self, _: Instant, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn seconds(flow: &FlowMetrics) -> f64 {
    flow.completion().expect("a file that arrived").as_secs_f64()
}

fn lossy(p: f64) -> Loss {
    Loss::Random(Probability::new(p).unwrap())
}

#[test]
fn the_first_window_arrives_after_one_and_a_half_round_trips() {
    // Of 12,000 bytes the handshake's end, a probe of the path's MTU and connection ids take 2.7 kB
    // before the program hears that it may write; seven packets of data follow.
    let flow = &run(&GEO, quic("cubic"), 8_000, 1).flows[0];
    // 500 ms for the handshake, 250 ms, and 10 packets of 10 Mbit/s.
    assert!((0.75..0.77).contains(&seconds(flow)), "{}", seconds(flow));
    assert_eq!(
        (flow.sender.retransmissions, flow.sender.timeouts, flow.bytes_in_order),
        (0, 0, 8_000)
    );
}

/// Slow start doubles 12,000 bytes every round trip: 12 + 24 + 48 kB hold 84 kB, and 16 kB more
/// leave in the fourth round. The pace spreads each window over 4/5 of a round trip, and the burst
/// that goes before is 10 packets, so that some of a round leaves in the round after.
#[test]
fn slow_start_takes_the_expected_rounds() {
    for scheme in ["newreno", "cubic", "clift-newreno"] {
        let flow = &run(&GEO, quic(scheme), 100_000, 1).flows[0];
        let rounds = (seconds(flow) - 0.75) / 0.5;
        assert!((2.9..4.2).contains(&rounds), "{scheme}: {rounds} rounds");
        assert_eq!(flow.sender.retransmissions, 0, "{scheme}");
    }
}

#[test]
fn a_larger_first_window_saves_rounds() {
    let large = QuicConfig { initial_window: Packets::new(100), ..quic("cubic") };
    let [usual, large] =
        [quic("cubic"), large].map(|it| seconds(&run(&GEO, it, 100_000, 1).flows[0]));
    assert!(large < usual - 0.9, "{large} and {usual}");
}

#[test]
fn the_window_limit_limits_the_rate() {
    for scheme in ["newreno", "cubic", "bbr", "clift-cubic"] {
        let limited = QuicConfig { cwnd_max: Packets::new(50), ..quic(scheme) };
        let flow = &run(&GEO, limited, 2_000_000, 1).flows[0];
        // At most 50 packets of 1472 bytes every 500 ms, and no less than 8 in 10 of it.
        let most = 50.0 * 1472.0 * 8.0 / 0.5;
        assert!((0.8 * most..most).contains(&flow.goodput()), "{scheme}: {}", flow.goodput());
    }
}

#[test]
fn the_receive_window_limits_the_rate() {
    let windowed = QuicConfig { receive_window: Some(Size(100_000)), ..quic("cubic") };
    let flow = &run(&GEO, windowed, 3_000_000, 1).flows[0];
    let most = 100_000.0 * 8.0 / 0.5;
    assert!((0.6 * most..1.02 * most).contains(&flow.goodput()), "{}", flow.goodput());
}

/// A packet in the middle is lost: it is repaired once, a round trip and a bit later, without a
/// timeout.
#[test]
fn one_loss_is_repaired_once() {
    for scheme in ["newreno", "cubic", "bbr", "clift-newreno", "clift-cubic", "hybla", "westwood"] {
        let path = Path { loss: Loss::Data { lost: Arc::new([20]), held: Arc::new([]) }, ..GEO };
        let flow = &run(&path, quic(scheme), 100_000, 1).flows[0];
        assert_eq!((flow.sender.timeouts, flow.bytes_in_order), (0, 100_000), "{scheme}");
        assert_eq!(flow.sender.retransmissions, 1, "{scheme}");
        assert_eq!(flow.sender.acknowledged_by_transmissions[1], 1, "{scheme}");
        // BBR keeps its window for a single loss at start-up.
        let reductions = u64::from(scheme != "bbr");
        assert_eq!(flow.sender.cwnd_reductions, reductions, "{scheme}");
        assert_eq!(flow.sender.recovery_entries_by_dupacks, 1, "{scheme}");
    }
}

/// The falls of a sender's window.
#[derive(Default)]
struct Falls {
    window: f64,
    falls: u64,
}

impl Observer for Falls {
    fn wants(&self) -> Wants {
        Wants { senders: true, ..Wants::default() }
    }

    fn sender(&mut self, _: Instant, _: u32, _: u32, state: &SenderState) {
        self.falls += u64::from(state.window.cwnd < self.window);
        self.window = state.window.cwnd;
    }
}

/// Losses in a recovery period are detected in several steps, and reduce the window once.
#[test]
fn a_reduction_is_counted_where_the_window_falls() {
    let lost = (100..=120).step_by(2).chain((400..=420).step_by(2)).collect();
    let loss = Loss::Data { lost, held: Arc::new([]) };
    let path = Path { loss, delay: Duration::from_millis(25), ..GEO };
    for scheme in ["newreno", "cubic", "clift-newreno", "clift-cubic", "hybla"] {
        // A larger packet makes a window of fewer packets.
        let options = QuicOptions { mtu_discovery: false, ..QuicOptions::default() };
        let config = QuicConfig { options, ..quic(scheme) };
        let mut seen = Falls::default();
        let file = Arc::new(File { size: Size(1_000_000) });
        let sender = path.run(Arc::new(config), file, 1, &mut seen).flows[0].sender;
        assert!(sender.retransmissions >= 22 && seen.falls == 2, "{scheme}: {sender:?}");
        assert_eq!((sender.cwnd_reductions, sender.ecn_reductions), (2, 0), "{scheme}");
        assert_eq!(sender.recovery_entries_by_dupacks, 2, "{scheme}");
    }
}

/// The last packet is lost: nothing but a timeout tells. (Probes of the path's MTU and new
/// connection ids, which go after the first data, would tell too.)
#[test]
fn a_lost_tail_causes_a_timeout() {
    let options = QuicOptions { mtu_discovery: false, ..QuicOptions::default() };
    let config = QuicConfig { options, ..quic("newreno") };
    let whole = run(&GEO, config.clone(), 30_000, 1).flows[0].clone();
    assert_eq!(whole.sender.timeouts, 0);
    let last = Arc::new([whole.sender.segments_sent - 1]);
    let path = Path { loss: Loss::Data { lost: last, held: Arc::new([]) }, ..GEO };
    let flow = &run(&path, config, 30_000, 1).flows[0];
    assert_eq!((flow.sender.timeouts, flow.bytes_in_order), (1, 30_000));
    // After srtt + 4 rttvar + max_ack_delay (RFC 9002 section 6.2.1).
    let later = seconds(flow) - seconds(&whole);
    assert!((0.5..1.6).contains(&later), "{later}");
}

/// The client's first packet is lost: it is sent again after three assumed round trips of 333 ms.
#[test]
fn a_lost_hello_costs_three_assumed_round_trips() {
    let path = Path { loss: Loss::Packets(Arc::new([0])), ..GEO };
    let flow = &run(&path, quic("newreno"), 1_000, 1).flows[0];
    let whole = seconds(&run(&GEO, quic("newreno"), 1_000, 1).flows[0]);
    assert!((seconds(flow) - whole - 0.999).abs() < 0.02, "{} and {whole}", seconds(flow));
    assert_eq!(flow.sender.timeouts, 1);
}

/// A chain of certificates beyond three times the client's first datagram waits for the client.
#[test]
fn long_certificates_cost_a_round_trip() {
    let time = |certificate| {
        let options = QuicOptions { certificate: Bytes(certificate), ..QuicOptions::default() };
        seconds(&run(&GEO, QuicConfig { options, ..quic("cubic") }, 1_000, 1).flows[0])
    };
    let (short, fits, long) = (time(300), time(2_500), time(5_000));
    assert!((fits - short).abs() < 0.01, "{short} and {fits}");
    assert!((0.45..0.6).contains(&(long - fits)), "{fits} and {long}");
}

/// Mathis et al. 1997: the rate is 1.22 packets / (RTT sqrt(p)), without a queue, and once the first
/// slow start is paid for.
#[test]
fn newreno_follows_the_law_of_mathis() {
    let p = 0.01;
    let path = Path { delay: Duration::from_millis(25), rate: 1_000_000_000, ..GEO };
    let path = Path { loss: lossy(p), ..path };
    for scheme in ["newreno", "clift-newreno"] {
        let goodputs = (1..=6).map(|seed| run(&path, quic(scheme), 12_000_000, seed).goodput());
        let mean = goodputs.sum::<f64>() / 6.0;
        let law = 1.22 * 1435.0 * 8.0 / (0.05 * p.sqrt());
        assert!((0.6..1.3).contains(&(mean / law)), "{scheme}: {} of the law", mean / law);
    }
}

/// At .2 % loss 8 MB go faster by more than a third than the law says: it speaks of the time after the
/// first slow start, which grows until a first packet of some 500 is lost, to many times the law's
/// window of 27. Ten times as many bytes come down to it.
#[test]
fn the_first_slow_start_exceeds_the_law_of_mathis() {
    let p = 0.002;
    let path = Path { delay: Duration::from_millis(25), rate: 1_000_000_000, ..GEO };
    let path = Path { loss: lossy(p), ..path };
    let law = 1.22 * 1435.0 * 8.0 / (0.05 * p.sqrt());
    let of_law = |bytes| {
        let goodputs = (1..=3).map(|seed| run(&path, quic("newreno"), bytes, seed).goodput());
        goodputs.sum::<f64>() / 3.0 / law
    };
    let (short, long) = (of_law(8_000_000), of_law(80_000_000));
    assert!(short > 1.35, "{short} of the law");
    assert!((0.85..1.25).contains(&long), "{long} of the law");
}

/// Over a loss-free path both fill, QUIC's headers and handshake cost it a little; under loss
/// beyond congestion BBR goes before CUBIC, as it does over TCP.
#[test]
fn quic_and_tcp_share_a_link() {
    let path = Path { delay: Duration::from_millis(25), ..GEO };
    let tcp = run(&path, TcpConfig::default(), 5_000_000, 1).goodput();
    let udp = run(&path, quic("cubic"), 5_000_000, 1).goodput();
    assert!((0.85..1.02).contains(&(udp / tcp)), "{udp} and {tcp}");
    let lossy = Path { loss: lossy(0.01), ..path };
    let [bbr, cubic] = ["bbr", "cubic"].map(|it| run(&lossy, quic(it), 5_000_000, 1).goodput());
    assert!(bbr > 2.0 * cubic, "{bbr} and {cubic}");
}

#[test]
fn an_unlimited_flow_lasts_until_the_run_ends() {
    let path = Path { duration: Duration::from_secs(60), ..GEO };
    let outcome = path.run(Arc::new(quic("cubic")), Arc::new(Bulk), 1, &mut ());
    assert!(outcome.goodput() > 7e6, "{}", outcome.goodput());
}

#[test]
fn the_acknowledgement_option_reduces_acknowledgements() {
    let count = |threshold| {
        let options = QuicOptions {
            ack_eliciting_threshold: threshold,
            max_ack_delay: threshold.map(|_| Duration::from_millis(100)),
            ..QuicOptions::default()
        };
        let outcome = run(&GEO, QuicConfig { options, ..quic("cubic") }, 2_000_000, 1);
        let clift::metrics::HopMetrics::Leg(leg) = &outcome.backward[0] else { panic!("a leg") };
        (leg.counters.offered, outcome.flows[0].sender.segments_sent)
    };
    let ((usual, sent), (few, _)) = (count(None), count(Some(20)));
    assert!((sent / 3..2 * sent / 3).contains(&usual), "{usual} for {sent}");
    assert!(few < usual / 4, "{few} and {usual}");
}

#[test]
fn events_depend_on_the_setup_and_the_seed() {
    let path = Path { loss: lossy(0.01), ..GEO };
    let print = |scheme: &str, seed| {
        let mut print = Fingerprint::default();
        let file = Arc::new(File { size: Size(300_000) });
        path.run(Arc::new(quic(scheme)), file, seed, &mut print);
        print.0
    };
    for scheme in ["newreno", "cubic", "bbr", "clift-newreno", "clift-cubic", "compound"] {
        let first = print(scheme, 1);
        for _ in 0..3 {
            assert_eq!(print(scheme, 1), first, "{scheme}");
        }
        assert_ne!(print(scheme, 2), first, "{scheme}");
    }
}

/// The hash tables of other crates are seeded by process: other processes must agree too.
#[test]
fn other_processes_give_the_same_events() {
    const NAME: &str = "CLIFT_QUIC_PRINT";
    let mut print = Fingerprint::default();
    let path = Path { loss: lossy(0.01), ..GEO };
    path.run(Arc::new(quic("cubic")), Arc::new(File { size: Size(200_000) }), 7, &mut print);
    if std::env::var_os(NAME).is_some() {
        eprintln!("print {:016x}", print.0);
        return;
    }
    for _ in 0..4 {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "other_processes_give_the_same_events", "--nocapture"])
            .env(NAME, "1")
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(&format!("print {:016x}", print.0)), "{told}");
    }
}

#[test]
fn invalid_options_are_rejected_with_the_reason() {
    let fault = |config: QuicConfig| config.check().map_err(|fault: Fault| fault.to_string());
    assert_eq!(fault(quic("cubic")), Ok(()));
    assert_eq!(
        fault(QuicConfig { packet: Bytes(1000), ..quic("cubic") }).unwrap_err(),
        "packet: 1000 bytes are not a QUIC packet; give 1228 to 65535"
    );
    let options = QuicOptions { initial_mtu: Bytes(1473), ..QuicOptions::default() };
    assert_eq!(
        fault(QuicConfig { options, ..quic("cubic") }).unwrap_err(),
        "quic.initial_mtu: 1473 bytes of UDP payload do not fit into a packet of 1500; give at most 1472"
    );
    let options = QuicOptions { packet_threshold: 1, ..QuicOptions::default() };
    assert!(fault(QuicConfig { options, ..quic("cubic") }).unwrap_err().starts_with("quic.packet"));
    let window = Some(Size(100));
    assert!(fault(QuicConfig { receive_window: window, ..quic("cubic") }).is_err());
}

#[test]
fn quic_is_selected_by_name() {
    let mut registry = clift::Registry::new();
    registry.add(clift_quic::KIND).unwrap();
    let chosen = registry.within(|| "quic".parse::<Choice>()).unwrap().make(&Options::default());
    assert_eq!((chosen.name(), chosen.packet()), ("quic", Bytes(1500)));
    assert!(registry.add(clift_quic::KIND).is_err());
}

/// Over any path, every byte arrives once and the counts add up.
#[test]
fn every_byte_arrives() {
    let schemes = ["newreno", "cubic", "bbr", "clift-cubic", "westwood"];
    let mut rng = Seed(5).rng(Stream::Flow(0));
    let mut draw = |below: u64| rng.next_u64() % below;
    for case in 0..30 {
        let scheme = schemes[draw(5) as usize];
        let p = draw(9) as f64 / 100.0;
        let path = Path {
            loss: lossy(p),
            delay: Duration::from_millis(1 + draw(300)),
            duration: Duration::from_secs(3_000),
            ..GEO
        };
        let (packet, size) = (Bytes(1228 + draw(8_000) as u32), 1 + draw(300_000));
        let told = format!("case {case}: {scheme}, loss {p}, {packet:?}, {size} B");
        let flow = &run(&path, QuicConfig { packet, ..quic(scheme) }, size, draw(1_000)).flows[0];
        assert_eq!(flow.bytes_in_order, size, "{told}");
        assert!(flow.acknowledged >= flow.completed, "{told}");
        assert!(p > 0.0 || flow.sender.retransmissions == 0, "{told}");
        let pieces = flow.sender.acknowledged_by_transmissions.iter().sum::<u64>();
        assert!(pieces + flow.sender.retransmissions >= flow.sender.segments_sent, "{told}");
        assert!(pieces <= flow.sender.segments_sent, "{told}");
    }
}
