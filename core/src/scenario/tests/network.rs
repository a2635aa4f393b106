//! Networks: nodes, links by name, routes and flows between nodes.

use super::*;
use crate::config::Registry;
use crate::simulation::{self, Outcome};

/// From a to d by b in two links of 10 ms, or by one link of 90 ms; each way back is alike.
const DIAMOND: &str = "
[network.links.ab]
from = \"a\"
to = \"b\"
duplex = true
leg = { rate = \"8 Mbit/s\", delay = \"10 ms\", queue = \"50 packets\" }
[network.links.bd]
from = \"b\"
to = \"d\"
leg = { rate = \"2 Mbit/s\", delay = \"10 ms\", queue = \"50 packets\" }
return.leg = { rate = \"1 Mbit/s\", delay = \"10 ms\" }
[network.links.long]
from = \"a\"
to = \"d\"
duplex = true
leg = { rate = \"4 Mbit/s\", delay = \"90 ms\", queue = \"50 packets\" }
";

fn diamond(flow: &str) -> String {
    format!("{DIAMOND}\n[[flow]]\nfrom = \"a\"\nto = \"d\"\n{flow}")
}

fn given() -> Given {
    Given::information(0.5)
}

/// Names of the links that the only flow crosses, there and back.
fn ways(text: &str) -> [Vec<String>; 2] {
    let setup = setup(text, &given());
    let [ways] = &setup.routing.ways[..] else { panic!("one flow") };
    let names = &setup.routing.hop_names;
    [&ways.to_receiver, &ways.to_sender]
        .map(|way| way.iter().map(|&hop| names[hop as usize].to_string()).collect())
}

fn run(text: &str) -> Outcome {
    simulation::run(&setup(text, &given()), &mut ()).unwrap()
}

#[test]
fn routes_have_the_fewest_links_or_the_smallest_delay_or_are_given() {
    let both = |names: &[&str], back: &[&str]| {
        [names, back].map(|way| way.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(ways(&diamond("")), both(&["long"], &["long"]));
    let by_delay = format!("network.routing = \"delay\"\n{}", diamond(""));
    assert_eq!(ways(&by_delay), both(&["ab", "bd"], &["bd", "ab"]));
    let there = diamond("route = [\"ab\", \"bd\"]");
    assert_eq!(ways(&there), both(&["ab", "bd"], &["long"]));
    let back = diamond("return_route = [\"bd\", \"ab\"]");
    assert_eq!(ways(&back), both(&["long"], &["bd", "ab"]));
}

/// The hops of a chain, written as a network whose nodes stand in a row, give the same results bit
/// for bit, if they draw nothing: a link of a network draws by its name.
#[test]
fn a_network_in_a_row_is_the_chain() {
    let flow = "transport.packet = \"1000 B\"\napplication = { type = \"file\", size = \"2 MB\" }\ncount = 2";
    let first = "leg = { rate = \"8 Mbit/s\", delay = \"10 ms\", queue = \"9 packets\" }";
    let last = "hybrid = { k = 9, n = 12, frames = 6, persistency = 5, unit = \"25 B\", rate = \"4 Mbit/s\", delay = \"20 ms\", loss = 0.0 }";
    let back = "leg.delay = \"30 ms\"";
    let chain =
        format!("[[path]]\n{first}\n[[path]]\n{last}\n[[return.path]]\n{back}\n[[flow]]\n{flow}");
    let row = format!(
        "[network.links.x1]\nfrom = \"a\"\nto = \"b\"\n{first}\n[network.links.x2]\nfrom = \"b\"\nto = \"c\"\n{last}\n\
         [network.links.x3]\nfrom = \"c\"\nto = \"a\"\n{back}\n[[flow]]\n{flow}\nfrom = \"a\"\nto = \"c\""
    );
    let (chain, row) = (run(&chain), run(&row));
    assert_eq!(chain.flows, row.flows);
    assert_eq!(chain.forward[..], row.forward[..2]);
    assert_eq!(chain.backward[..], row.forward[2..]);
    assert!(chain.flows.iter().all(|flow| flow.completed.is_some()));
}

#[test]
fn summaries_have_the_names_of_links_and_flows() {
    let text = diamond(
        "name = \"web\"\ncount = 2\napplication = { type = \"file\", size = \"9 kB\" }\n\
         [[flow]]\nfrom = \"b\"\nto = \"d\"\nname = \"cross\"\nend = \"2 s\"\n\
         transport.protocol = \"udp\"\napplication = { type = \"constant rate\", rate = \"1 Mbit/s\" }",
    );
    let outcome = run(&text);
    let mut names = Vec::new();
    let collect = |name: &str, _| {
        if name.ends_with("packets_offered") || name.ends_with("segments_sent") {
            names.push(name.to_owned());
        }
        Ok::<_, ()>(())
    };
    outcome.numbers(collect).unwrap();
    let expected = [
        "segments_sent",
        "flows.web-0.segments_sent",
        "flows.web-1.segments_sent",
        "flows.cross.segments_sent",
        "links.ab.packets_offered",
        "links.bd.packets_offered",
        "links.long.packets_offered",
        "return_links.ab.packets_offered",
        "return_links.bd.packets_offered",
        "return_links.long.packets_offered",
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_flow_ends_at_its_end() {
    let rate = |bytes: u64, seconds: f64| bytes as f64 * 8.0 / seconds;
    let bulk = run(&format!("duration = \"20 s\"\n{}", diamond("start = \"1 s\"\nend = \"11 s\"")));
    let flow = &bulk.flows[0];
    // What was sent by then still crosses the network.
    assert!((11.0..11.2).contains(&flow.end.as_secs_f64()), "{:?}", flow.end);
    assert!((3.0e6..4.0e6).contains(&rate(flow.bytes_in_order, 10.0)), "{}", flow.goodput());
    let sent = |text: &str| {
        let udp = "transport.protocol = \"udp\"\napplication = { type = \"constant rate\", rate = \"1 Mbit/s\", message = \"1250 B\" }\n";
        run(&format!("duration = \"20 s\"\n{}", diamond(&format!("{udp}{text}")))).flows[0]
            .sender
            .segments_sent
    };
    // A message every 10 ms, the first at the start.
    assert_eq!(sent("end = \"2 s\""), 200);
    assert_eq!(sent("start = \"1 s\"\nend = \"2005 ms\""), 101);
}

/// Both paths of a flow, there and back; a flow over one of them has the same first path.
#[test]
fn a_flow_has_several_paths() {
    let text = diamond("paths = [[\"ab\", \"bd\"], [\"long\"]]\npath_scheduler = \"ecf\"");
    let both = setup(&text, &given());
    assert_eq!(both.flows[0].transport.paths(), 2);
    let names = |way: &[u32]| -> Vec<String> {
        way.iter().map(|&hop| both.routing.hop_names[hop as usize].to_string()).collect()
    };
    let [first] = &both.routing.ways[..] else { panic!("one flow") };
    assert_eq!([names(&first.to_receiver), names(&first.to_sender)], [["ab", "bd"], ["bd", "ab"]]);
    let [second] = &both.routing.further[&0][..] else { panic!("one further path") };
    assert_eq!([names(&second.to_receiver), names(&second.to_sender)], [["long"], ["long"]]);
    let goodput = |flow: &str| {
        let file = "application = { type = \"file\", size = \"9 MB\" }";
        run(&diamond(&format!("{flow}\n{file}"))).flows[0].goodput()
    };
    let alone = goodput("route = [\"long\"]");
    let both = goodput("paths = [[\"long\"], [\"ab\", \"bd\"]]");
    assert!(both > 1.3 * alone && alone > 3e6, "{both} {alone}");
}

#[test]
fn paths_that_cannot_be_are_refused_with_one_line() {
    let two = "paths = [[\"ab\", \"bd\"], [\"long\"]]\n";
    for (flow, expected) in [
        ("paths = [[\"long\"]]", "flow.0.paths: 1 paths; give 2 to 8, or `route` for one"),
        (
            "paths = [[\"long\"], [\"ab\"]]",
            "flow.0.paths: ends at b, not at d; add the links there",
        ),
        (
            "paths = [[\"long\"], [\"isl\"]]",
            "flow.0.paths.1: no link `isl`; the network has ab, bd, long",
        ),
        (
            &format!("{two}route = [\"long\"]"),
            "flow.0.route: `paths` gives the routes; leave one of them out",
        ),
        (
            &format!(
                "{two}transport.protocol = \"udp\"\napplication = {{ type = \"constant rate\", rate = \"1 Mbit/s\" }}"
            ),
            "flow.0.transport.protocol: several paths need protocol = \"tcp\"",
        ),
        (
            &format!("{two}transport.profile = \"papers\""),
            "flow.0.transport.profile: several paths need profile = \"linux\"",
        ),
        (
            &format!(
                "{two}application = {{ type = \"request\", request = \"300 B\", response = \"9 kB\" }}"
            ),
            "flow.0.application: several paths carry data in one direction",
        ),
        (
            &format!("{two}path_scheduler = \"rtt\""),
            "flow.0.path_scheduler: unknown value `rtt`, one of least rtt,",
        ),
        ("path_scheduler = \"ecf\"", "flow.0.path_scheduler: applies to a flow with `paths`"),
    ] {
        let error = error(&diamond(flow));
        assert!(error.contains(expected) && !error.contains('\n'), "{flow}\n{error}");
    }
    let one_way = DIAMOND.replace("return.leg = { rate = \"1 Mbit/s\", delay = \"10 ms\" }\n", "");
    let error = error(&format!("{one_way}[[flow]]\nfrom = \"a\"\nto = \"d\"\n{two}"));
    assert!(
        error.contains("flow.0.paths.0: link bd has one direction; acknowledgements"),
        "{error}"
    );
    let chain = format!("{CHANNEL}[[flow]]\n{two}");
    let error = self::error(&chain);
    assert!(error.contains("flow.0.paths: applies to a flow in a [network]"), "{error}");
}

/// A leg loses what leaves it in an outage.
#[test]
fn a_leg_has_outages() {
    let leg = |outages: &str| {
        let text = DIAMOND.replacen(
            "delay = \"90 ms\"",
            &format!("delay = \"90 ms\", outages = {outages}"),
            1,
        );
        format!("duration = \"20 s\"\n{text}[[flow]]\nfrom = \"a\"\nto = \"d\"")
    };
    let goodput = |outages: &str| run(&leg(outages)).flows[0].goodput();
    let out = goodput("[[\"5 s\", \"10 s\"]]");
    let none = goodput("[]");
    assert!(out < 0.8 * none && out > 0.3 * none, "{out} {none}");
    for (outages, expected) in [
        ("[[\"5 s\", \"5 s\"]]", "leg.outages: from 5 s to 5 s: give times in order"),
        ("[[\"5 s\", \"6 s\"], [\"5 s\", \"7 s\"]]", "leg.outages: from 5 s to 7 s: give"),
        ("[[\"5 s\", \"6 s\"]], loss = 0.1", "leg.outages: excludes `loss`; leave one of them out"),
    ] {
        let error = error(&leg(outages));
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn flows_arrive_by_a_process() {
    let file = "application = { type = \"file\", size = \"9 kB\" }\n";
    let starts = |text: &str, replication: u32| -> Vec<Instant> {
        let scenario =
            Scenario::parse("x.toml", &diamond(&format!("{file}{text}")), &[], &Registry::new())
                .unwrap();
        let setup = scenario.cells()[0].setup(replication, &given()).unwrap();
        assert_eq!(setup.routing.ways.len(), setup.flows.len());
        setup.flows.iter().map(|flow| flow.start).collect()
    };
    let times =
        "arrivals = { type = \"times\", file = \"starts.txt\" }\nstart = \"1 s\"\nend = \"10 s\"";
    assert_eq!(starts(times, 0), [2, 5].map(|s| Instant::from_nanos(s * 1_000_000_000)));
    let poisson = "arrivals = { type = \"poisson\", gap = \"1 s\" }\ncount = 2\nend = \"100 s\"";
    let drawn = starts(poisson, 0);
    assert_eq!(drawn, starts(poisson, 0));
    assert_ne!(drawn, starts(poisson, 1));
    // Two sources, each in order.
    assert!(drawn.windows(2).filter(|pair| pair[0] > pair[1]).count() == 1, "{drawn:?}");
    assert!((150..250).contains(&drawn.len()), "{}", drawn.len());
}

#[test]
fn a_key_of_a_link_or_of_a_flow_is_changed_by_its_name() {
    let text = format!(
        "{}\n[vary]\nnetwork.links.bd.leg.rate = [\"1 Mbit/s\", \"3 Mbit/s\"]",
        diamond("name = \"web\"")
    );
    let changes = [("flow.web.count".to_owned(), "3".to_owned())];
    let scenario = Scenario::parse("x.toml", &text, &changes, &Registry::new()).unwrap();
    assert_eq!(scenario.axes()[0].labels, ["1 Mbit/s", "3 Mbit/s"]);
    let plan = scenario.cells()[1].plan();
    assert_eq!(plan.flows.len(), 3);
    let PlannedHop::Leg(leg) = &plan.forward[1] else { panic!("a leg") };
    assert_eq!(leg.rate.unwrap().to_string(), "3 Mbit/s");
    let changes = [("network.links.bd.leg.rate".to_owned(), "7 Mbit/s".to_owned())];
    assert_eq!(Scenario::parse("x.toml", &text, &changes, &Registry::new()).unwrap().count(), 1);
}

#[test]
fn a_network_that_cannot_be_is_refused_with_one_line() {
    let link = |name: &str, from: &str, to: &str, more: &str| {
        format!(
            "[network.links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nleg.rate = \"1 Mbit/s\"\n{more}\n"
        )
    };
    let flow = "[[flow]]\nfrom = \"a\"\nto = \"b\"\n";
    let there = link("ab", "a", "b", "");
    let both = link("ab", "a", "b", "duplex = true");
    for (text, expected) in [
        (
            format!("{there}{flow}"),
            "flow.0.to: no links lead from b to a; add links, or make links duplex",
        ),
        (
            format!("{both}[[flow]]\nfrom = \"a\"\nto = \"bb\"\n"),
            "flow.0.to: no node `bb`; the network has a, b",
        ),
        (
            format!("{both}[[flow]]\nfrom = \"a\"\n"),
            "flow.0.to: is missing; name a node of [network]",
        ),
        (
            format!("{both}[[flow]]\nfrom = \"a\"\nto = \"a\"\n"),
            "flow.0.to: is the node at which the flow begins; name another",
        ),
        (
            format!("{both}{flow}route = [\"ba\"]"),
            "flow.0.route: no link `ba`; the network has ab (did you mean ab?)",
        ),
        (
            format!("{both}{flow}route = [\"ab\", \"ab\"]"),
            "flow.0.route: visits a twice; leave the loop out",
        ),
        (
            format!("{both}{flow}route = []"),
            "flow.0.route: ends at a, not at b; add the links there",
        ),
        (
            format!("{both}{}{flow}route = [\"cd\"]", link("cd", "c", "d", "")),
            "flow.0.route: link cd does not begin at a; list the links in their order from the first node to the last",
        ),
        (
            format!("{both}{flow}name = \"x\"\n{flow}name = \"x\""),
            "flow.1.name: another flow has the name x; give each its own",
        ),
        (
            format!("{both}{flow}name = \"x\"\ncount = 2\n{flow}name = \"x-0\""),
            "flow.1.name: x-0 is also one of the flows x; give it another name",
        ),
        (
            format!("{}{flow}", link("ab", "a", "b\\u202e", "")),
            "network.links.ab.to: \"b\\u{202e}\": name the node by text that can be printed, in one line",
        ),
        (
            format!("{both}{flow}name = \"x.y\""),
            "flow.0.name: `x.y`: a name begins with a letter and has letters, digits, _ and - only",
        ),
        (
            format!("{both}{flow}end = \"0 s\""),
            "flow.0.end: 0 ns is not after the start; give a time after 0 ns",
        ),
        (
            format!(
                "{both}{flow}application = {{ type = \"file\", size = \"9 B\" }}\nend = \"3 s\""
            ),
            "flow.0.end: the application has an end; leave `end` out",
        ),
        (
            format!("{both}{flow}arrivals = {{ type = \"poisson\", gap = \"0 s\" }}"),
            "flow.0.arrivals.gap: is zero; give a time above zero",
        ),
        (format!("{both}{both}{flow}"), "not TOML: duplicate key"),
        (
            both.clone(),
            "network: [network] needs flows with nodes; give [[flow]] with `from` and `to`",
        ),
        (
            format!("{both}{flow}[access]\ndelay = \"1 ms\""),
            "access: [network] has all links; make it a link there, or leave [network] out",
        ),
        (
            format!("{both}{flow}{CHANNEL}"),
            "channel: [network] has all links; make it a link there, or leave [network] out",
        ),
        (
            format!("{CHANNEL}{flow}"),
            "flow.0.from: applies to a flow in a [network]; give one, or leave it out",
        ),
        (
            format!("{}{flow}", link("aa", "a", "a", "")),
            "network.links.aa.to: the link begins and ends at a; name two nodes",
        ),
        (
            format!("{}{flow}", link("\"a b\"", "a", "b", "")),
            "network.links: `a b`: a name begins with a letter and has letters, digits, _ and - only",
        ),
        (
            format!("{}{flow}", link("ab", "a", "b", "duplex = true\nreturn.leg.delay = \"1 ms\"")),
            "network.links.ab.duplex: `return` gives the other direction; leave `duplex` out",
        ),
        (
            format!("[network.links.ab]\nfrom = \"a\"\nto = \"b\"\npep = true\n{flow}"),
            "network.links.ab.pep: proxies stand on a path, not in a network; leave it out",
        ),
        (
            format!("[network.links.ab]\nfrom = \"a\"\nleg.rate = \"1 Mbit/s\"\n{flow}"),
            "network.links.ab: missing key `to`",
        ),
        (
            format!("[network.links.ab]\nfrom = \"a\"\nto = \"b\"\n{flow}"),
            "network.links.ab: the scenario has no link; give [trace] with a file",
        ),
        (
            format!("[network]\nlinks = {{}}\n{flow}"),
            "network.links: is empty; give [network.links.NAME]",
        ),
        (
            format!("{both}{flow}[vary]\nnetwork.routing = [\"hops\"]"),
            "network.routing: unknown value `hops`, one of links, delay",
        ),
    ] {
        let error = error(&text);
        assert!(error.contains(expected) && !error.contains('\n'), "{text}\n{error}\n{expected}");
    }
}
