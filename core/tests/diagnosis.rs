//! Causes: the budget adds up, watching changes nothing, and each cause is found where it was put.

use clift::diagnosis::{Cause, Diagnosis, Trigger, Why, diagnose, loss_after};
use clift::metrics::HopMetrics;
use clift::scenario::{Scenario, Store};
use clift::simulation::{Outcome, Setup, run};
use clift::trace::Folder;
use clift::transport::tcp::SenderCounters;
use clift::units::{Duration, Instant};
use proptest::prelude::*;

fn setup(text: &str) -> Setup {
    let scenario = Scenario::parse("x.toml", text, &[], &clift::Registry::new())
        .unwrap_or_else(|it| panic!("{text}: {it}"));
    let store = Store::new(Folder::new(""));
    scenario.cells()[0].setup(0, &store).unwrap_or_else(|it| panic!("{text}: {it}"))
}

/// The diagnosis of a scenario whose budget adds up, and the outcome that it has without one.
fn diagnosed(text: &str) -> (Outcome, Diagnosis) {
    let setup = setup(text);
    let (outcome, found) = diagnose(&setup, &|| true).unwrap();
    let alone = run(&setup, &mut ()).unwrap();
    assert_eq!(outcome, alone, "{text}");
    let budget = &found.budget;
    let sum: u64 = budget.parts.iter().map(|part| part.bits).sum();
    assert_eq!(budget.goodput_bits + sum, budget.capacity_bits, "{text}");
    let goodput: u64 = outcome.flows.iter().map(|flow| flow.bytes_in_order * 8).sum();
    assert_eq!(budget.goodput_bits, goodput.min(budget.capacity_bits), "{text}");
    every_reduction_is_found(&outcome, &found, text);
    (outcome, found)
}

/// The cuts are the reductions that the flows count. A timeout in a row reduces nothing more.
fn every_reduction_is_found(outcome: &Outcome, found: &Diagnosis, text: &str) {
    let counted = |of: fn(&SenderCounters) -> u64| -> u64 {
        outcome.flows.iter().map(|flow| of(&flow.sender)).sum()
    };
    let cuts = |of: &dyn Fn(Trigger) -> bool| {
        found.cuts.iter().filter(|cut| of(cut.trigger)).count() as u64
    };
    assert_eq!(cuts(&|it| it == Trigger::Mark), counted(|it| it.ecn_reductions), "{text}");
    let (reductions, timeouts) = (counted(|it| it.cwnd_reductions), counted(|it| it.timeouts));
    let untimed = cuts(&|it| it != Trigger::Timeout);
    assert!((reductions.saturating_sub(timeouts)..=reductions).contains(&untimed), "{text}");
}

/// Share of the capacity that a cause cost.
fn share(found: &Diagnosis, cause: Cause) -> f64 {
    found.budget.bits(cause) as f64 / found.budget.capacity_bits as f64
}

/// Share of the capacity that idle slots cost.
fn idle(found: &Diagnosis) -> f64 {
    let carried = [
        Cause::Erased,
        Cause::Repair,
        Cause::GivenUp,
        Cause::Padding,
        Cause::Headers,
        Cause::Duplicate,
        Cause::LostLater,
        Cause::Unfinished,
    ];
    let parts = found.budget.parts.iter().filter(|part| !carried.contains(&part.cause));
    parts.map(|part| part.bits).sum::<u64>() as f64 / found.budget.capacity_bits as f64
}

/// A leg of 4 Mbit/s and a round trip of 200 ms, and what happens to its data packets.
fn leg(fates: &str, more: &str) -> String {
    format!(
        r#"
        duration = "20 s"
        {more}
        [[path]]
        leg = {{ rate = "4 Mbit/s", delay = "100 ms", queue = "200 packets"{fates} }}
        "#
    )
}

const PLAIN: &str = "[transport]\ncongestion = \"newreno\"\nprofile = \"papers\"";

