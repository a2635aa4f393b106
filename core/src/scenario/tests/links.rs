//! Live, hybrid and 3GPP links.

use crate::config::Registry;
use std::num::NonZeroU32;

use super::*;
use crate::scheme::ntn::{HarqMode, NtnConfig, NtnPhy, RlcConfig};
use crate::scheme::{HybridConfig, HybridOptions, LiveConfig};
use crate::units::{Limit, Probability};

#[test]
fn a_live_link_needs_a_phy_trace_and_has_its_own_keys() {
    let scenario = with_channel(
        "scheme = \"HARQ(10/12)\"\n[link]\nlive = true\nflush = \"20 ms\"\nfeedback_loss = \"5 %\"\n\
         send_buffer = 100",
    );
    let cell = &scenario.cells()[0];
    // The same slots and erasures as those of the open loop.
    let open = with_channel("scheme = \"HARQ(10/12)\"");
    assert_eq!(asked(cell, 0), asked(&open.cells()[0], 0));
    let phy = PhyTrace::new(vec![0, 10].into(), vec![1, 0].into(), Bytes(33)).unwrap();
    let setup = cell.setup(0, &Given::phy([phy])).unwrap();
    let live = medium::<LiveConfig>(&setup);
    assert_eq!(live.scheme.to_string(), "HARQ(10/12)");
    let options = &live.options;
    let flush = Some(Duration::from_millis(20));
    assert_eq!((options.flush, options.send_buffer), (flush, NonZeroU32::new(100)));
    assert_eq!(options.feedback_loss, Probability::new(0.05).ok());
    assert!(live.reports.is_none());
    assert!(
        error(&format!("[link]\nflush = \"20 ms\"\n{CHANNEL}"))
            .contains("link.flush: applies only to live")
    );
    let both = format!("[link]\nlive = true\noverlap = \"papers\"\n{CHANNEL}");
    assert!(error(&both).contains("link.overlap: \"papers\" applies to link traces"));
}

#[test]
fn a_hybrid_link_follows_its_keys() {
    let cell = |text: &str| {
        let scenario = Scenario::parse("geo.toml", text, &[], &Registry::new()).unwrap();
        scenario.cells()[0].clone()
    };
    let plain = cell("[hybrid]\nn = 11\nloss = \"2 %\"\ndelay = \"20 ms\"\n");
    assert_eq!(asked(&plain, 0), []);
    let setup = plain.setup(0, &Given::information(0.5)).unwrap();
    let config = medium::<HybridConfig>(&setup);
    let delay = Duration::from_millis(20);
    let loss = Probability::new(0.02).ok();
    assert_eq!(config.options, HybridOptions { n: 11, delay, loss, ..HybridOptions::default() });
    assert!(config.losses.is_none());
    let Hops::Leg(back) = &setup.backward[0] else { panic!("a leg") };
    assert_eq!(back.delay, Duration::from_millis(20).into());
    let traced = cell("[hybrid]\n[trace]\nfile = \"x.csv\"\n");
    let phy = PhyTrace::new(vec![0, 1].into(), vec![1, 0].into(), Bytes(25)).unwrap();
    let setup = traced.setup(0, &Given::phy([phy])).unwrap();
    assert!(medium::<HybridConfig>(&setup).losses.is_some());
    for (text, expected) in [
        ("[hybrid]\nn = 9\n", "geo.toml line 2: hybrid.n: a frame carries K of N"),
        ("scheme = \"ARQ\"\n[hybrid]\n", "geo.toml line 1: scheme: [hybrid] is the scheme"),
        (
            "[hybrid]\nloss = 0.1\n[trace]\nfile = \"x\"\n",
            "geo.toml line 2: hybrid.loss: the trace",
        ),
        ("link.rtt = \"1 s\"\n[hybrid]\n", "geo.toml line 1: link.rtt: does not apply to [hybrid]"),
        ("[hybrid]\n[[path]]\n", "geo.toml line 1: hybrid: [[path]] gives"),
        ("[hybrid]\ndelta = 3\n", "geo.toml line 2: hybrid.delta"),
    ] {
        assert!(error(text).starts_with(expected), "{}", error(text));
    }
}

