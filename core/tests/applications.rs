//! Applications: web pages, requests and answers, videos, voice, conferences. Cases whose outcome is known, and laws
//! that hold for every page.

use std::sync::Arc;

use clift::application::{
    Adaptation, Application, Codec, Conference, ConstantRate, EModel, Http, Page, PageContent,
    PageLoad, Requests, Until, Video, Voice,
};
use clift::link::QueueLimit;
use clift::metrics::{FlowMetrics, PageMetrics, VideoMetrics};
use clift::queue::Aqm;
use clift::scenario::{Scenario, Store};
use clift::seed::Seed;
use clift::simulation::{self, Flow, Hop, LegConfig, Loss, Outcome, Routing, Setup, SetupError};
use clift::trace::Folder;
use clift::transport::Protocol;
use clift::transport::datagram::DatagramConfig;
use clift::transport::tcp::{CongestionAlgorithm, TcpConfig};
use clift::units::{BitRate, Bytes, Duration, Instant, Probability, Size};
use proptest::prelude::*;

const DELAY: Duration = Duration::from_millis(300);
/// Bytes of a segment that are not payload, and of a SYN.
const HEADERS: u64 = 52;
const SYN: u64 = 60;
/// What the server says in the handshake of TLS: 650 bytes with the headers.
const FLIGHT: u64 = 598 + HEADERS;

/// There 8 Mbit/s, so that a byte takes a microsecond, and 300 ms; back 300 ms.
fn path(loss: f64) -> [Vec<Hop>; 2] {
    let leg = |rate| {
        let loss = match Probability::new(loss) {
            Ok(loss) if loss != Probability::ZERO => Loss::Random(loss),
            _ => Loss::None,
        };
        let rate = BitRate::from_bits_per_second(rate);
        let queue = QueueLimit::Unlimited;
        vec![Hop::Leg(LegConfig { rate, delay: DELAY.into(), queue, aqm: Aqm::None, loss })]
    };
    [leg(8_000_000), leg(0)]
}

fn setup(
    transport: impl Protocol + 'static,
    application: impl Application + 'static,
    [forward, backward]: [Vec<Hop>; 2],
) -> Setup {
    let flow = Flow {
        start: Instant::ZERO,
        transport: Arc::new(transport),
        application: Arc::new(application),
        source_leg: None,
    };
    Setup {
        proxies: Vec::new(),
        changes: Vec::new(),
        routing: Routing::default(),
        seed: Seed(1),
        duration: Duration::from_secs(600),
        stop_when_done: true,
        forward,
        backward,
        flows: vec![flow],
    }
}

fn run(setup: &Setup) -> Outcome {
    simulation::run(setup, &mut ()).unwrap()
}

fn linux() -> TcpConfig {
    TcpConfig::linux(CongestionAlgorithm::CUBIC)
}

fn load(page: &Page, text: &str) -> PageLoad {
    page.loaded(|_| PageContent::parse(text).map(Arc::new)).unwrap()
}

fn of_file(http: Http) -> Page {
    Page { page: Some("x.csv".to_owned()), http: Some(http), ..Page::default() }
}

fn micros(bytes: u64) -> Duration {
    Duration::from_micros(bytes)
}

fn round_trips(count: u64) -> Duration {
    Duration::from_nanos(2 * count * DELAY.as_nanos())
}

fn page(outcome: &Outcome) -> PageMetrics {
    outcome.flows[0].page.unwrap()
}

/// Bytes on the wire of a message in segments.
fn wire(bytes: u64) -> u64 {
    bytes + bytes.div_ceil(1448) * HEADERS
}

