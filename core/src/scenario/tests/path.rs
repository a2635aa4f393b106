//! Flows and the way back.

use super::*;
use crate::application::ApplicationConfig;
use crate::channel::Model;
use crate::config::Registry;
use crate::scheme::LiveConfig;
use crate::simulation::{LegConfig, Loss};
use crate::trace::LinkTrace;
use crate::transport::tcp::CongestionAlgorithm;

#[test]
fn flows_inherit_the_keys_that_they_leave_out() {
    let scenario = with_channel(
        "[transport]\npacket = \"500 B\"\ncongestion = \"newreno\"\n[application]\ntype = \"file\"\nsize = \"1 MB\"\n\
         [access]\ndelay = \"20 ms\"\n\
         [[flow]]\ncount = 2\n[[flow]]\nstart = \"3 s\"\ntransport.congestion = \"cubic\"\napplication.type = \"bulk\"",
    );
    let plan = scenario.cells()[0].plan();
    assert_eq!(plan.flows.len(), 3);
    let (first, last) = (&plan.flows[0], &plan.flows[2]);
    assert!(first.is_transfer());
    assert_eq!(
        (last.transport.tcp.packet.0, last.transport.tcp.congestion),
        (500, CongestionAlgorithm::CUBIC)
    );
    assert_eq!(last.application, ApplicationConfig::default());
    assert!(first.access.is_some());
    // The destination's leg on the way there and back, and what the link takes.
    assert_eq!((plan.forward.len(), plan.backward.len()), (2, 2));
    assert!(matches!(&plan.backward[1], PlannedHop::WayBack(1)));
}

/// Given fates reach the engine in the order of their numbers, and invalid ones are refused with
/// the reason.
#[test]
fn a_leg_accepts_given_fates() {
    let leg = |keys: &str| format!("[[path]]\nleg = {{ rate = \"1 Mbit/s\", {keys} }}\n");
    let text = leg("lost_data = [17, 3], held_data = [[9, \"35 ms\"], [5, \"1 ms\"]]");
    let run = setup(&text, &Given::information(0.5));
    let Hops::Leg(LegConfig { loss: Loss::Data { lost, held }, .. }) = &run.forward[0] else {
        panic!("a leg with given fates");
    };
    assert_eq!(lost[..], [3, 17]);
    assert_eq!(held[..], [(5, Duration::from_millis(1)), (9, Duration::from_millis(35))]);
    for (keys, expected) in [
        ("lost_data = [3, 17, 3]", "leg.lost_data: packet 3 is listed twice; list it once"),
        (
            "lost_data = [3], held_data = [[3, \"1 ms\"]]",
            "leg.held_data: packet 3 is in `lost_data` and never arrives; leave it out",
        ),
        ("loss = 0.1, lost_data = [3]", "leg.lost_data: excludes `loss`; give random"),
        ("lost_data = [-1]", "leg.lost_data"),
        ("held_data = [[3, 5]]", "leg.held_data"),
    ] {
        let error = error(&leg(keys));
        assert!(error.contains(expected), "{keys}: {error}");
    }
}

#[test]
fn a_return_link_has_the_keys_of_the_link_and_its_own_channel() {
    let scenario = with_channel(
        "[link]\nrtt = \"600 ms\"\nwrap = true\n[return]\nscheme = \"ARQ\"\nlink.queue = \"64 kB\"\n\
         [return.channel]\nmodel = \"gilbert-elliott\"\nerasures = 0.02\nburst = \"10 ms\"\nrate = \"263 kbit/s\"\nlldu = \"33 B\"",
    );
    let cell = &scenario.cells()[0];
    let run = cell.setup(0, &Given::phy([phy(&[1; 9])])).unwrap();
    let rtt = |hop: &Hops| match hop {
        Hops::Link(link) => Some(link.medium.get::<LinkTrace>()?.parts().rtt),
        Hops::Leg(_) => None,
    };
    let rtts: Vec<_> = [run.forward, run.backward].concat().iter().filter_map(rtt).collect();
    assert_eq!(rtts, [Duration::from_millis(600); 2]);
    let [phy, back] = &asked(cell, 0)[..] else { panic!("two PHY traces") };
    assert_ne!(phy.seed, back.seed);
    let config = back.channel.as_ref().unwrap();
    let Model::GilbertElliott(bursts) = config.model else { panic!("the model of the file") };
    let chain = bursts.chain(Some(config.slot().unwrap())).unwrap();
    let (alpha, beta) = (chain.alpha(), chain.beta());
    // Stationary share of bad slots and mean stay, back from alpha and beta.
    assert!(((1.0 - alpha) / (2.0 - alpha - beta) - 0.02).abs() < 1e-12);
    assert!((1.0 / (1.0 - beta) - 10e6 / 1_003_802.0).abs() < 1e-9);
    assert_eq!((bursts.p_good.get(), bursts.p_bad.get()), (0.0, 1.0));
}

fn measured(rtt: u64) -> PhyTrace {
    let header =
        crate::trace::Header { rtt: Some(Duration::from_millis(rtt)), ..Default::default() };
    let plain = phy(&[1; 9]);
    PhyTrace::with_header(plain.t().clone(), plain.d().clone(), plain.lldu(), header).unwrap()
}