#[test]
fn a_lost_packet_and_a_late_one_are_told_apart() {
    let cuts = "cwnd_max = \"70 packets\"";
    let lost = diagnosed(&leg(", lost_data = [3000]", &format!("{PLAIN}\n{cuts}"))).1;
    assert_eq!(lost.cuts.len(), 1);
    assert_eq!((lost.cuts[0].trigger, lost.cuts[0].why()), (Trigger::DuplicateAcks, Why::Lost));
    assert!(share(&lost, Cause::TrueLoss) > 0.05, "{:?}", lost.budget);
    assert_eq!(lost.budget.bits(Cause::FalseLoss), 0);
    assert_eq!(lost.limited_by(), Some(Cause::TrueLoss), "{:?}", lost.budget);
    let late = diagnosed(&leg(", held_data = [[3000, \"150 ms\"]]", &format!("{PLAIN}\n{cuts}"))).1;
    assert_eq!(late.cuts.len(), 1);
    let cut = &late.cuts[0];
    assert_eq!((cut.trigger, cut.why()), (Trigger::DuplicateAcks, Why::Arrived));
    assert_eq!(late.budget.bits(Cause::TrueLoss), 0);
    // The packet came 150 ms late: at 4 Mbit/s and 1500 bytes 50 packets came before it.
    let packet = cut.packet.as_ref().unwrap();
    let late_by = packet.ended.unwrap().saturating_since(packet.sent);
    assert!(late_by > Duration::from_millis(250), "{late_by:?}");
    assert!(cut.overtaken_by >= 3 && cut.duplicate_acks >= 3, "{cut:?}");
    assert!(cut.after < cut.before);
    // What the cut cost is what the run without it gained, but for what is still under way.
    let free = diagnosed(&leg("", &format!("{PLAIN}\n{cuts}"))).1;
    let gained = free.budget.goodput_bits as f64 - late.budget.goodput_bits as f64;
    let cost = cut.cost_bits as f64;
    assert!((gained / cost - 1.0).abs() < 0.2, "{gained} gained, {cost} charged");
}

#[test]
fn a_receive_window_an_application_and_slow_start_are_found() {
    let window = diagnosed(&leg("", "[transport]\nreceive_window = \"30 kB\"")).1;
    assert!(share(&window, Cause::ReceiveWindow) > 0.9 * idle(&window), "{:?}", window.budget);
    let paused = "[application]\ntype = \"constant rate\"\nrate = \"400 kbit/s\"";
    let paused = diagnosed(&leg("", paused)).1;
    assert!(share(&paused, Cause::Application) > 0.9 * idle(&paused), "{:?}", paused.budget);
    let file = "[application]\ntype = \"file\"\nsize = \"100 kB\"";
    let file = diagnosed(&leg("", &format!("stop_when_done = true\n{file}"))).1;
    assert!(share(&file, Cause::SlowStart) > 0.3, "{:?}", file.budget);
    assert!(share(&file, Cause::Handshake) > 0.1, "{:?}", file.budget);
}

#[test]
fn a_timeout_is_charged_with_the_wait_for_it() {
    // A whole window is lost: nothing tells the sender but its timer.
    let lost: Vec<String> = (200..264).map(|number| number.to_string()).collect();
    let fates = format!(", lost_data = [{}]", lost.join(", "));
    let found = diagnosed(&leg(&fates, &format!("{PLAIN}\ncwnd_max = \"64 packets\""))).1;
    let timeouts = found.cuts.iter().filter(|cut| cut.trigger == Trigger::Timeout).count();
    assert!(timeouts > 0, "{:?}", found.cuts);
    assert!(found.cuts.iter().all(|cut| cut.why() == Why::Lost));
    let waited = found.budget.bits(Cause::Timeout) as f64 / 4e6;
    assert!((1.0..15.0).contains(&waited), "{waited} s idle: {:?}", found.budget);
}

#[test]
fn slots_in_an_outage_are_charged_to_it() {
    let fates = ", outages = [[\"8 s\", \"12 s\"]]";
    let beside = |out: &str| {
        let wide = "[[path]]\nleg = { rate = \"40 Mbit/s\", delay = \"10 ms\"";
        format!("{}{wide}{out} }}", leg("", PLAIN))
    };
    for text in [leg(fates, PLAIN), beside(fates)] {
        let found = diagnosed(&text).1;
        let out = share(&found, Cause::Outage);
        // A round-trip time of packets meets the outage of the later leg.
        assert!((0.17..=0.2001).contains(&out), "{out}: {:?}", found.budget);
        let timeouts = found.cuts.iter().filter(|cut| cut.trigger == Trigger::Timeout);
        assert!(timeouts.count() > 0, "{:?}", found.cuts);
        let span = Duration::from_millis(200);
        let moment = found.moment(Instant::ZERO + Duration::from_secs(10), span);
        assert_eq!(moment.senders, [(0, 0, Cause::Outage, None)]);
    }
    assert_eq!(diagnosed(&leg(fates, PLAIN)).1.budget.bits(Cause::GivenUp), 0);
}