#[test]
fn a_3gpp_link_follows_its_keys() {
    let setup = |text: &str, given: Given| {
        let setup = setup(text, &given);
        (medium::<NtnConfig>(&setup), setup)
    };
    let ms = Duration::from_millis;
    let text = "[ntn]\nrlc = \"um\"\nharq_feedback = false\nbler = [\"2 %\", 0.5]\ndelay = \"20 ms\"\nt_reordering = \"7 ms\"\n";
    let (config, run) = setup(text, Given::information(0.5));
    assert_eq!(config.harq.mode, HarqMode::NoFeedback);
    assert!(matches!(config.rlc, RlcConfig::Um(_)));
    let NtnPhy::Random { bler, .. } = &config.phy else { panic!("random errors") };
    assert_eq!(bler.iter().map(|p| p.get()).collect::<Vec<_>>(), [0.02, 0.5]);
    assert_eq!(config.timers().reordering, Some(ms(7)));
    let Hops::Leg(back) = &run.backward[0] else { panic!("a leg") };
    assert_eq!(back.delay, ms(20).into());
    let phy = PhyTrace::new(vec![0, 1].into(), vec![1, 0].into(), Bytes(900)).unwrap();
    let text = "[ntn]\nmax_retx = 0\n[trace]\nfile = \"x.csv\"\n";
    let (config, _) = setup(text, Given::phy([phy]));
    assert_eq!(config.tb(), Bytes(900));
    assert!(matches!(config.rlc, RlcConfig::Am(am) if am.max_retx == Limit::AtMost(0)));
    for (text, expected) in [
        ("[ntn]\npreset = \"leo\"\n", "geo.toml line 2: ntn.preset: unknown; write one of nr-"),
        (
            "[ntn]\npreset = \"nr-ntn-leo60\"\n",
            "geo.toml line 2: ntn.preset: unknown; write one of nr-ntn-geo, nr-ntn-leo600, nr-ntn-leo1200, nr-terrestrial (did you mean nr-ntn-leo600?)",
        ),
        ("[ntn]\ntb = \"5 B\"\n", "geo.toml line 2: ntn.tb: a transport block of 5 bytes"),
        ("scheme = \"ARQ\"\n[ntn]\n", "geo.toml line 1: scheme: [ntn] has its own"),
        ("[ntn]\nbler = [0.1]\n[trace]\nfile = \"x\"\n", "geo.toml line 2: ntn.bler: the trace"),
        ("[ntn]\n[hybrid]\n", "geo.toml line 1: ntn: a link has one kind"),
        ("link.rtt = \"1 s\"\n[ntn]\n", "geo.toml line 1: link.rtt: does not apply to [ntn]"),
        ("link.live = true\n[ntn]\n", "geo.toml line 1: link.live: does not apply to [ntn]"),
        (
            "[ntn]\nharq_feedback = false\nmax_transmissions = 3\n",
            "geo.toml line 3: ntn.max_transmissions: is of HARQ feedback, which",
        ),
        (
            "[ntn]\nrlc = \"um\"\nmax_retx = 3\n",
            "geo.toml line 3: ntn.max_retx: belongs to rlc = \"am\"; remove it, or change `rlc`",
        ),
        (
            "[ntn]\nk_offset = \"500 ms\"\n",
            "geo.toml line 2: ntn.k_offset: is below the longest round trip, 541.46 ms, so",
        ),
        (
            "[ntn]\nprocesses = 4\nsilent_processes = 4\n",
            "geo.toml line 3: ntn.silent_processes: leaves none of 4 processes",
        ),
        (
            "[ntn]\nharq_feedback = false\nsilent_processes = 4\n",
            "geo.toml line 3: ntn.silent_processes: is of HARQ feedback, which",
        ),
        (
            "[ntn]\nsr_period = \"5 ms\"\n",
            "geo.toml line 2: ntn.sr_period: is for grants = \"requested\"; remove it",
        ),
        (
            "[ntn]\ngrants = \"configured\"\nretx_bsr = \"5 ms\"\n",
            "geo.toml line 3: ntn.retx_bsr: is for grants = \"requested\"; remove it",
        ),
        (
            "[ntn]\ngrants = \"requested\"\nsr_period = \"0 ms\"\n",
            "geo.toml line 3: ntn.sr_period: the time between requests of 0 ns; give",
        ),
        (
            "[ntn]\ngrants = \"requested\"\nmissed_grant = 0.1\n",
            "geo.toml line 3: ntn.missed_grant: is of grants and feedback of a downlink; leave",
        ),
        (
            "[ntn]\ngrants = \"asked\"\n",
            "geo.toml line 2: ntn.grants: unknown value `asked`, one of",
        ),
        ("[ntn]\nbler = 7\n", "geo.toml line 2: ntn.bler: 7 is not a probability"),
        ("[ntn]\nbler = [0.1, 7]\n", "geo.toml line 2: ntn.bler"),
        ("[ntn]\nbler = []\n", "geo.toml line 2: ntn.bler: no block error probability"),
        (
            "[ntn]\nbler = true\n",
            "geo.toml line 2: ntn.bler: boolean `true` is not valid here; give a",
        ),
    ] {
        assert!(error(text).starts_with(expected), "{}", error(text));
    }
}

#[test]
fn a_single_block_error_rate_applies_to_every_transmission() {
    for text in ["[ntn]\nbler = 0.1\n", "[ntn]\nbler = \"10 %\"\n", "[ntn]\nbler = [0.1]\n"] {
        let scenario = Scenario::parse("geo.toml", text, &[], &Registry::new()).unwrap();
        let cell = &scenario.cells()[0];
        let setup = cell.setup(0, &Given::information(0.5)).unwrap();
        let NtnPhy::Random { bler, .. } = &medium::<NtnConfig>(&setup).phy else {
            panic!("random errors")
        };
        assert_eq!(bler.iter().map(|p| p.get()).collect::<Vec<_>>(), [0.1]);
    }
}

