//! Web pages over HTTP/3: a stream for each object.

use std::sync::Arc;

use clift::application::{Http, Page, PageContent, PageLoad, Requests};
use clift::metrics::Outcome;
use clift::seed::{Seed, Stream};
use clift::simulation::Loss;
use clift::transport::tcp::{CongestionAlgorithm, TcpConfig};
use clift::units::{Bytes, Duration, Probability, Size};
use rand::Rng;

use crate::support::{GEO, Path, quic};

fn load(http: Http, text: &str) -> Arc<PageLoad> {
    let page = Page { page: Some("x.csv".to_owned()), http: Some(http), ..Page::default() };
    Arc::new(page.loaded(|_| PageContent::parse(text).map(Arc::new)).unwrap())
}

fn three(path: &Path, text: &str, seed: u64) -> Outcome {
    path.run(Arc::new(quic("cubic")), load(Http::Three, text), seed, &mut ())
}

fn seconds(outcome: &Outcome) -> f64 {
    outcome.flows[0].page.unwrap().load.unwrap().as_secs_f64()
}

fn siblings(count: usize, bytes: u64) -> String {
    let mut text = "name,bytes,parent\nhtml,1000,\n".to_owned();
    (0..count).for_each(|n| text += &format!("o{n},{bytes},html\n"));
    text
}

/// The handshake has that of TLS in it: a round trip less than TCP.
#[test]
fn a_page_of_one_object_takes_two_round_trips() {
    let text = "name,bytes\nhtml,5000\n";
    let outcome = three(&GEO, text, 1);
    assert!((1.0..1.02).contains(&seconds(&outcome)), "{}", seconds(&outcome));
    let page = outcome.flows[0].page.unwrap();
    assert_eq!((page.connections, page.objects, page.arrived), (1, 1, 1));
    let tcp = Arc::new(TcpConfig::linux(CongestionAlgorithm::CUBIC));
    let two = GEO.run(tcp, load(Http::Two, text), 1, &mut ());
    assert!((1.5..1.52).contains(&seconds(&two)), "{}", seconds(&two));
}

/// More objects than a client may ask for at once.
#[test]
fn two_hundred_objects_arrive() {
    let outcome = three(&GEO, &siblings(200, 500), 1);
    assert_eq!(outcome.flows[0].page.unwrap().arrived, 201);
    // A header of nine bytes for each.
    assert_eq!(outcome.flows[0].bytes_in_order, 1000 + 200 * 500 + 201 * 9);
}

/// A packet of answers is lost: over TCP all that was sent later waits for it, over QUIC not
/// the objects that are whole.
#[test]
fn a_loss_delays_only_its_own_stream() {
    let text = siblings(8, 1100);
    let delays = |http, transport: Arc<dyn clift::transport::Protocol>, lost: u64| {
        let loss = Loss::Data { lost: [lost].into(), held: [].into() };
        let path = Path { loss, ..GEO };
        let outcome = path.run(transport, load(http, &text), 1, &mut ());
        let page = outcome.flows[0].page.unwrap();
        assert_eq!(page.arrived, 9);
        page.object_delay.unwrap().mean_ns / 1e6
    };
    let tcp = || Arc::new(TcpConfig::linux(CongestionAlgorithm::CUBIC));
    // The first packet of the eight; before it TLS and the parent, over QUIC the parent alone.
    let two = delays(Http::Two, tcp(), 2) - delays(Http::Two, tcp(), 99);
    let three = delays(Http::Three, Arc::new(quic("cubic")), 1)
        - delays(Http::Three, Arc::new(quic("cubic")), 99);
    assert!(two > 300.0, "all eight of nine wait for a round trip: {two}");
    assert!(three > 0.0 && three < 0.6 * two, "some of them do: {three} of {two}");
}

#[test]
fn requests_run_over_quic() {
    let own = Requests {
        request: Bytes(200),
        response: Size(1000),
        think: Some(Duration::from_millis(30)),
        pause: None,
        count: Some(150),
        tls: None,
        deadline: None,
    };
    let outcome = GEO.run(Arc::new(quic("cubic")), Arc::new(own), 1, &mut ());
    let found = outcome.flows[0].requests.unwrap();
    assert_eq!((found.sent, found.answered), (150, 150));
    let median = found.response_time.unwrap().p50.as_secs_f64();
    assert!((0.53..0.535).contains(&median), "{median}");
}

/// Pages, losses and seeds as they are drawn.
#[test]
fn all_objects_arrive_despite_losses() {
    let mut rng = Seed(7).rng(Stream::Flow(0));
    let mut draw = |most: u64| rng.next_u64() % most;
    for _ in 0..12 {
        let (count, bytes, seed) = (1 + draw(30), 1 + draw(20_000), draw(1 << 60));
        let loss = Loss::Random(Probability::new(draw(100) as f64 / 1000.0).unwrap());
        let path = Path { loss, ..GEO };
        let text = siblings(count as usize, bytes);
        let outcome = three(&path, &text, seed);
        let page = outcome.flows[0].page.unwrap();
        assert_eq!(page.arrived, count + 1, "{text} {seed}");
        assert_eq!(outcome.flows[0].bytes_in_order, 1000 + count * bytes + 9 * (count + 1));
        assert!(page.load.unwrap() >= Duration::from_millis(1500));
        assert_eq!(outcome, three(&path, &text, seed));
    }
}
