//! Delays that vary, wherever a delay stands.

use super::*;
use crate::link::Propagation;
use crate::scheme::ntn::NtnConfig;

/// Setup of a run, with every trace that its links need.
fn run(text: &str) -> Setup {
    setup(text, &Given::information(0.5))
}

/// The hops in words: a link, or the delay of a leg ("5" or "80~" if it varies, "80=" in order).
fn words(hops: &[Hops]) -> String {
    let word = |hop: &Hops| match hop {
        Hops::Link(_) => "link".to_owned(),
        Hops::Leg(leg) => {
            let ms = leg.delay.at(Instant::ZERO).as_nanos() / 1_000_000;
            let mark = match &leg.delay {
                Propagation::Fixed(_) => "",
                Propagation::Varying { keep_order: false, .. } => "~",
                Propagation::Varying { keep_order: true, .. } => "=",
            };
            format!("{ms}{mark}")
        }
    };
    hops.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_return_path_takes_as_long_as_the_forward_path_by_default() {
    let leg = "[[path]]\nleg.delays = \"80.csv\"\n";
    let order = "[[path]]\nleg = { delays = \"80.csv\", keep_order = true }\n";
    let slow = "[[path]]\nleg.delay = \"5 ms\"\n";
    let live = "[[path]]\ntrace.file = \"x\"\nlink = { live = true, rtt = \"40 ms\", delays = \"60.csv\" }\n";
    let harq = "[[path]]\nadaptive_harq = { delays = \"70.csv\", keep_order = true }\n";
    let ntn = "[[path]]\nntn.delays = \"30.csv\"\n";
    let trace = "[trace]\nfile = \"x\"\n[link]\nrtt = \"40 ms\"\n";
    let behind = "[trace]\nfile = \"x\"\n[link]\nrtt = \"40 ms\"\ndelays = \"60.csv\"\n";
    let back = "[return.trace]\nfile = \"y\"\n";
    let access = "[access]\ndelays = \"20.csv\"\nrate = \"1 Mbit/s\"\n";
    for (text, there, ways_back) in [
        (trace.to_owned(), "link", "20"),
        (behind.to_owned(), "link 60~", "60~ 20"),
        (format!("{behind}keep_order = true\n"), "link 60=", "60= 20"),
        (
            "[hybrid]\ndelay = \"20 ms\"\n[link]\ndelays = \"60.csv\"\n".to_owned(),
            "link 60~",
            "60~ 20",
        ),
        // The link's own delay, and one behind it.
        (
            "[ntn]\ndelays = \"30.csv\"\n[link]\ndelays = \"60.csv\"\n".to_owned(),
            "link 60~",
            "60~ 30=",
        ),
        ("[ntn]\ndelays = \"30.csv\"\nkeep_order = false\n".to_owned(), "link", "30~"),
        (format!("{slow}{live}"), "5 link 60~", "60~ 25"),
        (format!("{leg}{order}{live}{slow}{slow}"), "80~ 80= link 60~ 5 5", "10 60~ 20 80= 80~"),
        (format!("{harq}{slow}{ntn}"), "link 5 link", "30= 5 70="),
        // What [return] says takes the place of all of it.
        (format!("{behind}[return]\ndelay = \"9 ms\"\n"), "link 60~", "9"),
        (format!("{behind}[[return.path]]\nleg.delays = \"7.csv\"\n"), "link 60~", "7~"),
        // A link back has the keys of the link.
        (format!("{behind}{back}"), "link 60~", "link 60~"),
        (format!("{behind}{back}[return.link]\ndelays = \"50.csv\"\n"), "link 60~", "link 50~"),
        (format!("{trace}{back}[return.link]\ndelays = \"50.csv\"\n"), "link", "link 50~"),
        (format!("{behind}[return.hybrid]\n"), "link 60~", "link"),
        // The access leg is the last there and the first back.
        (format!("{trace}{access}"), "link 20~", "20~ 20"),
        (format!("{behind}{access}"), "link 60~ 20~", "20~ 60~ 20"),
        (format!("{behind}{back}{access}"), "link 60~ 20~", "20~ link 60~"),
    ] {
        let run = run(&text);
        let got = (words(&run.forward), words(&run.backward));
        assert_eq!(got, (there.to_owned(), ways_back.to_owned()), "{text}");
    }
}

#[test]
fn links_and_flows_use_the_delays_of_their_files() {
    let ntn = run("[ntn]\ndelays = \"30.csv\"\n");
    let config = medium::<NtnConfig>(&ntn);
    for delay in [&config.propagation, &config.way_back] {
        let Propagation::Varying { series: moving, keep_order: true } = delay else {
            panic!("{delay:?}")
        };
        assert_eq!(moving, &Given::information(0.5).delays("30.csv").unwrap());
    }
    // Timers suit the longest delay: those of a fixed one of 30 ms.
    let fixed = medium::<NtnConfig>(&run("[ntn]\ndelay = \"30 ms\"\n"));
    assert_eq!(config.timers(), fixed.timers());

    let text = "[trace]\nfile = \"x\"\n[access]\ndelays = \"20.csv\"\n[[flow]]\n[[flow]]\naccess = { delays = \"9.csv\", keep_order = true }\n[[flow]]\naccess = {}\n";
    let legs = run(text).flows.into_iter().map(|flow| Hops::Leg(flow.source_leg.unwrap()));
    assert_eq!(words(&legs.collect::<Vec<_>>()), "20~ 9= 0");
}

#[test]
fn invalid_delays_are_rejected_with_the_reason() {
    for (text, expected) in [
        (
            "[access]\ndelay = \"1 ms\"\ndelays = \"x\"",
            "line 3: access.delays: `delay` and `delays` are alternatives; give one of them",
        ),
        ("[access]\ndelays = \"\"", "line 2: access.delays: is empty; name a CSV file"),
        (
            "[access]\nkeep_order = true",
            "line 2: access.keep_order: needs varying `delays`; give those",
        ),
        (
            "[access]\ndelays = 3",
            "line 2: access.delays: integer `3` is not valid here; give text in quotes",
        ),
        (
            "[[path]]\nleg = { delay = \"1 ms\", delays = \"x\" }",
            "line 2: path.0.leg.delays: `delay` and",
        ),
        ("[[path]]\nleg.keep_order = true", "line 2: path.0.leg.keep_order: needs varying"),
        ("[[flow]]\naccess.delays = \"\"", "line 2: flow.0.access.delays: is empty"),
        ("[link]\ndelays = \"\"", "line 2: link.delays: is empty"),
        ("[link]\nkeep_order = true", "line 2: link.keep_order: needs varying"),
        (
            "[link]\ndelays = \"x\"\n[[path]]\nhybrid = {}",
            "line 2: link.delays: [[path]] gives the path hop by hop; move it into a hop",
        ),
        ("[link]\ndelay = \"1 ms\"", "line 2: link.delay: unknown key, one of rtt,"),
        ("[ntn]\ndelay = \"1 ms\"\ndelays = \"x\"", "line 3: ntn.delays: `delay` and"),
        ("[ntn]\nkeep_order = false", "line 2: ntn.keep_order: needs varying"),
        (
            "[return]\nlink.delays = \"x\"",
            "line 2: return.link: the return path has no link; give [return.trace]",
        ),
        ("[return.hybrid]\n[return.link]\ndelays = \"\"", "line 3: return.link.delays: is empty"),
    ] {
        let channel = if text.contains("path") || text.contains("ntn") { "" } else { CHANNEL };
        let message = error(&format!("{text}\n{channel}"));
        assert!(message.starts_with(&format!("geo.toml {expected}")), "{message}");
    }
}