#[test]
fn the_default_round_trip_time_is_100_ms() {
    for live in ["", "live = true"] {
        let scenario = with_channel(&format!("[link]\n{live}"));
        let run = scenario.cells()[0].setup(0, &Given::phy([phy(&[1; 9])])).unwrap();
        let Hops::Link(LinkConfig { medium, .. }) = &run.forward[0] else { panic!("a link") };
        let rtt = match medium.get::<LinkTrace>() {
            Some(trace) => trace.parts().rtt,
            None => medium.get::<LiveConfig>().unwrap().timing.rtt,
        };
        assert_eq!(rtt, Duration::from_millis(100));
    }
}

#[test]
fn a_measured_round_trip_time_applies_unless_one_is_given() {
    let rtt = |keys: &str| {
        let text = format!("[trace]\nfile = \"x.csv\"\n[link]\nwrap = true\n{keys}");
        let scenario = Scenario::parse("geo.toml", &text, &[], &Registry::new()).unwrap();
        let traces = Given::phy([measured(24)]);
        let run = scenario.cells()[0].setup(0, &traces).unwrap();
        let rtt = match &run.forward[0] {
            Hops::Link(LinkConfig { medium, .. }) => match medium.get::<LinkTrace>() {
                Some(trace) => trace.parts().rtt,
                None => medium.get::<LiveConfig>().unwrap().timing.rtt,
            },
            other => panic!("{other:?}"),
        };
        (rtt.as_nanos() / 1_000_000, scenario.cells()[0].taken(&traces).unwrap())
    };
    let told = vec!["link.rtt: 24 ms, as the trace says".to_owned()];
    assert_eq!(rtt(""), (24, told.clone()));
    assert_eq!(rtt("live = true"), (24, told));
    let unused = "link.rtt: 500 ms as given; the trace's measured 24 ms is not used";
    assert_eq!(rtt("rtt = \"500 ms\""), (500, vec![unused.to_owned()]));
    assert_eq!(rtt("rtt = \"24 ms\""), (24, vec![]));
    let fast = "[trace]\nfile = \"x.csv\"\n[link]\nfeedback = \"9 ms\"\n";
    let (key, cure) = fault(fast, &Given::phy([measured(24)]));
    assert_eq!(
        (key.as_str(), cure.contains("give `rtt` (24 ms) or more")),
        ("link.feedback", true)
    );
}

#[test]
fn padding_of_more_than_a_twentieth_is_told() {
    let told = |lldu: u32, keys: &str| {
        let plain = phy(&[1; 9]);
        let phy = PhyTrace::new(plain.t().clone(), plain.d().clone(), Bytes(lldu)).unwrap();
        let text = format!("[trace]\nfile = \"x.csv\"\n[link]\nrtt = \"5 ms\"\n{keys}");
        let scenario = Scenario::parse("geo.toml", &text, &[], &Registry::new()).unwrap();
        scenario.cells()[0].taken(&Given::phy([phy])).unwrap()
    };
    let expected = "link.packing: packets of 1500 bytes take 2 LLDUs of 1228 bytes, of which 38.9 % \
                    is padding; with \"bytes\" packets share LLDUs";
    assert_eq!(told(1228, ""), [expected]);
    for (lldu, keys) in [(1500, ""), (33, ""), (1228, "packing = \"bytes\"\n")] {
        assert_eq!(told(lldu, keys), [""; 0], "{lldu} {keys}");
    }
}

#[test]
fn a_coupled_control_with_one_path_is_told() {
    let told = |keys: &str| {
        let text = format!("[trace]\nfile = \"x.csv\"\n[link]\nrtt = \"5 ms\"\n{keys}");
        let scenario = Scenario::parse("geo.toml", &text, &[], &Registry::new()).unwrap();
        scenario.cells()[0].taken(&Given::phy([phy(&[1; 9])])).unwrap().join("; ")
    };
    let over_one = "couples several `paths`; over one path it is newreno";
    let of_flow = told("[transport]\ncongestion = \"lia\"\n");
    assert_eq!(of_flow, format!("transport.congestion: lia {over_one}"));
    let of_proxy = told("[link.pep]\ncongestion = \"balia\"\n");
    assert_eq!(of_proxy, format!("link.pep.congestion: balia {over_one}"));
    assert_eq!(told("[transport]\ncongestion = \"newreno\"\n"), "");
}

#[test]
fn delays_behind_a_link_use_the_clock_of_its_trace() {
    // 7 ms, from 1 s on 3 ms; the trace of nine slots starts at 0.9 s.
    let text = "[link]\nstart = \"900 ms\"\ndelays = \"7.csv\"\nrtt = \"1 ms\"\n";
    let scenario = with_channel(text);
    let run = scenario.cells()[0].setup(0, &Given::phy([phy(&[1; 9])])).unwrap();
    for hops in [&run.forward, &run.backward] {
        let delay = |ms: u64| {
            let varies = |hop: &Hops| match hop {
                Hops::Leg(leg) if leg.delay.longest() > Duration::from_millis(1) => {
                    Some(leg.delay.at(Instant::from_nanos(ms * 1_000_000)))
                }
                _ => None,
            };
            hops.iter().find_map(varies).unwrap().as_nanos() / 1_000_000
        };
        assert_eq!([0, 99, 100, 5_000].map(delay), [7, 7, 3, 3]);
    }
}
