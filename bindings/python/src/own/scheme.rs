//! Schemes written in Python: a function over the arrays of a PHY trace, or a class that is called
//! slot by slot.

use std::fmt;

use clift::config::{Arguments, Fault};
use clift::link::BuiltLink;
use clift::scheme::{Feedback, LiveBuilder, Scheme, SchemeForms, SchemeKind, Timing, open_loop};
use clift::seed::Seed;
use clift::trace::{Fate, LinkTrace, LinkTraceBuilder, PhyTrace};
use pyo3::prelude::*;

use super::raised::{self, ask};
use super::slots::{Methods, OwnLive};
use super::{Given, Kind, dict, insert, leaked};
use crate::columns::column;
use crate::trace::PyPhyTrace;

/// A registered scheme, and whether it is called slot by slot.
#[derive(Clone, Copy)]
struct Row {
    kind: &'static Kind,
    live: bool,
}

/// A function over arrays: `make(seed, (rtt, feedback, decode), parameters, phy)` returns the columns
/// of a link trace. A class called slot by slot (`live`): `make(seed, times, parameters, None)` makes
/// an instance.
pub(super) fn add(kind: &'static Kind, summary: &'static str, live: bool) -> PyResult<()> {
    let bare = kind.text();
    let mut texts = vec![leaked(&bare)];
    if kind.signature.takes_any() && !bare.contains('(') {
        texts.push(leaked(&format!("{bare}({} ...)", kind.signature.names()[0])));
    }
    let row = Row { kind, live };
    insert(SchemeKind {
        name: kind.name,
        summary,
        texts: Box::leak(texts.into_boxed_slice()),
        parse: Box::leak(Box::new(move |arguments: Arguments<'_>| parse(row, arguments))),
    })
}

fn parse(row: Row, arguments: Arguments<'_>) -> Result<Scheme, String> {
    let written = arguments.all();
    let given = row.kind.signature.bind(&written)?;
    let text = match written.is_empty() {
        true => row.kind.name.to_owned(),
        false => format!("{}({})", row.kind.name, written.join(", ")),
    };
    Ok(Scheme::own(OwnScheme { row, given, text }))
}

struct OwnScheme {
    row: Row,
    given: Given,
    text: String,
}

impl fmt::Debug for OwnScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnScheme").field(&self.text).finish()
    }
}

impl fmt::Display for OwnScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Data LLDUs from Python: t, d, lost and transmissions, and slots used.
type Columns<'py> =
    (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Option<u64>);

impl OwnScheme {
    /// Seed of the random draws of the open-loop form: the same for the same text.
    fn seed(&self) -> u64 {
        // FNV-1a hash.
        let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        self.text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
    }