/// One for the handshake of TCP, one for each of TLS, one for the object: to the nanosecond.
#[test]
fn a_page_of_one_object_takes_round_trips() {
    for tls in 0..=2 {
        for think in [Duration::ZERO, Duration::from_millis(70)] {
            let own = Page { tls: Some(tls), think: Some(think), ..of_file(Http::One) };
            let outcome = run(&setup(linux(), load(&own, "name,bytes\nhtml,12000\n"), path(0.0)));
            // The acknowledgement of what the client said first stands before the answer to it;
            // from then on the server is known to answer, and acknowledgements come behind.
            let handshake = SYN + u64::from(tls) * FLIGHT;
            let ack = if tls > 0 || think == Duration::ZERO { HEADERS } else { 0 };
            let expected =
                round_trips(2 + u64::from(tls)) + think + micros(handshake + ack + wire(12_000));
            let page = page(&outcome);
            assert_eq!(page.load, Some(expected), "TLS {tls}, think {think}");
            assert_eq!((page.connections, page.objects, page.arrived), (1, 1, 1));
            assert_eq!(outcome.flows.len(), 6);
            assert_eq!(outcome.ended, Instant::ZERO + expected);
        }
    }
}

/// One object after the other, the second after a pause in which all of the first was acknowledged:
/// HTTP/2 takes as long as HTTP/1.1 over one connection, but for its frames. So a window that is open is
/// used at once, however little of the object was handed to TCP before.
#[test]
fn frames_leave_as_fast_as_the_window_allows() {
    let text = "name,bytes,parent,parse_ms\na,200000,,\nb,200000,a,100\n";
    let load = |http| {
        let own = Page { connections: Some(1), ..of_file(http) };
        page(&run(&setup(linux(), load(&own, text), path(0.0)))).load.unwrap()
    };
    let (one, two) = (load(Http::One), load(Http::Two));
    assert!(two > one && two < one + Duration::from_millis(5), "{one:?} {two:?}");
}

/// A parent tells of 24 objects: HTTP/1.1 fetches them over six connections in four turns, HTTP/2
/// at once.
#[test]
fn six_connections_share_the_objects() {
    let mut text = "name,bytes,parent,parse_ms\nhtml,1000,,\n".to_owned();
    (0..24).for_each(|n| text += &format!("o{n},1000,html,50\n"));
    let of = |http, connections| {
        let own = Page { connections, ..of_file(http) };
        run(&setup(linux(), load(&own, &text), path(0.0)))
    };
    let six = of(Http::One, None);
    assert_eq!((page(&six).connections, page(&six).arrived), (6, 25));
    // Each of the five further connections takes a handshake of two round trips, while the first
    // fetches one object a round trip.
    let per_flow: Vec<u64> = six.flows.iter().map(|flow| flow.bytes_in_order).collect();
    let objects: Vec<u64> = per_flow.iter().map(|bytes| (bytes - 598) / 1000).collect();
    assert_eq!(objects.iter().sum::<u64>(), 25);
    assert_eq!(objects, [7, 4, 4, 4, 3, 3]);
    for flow in &six.flows[1..] {
        let told = round_trips(3) + Duration::from_millis(50);
        assert!(flow.start.saturating_since(Instant::ZERO + told) < Duration::from_millis(5));
    }
    let whole = |outcome: &Outcome| page(outcome).load.unwrap();
    // Three round trips for the parent, and one for each turn: six of the first connection.
    let ms = |count, more: u64| round_trips(count) + Duration::from_millis(50 + more);
    assert!((ms(9, 0)..ms(9, 30)).contains(&whole(&six)), "{}", whole(&six));
    let two = of(Http::Two, None);
    assert_eq!((two.flows.len(), page(&two).connections, page(&two).arrived), (1, 1, 25));
    // 24 kB are more than a first window: a round trip more.
    assert!((ms(5, 0)..ms(5, 50)).contains(&whole(&two)), "{}", whole(&two));
    let alone = of(Http::One, Some(1));
    assert!((ms(27, 0)..ms(27, 60)).contains(&whole(&alone)), "{}", whole(&alone));
}

/// A lost request costs its repair: nothing crosses the way back for free.
#[test]
fn requests_can_be_lost() {
    let own = Page { tls: Some(0), ..of_file(Http::One) };
    let [forward, mut backward] = path(0.0);
    // SYN, acknowledgement, request.
    let Hop::Leg(leg) = &mut backward[0] else { panic!("a leg") };
    leg.loss = Loss::Packets([2].into());
    let setup = setup(linux(), load(&own, "name,bytes\nhtml,1000\n"), [forward, backward]);
    let whole = page(&run(&setup)).load.unwrap();
    let clean = round_trips(2) + micros(SYN + HEADERS + wire(1000));
    // A tail loss probe: two round trips and 200 ms after a request alone (RFC 8985 section 7.2).
    let late = whole.as_secs_f64() - clean.as_secs_f64();
    assert!((1.399..1.401).contains(&late), "{late}");
}

