//! Cells, changes from outside, printed values, replications.

use super::*;
use crate::config::Registry;
use crate::config::{Node, Value};
use crate::transport::tcp::{CongestionAlgorithm, DelayedAck, LinuxOptions};
use crate::units::Duration;

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
    assert_eq!(cell.config().traffic.transport.tcp.congestion, CongestionAlgorithm::NEWRENO);
    assert_eq!(cell.config().run.duration, Duration::from_secs(400));
    assert!(!cell.plan().stop_when_done);
    assert!(scenario.cells()[4].plan().stop_when_done);
    assert_eq!(scenario.cells()[4].config().run.duration, Duration::from_secs(60));
}

#[test]
fn a_value_that_no_cell_has_is_named() {
    let overridden = |text: &str, changes: &[(&str, &str)]| {
        let changes: Vec<_> =
            changes.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect();
        let text = format!("{text}\n{CHANNEL}");
        Scenario::parse("geo.toml", &text, &changes, &Registry::new()).unwrap().overridden()
    };
    let told = |line: usize, key: &str| {
        vec![format!(
            "geo.toml line {line}: {key}: not used, as [vary] sets this key in every cell"
        )]
    };
    let list = "scheme = \"ARQ\"\n[vary]\nscheme = [\"none\", \"ARQ\"]";
    assert_eq!(overridden(list, &[]), told(1, "scheme"));
    assert!(overridden(list, &[("scheme", "none")]).is_empty());
    let zip = "duration = \"9 s\"\n[vary.zip.load]\nflows = [1, 2]\nduration = [\"1 s\", \"2 s\"]";
    assert_eq!(overridden(zip, &[]), told(1, "duration"));
    let sample = "duration = \"9 s\"\n[vary.sample]\npoints = 2\nduration = { from = \"1 s\", to = \"2 s\" }";
    assert_eq!(overridden(sample, &[]), told(1, "duration"));
    let flow =
        "flow = [{ name = \"a\", start = \"1 s\" }]\n[vary]\nflow.a.start = [\"2 s\", \"3 s\"]";
    assert_eq!(overridden(flow, &[]), told(1, "flow.a.start"));
    let all = "[link]\nrtt = \"1 ms\"\n[vary.orbit.leo]\nlink.rtt = \"20 ms\"\n[vary.orbit.geo]\nlink.rtt = \"500 ms\"";
    assert_eq!(overridden(all, &[]), told(2, "link.rtt"));
    // A point may leave the key as it is, and a change from outside may vary it.
    let some = "[link]\nrtt = \"1 ms\"\n[vary.orbit.leo]\n[vary.orbit.geo]\nlink.rtt = \"500 ms\"";
    assert!(overridden(some, &[]).is_empty());
    assert!(overridden("scheme = \"ARQ\"", &[("vary.scheme", "[\"none\", \"ARQ\"]")]).is_empty());
}