    fn made<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        timing: Timing,
        nominal: clift::units::Duration,
        phy: Option<PyPhyTrace>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let times = (timing.rtt.as_nanos(), timing.feedback(nominal).as_nanos());
        let times = (times.0, times.1, nominal.as_nanos());
        self.row.kind.make.bind(py).call1((seed, times, dict(py, &self.given)?, phy))
    }

    fn link(&self, py: Python<'_>, phy: &PhyTrace, timing: Timing) -> PyResult<LinkTrace> {
        let nominal = phy.nominal_decoding();
        let timing = Timing { feedback: Some(timing.feedback_over(phy)), ..timing };
        if self.row.live {
            let scheme = self.made(py, self.seed(), timing, nominal, None)?;
            let methods = Methods::of(self.row.kind, &scheme)?;
            let live = OwnLive::new(self.row.kind, methods, Feedback::over(phy, timing));
            let made = open_loop(live, phy, timing);
            return raised::check().map(|()| made);
        }
        let phy_of_python = Some(PyPhyTrace(phy.clone()));
        let columns = self.made(py, self.seed(), timing, nominal, phy_of_python)?;
        let mut link = LinkTraceBuilder::new(phy, timing.rtt);
        self.fill(&mut link, phy, columns.extract()?)?;
        Ok(link.finish())
    }

    /// Assembles the columns and checks them.
    fn fill(
        &self,
        link: &mut LinkTraceBuilder,
        phy: &PhyTrace,
        (t, d, lost, transmissions, used): Columns<'_>,
    ) -> PyResult<()> {
        let read = |name: &str, values| {
            let prefixed = |error: PyErr| self.row.kind.wrong(error);
            column(name, values).map_err(prefixed)
        };
        let (t, d) = (read("t_ns", &t)?, read("d_ns", &d)?);
        let (lost, times) = (read("lost_ns", &lost)?, read("transmissions", &transmissions)?);
        for (name, values) in [("d_ns", &d), ("lost_ns", &lost), ("transmissions", &times)] {
            if values.len() != t.len() {
                let fault = format!("{name} has {} values, t_ns has {}", values.len(), t.len());
                return Err(self.row.kind.wrong(fault));
            }
        }
        let mut slot = 0;
        for (index, (&t, &d)) in t.iter().zip(d.iter()).enumerate() {
            let (lost, times) = (lost[index], times[index]);
            let wrong = |fault: &str| self.row.kind.wrong(format!("data LLDU {index}: {fault}"));
            let before = slot;
            slot += phy.t()[slot..].iter().take_while(|start| **start < t).count();
            if phy.t().get(slot) != Some(&t) || (index > 0 && slot == before) {
                let fault = format!(
                    "t_ns = {t} is not the start of a later slot than that of the LLDU before"
                );
                return Err(wrong(&fault));
            }
            let times = match u32::try_from(times) {
                Ok(times) if times > 0 => times,
                _ => return Err(wrong(&format!("transmissions = {times}; give 1 or more"))),
            };
            if d.max(lost) > (1 << 61) - t {
                return Err(wrong("d_ns or lost_ns is over 73 years; check the unit"));
            }
            let fate = match (d, lost) {
                (0, 0) => Fate::Pending,
                (1.., 0) if phy.d()[slot] > 0 => Fate::AtOnce(d),
                (1.., 0) => Fate::Recovered(d),
                (0, 1..) => Fate::Lost(lost),
                (1.., 1..) => return Err(wrong("it has d_ns and lost_ns; keep one")),
                _ => return Err(wrong("d_ns or lost_ns is below zero")),
            };
            link.push(t, times, fate);
        }
        let slots = phy.len() as u64;
        let used = used.unwrap_or(slots);
        if used < t.len() as u64 || used > slots {
            let fault = format!("slots_used = {used}: give {} to {slots} (all slots)", t.len());
            return Err(self.row.kind.wrong(fault));
        }
        link.slots_used(used);
        Ok(())
    }
}

impl SchemeForms for OwnScheme {
    /// Returns an empty link trace on failure. A caller that can report errors uses
    /// [`SchemeForms::try_apply`].
    fn apply(&self, phy: &PhyTrace, timing: Timing) -> LinkTrace {
        let made = ask(|py| self.link(py, phy, timing));
        made.unwrap_or_else(|| LinkTraceBuilder::new(phy, timing.rtt).finish())
    }

    fn try_apply(&self, phy: &PhyTrace, timing: Timing) -> Result<LinkTrace, String> {
        let made = ask(|py| self.link(py, phy, timing));
        made.ok_or_else(|| format!("{self} raised an exception"))
    }

    fn live(&self, builder: &LiveBuilder<'_>) -> Result<BuiltLink, Fault> {
        if !self.row.live {
            return Err(Fault::at(format!(
                "{self} is a function over arrays, which makes link traces only; leave `live` out, \
                 or register a class with the methods wants and carry"
            )));
        }
        let seed = Seed::drawn(builder.rng()).0;
        let (timing, nominal) = (builder.timing(), builder.nominal_decoding());
        let methods = ask(|py| {
            let scheme = self.made(py, seed, timing, nominal, None)?;
            Methods::of(self.row.kind, &scheme)
        });
        match methods {
            Some(methods) => builder.link(OwnLive::new(self.row.kind, methods, builder.feedback())),
            None => Err(Fault::at(match raised::is_raised() {
                true => format!("{self} raised an exception"),
                false => format!("{self}: Python is shutting down"),
            })),
        }
    }
}