/// RTT, think time and the answer on the wire, each time.
#[test]
fn a_response_takes_a_round_trip() {
    let think = Duration::from_millis(30);
    let own = Requests {
        request: Bytes(200),
        response: Size(5000),
        think: Some(think),
        pause: Some(Duration::from_millis(100)),
        count: Some(10),
        tls: None,
        deadline: Some(Duration::from_millis(640)),
    };
    let outcome = run(&setup(linux(), own, path(0.0)));
    let found = outcome.flows[0].requests.unwrap();
    assert_eq!((found.sent, found.answered, found.in_time), (10, 10, 10));
    let expected = round_trips(1) + think + micros(wire(5000));
    let times = found.response_time.unwrap();
    assert_eq!((times.min, times.max), (expected, expected));
    // Two of the handshakes, ten of requests, nine pauses.
    let handshake = round_trips(2) + micros(SYN + HEADERS + FLIGHT);
    let ten = Duration::from_nanos(10 * expected.as_nanos() + 900_000_000);
    assert_eq!(outcome.ended, Instant::ZERO + handshake + ten);
    let hasty = Requests { deadline: Some(Duration::from_millis(600)), ..own };
    let found = run(&setup(linux(), hasty, path(0.0))).flows[0].requests.unwrap();
    assert_eq!((found.in_time, found.share_in_time()), (0, Some(0.0)));
}

/// Over 300 ms, what was sent in the last 300 ms is under way when the run ends at 2 s. It is late only if
/// its deadline has passed by then.
#[test]
fn what_is_under_way_at_the_end_is_not_late() {
    let datagrams = || DatagramConfig { packet: Bytes(1500) };
    let ended = |mut setup: Setup| {
        setup.duration = Duration::from_secs(2);
        run(&setup).flows[0].clone()
    };
    for (ms, judged, share) in [(400, 170, 1.0), (200, 181, 0.0)] {
        let deadline = Some(Duration::from_millis(ms));
        let rate = BitRate::from_bits_per_second(80_000).unwrap();
        let own = ConstantRate { rate, message: Some(Bytes(100)), deadline };
        let found = ended(setup(datagrams(), own, path(0.0))).messages.unwrap();
        assert_eq!((found.sent, found.received, found.judged), (201, 170, judged));
        assert_eq!(found.share_in_time(), Some(share));
        let own = Voice { deadline, ..Voice::default() };
        let found = ended(setup(datagrams(), own, path(0.0))).voice.unwrap();
        assert!(found.received < found.sent && found.share_in_time == Some(share));
        let own = Conference { deadline, ..Conference::default() };
        let found = ended(setup(datagrams(), own, path(0.0))).conference.unwrap();
        assert!(found.received < found.judged.max(found.sent - 9) && found.judged < found.sent);
        assert_eq!(found.share_in_time(), Some(share));
    }
    let deadline = Some(Duration::from_secs(1));
    let (request, response) = (Bytes(200), Size(500));
    let own =
        Requests { request, response, think: None, pause: None, count: None, tls: None, deadline };
    let found = ended(setup(linux(), own, path(0.0))).requests.unwrap();
    assert_eq!((found.sent, found.answered, found.share_in_time()), (2, 1, Some(1.0)));
    // Without a deadline, what has not arrived is not in time.
    let own = Requests { deadline: None, ..own };
    let found = ended(setup(linux(), own, path(0.0))).requests.unwrap();
    assert_eq!(found.share_in_time(), Some(0.5));
}

/// A conference that ends waits for no picture while what is under way drains.
#[test]
fn a_conference_that_ends_does_not_freeze() {
    let application = Arc::new(Conference::default());
    let own = Until { application, end: Instant::from_nanos(1_000_000_000) };
    let mut setup = setup(DatagramConfig { packet: Bytes(1500) }, own, path(0.0));
    setup.duration = Duration::from_secs(2);
    let found = run(&setup).flows[0].conference.unwrap();
    assert_eq!((found.freezes, found.frozen), (0, Duration::ZERO));
}