#[test]
fn ranges_zips_and_samples_are_axes() {
    let scenario = with_channel(
        "[vary]\nlink.rtt = { from = \"100 ms\", to = \"1 s\", points = 3, scale = \"log\" }\n\
         transport.cwnd_max = { from = \"8 packets\", to = \"32 packets\", step = \"8 packets\" }\n\
         [vary.zip.load]\nflows = [1, 2, 4]\nduration = { from = \"10 s\", to = \"30 s\" }\n",
    );
    let axes = scenario.axes();
    assert_eq!(axes[0].labels, ["100 ms", "316.228 ms", "1 s"]);
    assert_eq!(axes[1].labels, ["8 packets", "16 packets", "24 packets", "32 packets"]);
    assert_eq!((axes[2].name.as_str(), axes[2].labels.len()), ("load", 3));
    assert_eq!(axes[2].labels[1], "2, 20 s");
    assert_eq!(scenario.cells().len(), 36);
    // The second round trip, window and load of 3, 4 and 3.
    let config = scenario.cells()[12 + 3 + 1].config();
    let link = config.sections.link.as_ref().unwrap();
    assert_eq!(link.slots.rtt, Some(Duration::from_nanos(316_228_000)));
    assert_eq!((config.traffic.flows, config.run.duration), (Some(2), Duration::from_secs(20)));
    let most = config.traffic.transport.tcp.cwnd_max.unwrap();
    assert_eq!(most.to_string(), "16 packets");

    let sample = |method: &str, seed: u64| {
        let text = format!(
            "[vary]\nscheme = [\"ARQ\", \"none\"]\n[vary.sample]\nmethod = \"{method}\"\npoints = 8\nseed = {seed}\n\
             link.rtt = {{ from = \"1 ms\", to = \"9 ms\" }}\nflows = [1, 2]\n"
        );
        let scenario = with_channel(&text);
        assert_eq!(scenario.cells().len(), 16);
        let cell = &scenario.cells()[3];
        let link = cell.config().sections.link.as_ref().unwrap();
        let told = format!("{}, {}", link.slots.rtt.unwrap(), cell.config().traffic.flows.unwrap());
        let read = |label: &str| {
            let (rtt, flows) = label.split_once(", ").unwrap();
            format!("{}, {flows}", rtt.parse::<Duration>().unwrap())
        };
        // The label is what runs.
        assert_eq!(read(&cell.labels()[1].1), told);
        scenario.axes()[1].labels.clone()
    };
    let drawn = sample("sobol", 1);
    assert_eq!(drawn, sample("sobol", 1));
    assert_ne!(drawn, sample("sobol", 2));
    assert_ne!(drawn, sample("lhs", 1));
    // Each millisecond of eight has one point, and each number of flows four.
    for labels in [drawn, sample("lhs", 1)] {
        let mut at: Vec<_> = labels.iter().map(|label| label.as_bytes()[0]).collect();
        at.sort_unstable();
        assert_eq!(at, b"12345678");
        assert_eq!(labels.iter().filter(|label| label.ends_with(", 2")).count(), 4);
    }
}

#[test]
fn cells_of_a_large_campaign_match_cells_made_all_at_once() {
    let text = |end: u32| {
        format!(
            "{CHANNEL}[vary]\nscheme = [\"ARQ\", \"none\"]\nruns = [3, 5]\nseed = {{ from = 1, to = {end}, step = 1 }}\n"
        )
    };
    let few = Scenario::parse("geo.toml", &text(250), &[], &Registry::new()).unwrap();
    let many = Scenario::parse("geo.toml", &text(15_000), &[], &Registry::new()).unwrap();
    assert_eq!((few.cells().len(), few.count()), (1_000, 1_000));
    assert_eq!((many.cells().len(), many.count()), (0, 60_000));
    for (axes, seed) in [(0, 1), (1, 250), (2, 7), (3, 123)] {
        let one = few.cell(axes * 250 + seed - 1).unwrap();
        let index = axes * 15_000 + seed - 1;
        let other = many.cell(index).unwrap();
        assert_eq!(format!("{:?}", one.config()), format!("{:?}", other.config()));
        assert_eq!(one.labels(), other.labels());
        assert_eq!(many.labels(index), other.labels());
        assert_eq!(many.runs(index).unwrap(), other.config().run.runs);
        assert_eq!(one.origins(), other.origins());
    }
    let error = many.cell(60_000).unwrap_err().to_string();
    assert_eq!(error, "geo.toml: cell 60000 does not exist; the scenario has 60000");
    let error =
        Scenario::parse("geo.toml", &text(250_001), &[], &Registry::new()).unwrap_err().to_string();
    assert!(error.contains("more than 1000000 cells"), "{error}");
    // An invalid point is found among many valid ones.
    let wrong = text(15_000).replace("\"none\"", "\"ARC\"");
    let error = Scenario::parse("geo.toml", &wrong, &[], &Registry::new()).unwrap_err().to_string();
    assert!(error.contains("scheme: ARC: unknown scheme"), "{error}");
}

#[test]
fn sums_of_steps_have_round_labels() {
    let list = [0.1, 0.1 + 0.2, 1.0 / 3.0].map(|number| Value::from(Node::Float(number)));
    let vary = Value::table([("channel.erasures", Node::List(list.to_vec()).into())]);
    let channel =
        Value::table([("model", Value::text("bernoulli")), ("slot", Value::text("1 ms"))]);
    let scenario =
        Scenario::of(Value::table([("channel", channel), ("vary", vary)]), &Registry::new())
            .unwrap();
    assert_eq!(scenario.axes()[0].labels, ["0.1", "0.3", "0.3333333333333333"]);
}

