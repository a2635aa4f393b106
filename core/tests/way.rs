//! A host that drives a way by hand sees what the engine sees.

use clift::link::{Admission, Link, LinkEvent, Packet, PacketId, StreamRange};
use clift::scenario::{Scenario, Store};
use clift::simulation::{self, Event, Observer, Passed, Setup, Wants, Way};
use clift::trace::Folder;
use clift::units::{Bytes, Instant};

/// Links of every kind, and paths of several hops.
const LINKS: [(&str, &str); 17] = [
    ("none", "scheme = \"none\"\nlink.rtt = \"60 ms\""),
    ("fec", "scheme = \"FEC(10/12)\"\nlink.rtt = \"60 ms\""),
    ("arq", "scheme = \"ARQ\"\nlink.rtt = \"60 ms\"\nlink.queue = \"20 packets\""),
    ("harq", "scheme = \"HARQ(10/12)\"\nlink.rtt = \"500 ms\""),
    ("overlap", "scheme = \"ARQ\"\nlink = { rtt = \"60 ms\", overlap = \"papers\" }"),
    ("bytes", "scheme = \"ARQ\"\nlink = { rtt = \"60 ms\", packing = \"bytes\" }"),
    (
        "live",
        "scheme = \"ARQ(max 3)\"\nlink = { rtt = \"60 ms\", live = true, feedback_loss = \"5 %\" }",
    ),
    ("buffer", "scheme = \"ARQ\"\nlink = { rtt = \"60 ms\", reorder = { packets = 20 } }"),
    (
        "streams",
        "scheme = \"ARQ\"\nlink = { rtt = \"60 ms\", reorder = { packets = 20, key = \"tcp\" } }",
    ),
    (
        "hybrid",
        "[hybrid]\nk = 10\nn = 11\nframes = 60\nrate = \"2 Mbit/s\"\ndelay = \"40 ms\"\nloss = \"2 %\"",
    ),
    ("ntn", "[ntn]\nslot = \"1 ms\"\ntb = \"180 B\"\ndelay = \"20 ms\""),
    (
        "adaptive",
        "[adaptive_harq]\npreset = \"its\"\nsnr = \"10 dB\"\nrate = \"5 Mbit/s\"\ndelay = \"20 ms\"",
    ),
    (
        "legs",
        "[[path]]\nleg = { rate = \"2 Mbit/s\", delay = \"5 ms\", queue = \"10 packets\", loss = \"1 %\" }\n[[path]]\nleg = { rate = \"1 Mbit/s\", delay = \"9 ms\", queue = \"5 packets\" }",
    ),
    (
        "path",
        "[[path]]\nleg = { rate = \"3 Mbit/s\", delay = \"5 ms\", loss = \"1 %\" }\n[[path]]\nscheme = \"ARQ\"\nlink = { rtt = \"60 ms\", queue = \"6 packets\" }\nchannel = { model = \"bernoulli\", erasures = \"5 %\", rate = \"1 Mbit/s\", lldu = \"250 B\" }\n[[path]]\nleg = { delay = \"3 ms\", lost_data = [7, 90] }",
    ),
    (
        "managed legs",
        "[[path]]\nleg = { rate = \"980 kbit/s\", delay = \"5 ms\", loss = \"1 %\", queue = \"9 packets\", aqm = \"codel(target 2 ms, interval 20 ms)\" }\n[[path]]\nleg = { rate = \"970 kbit/s\", delay = \"30 ms\", aqm = \"pie(target 2 ms)\" }",
    ),
    (
        "coded",
        "scheme = \"ARQ(max 1)\"\nlink = { rtt = \"60 ms\", live = true, aqm = \"codel\" }\ncoding = { rate = 0.8, window = 30, on_demand = true }",
    ),
    (
        "coded path",
        "[[path]]\nleg = { rate = \"1 Mbit/s\", delay = \"5 ms\", loss = \"3 %\", queue = \"9 packets\" }\ncoding = { hops = 2, code = \"block\", window = 8, adapt = 2 }\n[[path]]\nlink = { rtt = \"60 ms\" }\nchannel = { model = \"bernoulli\", erasures = \"1 %\", rate = \"1.5 Mbit/s\", lldu = \"250 B\" }\n[[path]]\nleg = { rate = \"2 Mbit/s\", delay = \"1 ms\" }",
    ),
];

/// Datagrams of 1000 bytes at about 1 Mbit/s over a link.
fn setup(link: &str) -> Setup {
    let channel = "\n[channel]\nmodel = \"bernoulli\"\nerasures = \"5 %\"\nrate = \"1 Mbit/s\"\nlldu = \"250 B\"\n";
    let own = ["[hybrid]", "[ntn]", "[adaptive_harq]", "[[path]]"];
    let channel = if own.iter().any(|section| link.starts_with(section)) { "" } else { channel };
    let text = format!(
        "seed = 5\nduration = \"30 s\"\ntransport = {{ protocol = \"udp\", packet = \"1000 B\" }}\n\
         application = {{ type = \"constant rate\", message = \"972 B\", rate = \"970 kbit/s\" }}\n{link}{channel}"
    );
    let scenario = Scenario::parse("way", &text, &[], &clift::Registry::new()).unwrap();
    scenario.cells()[0].setup(0, &Store::new(Folder::new(""))).unwrap()
}

/// The fates of packets, by the first byte that they carry.
#[derive(Debug, Default, PartialEq)]
struct Fates {
    sent: Vec<(Instant, u64, u32)>,
    delivered: Vec<(Instant, u64)>,
    gone: Vec<u64>,
}