/// A video of these rates in kbit/s: ten segments of a second.
fn video_of(rates: &[u64]) -> Video {
    let rate = |kbps: &u64| BitRate::from_bits_per_second(kbps * 1000).unwrap();
    Video {
        ladder: rates.iter().map(rate).collect(),
        segment: Some(Duration::from_secs(1)),
        length: Some(Duration::from_secs(10)),
        adaptation: Some(Adaptation::Rate),
        buffer: None,
        startup: None,
        request: Some(Bytes(200)),
        think: None,
        tls: None,
    }
}

fn video(own: Video, loss: f64) -> (Outcome, VideoMetrics) {
    let outcome = run(&setup(linux(), own, path(loss)));
    let found = outcome.flows[0].video.clone().unwrap();
    (outcome, found)
}

/// With one rate and room for all segments, a video is a row of requests.
#[test]
fn segments_arrive_as_answers_do() {
    for rate in [800, 24_000] {
        let (outcome, found) = video(video_of(&[rate]), 0.0);
        let requests = Requests {
            request: Bytes(200),
            response: Size(rate * 125),
            think: None,
            pause: None,
            count: Some(10),
            tls: None,
            deadline: None,
        };
        let rows = run(&setup(linux(), requests, path(0.0)));
        assert_eq!(outcome.flows[0].completed, rows.flows[0].completed);
        assert_eq!((found.requested, found.received, found.switches), (10, 10, 0));
        assert_eq!(found.mean_rate, Some(rate as f64 * 1e3));
        let (startup, whole) = (found.startup.unwrap(), Duration::from_secs(10));
        assert_eq!(found.played, whole);
        assert_eq!(outcome.ended, Instant::ZERO + startup + found.stalled + whole);
        if rate == 800 {
            // Each segment of a second takes a round trip and 0.1 s, at first some more.
            assert_eq!(found.stalls, 0);
        } else {
            // Each takes three seconds: a stall before each but the first, and the last second is
            // played after the last arrival.
            assert_eq!(found.stalls, 9);
            let before = found.interruptions.iter().map(|(before, _)| *before);
            assert!(before.eq((1..10).map(Duration::from_secs)));
            let sum = found.interruptions.iter().fold(Duration::ZERO, |sum, (_, own)| sum + *own);
            assert_eq!((sum, &found.rates[..]), (found.stalled, &[rate * 1000; 10][..]));
            assert_eq!(outcome.ended, outcome.flows[0].completed.unwrap() + Duration::from_secs(1));
        }
    }
}

#[test]
fn the_player_takes_the_rate_that_the_path_allows() {
    let length = Some(Duration::from_secs(400));
    for adaptation in [Adaptation::Rate, Adaptation::Buffer] {
        let own =
            Video { length, adaptation: Some(adaptation), ..video_of(&[500, 1000, 2000, 20_000]) };
        let own = Video { segment: Some(Duration::from_secs(4)), ..own };
        let (_, found) = video(own, 0.0);
        let mean = found.mean_rate.unwrap() / 1e3;
        assert_eq!((found.received, found.stalls), (100, 0), "{adaptation:?}");
        match adaptation {
            // The highest rate is 2.5 times what the path carries.
            Adaptation::Rate => assert!((1700.0..2000.0).contains(&mean), "{mean}"),
            Adaptation::Buffer => assert!((700.0..8000.0).contains(&mean), "{mean}"),
        }
    }
}

fn voice(own: Voice, loss: f64, ms: u64) -> FlowMetrics {
    let transport = DatagramConfig { packet: Bytes(1500) };
    let [mut forward, backward] = path(loss);
    let Hop::Leg(leg) = &mut forward[0] else { panic!("a leg") };
    leg.delay = Duration::from_millis(ms).into();
    let mut setup = setup(transport, own, [forward, backward]);
    setup.duration = Duration::from_secs(400);
    run(&setup).flows[0].clone()
}