#[test]
fn parts_of_the_linux_stack_vary_independently() {
    let stack = "[transport]\nprofile = \"linux\"\nlinux = { rack = false, pacing = true }\n";
    let flow = "[[flow]]\ntransport.linux.rack = true\n";
    let changes = [("transport.linux.max_reordering".to_owned(), "3".to_owned())];
    let text = format!("{stack}{flow}{CHANNEL}");
    let scenario = Scenario::parse("geo.toml", &text, &changes, &Registry::new()).unwrap();
    let config = scenario.cells()[0].config();
    let all = LinuxOptions::default();
    let expected = LinuxOptions { rack: false, pacing: true, max_reordering: 3, ..all };
    assert_eq!(config.traffic.transport.tcp.linux, Some(expected));
    assert_eq!(
        config.traffic.flow[0].transport.tcp.linux,
        Some(LinuxOptions { rack: true, ..expected })
    );
}

#[test]
fn changes_from_outside_override_the_file_and_end_a_variation() {
    let text = format!("[vary]\nscheme = [\"ARQ\", \"none\"]\nseed = [1, 2]\n{CHANNEL}");
    let changes = [
        ("scheme".to_owned(), "FEC(10/12)".to_owned()),
        ("link.rtt".to_owned(), "600 ms".to_owned()),
        ("transport.delayed_ack".to_owned(), "true".to_owned()),
    ];
    let scenario = Scenario::parse("geo.toml", &text, &changes, &Registry::new()).unwrap();
    assert_eq!(scenario.cells().len(), 2);
    let config = scenario.cells()[1].config();
    assert_eq!((config.scheme().to_string().as_str(), config.run.seed), ("FEC(10/12)", 2));
    let link = config.sections.link.as_ref().unwrap();
    assert_eq!(link.slots.rtt, Some(Duration::from_millis(600)));
    let usual = DelayedAck::After(Duration::from_millis(40));
    assert_eq!(config.traffic.transport.tcp.delayed_ack, Some(usual));

    let wrong = |key: &str, value: &str| {
        let changes = [("runs".to_owned(), "2".to_owned()), (key.to_owned(), value.to_owned())];
        Scenario::parse("geo.toml", &text, &changes, &Registry::new()).unwrap_err().to_string()
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
    assert!(wrong("", "6").contains("cannot be changed"));
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
        let scenario = Scenario::parse("geo.toml", &text, &changes, &Registry::new()).unwrap();
        scenario.printed().iter().map(|printed| printed.value).collect::<Vec<_>>()
    };
    assert_eq!(printed("none"), [2.0]);
    assert_eq!(printed("FEC(10/12)"), [0.0; 0]);
    assert_eq!(
        Scenario::parse("geo.toml", &text, &[], &Registry::new()).unwrap().printed().len(),
        2
    );
}

#[test]
fn replications_differ_in_their_draws_and_cells_do_not() {
    let text = "runs = 3\n[vary]\nscheme = [\"ARQ\", \"none\"]";
    let scenario = with_channel(text);
    let [arq, none] = scenario.cells() else { panic!("two cells") };
    assert_eq!(arq.seed(0).0, 1);
    assert_eq!(asked(arq, 2), asked(none, 2));
    assert_ne!(asked(arq, 1), asked(arq, 2));

    let scenario = with_channel(&format!("{text}\n[link]\nstart = \"random\""));
    let cell = &scenario.cells()[0];
    assert_ne!(asked(cell, 1), asked(cell, 2));
    assert_eq!(asked(cell, 2), asked(&scenario.cells()[1], 2));
    assert_eq!(cell.shared(), None);
    let span = [Some((0, 699_001_003_802))];
    let starts: Vec<_> = (0..200).map(|run| cell.starts(run, &span).unwrap()[0]).collect();
    assert_eq!(
        starts,
        (0..200).map(|run| scenario.cells()[1].starts(run, &span).unwrap()[0]).collect::<Vec<_>>()
    );
    let latest = starts.iter().max().unwrap();
    assert!(*latest < Duration::from_secs(300) && *latest > Duration::from_secs(280), "{latest}");
    let short = cell.starts(0, &[Some((0, 1_000_000_000))]).unwrap_err();
    assert_eq!(short.path(), "link.start");
}