impl Observer for Fates {
    fn wants(&self) -> Wants {
        Wants { events: true, ..Wants::default() }
    }

    fn event(&mut self, at: Instant, event: &Event) {
        match *event {
            Event::Sent { seq, len, .. } => self.sent.push((at, seq, len)),
            Event::Received { seq, .. } => self.delivered.push((at, seq)),
            Event::Gone { seq, .. } => self.gone.push(seq),
            _ => {}
        }
    }
}

#[test]
fn packets_meet_the_fate_that_they_meet_in_the_engine() {
    for (name, link) in LINKS {
        let setup = setup(link);
        let mut engine = Fates::default();
        simulation::run(&setup, &mut engine).unwrap();
        let end = Instant::ZERO + setup.duration;

        let mut way = Way::new(&setup.forward, setup.seed, 0).unwrap();
        let mut host = Fates { sent: engine.sent.clone(), ..Fates::default() };
        let take = |way: &mut Way, now: Instant, host: &mut Fates| {
            while let Some(event) = way.poll(now) {
                assert!(event.at() <= now, "{name}");
                match event {
                    LinkEvent::Delivered(transit) => {
                        assert_eq!(transit.size, Bytes(1000), "{name}");
                        host.delivered.push((transit.at, transit.packet.0));
                    }
                    LinkEvent::Lost(transit) => host.gone.push(transit.packet.0),
                    _ => {}
                }
            }
            assert!(way.poll_timeout().is_none_or(|next| next > now), "{name}");
        };
        for &(now, seq, len) in &engine.sent {
            while let Some(due) = way.poll_timeout().filter(|&due| due <= now) {
                take(&mut way, due, &mut host);
            }
            let carries = StreamRange { flow: 0, start: seq, end: seq + u64::from(len) };
            let packet = Packet::new(PacketId(seq), Bytes(len + 28)).carrying(carries);
            if let Admission::Dropped(_) = way.enqueue(now, packet) {
                host.gone.push(seq);
            }
        }
        while let Some(due) = way.poll_timeout().filter(|&due| due <= end) {
            take(&mut way, due, &mut host);
        }
        let counters = way.counters();
        assert_eq!(counters.delivered, host.delivered.len() as u64, "{name}");
        assert_eq!(counters.dropped + counters.lost, host.gone.len() as u64, "{name}");
        assert!(host.delivered.len() > 500, "{name}: {}", host.delivered.len());
        assert_eq!(host.delivered, engine.delivered, "{name}");
        host.gone.sort_unstable();
        engine.gone.sort_unstable();
        // A leg tells a loss once the packet was sent, the engine as soon as that is known.
        let late: Vec<_> = engine.gone.iter().filter(|seq| !host.gone.contains(seq)).collect();
        assert!(late.len() <= 10, "{name}: {late:?}");
        assert!(host.gone.iter().all(|seq| engine.gone.contains(seq)), "{name}");
    }
}

#[test]
fn a_way_counts_the_units_of_each_packet() {
    for (name, link) in LINKS {
        let setup = setup(link);
        let mut way = Way::new(&setup.forward, setup.seed, 0).unwrap();
        way.count_units(&setup.forward);
        let mut found: Vec<Passed> = Vec::new();
        for number in 0..400 {
            let now = Instant::from_nanos(number * 9_000_000);
            while let Some(due) = way.poll_timeout().filter(|&due| due <= now) {
                found.extend(std::iter::from_fn(|| way.poll_passed(due)));
            }
            let _ = way.enqueue(now, Packet::new(PacketId(number), Bytes(1000)));
        }
        while let Some(due) = way.poll_timeout() {
            found.extend(std::iter::from_fn(|| way.poll_passed(due)));
        }
        let again: u64 = found.iter().filter_map(|passed| passed.units.again).sum();
        let has_links = !["legs", "managed legs"].contains(&name);
        // A packet that the first leg of "path" lost met no link.
        let met_a_link = |passed: &Passed| has_links && (name != "path" || passed.hop > 0);
        // A rebuilt packet may not have used the link.
        if !name.starts_with("coded") {
            assert!(found.iter().all(|p| (p.units.data > 0) == met_a_link(p)), "{name}");
        }
        let lost = |passed: &&Passed| matches!(passed.event, LinkEvent::Lost(_));
        let mut lost_at: Vec<_> = found.iter().filter(lost).map(|passed| passed.hop).collect();
        lost_at.sort_unstable();
        lost_at.dedup();
        match name {
            "live" => {
                let details = way.hops().next().unwrap().details();
                let sent_again = details.iter().find(|one| one.0 == "units_sent_again").unwrap();
                assert_eq!((again, again > 50), (sent_again.1, true));
            }
            "arq" | "path" => assert!(again > 50, "{name}: {again}"),
            "none" | "fec" | "legs" => assert_eq!(again, 0, "{name}"),
            _ => {}
        }
        match name {
            "path" | "legs" => assert_eq!(lost_at.first(), Some(&0), "{name}"),
            "arq" => assert!(lost_at.is_empty(), "{lost_at:?}"),
            _ => {}
        }
    }
}

#[test]
fn a_way_says_which_links_must_know_the_stream() {
    for (name, link) in LINKS {
        let setup = setup(link);
        let way = Way::new(&setup.forward, setup.seed, 0).unwrap();
        assert_eq!(way.reads_streams(), ["streams", "path"].contains(&name), "{name}");
        assert_eq!(way.hops().len(), setup.forward.len());
    }
}
