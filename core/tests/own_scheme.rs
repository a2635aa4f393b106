//! The example of a custom scheme runs, and does what it says.

use std::sync::Arc;

use clift::config::Fault;
use clift::link::{InstrumentedLink, Line, LiveScheme, NOW, PacketFate, Slot, deliver};
use clift::scheme::law::{Chain, Setting};
use clift::scheme::{LinkConfig, LiveBuilder, LiveConfig, Scheme, SchemeForms, Timing};
use clift::seed::Seed;
use clift::trace::{LinkTrace, PhyTrace};
use clift::units::{Bytes, Duration};

#[path = "../examples/own_scheme.rs"]
mod example;

const TIMING: Timing = Timing { rtt: Duration::from_nanos(20), feedback: None };

fn phy(d: &[i64]) -> PhyTrace {
    let t: Vec<i64> = (0..d.len() as i64).map(|slot| 10 * slot).collect();
    PhyTrace::new(t.into(), d.to_vec().into(), Bytes(100)).unwrap()
}

#[test]
fn a_scheme_of_ones_own_is_chosen_by_its_text() {
    assert_eq!(example::main(), std::process::ExitCode::SUCCESS);
    let [none, repeat] = &example::goodput().unwrap()[..] else { panic!("two cells") };
    assert_eq!((&*none.0, &*repeat.0), ("none", "repeat(2)"));
    // A loss rate of a tenth as much is worth more than half of the slots.
    assert!(repeat.1 > 2.0 * none.1, "{none:?} {repeat:?}");

    let registry = example::registry().unwrap();
    let read = |text: &str| registry.within(|| text.parse::<Scheme>());
    let scheme = read(" Repeat( 2 ) ").unwrap();
    assert_eq!((scheme.to_string(), scheme.clone()), ("repeat(2)".into(), scheme.clone()));
    assert_ne!(scheme, read("repeat(3)").unwrap());
    // Slots 0 and 1 arrive at 4 and 14, 2 and 3 at 34, 4 and 5 never; 6 fills no pair.
    let link = scheme.apply(&phy(&[4, 4, 0, 4, 0, 0, 4]), TIMING);
    assert_eq!((&link.parts().t[..], &link.parts().d[..]), (&[0, 20, 40][..], &[4, 14, 0][..]));
    assert_eq!((link.lost_column(), link.parts().recovered), (vec![0, 0, 14], (1, 14)));

    let error = read("repeat").unwrap_err().to_string();
    assert!(error.starts_with("repeat: how often is missing; write none, FEC(10/12)"), "{error}");
    assert!(error.contains("repeat(2)"), "{error}");
    let schema = registry.within(clift::scenario::json_schema).to_string();
    assert!(schema.contains(r"|[Rr]epeat\\s*\\(.*\\)"));

    let law = scheme.predict(&Chain::bernoulli(0.1).unwrap(), &Setting::default());
    assert!(law.unwrap_err().to_string().starts_with("repeat(2) has no closed form"));
    let refused = build(scheme, phy(&[4, 4])).map(|_| ()).unwrap_err();
    assert!(refused.to_string().starts_with("repeat(2) has no live form"), "{refused}");
}

/// As the example's, of two slots, with a live form.
#[derive(Debug)]
struct Twice;

/// The unit sent last, if it goes out once more, and when it arrives.
#[derive(Debug, Default)]
struct LiveTwice(Option<(clift::link::Unit, Option<i64>)>);

impl LiveScheme for LiveTwice {
    fn wants(&self, data_wait: bool) -> Option<i64> {
        (data_wait || self.0.is_some()).then_some(NOW)
    }

    fn carry(&mut self, slot: Slot, line: &mut Line) -> bool {
        let arrival = (slot.d > 0).then_some(slot.t + slot.d);
        let Some((unit, first)) = self.0.take() else {
            self.0 = Some((line.send_new(slot), arrival));
            return true;
        };
        line.send_again(slot, unit, 1);
        match first.into_iter().chain(arrival).min() {
            Some(at) => line.arrived(unit.packet, at),
            None => line.give_up(unit.packet, slot.t),
        }
        true
    }
}

impl SchemeForms for Twice {
    fn apply(&self, phy: &PhyTrace, timing: Timing) -> LinkTrace {
        "ARQ(max 0)".parse::<Scheme>().unwrap().apply(phy, timing)
    }

    fn live(&self, builder: &LiveBuilder<'_>) -> Result<Box<dyn InstrumentedLink + Send>, Fault> {
        builder.link(LiveTwice::default())
    }
}

impl std::fmt::Display for Twice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("twice")
    }
}

fn build(scheme: Scheme, phy: PhyTrace) -> Result<Box<dyn InstrumentedLink + Send>, Fault> {
    let live = LiveConfig::new(phy, scheme, TIMING);
    LinkConfig::new(Arc::new(live)).build(Seed(1), 0, None)
}

#[test]
fn a_live_form_of_ones_own_carries_packets() {
    let mut link = build(Scheme::own(Twice), phy(&[4, 4, 0, 4, 0, 0, 4])).unwrap();
    let done = deliver(&mut *link, &[0, 0, 0], Bytes(100)).unwrap();
    assert_eq!(done.fate, [PacketFate::Delivered, PacketFate::Delivered, PacketFate::Lost]);
    assert_eq!(link.details()[..2], [("units_sent", 6), ("units_sent_again", 3)]);
}