#[test]
fn a_tail_loss_probe_shows_the_loss_that_it_repaired() {
    // The last packet of the first message is lost; only the next message shows that the probe was
    // needed.
    let application =
        r#"application = { type = "constant rate", rate = "20 kbit/s", message = "20 kB" }"#;
    let found = diagnosed(&leg(", lost_data = [13]", application)).1;
    let [cut] = &found.cuts[..] else { panic!("{:?}", found.cuts) };
    assert_eq!((cut.trigger, cut.why(), cut.cause()), (Trigger::Probe, Why::Lost, Cause::TrueLoss));
    let lost = cut.packet.as_ref().unwrap();
    assert_eq!((lost.start + u64::from(lost.len), lost.retransmission), (20_000, 0));
    assert!(cut.words(0).starts_with("the ACK of a tail loss probe shows the loss: window cut"));
}

#[test]
fn a_full_queue_is_told_from_a_lossy_link() {
    let text = leg("", PLAIN).replace("200 packets", "20 packets");
    let found = diagnosed(&text).1;
    assert!(share(&found, Cause::QueueFull) > 0.0, "{:?}", found.budget);
    assert_eq!(found.budget.bits(Cause::TrueLoss), 0);
}

#[test]
fn every_reduction_by_marks_is_charged_to_them() {
    for congestion in ["newreno", "cubic", "hybla", "westwood", "compound", "dctcp", "prague"] {
        let transport = format!("transport = {{ congestion = \"{congestion}\", ecn = true }}");
        let text = leg("", &transport).replace("queue =", "aqm = \"codel\", queue =");
        let found = diagnosed(&text.replace("100 ms", "25 ms")).1;
        assert!(found.cuts.len() > 5, "{congestion}");
        assert!(found.cuts.iter().all(|cut| cut.trigger == Trigger::Mark), "{congestion}");
        // Few marks take less than a packet off a window of DCTCP.
        let falls = found.cuts.iter().all(|cut| cut.after < cut.before);
        assert!(falls || ["dctcp", "prague"].contains(&congestion), "{congestion}");
    }
    // BBR counts marks and keeps its window.
    let text = leg("", "transport = { congestion = \"bbr\", ecn = true }");
    let text = text.replace("queue =", "aqm = \"codel\", queue =").replace("100 ms", "25 ms");
    let found = diagnosed(&text).1;
    assert!(found.cuts.len() > 5 && found.cuts.iter().all(|cut| cut.after >= cut.before));
    assert_eq!(found.budget.bits(Cause::Mark), 0, "{:?}", found.budget);
}

#[test]
fn without_reordering_no_packet_of_a_cut_arrives() {
    for congestion in ["cubic", "bbr"] {
        let text = leg("", &format!("transport.congestion = \"{congestion}\""))
            .replace("queue =", "aqm = \"codel\", queue =")
            .replace("100 ms", "25 ms");
        let found = diagnosed(&text).1;
        assert!(found.cuts.len() > 3, "{congestion}");
        assert!(found.cuts.iter().all(|cut| cut.why() == Why::Lost), "{congestion}");
        assert_eq!(found.budget.bits(Cause::FalseLoss), 0, "{congestion}");
    }
}

#[test]
fn a_probe_of_the_round_trip_time_is_not_charged_to_a_cut() {
    // BBR sends 4 packets in a round trip after 10 s, long after the repair of the lost packet.
    let found = diagnosed(&leg(", lost_data = [300]", "transport.congestion = \"bbr\"")).1;
    let cut = &found.cuts[0];
    assert!(cut.at < Instant::ZERO + Duration::from_secs(3) && cut.after > 20.0, "{cut:?}");
    assert!(share(&found, Cause::TrueLoss) < 0.001, "{:?}", found.budget);
    assert!(share(&found, Cause::Window) > 0.005, "{:?}", found.budget);
}

