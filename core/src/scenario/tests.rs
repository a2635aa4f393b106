//! What scenario files say, and what wrong ones are told.

use std::num::NonZeroU32;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::link::ntn::{HarqMode, NtnPhy, RlcConfig};
use crate::link::{
    AdaptiveHarqConfig, DelaySeries, FeedbackLoss, LinkConfig, Medium, Propagation, Sizing,
    Threshold, UnitLosses,
};
use crate::simulation::{Hop as Hops, Setup};
use crate::trace::{MiTrace, PhyTrace};
use crate::transport::tcp::LinuxOptions;
use crate::units::{Bytes, Duration, Instant};

const CHANNEL: &str = "[channel]\nmodel = \"bernoulli\"\nerasures = 0.02\nslot = \"1003802 ns\"\nlength = \"700 s\"\n";

fn error(text: &str) -> String {
    Scenario::parse("geo.toml", text, &[]).unwrap_err().to_string()
}

fn with_channel(text: &str) -> Scenario {
    Scenario::parse("geo.toml", &format!("{text}\n{CHANNEL}"), &[]).unwrap()
}

#[test]
fn every_error_names_line_key_and_cure() {
    let table = [
        (
            "[link]\nrat = \"5 ms\"",
            "geo.toml line 2: link.rat: unknown key, one of rtt, feedback, queue, start, wrap, overlap, extra_lldu, lldu_header, packet_header, reorder",
        ),
        ("nme = 'x'", "geo.toml line 1: nme: unknown key, one of name, description, "),
        ("[lnik]\nrtt = \"5 ms\"", "(did you mean link?)"),
        (
            "[link]\nrtt = 500",
            "geo.toml line 2: link.rtt: `500` has no unit; write a time as e.g. \"500 ms\"",
        ),
        (
            "[link]\nrtt = \"5 lightyears\"",
            "geo.toml line 2: link.rtt: unknown unit `lightyears`; a time is in ns, us, ms, s, min, h",
        ),
        (
            "[link]\nrtt = true",
            "geo.toml line 2: link.rtt: boolean `true` does not fit; give a time with its unit",
        ),
        ("link = 3", "geo.toml line 1: link: integer `3` does not fit; give a section with keys"),
        (
            "runs = \"3\"",
            "geo.toml line 1: runs: string \"3\" does not fit; give a whole number, 0 or more",
        ),
        (
            "runs = -3",
            "geo.toml line 1: runs: integer `-3` does not fit; give a whole number, 0 or more",
        ),
        (
            "\n\nruns = 0\n[channel]\nmodel='bernoulli'",
            "geo.toml line 3: runs: 0 runs; give 1 to 1000000",
        ),
        ("duration = \"0 s\"", "geo.toml line 1: duration: is zero"),
        (
            "scheme = \"HARQ(12/10)\"",
            "geo.toml line 1: scheme: HARQ(12/10): 12/10 sends fewer LLDUs than it carries",
        ),
        ("[channel]\nerasures = 0.1", "geo.toml line 1: channel: missing key `model`"),
        (
            "[channel]\nmodel = \"markov\"",
            "geo.toml line 2: channel.model: unknown value `markov`, one of bernoulli, gilbert-elliott, lms",
        ),
        (
            "[channel]\nmodel = \"bernoulli\"\nerasures = 0.1",
            "geo.toml line 1: channel: missing key `slot`",
        ),
        (
            "[channel]\nmodel = \"bernoulli\"\nerasures = 1.5",
            "geo.toml line 3: channel.erasures: 1.5 is not a probability",
        ),
        (
            "[channel]\nmodel = \"bernoulli\"\nerasures = 0.1\nburst = 2\nslot = \"1 ms\"",
            "geo.toml line 4: channel.burst: belongs to model = \"gilbert-elliott\"",
        ),
        (
            "[channel]\nmodel = \"bernoulli\"\nerasures = 0.1\nslot = \"1 ms\"\nrate = \"1 Mbit/s\"",
            "geo.toml line 5: channel.rate: `slot` and `rate` say the same",
        ),
        (
            "[channel]\nmodel = \"gilbert-elliott\"\nslot = \"1 ms\"\nerasures = 0.1",
            "missing key `burst`",
        ),
        (
            "[channel]\nmodel = \"gilbert-elliott\"\nslot = \"1 ms\"\nerasures = 0.1\nburst = 2\nalpha = 0.9",
            "geo.toml line 6: channel.alpha: give either",
        ),
        (
            "[channel]\nmodel = \"gilbert-elliott\"\nslot = \"1 ms\"\nerasures = 0.9\nburst = 2",
            "geo.toml line 5: channel.burst: so many erasures need bursts",
        ),
        (
            "[trace]\nfile = \"x.csv\"\n[channel]\nmodel = \"bernoulli\"\nerasures = 0.1\nslot = \"1 ms\"",
            "geo.toml line 6: channel.slot: the slots come from [trace]",
        ),
        (
            "[channel]\nmodel = \"bernoulli\"\nesn0 = \"6 dB\"",
            "geo.toml line 3: channel.esn0: belongs to model = \"lms\"",
        ),
        (
            "[channel]\nmodel = \"lms\"\nesn0 = 6",
            "geo.toml line 3: channel.esn0: `6` has no unit; write a level as e.g. \"6 dB\" (units: dB)",
        ),
        (
            "[channel]\nmodel = \"lms\"\nesn0 = \"600 dB\"",
            "geo.toml line 3: channel.esn0: 600 cannot be; give a level in dB from -100 to 100",
        ),
        (
            "[channel]\nmodel = \"lms\"\npreset = \"internt\"",
            "geo.toml line 3: channel.preset: unknown value `internt`, one of internet, distribution, distribution-down, its (did you mean internet?)",
        ),
        (
            "[channel]\nmodel = \"lms\"\nenvironment = \"rural-woded\"",
            "geo.toml line 3: channel.environment: unknown value `rural-woded`, one of urban, suburban, rural-wooded, village, residential (p681), open, suburban, intermediate-tree-shadowed, heavy-tree-shadowed (perez-fontan) (did you mean rural-wooded?)",
        ),
        (
            "[channel]\nmodel = \"lms\"\nenvironment = \"urban\"\npropagation = \"perez-fontan\"",
            "geo.toml line 3: channel.environment: the Perez-Fontan tables hold no environment `urban`; they hold open,",
        ),
        (
            "[channel]\nmodel = \"lms\"\nenvironment = \"urban\"\npropagation = \"p618\"",
            "geo.toml line 4: channel.propagation: unknown value `p618`, one of p681, perez-fontan (did you mean p681?)",
        ),
        (
            "[channel]\nmodel = \"lms\"\nenvironment = \"urban\"\nelevation = \"10 deg\"",
            "geo.toml line 4: channel.elevation: elevation 10 degrees is outside the P.681 table of urban, which holds 20 to 70 degrees",
        ),
        (
            "[channel]\nmodel = \"lms\"\nelevation = \"40 deg\"",
            "geo.toml line 3: channel.elevation: belongs to an environment; name one",
        ),
        (
            "[channel]\nmodel = \"lms\"\nenvironment = \"urban\"\ncarrier = \"12 GHz\"",
            "geo.toml line 4: channel.carrier: a carrier of 12 GHz is outside the P.681 tables",
        ),
        (
            "[channel]\nmodel = \"lms\"\nspeed = \"0 km/h\"",
            "geo.toml line 3: channel.speed: 0 cannot be; give a speed in km/h, above 0",
        ),
        (
            "[channel]\nmodel = \"lms\"\nspeed = \"60 knots\"",
            "geo.toml line 3: channel.speed: `60 knots`: a speed is in km/h, m/s",
        ),
        (
            "[channel]\nmodel = \"lms\"\nenvironment = \"urban\"\n[channel.loo]\ndirect = \"0 dB\"\npsi = \"1 dB\"\nmultipath = \"-11 dB\"\ncorrelation = \"1.7 m\"",
            "geo.toml line 1: channel: environment, loo and trees each say",
        ),
        (
            "[channel]\nmodel = \"lms\"\n[channel.loo]\ndirect = \"0 dB\"\npsi = \"-1 dB\"\nmultipath = \"-11 dB\"\ncorrelation = \"1.7 m\"",
            "geo.toml line 5: channel.loo.psi: -1 cannot be; give a standard deviation in dB from 0 to 30",
        ),
        (
            "[channel]\nmodel = \"lms\"\n[channel.trees]\ngap = \"65 m\"\ncrossing = \"5 m\"\ndepth = \"5 dB\"\nspread = \"0 dB\"\nmultipath = \"60 dB\"",
            "geo.toml line 8: channel.trees.multipath: 60 cannot be",
        ),
        (
            "[channel]\nmodel = \"lms\"\nmodulation = \"8psk\"",
            "geo.toml line 3: channel.modulation: unknown value `8psk`, one of qpsk, 16qam",
        ),
        (
            "[channel]\nmodel = \"lms\"\nreference = \"mean power\"",
            "geo.toml line 3: channel.reference: unknown value `mean power`, one of mean",
        ),
        (
            "[channel]\nmodel = \"lms\"\ncode = \"turbo-264-1/2\"",
            "one of turbo-264-1/3, turbo-264-2/3, turbo-12184-1/3, turbo-12184-2/3 (did you mean turbo-264-1/3?)",
        ),
        (
            "[channel]\nmodel = \"lms\"\ncode = \"turbo-264-1/3\"\nthreshold = 0.5",
            "geo.toml line 4: channel.threshold: give one of",
        ),
        (
            "[channel]\nmodel = \"lms\"\nthreshold = 1.5",
            "geo.toml line 3: channel.threshold: 1.5 cannot be; give a mutual information",
        ),
        (
            "[channel]\nmodel = \"lms\"\nper_table = [[0.5, 0.1]]",
            "geo.toml line 3: channel.per_table: the table of packet error rates has fewer than two rows",
        ),
        (
            "[channel]\nmodel = \"lms\"\nper_axis = \"esn0\"",
            "geo.toml line 3: channel.per_axis: belongs to `per_table`",
        ),
        (
            "[channel]\nmodel = \"lms\"\nerasures = 0.1",
            "geo.toml line 3: channel.erasures: belongs to another model",
        ),
        (
            "[channel]\nmodel = \"lms\"\ndecoding = \"36 ms\"",
            "geo.toml line 3: channel.decoding: with \"lms\" it is the interleaver's depth",
        ),
        (
            "[channel]\nmodel = \"lms\"\ninterleaving = \"2 h\"",
            "geo.toml line 3: channel.interleaving: 7200000 cannot be; give an interleaver of up to 1000 s",
        ),
        (
            "[channel]\nmodel = \"lms\"\nlength = \"1 us\"",
            "geo.toml line 3: channel.length: 1 us hold 0 slots",
        ),
        (
            "[channel]\nmodel = \"lms\"\nrate = \"1 Mbit/s\"\nslot = \"1 ms\"",
            "geo.toml line 3: channel.rate: `slot` and `rate` say the same",
        ),
        (
            "[trace]\nfile = \"x.csv\"\n[channel]\nmodel = \"lms\"",
            "geo.toml line 4: channel.model: \"lms\" makes slots of its own",
        ),
        ("[trace]\nfile = \"x.csv\"\nshare = 0", "geo.toml line 3: trace.share: keeps no slot"),
        ("[trace]\nunit = \"ms\"", "geo.toml line 1: trace: missing key `file`"),
        ("seed = 1", "geo.toml: nothing to send over; give [trace]"),
        (
            "[application]\nsize = \"1 kB\"",
            "geo.toml line 2: application.size: belongs to type = \"file\"",
        ),
        ("[application]\ntype = \"file\"", "geo.toml line 1: application: missing key `size`"),
        ("[transport]\nprotocol = \"udp\"", "application.type: datagrams have no flow control"),
        (
            "[transport]\npacket = \"40 B\"",
            "geo.toml line 2: transport.packet: 40 B is no IP packet that carries data; give 53 B to 65535 B",
        ),
        (
            "[transport]\ncongestion = \"cubik\"",
            "geo.toml line 2: transport.congestion: unknown value `cubik`, one of newreno, cubic, hybla, westwood, compound, bbr (did you mean cubic?)",
        ),
        (
            "[transport]\ncongestion = \"cubic\"\nsack = false",
            "geo.toml line 1: transport: without SACK there is newreno only",
        ),
        (
            "[transport.linux]\nrack = false",
            "geo.toml line 1: transport.linux: belongs to profile = \"linux\"",
        ),
        (
            "[transport]\nprofile = \"linux\"\n[transport.linux]\nrak = false",
            "geo.toml line 4: transport.linux.rak: unknown key, one of handshake, rack, tail_loss_probe, prr, dsack, undo, frto, max_reordering, hystart, quick_ack, slow_start_after_idle, pacing (did you mean rack?)",
        ),
        (
            "[transport]\nprofile = \"linux\"\nlinux.max_reordering = 2",
            "geo.toml line 1: transport: max_reordering = 2: give 3 segments",
        ),
        ("flows = 0", "geo.toml line 1: flows: 0 flows"),
        ("flows = 2\n[[flow]]\ncount = 3", "geo.toml line 1: flows: [[flow]] lists the flows"),
        (
            "[[flow]]\n[flow.transport]\npaket = \"1 B\"",
            "geo.toml line 3: flow.0.transport.paket: unknown key",
        ),
        ("[link]\nqueue = \"many\"", "geo.toml line 2: link.queue: `many` is no queue"),
        (
            "[[path]]\nleg = { delay = \"1 ms\" }\nscheme = \"ARQ\"",
            "path.0.leg: a hop is a leg or a link",
        ),
        (
            "[return]\ndelay = \"1 ms\"\n[return.channel]\nmodel = \"bernoulli\"\nerasures = 0.0\nslot = \"1 ms\"\n[trace]\nfile=\"a\"",
            "geo.toml line 2: return.delay: the way back has a link",
        ),
        (
            "[vary]\nshceme = [\"ARQ\"]\n",
            "geo.toml line 2: vary.shceme: unknown key (did you mean scheme?)",
        ),
        ("[vary]\nscheme = \"ARQ\"\n", "geo.toml line 2: vary.scheme: one value does not vary"),
        ("[vary]\nscheme = []\n", "geo.toml line 2: vary.scheme: the list is empty"),
        (
            "[vary]\nscheme = [\"ARQ\", \"ARQ\"]\n",
            "geo.toml line 2: vary.scheme: `ARQ` is there twice",
        ),
        (
            "[vary]\nscheme = [\"ARQ\", \"ARC\"]\n[trace]\nfile = \"x\"",
            "geo.toml line 2: scheme: ARC: unknown scheme",
        ),
        (
            "[vary]\naccess = [{ delay = \"1 ms\" }]\n",
            "geo.toml line 2: vary.access.0: only plain values have a label",
        ),
        (
            "[vary.condition.bad]\nchannel.erasurs = 0.1\n[channel]\nmodel = \"bernoulli\"\nslot = \"1 ms\"",
            "geo.toml line 2: channel.erasurs: unknown key",
        ),
        (
            "[vary.condition.bad]\nvary.x = 1\n",
            "geo.toml line 2: vary.condition.bad.vary.x: cannot vary",
        ),
        ("[vary.condition]\nbad = 1\n", "geo.toml line 1: vary.condition: unknown key"),
        ("vary = 1", "geo.toml line 1: vary: is no section"),
        (
            "[[printed]]\nmetric = \"x\"\nvalue = 1\nwhere = { speed = \"1\" }",
            "geo.toml line 4: printed.0.where.speed: no such axis; [vary] has none",
        ),
        (
            "[[printed]]\nmetric = \"x\"\nvalue = 1\nwhere = { scheme = \"HARQ\" }\n[vary]\nscheme = [\"ARQ\"]",
            "geo.toml line 4: printed.0.where.scheme: no label `HARQ`; the axis has ARQ",
        ),
        ("[[printed]]\nmetric = \"x\"\n", "geo.toml line 1: printed.0: missing key `value`"),
        ("name = ", "geo.toml line 1: not TOML: "),
        ("a = 1\na = 2", "geo.toml line 2: not TOML: duplicate key"),
    ];
    for (text, expected) in table {
        let message = error(text);
        assert!(
            message.contains(expected),
            "for {text:?}\n  got      {message}\n  expected {expected}"
        );
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn cells_are_the_product_of_the_axes_in_the_order_of_the_file() {
    let scenario = with_channel(
        "[vary]\nscheme = [\"ARQ\", \"HARQ(10/12)\"]\ntransport.congestion = [\"newreno\", \"cubic\"]\n\
         [vary.task.page]\napplication.type = \"file\"\napplication.size = \"100 kB\"\nduration = \"60 s\"\n\
         [vary.task.bulk]\n",
    );
    let names: Vec<_> = scenario.axes().iter().map(|axis| axis.name.as_str()).collect();
    assert_eq!(names, ["scheme", "congestion", "task"]);
    assert_eq!(scenario.cells().len(), 8);
    let cell = &scenario.cells()[5];
    let labels: Vec<_> = cell.labels().iter().map(|(_, label)| label.as_str()).collect();
    assert_eq!(labels, ["HARQ(10/12)", "newreno", "bulk"]);
    assert_eq!(cell.config().transport.congestion, Congestion::Newreno);
    assert_eq!(cell.config().duration, Duration::from_secs(400));
    assert!(!cell.plan().stop_when_done);
    assert!(scenario.cells()[4].plan().stop_when_done);
    assert_eq!(scenario.cells()[4].config().duration, Duration::from_secs(60));
}

#[test]
fn parts_of_a_stack_are_switched_by_themselves() {
    let stack = "[transport]\nprofile = \"linux\"\nlinux = { rack = false, pacing = true }\n";
    let flow = "[[flow]]\ntransport.linux.rack = true\n";
    let changes = [("transport.linux.max_reordering".to_owned(), "3".to_owned())];
    let text = format!("{stack}{flow}{CHANNEL}");
    let scenario = Scenario::parse("geo.toml", &text, &changes).unwrap();
    let config = scenario.cells()[0].config();
    let all = Linux::default();
    let expected = Linux { rack: false, pacing: true, max_reordering: 3, ..all };
    assert_eq!(config.transport.linux, Some(expected));
    assert_eq!(config.flow[0].transport.linux, Some(Linux { rack: true, ..expected }));
    assert_eq!(LinuxOptions::from(all), LinuxOptions::default());
}

#[test]
fn changes_from_outside_win_and_end_a_variation() {
    let text = format!("[vary]\nscheme = [\"ARQ\", \"none\"]\nseed = [1, 2]\n{CHANNEL}");
    let changes = [
        ("scheme".to_owned(), "FEC(10/12)".to_owned()),
        ("link.rtt".to_owned(), "600 ms".to_owned()),
        ("transport.delayed_ack".to_owned(), "true".to_owned()),
    ];
    let scenario = Scenario::parse("geo.toml", &text, &changes).unwrap();
    assert_eq!(scenario.cells().len(), 2);
    let config = scenario.cells()[1].config();
    assert_eq!((config.scheme.to_string().as_str(), config.seed), ("FEC(10/12)", 2));
    assert_eq!(config.link.rtt, Duration::from_millis(600));
    let usual = DelayedAck::After(Duration::from_millis(40));
    assert_eq!(config.transport.delayed_ack, Some(usual));

    let wrong = |key: &str, value: &str| {
        let changes = [("runs".to_owned(), "2".to_owned()), (key.to_owned(), value.to_owned())];
        Scenario::parse("geo.toml", &text, &changes).unwrap_err().to_string()
    };
    assert_eq!(
        wrong("link.rtt", "6"),
        "geo.toml, set link.rtt = 6: link.rtt: `6` has no unit; write a time as e.g. \"500 ms\" (units: ns, us, ms, s, min, h)"
    );
    assert!(
        wrong("link.rat", "6 ms")
            .starts_with("geo.toml, set link.rat = 6 ms: link.rat: unknown key")
    );
    assert!(wrong("seed.x", "6").contains("seed.x"));
    assert!(wrong("", "6").contains("is no key to change"));
}

#[test]
fn printed_values_follow_a_change_of_their_axis() {
    let text = format!(
        "[[printed]]\nmetric = \"x\"\nvalue = 1\nwhere = {{ scheme = \"ARQ\" }}\n\
         [[printed]]\nmetric = \"x\"\nvalue = 2\nwhere = {{ scheme = \"none\" }}\n\
         [vary]\nscheme = [\"ARQ\", \"none\"]\n{CHANNEL}"
    );
    let printed = |scheme: &str| {
        let changes = [("scheme".to_owned(), scheme.to_owned())];
        let scenario = Scenario::parse("geo.toml", &text, &changes).unwrap();
        scenario.printed().iter().map(|printed| printed.value).collect::<Vec<_>>()
    };
    assert_eq!(printed("none"), [2.0]);
    assert_eq!(printed("FEC(10/12)"), [0.0; 0]);
    assert_eq!(Scenario::parse("geo.toml", &text, &[]).unwrap().printed().len(), 2);
}

#[test]
fn flows_take_from_the_scenario_what_they_leave_out() {
    let scenario = with_channel(
        "[transport]\npacket = \"500 B\"\ncongestion = \"newreno\"\n[application]\ntype = \"file\"\nsize = \"1 MB\"\n\
         [access]\ndelay = \"20 ms\"\n\
         [[flow]]\ncount = 2\n[[flow]]\nstart = \"3 s\"\ntransport.congestion = \"cubic\"\napplication.type = \"bulk\"",
    );
    let plan = scenario.cells()[0].plan();
    assert_eq!(plan.flows.len(), 3);
    let (first, last) = (&plan.flows[0], &plan.flows[2]);
    assert_eq!(first.application.kind, ApplicationKind::File);
    assert_eq!((last.transport.packet.0, last.transport.congestion), (500, Congestion::Cubic));
    assert_eq!(last.application.kind, ApplicationKind::Bulk);
    assert_eq!(last.application.size, None);
    assert!(first.access.is_some());
    // The destination's leg on the way there and back, and a fixed delay of half the round trip.
    assert_eq!((plan.forward.len(), plan.backward.len()), (2, 2));
    assert!(
        matches!(&plan.backward[1], PlannedHop::Leg(leg) if leg.delay == Duration::from_millis(250))
    );
}

#[test]
fn a_link_back_has_the_keys_of_the_link_and_a_channel_of_its_own() {
    let scenario = with_channel(
        "[link]\nrtt = \"600 ms\"\nwrap = true\n[return]\nscheme = \"ARQ\"\nlink.queue = \"64 kB\"\n\
         [return.channel]\nmodel = \"gilbert-elliott\"\nerasures = 0.02\nburst = \"10 ms\"\nrate = \"263 kbit/s\"",
    );
    let cell = &scenario.cells()[0];
    let links = cell.links(0);
    assert_eq!(links.len(), 2);
    let [
        LinkSpec::LinkTrace { phy, rtt_ns: 600_000_000, .. },
        LinkSpec::LinkTrace { phy: back, rtt_ns: 600_000_000, scheme, .. },
    ] = &links[..]
    else {
        panic!("two link traces: {links:?}");
    };
    assert_eq!(scheme, "ARQ");
    assert_ne!(phy.seed, back.seed);
    let Some(Erasures::GilbertElliott { alpha, beta, p_good, p_bad }) = back.erasures else {
        panic!("the model of the file");
    };
    // Stationary share of bad slots and mean stay, back from alpha and beta.
    assert!(((1.0 - alpha) / (2.0 - alpha - beta) - 0.02).abs() < 1e-12);
    assert!((1.0 / (1.0 - beta) - 10e6 / 1_003_802.0).abs() < 1e-9);
    assert_eq!((p_good, p_bad), (0.0, 1.0));
}

#[test]
fn a_live_link_needs_a_phy_trace_and_has_keys_of_its_own() {
    let scenario = with_channel(
        "scheme = \"HARQ(10/12)\"\n[link]\nlive = true\nflush = \"20 ms\"\nfeedback_loss = \"5 %\"\n\
         send_buffer = 100",
    );
    let cell = &scenario.cells()[0];
    let [spec @ LinkSpec::PhyTrace { .. }] = &cell.links(0)[..] else { panic!("a PHY trace") };
    // The same slots and erasures as those of the open loop.
    let open = with_channel("scheme = \"HARQ(10/12)\"");
    assert_eq!(spec.phy(), open.cells()[0].links(0)[0].phy());
    let phy = PhyTrace::new(vec![0, 10].into(), vec![1, 0].into(), Bytes(33)).unwrap();
    let setup = cell.setup(0, &[LinkInput::PhyTrace(phy)]).unwrap();
    let crate::simulation::Hop::Link(LinkConfig { medium: Medium::Live(live), .. }) =
        &setup.forward[0]
    else {
        panic!("a live link");
    };
    assert_eq!(live.scheme.to_string(), "HARQ(10/12)");
    assert_eq!((live.flush, live.send_buffer), (Duration::from_millis(20), NonZeroU32::new(100)));
    assert!(matches!(live.feedback_loss, FeedbackLoss::Random(p) if p.get() == 0.05));
    assert!(
        error(&format!("[link]\nflush = \"20 ms\"\n{CHANNEL}"))
            .contains("link.flush: is for links that run")
    );
    let both = format!("[link]\nlive = true\noverlap = \"papers\"\n{CHANNEL}");
    assert!(error(&both).contains("link.overlap: \"papers\" is how ns-2 read link traces"));
}

#[test]
fn replications_differ_in_what_is_drawn_and_cells_do_not() {
    let text = "runs = 3\n[vary]\nscheme = [\"ARQ\", \"none\"]";
    let scenario = with_channel(text);
    let [arq, none] = scenario.cells() else { panic!("two cells") };
    assert_eq!(arq.seed(0).0, 1);
    assert_eq!(arq.links(2)[0].phy(), none.links(2)[0].phy());
    assert_ne!(arq.links(1)[0].phy(), arq.links(2)[0].phy());

    let scenario = with_channel(&format!("{text}\n[link]\nstart = \"random\""));
    let cell = &scenario.cells()[0];
    // All share one trace and start at different times of it.
    assert_eq!(cell.links(1), cell.links(2));
    let span = [Some((0, 699_000_000_000, 1_003_802))];
    let starts: Vec<_> = (0..200).map(|run| cell.starts(run, &span).unwrap()[0]).collect();
    assert_eq!(
        starts,
        (0..200).map(|run| scenario.cells()[1].starts(run, &span).unwrap()[0]).collect::<Vec<_>>()
    );
    let latest = starts.iter().max().unwrap();
    assert!(*latest < Duration::from_secs(300) && *latest > Duration::from_secs(280), "{latest}");
    let short = cell.starts(0, &[Some((0, 1_000_000_000, 0))]).unwrap_err();
    assert_eq!(short.0, "link.start");
}

/// Keys reach the channel in its own units, and what is left out is the preset's.
#[test]
fn a_land_mobile_channel_is_what_its_keys_say() {
    let spec = |text: &str| {
        let text = format!("duration = \"30 s\"\nseed = 7\n[channel]\nmodel = \"lms\"\n{text}");
        let scenario = Scenario::parse("geo.toml", &text, &[]).unwrap();
        let phy = scenario.cells()[0].links(0)[0].phy().unwrap().clone();
        assert_eq!((phy.seed, phy.slots, phy.trace), (7, None, None));
        let Some(Erasures::Lms(spec)) = phy.erasures else { panic!("the model of the file") };
        spec
    };
    let plain = spec("");
    assert_eq!(plain.duration_ns, 90_000_000_000);
    assert_eq!((plain.options.preset.as_str(), plain.options.esn0_db), ("internet", None));
    let wood = spec(
        "preset = \"distribution\"\nesn0 = \"-1.5 dB\"\nenvironment = \"rural-wooded\"\npropagation = \"p681\"\n\
         elevation = \"45 deg\"\ncarrier = \"2200 MHz\"\nspeed = \"10 m/s\"\ninterleaving = \"0 ms\"\nbranches = 2\n\
         reference = \"los\"\nmodulation = \"qpsk\"\nper_table = [[-1, 0.9], [2.5, 0.01]]\nper_axis = \"esn0\"\n\
         offset = \"0.5 dB\"\nrate = \"264 kbit/s\"\nlength = \"40 s\"",
    );
    assert_eq!(wood.duration_ns, 40_000_000_000);
    let options = wood.options;
    assert_eq!((options.esn0_db, options.offset_db), (Some(-1.5), Some(0.5)));
    assert_eq!((options.elevation_deg, options.speed_kmh), (Some(45.0), Some(36.0)));
    assert!((options.carrier_ghz.unwrap() - 2.2).abs() < 1e-12);
    assert_eq!((options.interleaving_ns, options.branches), (Some(0), Some(2)));
    assert_eq!(options.per_table, Some(vec![(-1.0, 0.9), (2.5, 0.01)]));
    // 33 bytes at 264 kbit/s.
    assert_eq!((options.slot_ns, options.lldu_bytes), (Some(1_000_000), None));
    let loo = spec(
        "loo = { direct = \"-1 dB\", psi = \"0.5 dB\", multipath = \"-13 dB\", correlation = \"1.7 m\" }",
    );
    assert_eq!(loo.options.loo, Some((-1.0, 0.5, -13.0, 1.7)));
    let trees = spec(
        "trees = { gap = \"0.065 km\", crossing = \"5 m\", depth = \"5.28 dB\", spread = \"1 dB\", multipath = \"-25 dB\" }",
    );
    assert_eq!(trees.options.trees, Some((65.0, 5.0, 5.28, 1.0, -25.0)));
}

#[test]
fn es_n0_varies_like_any_other_key() {
    let text = "[channel]\nmodel = \"lms\"\n[vary]\nchannel.esn0 = [\"5 dB\", \"6 dB\"]\nscheme = [\"ARQ\", \"none\"]";
    let scenario = Scenario::parse("geo.toml", text, &[]).unwrap();
    let [low, _, high, _] = scenario.cells() else { panic!("four cells") };
    assert_eq!(low.labels()[0], ("esn0".to_owned(), "5 dB".to_owned()));
    let (low, high) =
        (low.links(1)[0].phy().unwrap().clone(), high.links(1)[0].phy().unwrap().clone());
    // The same road at both levels.
    assert_eq!(low.seed, high.seed);
    assert_ne!(low.erasures, high.erasures);
}

#[test]
fn a_hybrid_link_is_what_its_keys_say() {
    let cell = |text: &str| {
        let scenario = Scenario::parse("geo.toml", text, &[]).unwrap();
        scenario.cells()[0].clone()
    };
    let medium = |setup: &Setup| match &setup.forward[0] {
        Hops::Link(link) => link.medium.clone(),
        Hops::Leg(_) => panic!("a link"),
    };
    let plain = cell("[hybrid]\nn = 11\nloss = \"2 %\"\ndelay = \"20 ms\"\n");
    assert_eq!(plain.links(0), [LinkSpec::Nothing]);
    let setup = plain.setup(0, &[LinkInput::Nothing]).unwrap();
    let Medium::Hybrid(config) = medium(&setup) else { panic!("a hybrid link") };
    assert_eq!((config.data, config.total, config.frames, config.persistency), (10, 11, 6, 5));
    assert_eq!((config.delay, config.in_order), (Duration::from_millis(20), true));
    assert!(matches!(config.losses, UnitLosses::Bernoulli(p) if p.get() == 0.02));
    let Hops::Leg(back) = &setup.backward[0] else { panic!("a leg") };
    assert_eq!(back.delay, Duration::from_millis(20).into());
    let traced = cell("[hybrid]\n[trace]\nfile = \"x.csv\"\n");
    let phy = PhyTrace::new(vec![0, 1].into(), vec![1, 0].into(), Bytes(25)).unwrap();
    let setup = traced.setup(0, &[LinkInput::PhyTrace(phy)]).unwrap();
    let Medium::Hybrid(config) = medium(&setup) else { panic!("a hybrid link") };
    assert!(matches!(config.losses, UnitLosses::Trace(_)));
    for (text, expected) in [
        ("[hybrid]\nn = 9\n", "geo.toml line 1: hybrid: hybrid link: a frame carries K of N"),
        ("scheme = \"ARQ\"\n[hybrid]\n", "geo.toml line 1: scheme: [hybrid] is the scheme"),
        (
            "[hybrid]\nloss = 0.1\n[trace]\nfile = \"x\"\n",
            "geo.toml line 2: hybrid.loss: the trace",
        ),
        ("link.rtt = \"1 s\"\n[hybrid]\n", "geo.toml line 1: link.rtt: is not for [hybrid]"),
        ("[hybrid]\n[[path]]\n", "geo.toml line 1: hybrid: [[path]] gives"),
        ("[hybrid]\ndelta = 3\n", "geo.toml line 2: hybrid.delta"),
    ] {
        assert!(error(text).starts_with(expected), "{}", error(text));
    }
}

#[test]
fn a_3gpp_link_is_what_its_keys_say() {
    let setup = |text: &str, input: LinkInput| {
        let scenario = Scenario::parse("geo.toml", text, &[]).unwrap();
        let setup = scenario.cells()[0].setup(0, &[input]).unwrap();
        let Hops::Link(link) = &setup.forward[0] else { panic!("a link") };
        let Medium::Ntn(config) = link.medium.clone() else { panic!("a 3GPP link") };
        (config, setup)
    };
    let ms = Duration::from_millis;
    let text = "[ntn]\nrlc = \"um\"\nharq_feedback = false\nbler = [\"2 %\", 0.5]\ndelay = \"20 ms\"\nt_reordering = \"7 ms\"\n";
    let (config, run) = setup(text, LinkInput::Nothing);
    assert_eq!(config.harq.mode, HarqMode::NoFeedback);
    assert!(matches!(config.rlc, RlcConfig::Um(_)));
    let NtnPhy::Random { bler, .. } = &config.phy else { panic!("random errors") };
    assert_eq!(bler.iter().map(|p| p.get()).collect::<Vec<_>>(), [0.02, 0.5]);
    assert_eq!(config.pdcp.t_reordering, Some(ms(7)));
    let Hops::Leg(back) = &run.backward[0] else { panic!("a leg") };
    assert_eq!(back.delay, ms(20).into());
    let phy = PhyTrace::new(vec![0, 1].into(), vec![1, 0].into(), Bytes(900)).unwrap();
    let text = "[ntn]\nmax_retx = 0\n[trace]\nfile = \"x.csv\"\n";
    let (config, _) = setup(text, LinkInput::PhyTrace(phy));
    assert_eq!(config.tb(), Bytes(900));
    assert!(matches!(config.rlc, RlcConfig::Am(am) if am.max_retx.is_none()));
    for (text, expected) in [
        ("[ntn]\npreset = \"leo\"\n", "geo.toml line 2: ntn.preset: unknown; write one of nr-"),
        ("[ntn]\ntb = \"5 B\"\n", "geo.toml line 1: ntn: a transport block of 5 bytes"),
        ("scheme = \"ARQ\"\n[ntn]\n", "geo.toml line 1: scheme: [ntn] has its own"),
        ("[ntn]\nbler = [0.1]\n[trace]\nfile = \"x\"\n", "geo.toml line 2: ntn.bler: the trace"),
        ("[ntn]\n[hybrid]\n", "geo.toml line 1: ntn: a link is of one kind"),
        ("link.rtt = \"1 s\"\n[ntn]\n", "geo.toml line 1: link.rtt: is not for [ntn]"),
    ] {
        assert!(error(text).starts_with(expected), "{}", error(text));
    }
}

/// A channel of 10 ms that lets half of the coded bits through, and what a file of delays says.
fn information(delays: Option<[u64; 2]>) -> LinkInput {
    let ms = Duration::from_millis;
    let trace = Arc::new(MiTrace::new(ms(1), vec![0.5; 10]).unwrap());
    let series = delays.map(|delays| {
        let steps = delays.iter().zip(0..).map(|(d, at)| (Instant::ZERO + ms(at), ms(*d)));
        Arc::new(DelaySeries::new(steps.collect()).unwrap())
    });
    LinkInput::Information { trace, mean: 0.5, delays: series }
}

#[test]
fn an_adaptive_harq_link_is_what_its_keys_say() {
    let setup = |text: &str, inputs: &[LinkInput]| {
        let scenario = Scenario::parse("geo.toml", text, &[]).unwrap();
        let setup = scenario.cells()[0].setup(0, inputs).unwrap();
        let hops = [&setup.forward[..], &setup.backward[..]].concat();
        let config = hops.iter().find_map(|hop| match hop {
            Hops::Link(LinkConfig { medium: Medium::AdaptiveHarq(config), .. }) => Some(config),
            _ => None,
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
    let (plain, run) = setup("[adaptive_harq]\n", &[information(None)]);
    let (sizing, threshold) = AdaptiveHarqConfig::fitted(0.5);
    assert_eq!((&plain.sizing, plain.threshold), (&sizing, threshold));
    assert_eq!((plain.max_retransmissions, plain.step), AdaptiveHarqConfig::PAPER);
    assert_eq!((plain.rate.bits_per_second(), plain.reorder), (50_000_000, None));
    assert_eq!(delays(&run), [ms(80).into()]);
    let text = "[adaptive_harq]\ndelay = \"20 ms\"\nrate = \"1 Mbit/s\"\nfirst = 2\nincrement = 0.1\npacket_sigma = 0\nattempt_sigma = 0.1\nmax_retx = 5\nstep = \"7 ms\"\n";
    let (own, run) = setup(text, &[information(None)]);
    assert_eq!(own.sizing, Sizing::Fixed { first: 4.0, increment: 0.2 });
    assert_eq!(own.threshold, Threshold { packet_sigma: 0.0, attempt_sigma: 0.1 });
    assert_eq!((own.max_retransmissions, own.step), (5, ms(7)));
    assert_eq!((own.rate.bits_per_second(), delays(&run)), (1_000_000, vec![ms(20).into()]));
    let text = "[adaptive_harq]\ntargets = [\"70 %\", 0.5]\nmax_retx = 1\n";
    let (sized, _) = setup(text, &[information(None)]);
    assert_eq!(sized.sizing, Sizing::Missing { levels: [0.5, 0.5].into() });
    // What is sent back follows the satellites, too, and is longer by what else is on the way.
    let text = "[adaptive_harq]\ndelays = \"leo.csv\"\nkeep_order = true\n";
    let (moving, run) = setup(text, &[information(Some([80, 70]))]);
    assert!(matches!(moving.delay, Propagation::Varying { keep_order: true, .. }));
    assert_eq!(delays(&run), std::slice::from_ref(&moving.delay));
    let text = "[[path]]\nleg.delay = \"5 ms\"\n[[path]]\nadaptive_harq.delays = \"leo.csv\"\n";
    let (moving, run) = setup(text, &[information(Some([80, 70]))]);
    assert!(matches!(moving.delay, Propagation::Varying { keep_order: false, .. }));
    assert_eq!(delays(&run), [ms(5).into(), moving.delay]);
    // A link of its own on the way back.
    let text = "[adaptive_harq]\n[return.adaptive_harq]\ndelay = \"3 ms\"\n";
    let (_, run) = setup(text, &[information(None), information(None)]);
    assert_eq!(delays(&run), [ms(3).into()]);
    // A sum that only shows once the channel is there.
    let text = "[adaptive_harq]\nfirst = 900\n";
    let scenario = Scenario::parse("geo.toml", text, &[]).unwrap();
    let (key, message) = scenario.cells()[0].setup(0, &[information(None)]).unwrap_err();
    assert!(key == "adaptive_harq.first" && message.contains("1000"), "{key}: {message}");
}

#[test]
fn the_channel_of_adaptive_harq_follows_the_seed_of_the_run() {
    let spec = |text: &str, replication: u32| {
        let text = format!("seed = 7\nduration = \"30 s\"\nruns = 3\n{text}");
        let scenario = Scenario::parse("geo.toml", &text, &[]).unwrap();
        let seed = scenario.cells()[0].seed(replication).0;
        (scenario.cells()[0].links(replication), seed)
    };
    let of = |spec: &LinkSpec| match spec {
        LinkSpec::Information { duration_ns, seed, .. } => (*duration_ns, *seed),
        other => panic!("{other:?}"),
    };
    let minute = 60_000_000_000;
    for replication in 0..3 {
        let (specs, seed) = spec("[adaptive_harq]\n", replication);
        assert_eq!(of(&specs[0]), (minute + 30_000_000_000, seed));
        // As that of a land mobile channel does.
        let (lms, _) = spec(
            "[[path]]\nadaptive_harq.rate = \"1 Mbit/s\"\n[[path]]\nchannel.model = \"lms\"\n[[path]]\nadaptive_harq.rate = \"1 Mbit/s\"\n",
            replication,
        );
        assert_eq!(of(&lms[0]).1, seed);
        let (other, _) = spec(
            "[[path]]\nchannel.model = \"lms\"\n[[path]]\nadaptive_harq.rate = \"1 Mbit/s\"\n[[path]]\nchannel.model = \"lms\"\n",
            replication,
        );
        assert_eq!(of(&other[1]).1, lms[1].phy().unwrap().seed);
        assert_eq!(of(&lms[2]).1, other[2].phy().unwrap().seed);
        let (kept, _) = spec("[adaptive_harq]\nseed = 5\nlength = \"60 s\"\n", replication);
        assert_eq!(of(&kept[0]), (minute, 5));
        let (shared, _) = spec("[adaptive_harq]\n[link]\nstart = \"random\"\n", replication);
        assert_eq!(of(&shared[0]).1, 7);
    }
    let text = "[adaptive_harq]\n[vary]\nadaptive_harq.snr = [\"7 dB\", \"13 dB\"]\n";
    let scenario = Scenario::parse("geo.toml", text, &[]).unwrap();
    let [low, high] = scenario.cells() else { panic!("two cells") };
    assert_eq!(low.labels(), [("snr".to_owned(), "7 dB".to_owned())]);
    let [LinkSpec::Information { preset, esn0_db, delays, .. }] = &low.links(0)[..] else {
        panic!("a channel")
    };
    assert_eq!((preset.as_str(), *esn0_db, delays), ("its", 7.0, &None));
    assert_eq!(of(&low.links(0)[0]), of(&high.links(0)[0]));
    assert_ne!(low.links(0), high.links(0));
}

#[test]
fn a_start_in_the_channel_of_adaptive_harq_is_drawn_where_a_run_fits() {
    let text = "duration = \"4 ms\"\nruns = 50\n[adaptive_harq]\nlength = \"10 ms\"\n[link]\nstart = \"random\"\n";
    let scenario = Scenario::parse("geo.toml", text, &[]).unwrap();
    let start = |run| {
        let setup = scenario.cells()[0].setup(run, &[information(None)]).unwrap();
        let Hops::Link(link) = &setup.forward[0] else { panic!("a link") };
        link.start_offset
    };
    let latest = (0..50).map(start).max().unwrap();
    assert!(latest <= Duration::from_millis(6) && latest > Duration::from_millis(5), "{latest}");
}

#[test]
fn an_adaptive_harq_link_that_cannot_be_is_told_why() {
    for (keys, expected) in [
        (
            "preset = \"it\"",
            "line 2: adaptive_harq.preset: unknown; write one of internet, distribution, distribution-down, its (did you mean its?)",
        ),
        ("snr = 13", "line 2: adaptive_harq.snr: `13` has no unit"),
        ("snr = \"200 dB\"", "line 2: adaptive_harq.snr: 200 dB cannot be; give"),
        ("delays = \"\"", "line 2: adaptive_harq.delays: is empty"),
        ("delay = \"1 ms\"\ndelays = \"x\"", "line 3: adaptive_harq.delays: `delay` and"),
        ("keep_order = true", "line 2: adaptive_harq.keep_order: is for `delays`"),
        ("first = 0", "line 2: adaptive_harq.first: give coded bits"),
        ("increment = -1", "line 2: adaptive_harq.increment: give coded bits"),
        ("first = 1\ntargets = [1, 1, 1, 1]", "line 2: adaptive_harq.first: `targets` say"),
        ("targets = [0.5]", "line 2: adaptive_harq.targets: 1 for 4 attempts; give"),
        ("packet_sigma = -1", "line 2: adaptive_harq.packet_sigma: -1 cannot be"),
        ("max_retx = 8", "line 2: adaptive_harq.max_retx: 8 are too many; give 0 to 7"),
        ("step = \"0 s\"", "line 2: adaptive_harq.step: 0 ns cannot be"),
        ("length = \"1 us\"", "line 2: adaptive_harq.length: "),
        ("retries = 3", "line 2: adaptive_harq.retries: unknown key"),
        ("[trace]\nfile = \"x\"", "line 2: trace: [adaptive_harq] makes its channel"),
        ("[channel]\nmodel = \"lms\"", "line 2: channel: [adaptive_harq] makes its channel"),
        (
            "[hybrid]",
            "line 1: adaptive_harq: a link is of one kind; leave [adaptive_harq] or [hybrid]",
        ),
        ("[ntn]", "line 1: adaptive_harq: a link is of one kind"),
        ("[link]\nrtt = \"1 s\"", "line 3: link.rtt: is not for [adaptive_harq]"),
        ("[link]\nlive = true", "line 3: link.live: is not for [adaptive_harq]"),
        ("[link]\nlldu_header = \"2 B\"", "line 3: link.lldu_header: is not for"),
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

#[test]
fn the_top_level_keys_are_those_of_the_schema() {
    let schema: serde_json::Value = serde_json::from_str(&json_schema()).unwrap();
    let mut keys: Vec<&str> =
        schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    keys.retain(|key| !["vary", "printed"].contains(key));
    keys.sort_unstable();
    let mut known = super::read::KEYS.to_vec();
    known.sort_unstable();
    assert_eq!(keys, known);
}

#[test]
fn a_large_file_or_campaign_is_refused_before_any_work() {
    let large = " ".repeat(Scenario::MOST_BYTES + 1);
    assert!(error(&large).contains("too large for a scenario"));
    let many = (0..200).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let text = format!("[vary]\nseed = [{many}]\nruns = [{many}]\n");
    assert!(error(&text).contains("vary: more than 10000 cells"));
}

proptest! {
    #[test]
    fn no_text_panics(text in "[\\[\\]a-z0-9 .=\"\n{},]{0,80}", key in "[a-z.0-9]{0,9}", value in "\\PC{0,9}") {
        let _ = Scenario::parse("x.toml", &text, &[(key, value)]);
        let _ = Scenario::parse("x.toml", &format!("{text}\n{CHANNEL}"), &[]);
    }
}
