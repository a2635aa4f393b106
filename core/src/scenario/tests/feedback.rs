//! What loses the reports of a live link.

use super::*;
use crate::config::Registry;
use crate::scheme::LiveConfig;
use crate::trace::Direction;

const LIVE: &str = "scheme = \"ARQ\"\nlink.live = true\nlink.feedback_trace.file = \"back.csv\"\n";

/// The PHY traces of the link and of its way back that a file asks for in a replication.
fn specs(text: &str, replication: u32) -> (PhySpec, PhySpec) {
    let scenario = Scenario::parse("geo.toml", text, &[], &Registry::new()).unwrap();
    let [back, phy] = &asked(&scenario.cells()[0], replication)[..] else {
        panic!("two PHY traces")
    };
    (phy.clone(), back.clone())
}

#[test]
fn a_feedback_trace_is_read_like_the_trace_of_the_link() {
    let keys = "file = \"probes.csv\"\nformat = \"probes\"\nrate = \"1 Mbit/s\"\nlldu = \"1500 B\"\nshare = 2\noffset = \"3 s\"\n";
    let text = format!(
        "[trace]\n{keys}direction = \"up\"\n[link]\nlive = true\n[link.feedback_trace]\n{keys}direction = \"down\"\n"
    );
    let (phy, back) = specs(&text, 0);
    let (mut there, here) = (phy.trace.unwrap(), back.trace.unwrap());
    assert_eq!((there.direction, here.direction), (Some(Direction::Up), Some(Direction::Down)));
    there.direction = Some(Direction::Down);
    assert_eq!(there, here);
    assert_eq!((back.channel, back.slots, back.seed), (None, None, 0));
}

#[test]
fn a_feedback_trace_loses_reports_and_shifts_with_the_link() {
    let text = format!(
        "{LIVE}link.start = \"30 s\"\nlink.wrap = true\nlink.feedback_repeat = \"7 ms\"\n{CHANNEL}"
    );
    let run = setup(&text, &Given::phy([phy(&[0, 1]), phy(&[1, 0, 1])]));
    let live = medium::<LiveConfig>(&run);
    let Some(back) = &live.reports else { panic!("a trace") };
    assert_eq!((&back.d()[..], &live.phy.d()[..]), (&[0, 1][..], &[1, 0, 1][..]));
    assert_eq!(live.options.feedback_repeat, Some(Duration::from_millis(7)));
    // A drawn start is that of the link's trace, however long the other one is.
    let text = format!("{LIVE}link.start = \"random\"\nduration = \"1 ns\"\n{CHANNEL}");
    let start = |back: &[i64]| {
        let given = Given::phy([phy(back), phy(&[1; 90])]);
        let Hops::Link(link) = setup(&text, &given).forward[0].clone() else { panic!("a link") };
        link.start_offset
    };
    assert_eq!(start(&[1, 0]), start(&[1; 200]));
    assert!(start(&[1, 0]) > Duration::from_nanos(2));
    // One slot has no period.
    let (key, message) = fault(&text, &Given::phy([phy(&[1]), phy(&[1; 90])]));
    assert_eq!(key, "link.feedback_trace");
    assert!(message.contains("two slots or more"), "{message}");
}