#[test]
fn runs_share_whatever_is_not_drawn_anew() {
    let first = |text: &str| {
        Scenario::parse("geo.toml", text, &[], &Registry::new()).unwrap().cells()[0].clone()
    };
    let file = "duration = \"2 ns\"\n[trace]\nfile = \"x.csv\"\n";
    let harq = "[adaptive_harq]\n";
    for (text, expected) in [
        (CHANNEL.to_owned(), None),
        (format!("{CHANNEL}redraw = false\n"), Some(Shared::Channel)),
        (format!("{CHANNEL}seed = 7\n"), Some(Shared::Channel)),
        (file.to_owned(), Some(Shared::Trace)),
        // The file may have its own erasures.
        (format!("{file}[channel]\nmodel = \"bernoulli\"\nerasures = 0.1\n"), Some(Shared::Trace)),
        ("[hybrid]\n".to_owned(), None),
        (harq.to_owned(), None),
        (format!("{harq}seed = 3\n"), Some(Shared::Channel)),
        (format!("{harq}redraw = false\n"), Some(Shared::Channel)),
    ] {
        assert_eq!(first(&text).shared(), expected, "{text}");
    }
}

#[test]
fn the_window_of_a_run_is_where_its_link_starts() {
    let text = "duration = \"2 ns\"\n[trace]\nfile = \"x.csv\"\n[link]\nstart = \"random\"\n";
    let cell = |text: &str| {
        Scenario::parse("geo.toml", text, &[], &Registry::new()).unwrap().cells()[0].clone()
    };
    let given = || Given::phy([phy(&[1; 9])]);
    let random = cell(text);
    for run in 0..20 {
        let window = random.window(run, &given()).unwrap().unwrap();
        let setup = random.setup(run, &given()).unwrap();
        let Hops::Link(link) = &setup.forward[0] else { panic!("a link") };
        assert_eq!(window.start, link.start_offset);
        assert_eq!((window.length, window.wraps), (Duration::from_nanos(9), false));
    }
    let wraps = cell(&format!("{text}wrap = true\n")).window(0, &given()).unwrap();
    assert!(wraps.unwrap().wraps);
    // All start at the same time, or each has its own channel.
    let fixed = text.replace("\"random\"", "\"1 ns\"");
    assert_eq!(cell(&fixed).window(0, &given()).unwrap(), None);
    let drawn = cell(&format!("{CHANNEL}[link]\nstart = \"random\"\n"));
    assert_eq!(drawn.window(0, &given()).unwrap(), None);
}

#[test]
fn a_change_of_an_axis_selects_its_points() {
    let vary = "[vary]\nlink.rtt = [\"1 s\", \"2 s\"]\nbuffer.none = {}\nbuffer.small = { link.queue = \"9 packets\" }\nbuffer.tiny = { link.queue = \"2 packets\" }\n";
    let printed = |label: &str| {
        format!(
            "[[printed]]\nmetric = \"completion_s\"\nvalue = 1\nwhere = {{ buffer = \"{label}\" }}\n"
        )
    };
    let text = format!("{CHANNEL}{vary}{}{}", printed("none"), printed("tiny"));
    let with = |key: &str, value: &str| {
        Scenario::parse("geo.toml", &text, &[(key.to_owned(), value.to_owned())], &Registry::new())
    };
    let one = with("buffer", "none").unwrap();
    assert_eq!(one.axes()[1].labels, ["none"]);
    assert_eq!((one.cells().len(), one.printed().len()), (2, 1));
    assert_eq!(one.cells()[0].labels()[1], ("buffer".to_owned(), "none".to_owned()));
    let two = with("buffer", r#"["tiny", "none"]"#).unwrap();
    assert_eq!(two.axes()[1].labels, ["none", "tiny"]);
    assert_eq!((two.cells().len(), two.printed().len()), (4, 2));
    // The last part of a key that varies is the axis; the key itself is the key.
    assert_eq!(with("rtt", "2 s").unwrap().cells().len(), 3);
    assert!(with("rtt", "3 s").is_err());
    assert_eq!(with("link.rtt", "3 s").unwrap().cells().len(), 3);
    for wrong in ["nothing", "[]", r#"["none", "x"]"#, "{}"] {
        let error = with("buffer", wrong).unwrap_err().to_string();
        let says = "buffer: is an axis of [vary]; choose one or a list of none, small, tiny";
        assert_eq!(error, format!("geo.toml, set buffer = {wrong}: {says}"));
    }
}