#[test]
fn blocks_too_small_for_their_headers_are_rejected_once_the_trace_is_known() {
    let text = "[ntn]\n[channel]\nmodel = \"bernoulli\"\nerasures = 0.1\nslot = \"1 ms\"\n";
    let phy = PhyTrace::new(vec![0, 1].into(), vec![1, 0].into(), Bytes(4)).unwrap();
    let (key, message) = fault(text, &Given::phy([phy]));
    assert_eq!(key, "ntn");
    assert!(message.ends_with("larger blocks (`lldu` of the trace or channel beside it)"));
}

#[test]
fn too_little_mutual_information_is_reported_for_the_snr_key() {
    let text = "[adaptive_harq]\nsnr = \"-40 dB\"\n";
    let (key, message) = fault(text, &Given::information(1e-4));
    assert_eq!(key, "adaptive_harq.snr");
    assert!(message.starts_with("-40 dB gives the channel a mean"), "{message}");
}

#[test]
fn an_error_of_a_link_points_to_the_change_from_outside() {
    let set = [("hybrid.k".to_owned(), "0".to_owned())];
    let error =
        Scenario::parse("geo.toml", "[hybrid]\n", &set, &Registry::new()).unwrap_err().to_string();
    let expected = "geo.toml, set hybrid.k = 0: hybrid.k: a frame carries K of N units";
    assert!(error.starts_with(expected), "{error}");
}

/// A code stands around the whole path, or around hops of `[[path]]`; what cannot be is refused.
#[test]
fn a_code_stands_around_the_hops_that_it_names() {
    let phy = || PhyTrace::new(vec![0, 10].into(), vec![1, 0].into(), Bytes(33)).unwrap();
    let run = |text: &str| setup(text, &Given::phy([phy()]));
    let code = |hop: &Hops| match hop {
        Hops::Link(link) => link.coding.clone(),
        Hops::Leg(_) => None,
    };
    let whole = run(&format!("link.pep = true\ncoding.rate = 0.8\n{CHANNEL}"));
    assert_eq!(
        (whole.forward.len(), whole.proxies[0].forward, whole.proxies[1].forward),
        (1, 0, 1)
    );
    assert_eq!(code(&whole.forward[0]).unwrap().rate, Probability::new(0.8).unwrap());
    let leg = "[[path]]\nleg = { rate = \"1 Mbit/s\", delay = \"5 ms\" }\n";
    let coded = |keys: &str| format!("{leg}coding = {{ {keys} }}\n{leg}{leg}");
    let some = run(&coded("hops = 2"));
    assert_eq!(some.forward.len(), 2);
    assert!(code(&some.forward[0]).is_some() && code(&some.forward[1]).is_none());
    // The way back takes as long as without the code.
    let Hops::Leg(back) = &some.backward[0] else { panic!("a leg") };
    assert_eq!(back.delay, Duration::from_millis(15).into());
    assert_eq!(run(&format!("coding.window = 9\n{leg}{leg}")).forward.len(), 1);
    let back = format!("return.coding.window = 9\n{leg}[[return.path]]\nleg.delay = \"1 ms\"\n");
    assert_eq!(code(&run(&back).backward[0]).unwrap().window, 9);
    for (text, expected) in [
        (coded("hops = 4"), "path.0.coding.hops: the path has only 3 from here on"),
        (coded("rate = 0.05"), "path.0.coding.rate: below 0.1"),
        (coded("window = 0"), "path.0.coding.window: 0 packets; give 1 to 1024"),
        (
            coded("code = \"block\", window = 240"),
            "path.0.coding.window: blocks of 267 packets; a code over GF(256) has at most 256",
        ),
        (
            coded("code = \"block\", on_demand = true"),
            "path.0.coding.on_demand: a block has a fixed number",
        ),
        (coded("adapt = -1"), "path.0.coding.adapt: out of range"),
        (coded("report = \"0 ms\""), "path.0.coding.report: 0 ns; give 1 ms or more"),
        (format!("coding.hops = 2\n{leg}"), "coding.hops: [coding] is around the whole path"),
        (format!("{leg}coding.hops = 2\n{leg}coding = {{}}\n"), "path.1.coding: begins between"),
        (
            format!("{leg}coding.hops = 3\n[[path]]\npep = true\n{leg}"),
            "path.0.coding: a proxy between encoder and decoder",
        ),
        (format!("coding = {{}}\n{}", coded("")), "coding: another code is within"),
    ] {
        assert!(error(&text).contains(expected), "{text}: {}", error(&text));
    }
}