/// Packets of 200 bytes each 20 ms: 80 kbit/s of IP for 64 kbit/s of speech.
#[test]
fn a_call_over_a_clean_path_is_the_e_model_of_its_delay() {
    let length = Some(Duration::from_secs(100));
    let found = voice(Voice { length, ..Voice::default() }, 0.0, 250);
    let own = found.voice.unwrap();
    assert_eq!((own.sent, own.received, own.judged, own.played), (5000, 5000, 5000, 5000));
    assert_eq!(found.sender.bytes_sent, 5000 * 200);
    let delay = own.delay.unwrap();
    assert_eq!((delay.min, delay.max), (Duration::from_micros(250_200), delay.min));
    // Coder, network, buffer.
    let ear = 20.125 + 250.2 + 60.0;
    assert!((own.mouth_to_ear.unwrap() - ear).abs() < 1e-9);
    let model =
        EModel { delay_ms: ear, impairment: 0.0, robustness: 25.1, loss: 0.0, burst_ratio: 1.0 };
    assert!((own.rating.unwrap() - model.rating()).abs() < 1e-9);
    assert_eq!(own.opinion, Some(model.opinion()));
    assert_eq!(own.share_in_time, Some(1.0));
    let strict = Voice { deadline: Some(Duration::from_millis(250)), length, ..Voice::default() };
    assert_eq!(voice(strict, 0.0, 250).voice.unwrap().share_in_time, Some(0.0));
}