#[test]
fn a_connection_without_data_waits_for_the_one_that_brings_them() {
    // Bulk data, behind a fast stretch and a proxy: of the first connection's causes only.
    let split = |first: &str, proxy: &str, second: &str| {
        diagnosed(&format!(
            r#"
            duration = "40 s"
            [[path]]
            leg = {{ rate = "100 Mbit/s", {first} }}
            [[path]]
            pep = {{ {proxy} }}
            [[path]]
            leg = {{ {second}, queue = "100 packets" }}
            "#
        ))
        .1
    };
    let full =
        split(r#"delay = "5 ms""#, r#"buffer = "10 kB""#, r#"rate = "4 Mbit/s", delay = "50 ms""#);
    assert_eq!(full.limited_by(), Some(Cause::ReceiveWindow), "{:?}", full.budget);
    let small = split(
        r#"delay = "250 ms""#,
        r#"receive_buffer = "64 kB""#,
        r#"rate = "4 Mbit/s", delay = "5 ms""#,
    );
    assert_eq!(small.limited_by(), Some(Cause::ReceiveWindow), "{:?}", small.budget);
    let lossy = split(
        r#"delay = "5 ms", loss = 0.02"#,
        r#"congestion = "cubic""#,
        r#"rate = "40 Mbit/s", delay = "5 ms""#,
    );
    assert_eq!(lossy.limited_by(), Some(Cause::TrueLoss), "{:?}", lossy.budget);
    assert!(lossy.cuts.iter().any(|cut| cut.cost_bits > 0), "no cut costs anything");
    let (_, _, cause, cut) =
        lossy.moment(Instant::from_nanos(20_000_000_000), Duration::from_millis(1000)).senders[0];
    assert!(cause == Cause::TrueLoss && cut.is_some(), "{cause:?}");
    for found in [full, small, lossy] {
        // The second one's data come a while after the run's begin.
        assert!(share(&found, Cause::Application) < 0.01, "{:?}", found.budget);
    }
}

#[test]
fn a_moment_names_the_cut() {
    let text =
        leg(", held_data = [[3000, \"150 ms\"]]", &format!("{PLAIN}\ncwnd_max = \"70 packets\""));
    let found = diagnosed(&text).1;
    let cut = found.cuts[0].at;
    let span = Duration::from_millis(200);
    let after = found.moment(cut + Duration::from_millis(400), span);
    assert_eq!(after.senders, [(0, 0, Cause::FalseLoss, Some(0))]);
    assert!(after.idle_bits > 0 && after.idle_bits < after.capacity_bits);
    let before = found.moment(Instant::ZERO + Duration::from_secs(5), span);
    assert_eq!(before.senders[0].3, None);
}

/// A carrier of 2 Mbit/s.
fn carrier(more: &str) -> String {
    format!(
        "[carrier]\nrate = \"2 Mbit/s\"\ndelay = \"50 ms\"\n{more}\n[link]\nqueue = \"100 packets\""
    )
}

#[test]
fn slots_that_packets_share_are_charged_to_what_they_hold() {
    let messages = r#"
        channel = { model = "bernoulli", erasures = 0, rate = "2 Mbit/s" }
        link = { rtt = "100 ms", live = true, packing = "bytes" }
        transport = { protocol = "udp" }
        application = { type = "constant rate", rate = "100 kbit/s", message = "200 B" }
    "#;
    let fades = r#"fades = { share = "50 %", mean = "1 s", bytes = "40 %" }"#;
    let nr = "[ntn]\npreset = \"nr-ntn-leo600\"\nbler = 0\n[link]\nqueue = \"100 packets\"";
    for (text, cause, least) in [
        (messages.to_owned(), Cause::Padding, 0.3),
        (messages.replace("live = true", "live = false"), Cause::Padding, 0.3),
        (carrier(fades), Cause::Fade, 0.25),
        (format!("coding.rate = 0.5\n{}", carrier("")), Cause::Coding, 0.35),
        (nr.to_owned(), Cause::Padding, 0.005),
        (format!("coding.rate = 0.8\n{nr}"), Cause::Coding, 0.15),
    ] {
        let found = diagnosed(&format!("duration = \"20 s\"\n{text}")).1;
        assert!(share(&found, cause) > least, "{text}: {:?}", found.budget);
        assert_eq!(found.budget.bits(Cause::Erased), 0, "{text}: {:?}", found.budget);
        assert_eq!(found.budget.bits(Cause::GivenUp), 0, "{text}: {:?}", found.budget);
    }
}

#[test]
fn slots_that_nobody_was_assigned_wait_for_the_link() {
    let text = r#"
        duration = "20 s"
        flows = 2
        link.queue = "500 packets"
        transport = { protocol = "udp", packet = "500 B" }
        application = { type = "constant rate", rate = "1 Mbit/s", message = "472 B" }
        [carrier]
        terminals = 2
        rate = "2 Mbit/s"
        delay = "20 ms"
        scheduler = { type = "demand", rate = "1 kbit/s", volume = false, free = false }
    "#;
    let found = diagnosed(text).1;
    assert!(share(&found, Cause::Link) > 0.5, "{:?}", found.budget);
    assert!(share(&found, Cause::Application) < 0.02, "{:?}", found.budget);
}

#[test]
fn a_coded_leg_limits_as_a_plain_one_does() {
    let coded = r#"
        duration = "20 s"
        [[path]]
        leg = { rate = "2 Mbit/s", delay = "20 ms", queue = "50 packets" }
        coding = { rate = 0.9 }
    "#;
    let wide = "[[path]]\nleg = { rate = \"10 Mbit/s\", delay = \"20 ms\" }";
    for text in [coded.to_owned(), format!("{coded}{wide}")] {
        let found = diagnosed(&text).1;
        assert_eq!((&found.budget.hops[..], found.budget.capacity_bits), (&[0][..], 40_000_000));
        assert!(share(&found, Cause::Coding) > 0.05, "{:?}", found.budget);
        assert_eq!(found.budget.bits(Cause::Erased), 0);
    }
}

#[test]
fn a_packet_that_a_queue_drops_at_its_head_was_not_sent() {
    let text = |aqm: &str, hop: &str| {
        format!(
            r#"
            duration = "6 s"
            flows = 3
            [[path]]
            channel = {{ model = "bernoulli", erasures = 0, rate = "8 Mbit/s", lldu = "100 B" }}
            link = {{ rtt = "20 ms", live = true }}
            [[path]]
            {}
            "#,
            hop.replace("AQM", aqm)
        )
    };
    let link = r#"
        channel = { model = "bernoulli", erasures = 0, rate = "1 Mbit/s", lldu = "500 B" }
        link = { rtt = "20 ms", live = true, aqm = "AQM", queue = "100 packets" }
    "#;
    let leg = r#"leg = { rate = "1 Mbit/s", delay = "10 ms", aqm = "AQM", queue = "100 packets" }"#;
    for (aqm, hop) in [("codel", link), ("codel", leg), ("fq-codel", link), ("dualpi2", link)] {
        let found = diagnosed(&text(aqm, hop)).1;
        assert_eq!(found.budget.hops, [1]);
        assert!(found.cuts.iter().any(|cut| cut.why() == Why::Lost), "{aqm}");
        assert_eq!(found.budget.bits(Cause::GivenUp), 0, "{aqm}: {:?}", found.budget);
        assert_eq!(found.budget.bits(Cause::TrueLoss), 0, "{aqm}: {:?}", found.budget);
    }
}

fn scheme() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["none", "FEC(10/12)", "ARQ", "HARQ(10/12)"])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 2, ..ProptestConfig::default() })]

    /// Over links of all kinds, with and without proxies, of both profiles.
    #[test]
    fn budgets_add_up_and_watching_changes_nothing(
        scheme in scheme(),
        live in any::<bool>(),
        erasures in prop::sample::select(vec![0.0, 0.003, 0.02, 0.2]),
        burst in 1u32..8,
        slot_us in 200u32..4000,
        rtt_ms in 10u32..700,
        profile in prop::sample::select(vec!["linux", "papers"]),
        congestion in prop::sample::select(vec!["newreno", "cubic", "hybla"]),
        flows in 1u32..4,
        queue in 3u32..300,
        leg_before in any::<bool>(),
        file in prop::option::of(1000u32..300_000),
        seed in 0u32..1000,
    ) {
        let application = file.map_or(String::new(), |size| {
            format!("[application]\ntype = \"file\"\nsize = \"{size} B\"")
        });
        let first = if leg_before {
            "[[path]]\nleg = { rate = \"20 Mbit/s\", delay = \"7 ms\", queue = \"50 packets\" }"
        } else {
            ""
        };
        let text = format!(
            r#"
            duration = "15 s"
            seed = {seed}
            flows = {flows}
            {first}
            [[path]]
            channel = {{ model = "gilbert-elliott", erasures = {erasures}, burst = {burst}, slot = "{slot_us} us", lldu = "250 B", length = "16 s" }}
            link = {{ rtt = "{rtt_ms} ms", queue = "{queue} packets", live = {live} }}
            scheme = "{scheme}"
            [transport]
            congestion = "{congestion}"
            profile = "{profile}"
            {application}
            "#
        );
        let (_, found) = diagnosed(&text);
        for cut in &found.cuts {
            prop_assert!(cut.before >= 1.0 && cut.at <= found.ended);
            prop_assert!(cut.cost_bits <= found.budget.capacity_bits);
        }
    }

    /// Nothing is erased, and nothing lost, where no losses are: over links whose packets share slots.
    #[test]
    fn nothing_is_erased_without_erasures(
        kind in 0usize..5,
        header in 0u32..12,
        packet in 100u32..1500,
        rate in prop::option::of(50u32..3000),
        coding in prop::option::of(prop::sample::select(vec![0.5, 0.75, 0.9])),
        scheme in scheme(),
        live in any::<bool>(),
        queue in 3u32..200,
        seed in 0u32..1000,
    ) {
        let channel = "{ model = \"bernoulli\", erasures = 0, rate = \"2 Mbit/s\", lldu = \"250 B\" }";
        let hop = match kind {
            0 => format!("channel = {channel}\nscheme = \"{scheme}\"\nlink = {{ rtt = \"90 ms\", live = {live}, packing = \"bytes\", lldu_header = \"{header} B\", queue = \"{queue} packets\" }}"),
            1 => format!("carrier = {{ rate = \"2 Mbit/s\", delay = \"50 ms\" }}\nlink = {{ queue = \"{queue} packets\", packet_header = \"{header} B\" }}"),
            2 => format!("carrier = {{ rate = \"2 Mbit/s\", delay = \"50 ms\", fades = {{ share = \"30 %\", mean = \"1 s\", bytes = \"40 %\" }} }}\nlink = {{ queue = \"{queue} packets\" }}"),
            3 => format!("ntn = {{ preset = \"nr-ntn-leo600\", bler = 0 }}\nlink.queue = \"{queue} packets\""),
            _ => format!("leg = {{ rate = \"2 Mbit/s\", delay = \"50 ms\", queue = \"{queue} packets\" }}"),
        };
        let coding = coding.map_or(String::new(), |rate| format!("coding.rate = {rate}"));
        let traffic = rate.map_or(String::new(), |rate| {
            format!("transport = {{ protocol = \"udp\", packet = \"1500 B\" }}\napplication = {{ type = \"constant rate\", rate = \"{rate} kbit/s\", message = \"{packet} B\" }}")
        });
        let text = format!("duration = \"6 s\"\nseed = {seed}\n{traffic}\n[[path]]\n{hop}\n{coding}");
        let budget = diagnosed(&text).1.budget;
        for cause in [Cause::Erased, Cause::GivenUp] {
            prop_assert_eq!(budget.bits(cause), 0, "{}: {:?}", &text, &budget);
        }
    }
}

#[test]
fn a_lost_acknowledgement_is_no_segment_near_a_loss() {
    let setup = setup(
        r#"
        duration = "5 s"
        scheme = "ARQ"
        channel = { model = "bernoulli", erasures = "1 %", rate = "4 Mbit/s" }
        link = { live = true, rtt = "100 ms" }
        [[return.path]]
        leg = { rate = "20 kbit/s", delay = "50 ms", queue = "5 packets" }
        "#,
    );
    let outcome = run(&setup, &mut ()).unwrap();
    let HopMetrics::Leg(back) = &outcome.backward[0] else { panic!("a leg") };
    assert!(back.counters.dropped > 100, "{back:?}");
    let found = loss_after(&setup, Instant::ZERO + Duration::from_secs(2)).unwrap().unwrap();
    assert!(found.segments.iter().all(|segment| segment.seq > 0), "{:?}", found.segments);
}
