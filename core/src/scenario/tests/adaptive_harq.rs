//! Adaptive-HARQ links.

use super::*;
use crate::channel::lms::Preset;
use crate::config::Registry;
use crate::link::Propagation;
use crate::scheme::{AdaptiveHarqConfig, Sizing};

#[test]
fn an_adaptive_harq_link_follows_its_keys() {
    let setup = |text: &str| {
        let setup = setup(text, &Given::information(0.5));
        let hops = [&setup.forward[..], &setup.backward[..]].concat();
        let config = hops.iter().find_map(|hop| match hop {
            Hops::Link(link) => link.medium.get::<AdaptiveHarqConfig>(),
            Hops::Leg(_) => None,
        });
        (config.expect("an adaptive-HARQ link").as_ref().clone(), setup)
    };
    let ms = Duration::from_millis;
    let delays = |setup: &Setup| -> Vec<Propagation> {
        let delay = |hop: &Hops| match hop {
            Hops::Leg(leg) => leg.delay.clone(),
            Hops::Link(link) => link.medium.way_back(),
        };
        setup.backward.iter().map(delay).collect()
    };
    let (plain, run) = setup("[adaptive_harq]\n");
    assert_eq!(plain.sizing, Sizing::Fixed { first: 2.0, increment: 0.94 });
    assert_eq!((plain.options.packet_sigma, plain.options.attempt_sigma), (0.25, 0.0));
    assert_eq!((plain.options.max_retx, plain.options.step), (3, ms(21)));
    assert_eq!(plain.options.rate.bits_per_second(), 50_000_000);
    assert_eq!(delays(&run), [ms(80).into()]);
    let text = "[adaptive_harq]\ndelay = \"20 ms\"\nrate = \"1 Mbit/s\"\nfirst = 2\nincrement = 0.1\npacket_sigma = 0\nattempt_sigma = 0.1\nmax_retx = 5\nstep = \"7 ms\"\n";
    let (own, run) = setup(text);
    assert_eq!(own.sizing, Sizing::Fixed { first: 4.0, increment: 0.2 });
    assert_eq!((own.options.packet_sigma, own.options.attempt_sigma), (0.0, 0.1));
    assert_eq!((own.options.max_retx, own.options.step), (5, ms(7)));
    assert_eq!(
        (own.options.rate.bits_per_second(), delays(&run)),
        (1_000_000, vec![ms(20).into()])
    );
    let text = "[adaptive_harq]\ntargets = [\"70 %\", 0.5]\nmax_retx = 1\n";
    let (sized, _) = setup(text);
    assert_eq!(sized.sizing, Sizing::Missing { levels: [0.5, 0.5].into() });
    // The way back has its own link.
    let text = "[adaptive_harq]\n[return.adaptive_harq]\ndelay = \"3 ms\"\n";
    let (_, run) = setup(text);
    assert_eq!(delays(&run), [ms(3).into()]);
    // A sum that only shows once the channel is there.
    let (key, message) = fault("[adaptive_harq]\nfirst = 900\n", &Given::information(0.5));
    assert!(key == "adaptive_harq.first" && message.contains("1000"), "{key}: {message}");
}

#[test]
fn the_channel_of_adaptive_harq_follows_the_seed_of_the_run() {
    let ask = |text: &str, replication: u32| {
        let text = format!("seed = 7\nduration = \"30 s\"\nruns = 3\n{text}");
        let scenario = Scenario::parse("geo.toml", &text, &[], &Registry::new()).unwrap();
        let given = Given::information(0.5);
        // A random start needs a longer channel than the one given; the demand is made before.
        let _ = scenario.cells()[0].setup(replication, &given);
        let seeds: Vec<u64> = given.asked.into_inner().unwrap().iter().map(|s| s.seed).collect();
        let seed = scenario.cells()[0].seed(replication).0;
        (given.asked_information.into_inner().unwrap(), seeds, seed)
    };
    let secs = Duration::from_secs;
    for replication in 0..3 {
        let (specs, _, seed) = ask("[adaptive_harq]\n", replication);
        assert_eq!((specs[0].length, specs[0].seed), (secs(90), seed));
        // As that of a land mobile channel does.
        let (harq, lms, _) = ask(
            "[[path]]\nadaptive_harq.rate = \"1 Mbit/s\"\n[[path]]\nchannel.model = \"lms\"\n[[path]]\nadaptive_harq.rate = \"1 Mbit/s\"\n",
            replication,
        );
        assert_eq!(harq[0].seed, seed);
        let (other_harq, other_lms, _) = ask(
            "[[path]]\nchannel.model = \"lms\"\n[[path]]\nadaptive_harq.rate = \"1 Mbit/s\"\n[[path]]\nchannel.model = \"lms\"\n",
            replication,
        );
        assert_eq!(other_harq[0].seed, lms[0]);
        assert_eq!(harq[1].seed, other_lms[1]);
        let (kept, ..) = ask("[adaptive_harq]\nseed = 5\nlength = \"60 s\"\n", replication);
        assert_eq!((kept[0].length, kept[0].seed), (secs(60), 5));
        let (random, _, seed) = ask("[adaptive_harq]\n[link]\nstart = \"random\"\n", replication);
        assert_eq!(random[0].seed, seed);
        let (shared, ..) = ask("[adaptive_harq]\nredraw = false\n", replication);
        assert_eq!(shared[0].seed, 7);
    }
    let text = "[adaptive_harq]\n[vary]\nadaptive_harq.snr = [\"7 dB\", \"13 dB\"]\n";
    let scenario = Scenario::parse("geo.toml", text, &[], &Registry::new()).unwrap();
    let [low, high] = scenario.cells() else { panic!("two cells") };
    assert_eq!(low.labels(), [("snr".to_owned(), "7 dB".to_owned())]);
    let given = Given::information(0.5);
    low.setup(0, &given).unwrap();
    high.setup(0, &given).unwrap();
    let asked = given.asked_information.into_inner().unwrap();
    assert_eq!((&asked[0].channel, asked[0].esn0_db), (&Preset::Its.channel(), 7.0));
    assert_eq!(asked[1], InformationSpec { esn0_db: 13.0, ..asked[0].clone() });
}