#[test]
fn a_feedback_channel_has_its_own_draws() {
    let back = "[link.feedback_channel]\nmodel = \"bernoulli\"\nerasures = 0.1\n";
    let own = format!(
        "runs = 3\n[link]\nlive = true\n{back}slot = \"1003802 ns\"\nlength = \"700 s\"\n{CHANNEL}"
    );
    for replication in 0..3 {
        let (phy, feedback) = specs(&own, replication);
        assert_eq!(phy.slots, feedback.slots);
        assert_ne!(phy.seed, feedback.seed);
        // It does not shift the channel of the link, or of another one.
        let without = format!("runs = 3\n[link]\nlive = true\n{CHANNEL}");
        let plain = Scenario::parse("geo.toml", &without, &[], &Registry::new()).unwrap();
        assert_eq!(asked(&plain.cells()[0], replication), [phy]);
    }
    assert_ne!(specs(&own, 1).1, specs(&own, 2).1);
    // As the link's: one trace for all where the file says so, and its own seed stays.
    let random = own.replace("live = true", "live = true\nstart = \"random\"");
    assert_ne!(specs(&random, 1).1, specs(&random, 2).1);
    let shared = own.replace("erasures = 0.1", "erasures = 0.1\nredraw = false");
    assert_eq!(specs(&shared, 1).1, specs(&shared, 2).1);
    let kept = own.replace("erasures = 0.1", "erasures = 0.1\nseed = 7");
    assert_eq!((specs(&kept, 0).1.seed, specs(&kept, 2).1.seed), (7, 7));
    // On top of a trace.
    let both = format!("{LIVE}{back}{CHANNEL}");
    let (_, feedback) = specs(&both, 0);
    assert!(feedback.trace.is_some() && feedback.channel.is_some() && feedback.slots.is_none());
}

/// Reports of a link back travel the way there: it does not take over what loses those of the link.
#[test]
fn a_return_link_does_not_inherit_the_feedback_trace() {
    let back = format!("[return.channel]\n{}", CHANNEL.split_once('\n').unwrap().1);
    let links = |text: &str| {
        let setup = setup(text, &Given::phy([phy(&[1; 9])]));
        [setup.forward, setup.backward].concat()
    };
    let traced = |text: &str| -> Vec<bool> {
        let traced = |hop: &Hops| match hop {
            Hops::Link(link) => Some(link.medium.get::<LiveConfig>()?.reports.is_some()),
            Hops::Leg(_) => None,
        };
        links(text).iter().filter_map(traced).collect()
    };
    assert_eq!(traced(&format!("{LIVE}{CHANNEL}{back}")), [true, false]);
    let own = "[link]\nlive = true\nfeedback_loss = 0.1\n";
    let text = format!("{own}{CHANNEL}{back}[return.link]\nfeedback_trace.file = \"there.csv\"\n");
    assert_eq!(traced(&text), [false, true]);
}

#[test]
fn invalid_feedback_is_rejected_with_the_reason() {
    let model = "link.feedback_channel = { model = \"bernoulli\", erasures = 0.1 }";
    let wrong = model.replace("bernoulli", "markov");
    for (text, expected) in [
        (
            "link.feedback_trace.file = \"x\"",
            "line 1: link.feedback_trace: applies only to live links; add live = true",
        ),
        (model, "line 1: link.feedback_channel: applies only to live"),
        (
            "link.live = true\nlink.feedback_loss = 0.1\nlink.feedback_trace.file = \"x\"",
            "line 2: link.feedback_loss: `feedback_trace` already says which reports are lost; leave one of them out",
        ),
        (
            &format!("link.live = true\nlink.feedback_loss = 0\n{model}"),
            "line 2: link.feedback_loss: `feedback_channel` already says",
        ),
        (
            "link.live = true\nlink.feedback_trace.file = \"\"",
            "line 2: link.feedback_trace.file: is empty; name a trace file",
        ),
        (
            "link.live = true\nlink.feedback_trace = {}",
            "line 2: link.feedback_trace: missing key `file`",
        ),
        (
            "link.live = true\nlink.feedback_trace = { file = \"x\", share = 0 }",
            "line 2: link.feedback_trace.share: must be 1 or more",
        ),
        (
            &format!("link.live = true\n{model}"),
            "line 2: link.feedback_channel: missing key `slot`",
        ),
        (
            &format!("link.live = true\n{wrong}"),
            "line 2: link.feedback_channel.model: unknown value `markov`",
        ),
        ("link.feedback_trce.file = \"x\"", "line 1: link.feedback_trce: unknown key"),
    ] {
        let message = error(&format!("{text}\n{CHANNEL}"));
        assert!(message.starts_with(&format!("geo.toml {expected}")), "{message}");
    }
    let text = "[hybrid]\n[link]\nfeedback_trace.file = \"x\"\n";
    assert!(error(text).contains("link.feedback_trace: applies only to live"), "{}", error(text));
}