#[test]
fn losses_cost_what_the_codec_says() {
    let rating = |codec, loss| {
        let own = Voice { codec, ..Voice::default() };
        voice(own, loss, 20).voice.unwrap()
    };
    for (codec, robustness, impairment) in
        [(Codec::G711Bare, 4.3, 0.0), (Codec::G729, 19.0, 11.0), (Codec::GsmEfr, 10.0, 5.0)]
    {
        let own = rating(codec, 0.02);
        let lost = own.share_lost().unwrap();
        assert!((lost - 0.02).abs() < 0.004, "{lost}");
        let ratio = own.burst_ratio.unwrap();
        assert!((ratio - 1.0).abs() < 0.05, "by chance: {ratio}");
        let percent = 100.0 * lost;
        let expected =
            impairment + (95.0 - impairment) * percent / (percent / ratio.max(1.0) + robustness);
        let found = own.loss_impairment.unwrap();
        assert!((found - expected).abs() < 1e-9, "{codec:?}: {found} {expected}");
        assert!(
            (93.2 - own.rating.unwrap() - expected - own.delay_impairment.unwrap()).abs() < 1e-9
        );
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let error = |transport: &dyn Protocol, own: &dyn Application| {
        own.check().and_then(|()| own.check_over(transport)).unwrap_err().to_string()
    };
    let udp = DatagramConfig { packet: Bytes(1500) };
    let papers = TcpConfig::papers(CongestionAlgorithm::CUBIC);
    let one = |own: Page| load(&own, "name,bytes\na,1\n");
    let asks = "give TCP of profile \"linux\", or QUIC";
    assert!(error(&udp, &one(of_file(Http::One))).ends_with(asks));
    assert!(error(&papers, &one(of_file(Http::Two))).ends_with(asks));
    let three = error(&linux(), &one(of_file(Http::Three)));
    assert_eq!(three, "http: HTTP/3 needs QUIC; give [transport] protocol = \"quic\"");
    let many = Page { connections: Some(6), ..of_file(Http::Two) };
    assert!(error(&linux(), &one(many)).starts_with("connections: applies only to http = \"1.1\""));
    assert!(error(&linux(), &Voice::default()).starts_with("type: voice needs datagrams"));
    let conference = Conference::default();
    assert!(error(&linux(), &conference).starts_with("type: a conference runs over UDP only"));
    let start_rate = kbps(50);
    let slow = error(&udp, &Conference { start_rate, ..conference });
    assert!(slow.starts_with("start_rate: 50 kbit/s is not within"), "{slow}");
    let small = DatagramConfig { packet: Bytes(150) };
    assert!(error(&small, &Voice::default()).starts_with("codec: a packet of this codec has 172"));
    assert!(error(&small, &conference).starts_with("type: packets of a conference have"));
    let setup = setup(papers, one(of_file(Http::Two)), path(0.0));
    assert!(matches!(simulation::run(&setup, &mut ()), Err(simulation::RunError::Setup(
        SetupError::Part(fault))) if fault.to_string().ends_with(asks)));
}

/// A page of up to 12 objects; each may have one before it for a parent.
fn pages() -> impl Strategy<Value = String> {
    let object = (1u64..60_000, any::<prop::sample::Index>(), 0u32..80, 0u32..80);
    prop::collection::vec(object, 1..12).prop_map(|objects| {
        let mut text = "name,bytes,parent,parse_ms,think_ms\n".to_owned();
        for (place, (bytes, parent, parse, think)) in objects.iter().enumerate() {
            let parent = parent.index(place + 1);
            let parent = if parent == place { String::new() } else { format!("o{parent}") };
            text += &format!("o{place},{bytes},{parent},{parse},{think}\n");
        }
        text
    })
}

/// No object before its chain of parents: a round trip each, what the browser and the server need, and
/// the handshakes before the first.
fn least(content: &PageContent) -> Duration {
    let mut least: Vec<Duration> = Vec::new();
    for object in content.objects() {
        let before = object.parent.map_or(Duration::ZERO, |parent| least[parent]);
        least.push(before + object.parse + round_trips(1) + object.think.unwrap_or_default());
    }
    least.into_iter().max().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Under any losses, both ways, all objects arrive, each byte of them once, no earlier than its
    /// parents and the path allow; and the same again with the same seed.
    #[test]
    fn all_objects_arrive_in_time_that_it_takes(
        text in pages(),
        one in any::<bool>(),
        loss in prop_oneof![Just(0.0), 0.0..0.1],
        seed in any::<u64>(),
    ) {
        let own = of_file(if one { Http::One } else { Http::Two });
        let load = load(&own, &text);
        let content = load.content().clone();
        let mut setup = setup(linux(), load, path(loss));
        setup.seed = Seed(seed);
        let outcome = run(&setup);
        let found = page(&outcome);
        prop_assert_eq!(found.arrived, content.objects().len() as u64);
        let whole = found.load.unwrap();
        prop_assert!(whole >= least(&content) + round_trips(1));
        prop_assert!(whole >= round_trips(3) + micros(content.bytes()));
        let frames = content.objects().iter().map(|it| it.bytes.div_ceil(16_384) * 9);
        let framed = if one { 0 } else { frames.sum() };
        let bytes: u64 = outcome.flows.iter().map(|flow| flow.bytes_in_order).sum();
        // A connection may still be in its handshake when the last object arrives over another.
        let handshakes = bytes - content.bytes() - framed;
        prop_assert_eq!(handshakes % 598, 0);
        prop_assert!((1..=found.connections).contains(&(handshakes / 598)));
        let most = if one { 6 } else { 1 };
        prop_assert!(found.connections <= most);
        prop_assert_eq!(&outcome, &run(&setup));
    }
}

proptest! {
    /// Start-up, stalls and play make up the time; the rate is between the lowest and the highest.
    #[test]
    fn a_player_accounts_for_all_time(
        rates in prop::collection::btree_set(100u64..9000, 1..5),
        by_rate in any::<bool>(),
        segments in 1u64..20,
        buffer in 4u64..40,
        loss in prop_oneof![Just(0.0), 0.0..0.2],
        duration in 1u64..100,
    ) {
        let rates: Vec<u64> = rates.into_iter().collect();
        let own = Video {
            length: Some(Duration::from_secs(2 * segments)),
            segment: Some(Duration::from_secs(2)),
            adaptation: Some(if by_rate { Adaptation::Rate } else { Adaptation::Buffer }),
            buffer: Some(Duration::from_secs(buffer)),
            startup: Some(Duration::from_secs(3)),
            ..video_of(&rates)
        };
        let mut setup = setup(linux(), own, path(loss));
        setup.duration = Duration::from_secs(duration);
        let outcome = run(&setup);
        let found = outcome.flows[0].video.clone().unwrap();
        prop_assert!(found.received <= found.requested && found.requested <= segments);
        let bounds = (rates[0] as f64 * 1e3)..=(rates[rates.len() - 1] as f64 * 1e3);
        prop_assert!(found.mean_rate.is_none_or(|mean| bounds.contains(&libm::round(mean))));
        prop_assert!(found.played <= Duration::from_secs(2 * found.received));
        match found.startup {
            Some(startup) => {
                let all = startup + found.stalled + found.played;
                prop_assert_eq!(outcome.ended, Instant::ZERO + all);
            }
            None => prop_assert_eq!((found.stalls, found.played), (0, Duration::ZERO)),
        }
    }
}

/// A conference over `rate` kbit/s and 50 ms each way, with a queue of a second; for `seconds`.
fn conference(own: Conference, rate: u64, loss: f64, seconds: u64) -> FlowMetrics {
    let leg = |rate, loss| {
        let loss = match Probability::new(loss) {
            Ok(loss) if loss != Probability::ZERO => Loss::Random(loss),
            _ => Loss::None,
        };
        let delay = Duration::from_millis(50).into();
        let queue = QueueLimit::Bytes(rate * 125);
        let rate = BitRate::from_bits_per_second(1000 * rate);
        vec![Hop::Leg(LegConfig { rate, delay, queue, aqm: Aqm::None, loss })]
    };
    let transport = DatagramConfig { packet: Bytes(1500) };
    let mut setup = setup(transport, own, [leg(rate, loss), leg(10_000, 0.0)]);
    setup.duration = Duration::from_secs(seconds);
    run(&setup).flows[0].clone()
}

fn kbps(rate: u64) -> Option<BitRate> {
    BitRate::from_bits_per_second(1000 * rate)
}

/// Below the capacity the rate grows by 8 % a second up to its limit. A frame takes its interval less
/// the last packet's share, because the pacer spreads it, and the path.
#[test]
fn a_conference_below_the_capacity_sends_at_its_highest_rate() {
    let own = Conference { max_rate: kbps(1000), ..Conference::default() };
    let flow = conference(own, 100_000, 0.0, 100);
    let found = flow.conference.unwrap();
    assert_eq!(found.sent, 3001);
    assert!((2995..=2999).contains(&found.received), "{found:?}");
    // From 300 kbit/s up to 1 Mbit/s: ln(10/3) / ln 1.08 = 15.6 s, in which the mean is
    // 0.7 / ln(10/3) = 0.58 Mbit/s. The first feedback is 0.2 s late.
    let expected = (15.6 * 0.581 + 84.4) / 100.0;
    let rate = found.rate.unwrap() / 1e6;
    assert!((rate - expected).abs() < 0.005, "{rate} {expected}");
    assert_eq!((found.freezes, found.share_packets_lost()), (0, Some(0.0)));
    let delay = found.delay.unwrap();
    // Four packets of 1042 bytes in 33 ms: the last one leaves after 25 ms.
    assert!((75.0..81.0).contains(&(delay.p50.as_secs_f64() * 1e3)), "{delay:?}");
}

/// The rate goes to and fro between the capacity, less the headers, and 85 % of it.
/// The queue, which would hold a second, stays empty but for the time in which over-use is noticed.
#[test]
fn a_conference_fills_a_constant_bottleneck_and_keeps_the_queue_short() {
    for rate in [500, 1000, 2000] {
        let flow = conference(Conference::default(), rate, 0.0, 120);
        let found = flow.conference.unwrap();
        let share = flow.goodput() / (rate as f64 * 1e3);
        assert!((0.75..0.98).contains(&share), "{rate} kbit/s: {share}");
        let [p50, p95] = found.delay.map(|own| [own.p50, own.p95]).unwrap();
        // The pacer, the path, and a packet's own time.
        let clean = Duration::from_nanos(33_333_333 + 50_000_000 + 8 * 1_228_000_000 / rate);
        assert!(p50 < clean && p95 < clean + Duration::from_millis(60), "{rate} kbit/s: {found:?}");
        assert_eq!((found.freezes, found.share_packets_lost()), (0, Some(0.0)));
    }
}

/// Over 10 % the rate falls down to its limit, below 2 % it is what it is without losses.
#[test]
fn a_conference_gives_way_to_losses_over_ten_percent_only() {
    let of = |loss| conference(Conference::default(), 100_000, loss, 60).conference.unwrap();
    let [clean, few, many] = [0.0, 0.005, 0.25].map(|loss| of(loss).rate.unwrap());
    assert!((few / clean - 1.0).abs() < 0.05, "{few} {clean}");
    // From 300 kbit/s by an eighth a second: 8 s down to 100 kbit/s.
    assert!((100e3..140e3).contains(&many), "{many}");
}

proptest! {
    /// What was sent has arrived, is lost or is under way; frames have all of their packets, and a
    /// freeze lasts its time at least.
    #[test]
    fn a_conference_accounts_for_all_packets(
        rate in 200u64..5000,
        loss in prop_oneof![Just(0.0), 0.0..0.5],
        seconds in 1u64..30,
        deadline in prop_oneof![Just(None), (50u64..300).prop_map(Some)],
    ) {
        let own = Conference { deadline: deadline.map(Duration::from_millis), ..Conference::default() };
        let flow = conference(own, rate, loss, seconds);
        let found = flow.conference.unwrap();
        prop_assert_eq!(found.packets_sent, flow.sender.segments_sent);
        prop_assert!(found.packets_received <= found.packets_expected);
        prop_assert!(found.packets_expected <= found.packets_sent);
        prop_assert_eq!(found.sent, 30 * seconds + 1);
        prop_assert!(found.in_time <= found.received && found.received <= found.sent);
        prop_assert!(found.received <= found.packets_received);
        prop_assert!(found.frozen >= Duration::from_millis(183 * found.freezes));
        prop_assert!(Some(found.frozen) <= found.watched.or(Some(Duration::ZERO)));
        let bounds = 100e3..=2.5e6;
        prop_assert!(found.rate.is_some_and(|rate| bounds.contains(&rate)));
        if loss == 0.0 && rate >= 3000 {
            // Nothing is lost where nothing loses.
            prop_assert_eq!(found.packets_received, found.packets_expected);
        }
    }
}

/// Flows of every kind, one from the start and one later.
fn two_flows() -> impl Strategy<Value = String> {
    let application = prop::sample::select(vec![
        "type = \"bulk\"",
        "type = \"file\"\nsize = \"60 kB\"",
        "type = \"constant rate\"\nrate = \"200 kbit/s\"",
        "type = \"request\"\nrequest = \"300 B\"\nresponse = \"20 kB\"",
        "type = \"request\"\nrequest = \"300 B\"\nresponse = \"2 kB\"\ncount = 3",
        "type = \"page\"\nshape = \"3gpp\"\nhttp = \"1.1\"",
        "type = \"page\"\nshape = \"3gpp\"\nhttp = \"2\"",
        "type = \"video\"\nladder = [\"200 kbit/s\", \"900 kbit/s\"]\nsegment = \"1 s\"\nlength = \"3 s\"",
    ]);
    let times = (1u32..9, 0u32..12, prop::option::of(1u32..9));
    let path = (prop::sample::select(vec![0.0, 0.02]), prop::sample::select(vec![6, 90]));
    (application, times, path, 0u32..1000).prop_map(
        |(application, (duration, start, end), (loss, window), seed)| {
            let ends = ["bulk", "constant rate"].iter().any(|it| application.contains(it));
            let end =
                end.filter(|_| ends).map_or(String::new(), |end| format!("end = \"{end} s\""));
            format!(
                "duration = \"{duration} s\"\nseed = {seed}\n\
                 transport.receive_window = \"{window} kB\"\n[application]\n{application}\n\
                 [[path]]\nleg = {{ rate = \"2 Mbit/s\", delay = \"60 ms\", loss = {loss} }}\n\
                 [[flow]]\n{end}\n[[flow]]\nstart = \"{} ms\"\n",
                start * 100
            )
        },
    )
}

proptest! {
    /// A sender waits for one thing at a time, from the start of its flow to the end.
    #[test]
    fn a_flow_waits_no_longer_than_it_lasts(text in two_flows()) {
        let scenario = Scenario::parse("x.toml", &text, &[], &clift::Registry::new())
            .unwrap_or_else(|it| panic!("{text}: {it}"));
        let setup = scenario.cells()[0].setup(0, &Store::new(Folder::new(""))).unwrap();
        for flow in &run(&setup).flows {
            let waited = flow.waited_for_application + flow.waited_for_receive_window;
            prop_assert!(waited <= flow.lasted(), "{}\n{:?}", text, flow);
        }
    }
}