#[test]
fn a_random_start_of_adaptive_harq_leaves_room_for_a_run() {
    let text = "duration = \"4 ms\"\nruns = 50\n[adaptive_harq]\nlength = \"10 ms\"\n[link]\nstart = \"random\"\n";
    let scenario = Scenario::parse("geo.toml", text, &[], &Registry::new()).unwrap();
    let start = |run| {
        let setup = scenario.cells()[0].setup(run, &Given::information(0.5)).unwrap();
        let Hops::Link(link) = &setup.forward[0] else { panic!("a link") };
        link.start_offset
    };
    let latest = (0..50).map(start).max().unwrap();
    assert!(latest <= Duration::from_millis(6) && latest > Duration::from_millis(5), "{latest}");
}

#[test]
fn an_invalid_adaptive_harq_link_is_rejected_with_the_reason() {
    for (keys, expected) in [
        (
            "preset = \"it\"",
            "line 2: adaptive_harq.preset: unknown; use one of internet, distribution, distribution-down, its, aeronautical (did you mean its?)",
        ),
        ("snr = 13", "line 2: adaptive_harq.snr: `13` has no unit"),
        ("snr = \"200 dB\"", "line 2: adaptive_harq.snr: 200 dB is out of range; give"),
        ("delays = \"\"", "line 2: adaptive_harq.delays: is empty"),
        ("delay = \"1 ms\"\ndelays = \"x\"", "line 3: adaptive_harq.delays: `delay` and"),
        ("keep_order = true", "line 2: adaptive_harq.keep_order: needs varying `delays`"),
        ("first = 0", "line 2: adaptive_harq.first: give a number above 0"),
        ("increment = -1", "line 2: adaptive_harq.increment: give a number above 0"),
        ("first = 1\ntargets = [1, 1, 1, 1]", "line 2: adaptive_harq.first: `targets` say"),
        ("targets = [0.5]", "line 2: adaptive_harq.targets: 1 for 4 attempts; give"),
        ("packet_sigma = -1", "line 2: adaptive_harq.packet_sigma: -1 is out of range"),
        ("max_retx = 8", "line 2: adaptive_harq.max_retx: 8 are too many; give 0 to 7"),
        ("step = \"0 s\"", "line 2: adaptive_harq.step: 0 ns is out of range"),
        ("length = \"1 us\"", "line 2: adaptive_harq.length: "),
        ("retries = 3", "line 2: adaptive_harq.retries: unknown key"),
        ("[trace]\nfile = \"x\"", "line 2: trace: [adaptive_harq] makes its own channel"),
        ("[channel]\nmodel = \"lms\"", "line 2: channel: [adaptive_harq] makes its own channel"),
        (
            "[hybrid]",
            "line 1: adaptive_harq: a link has one kind; leave [adaptive_harq] or [hybrid]",
        ),
        ("[ntn]", "line 1: adaptive_harq: a link has one kind"),
        ("[link]\nrtt = \"1 s\"", "line 3: link.rtt: does not apply to [adaptive_harq]"),
        ("[link]\nlive = true", "line 3: link.live: does not apply to [adaptive_harq]"),
        (
            "[link]\nlldu_header = \"2 B\"",
            "line 3: link.lldu_header: does not apply to [adaptive_harq]",
        ),
        ("repairs = \"beside it\"", "line 2: adaptive_harq.repairs: "),
        ("[[path]]", "line 1: adaptive_harq: [[path]] gives"),
    ] {
        let text = format!("[adaptive_harq]\n{keys}\n");
        assert!(error(&text).starts_with(&format!("geo.toml {expected}")), "{}", error(&text));
    }
    let text = "scheme = \"ARQ\"\n[adaptive_harq]\n";
    assert!(error(text).starts_with("geo.toml line 1: scheme: [adaptive_harq] has its own"));
    let text = "[adaptive_harq]\n[return]\nadaptive_harq = {}\n[[return.path]]\n";
    assert!(error(text).contains("return.adaptive_harq: [[return.path]] gives"), "{}", error(text));
    let text = "[[path]]\nleg.delay = \"5 ms\"\nadaptive_harq = {}\n";
    assert!(error(text).contains("a hop is a leg or a link"), "{}", error(text));
}
