//! Path schedulers written in Python.

use clift::transport::tcp::{PathScheduler, PathSchedulerKind, PathState, Waiting};
use pyo3::prelude::*;

use super::raised::ask;
use super::{Kind, insert, seed};

/// `make(seed)` makes an instance.
pub(super) fn add(kind: &'static Kind, summary: &'static str) -> PyResult<()> {
    insert(PathSchedulerKind {
        name: kind.name,
        aliases: &[],
        summary,
        build: Box::leak(Box::new(move |rng| {
            let seed = seed(rng);
            let choose = ask(|py| {
                let scheduler = kind.make.bind(py).call1((seed,))?;
                kind.needed(&scheduler, "choose")
            });
            Box::new(OwnScheduler { kind, choose, also: Vec::new() }) as Box<dyn PathScheduler>
        })),
    })
}

/// A path of a connection.
#[pyclass(frozen, get_all, name = "Path", module = "clift._clift")]
pub(crate) struct PyPath {
    /// Number of the path, from 0 in the order of `paths` of the flow.
    number: usize,
    /// Smoothed round-trip time, ns.
    srtt_ns: u64,
    /// Mean deviation of the round-trip time, ns.
    deviation_ns: u64,
    /// Congestion window in segments.
    cwnd: u64,
    /// Segments in flight.
    in_flight: u64,
    /// Segments that the path takes at once; 0: its window is full, or it paces.
    room: u64,
}

#[pymethods]
impl PyPath {
    fn __repr__(&self) -> String {
        let Self { number, room, cwnd, .. } = self;
        format!("Path({number}: room for {room} of {cwnd} segments)")
    }
}

#[derive(Debug)]
struct OwnScheduler {
    kind: &'static Kind,
    /// `None` if making the instance raised an exception.
    choose: Option<Py<PyAny>>,
    /// The further paths that the last call of `choose` returned.
    also: Vec<usize>,
}

impl PathScheduler for OwnScheduler {
    fn choose(&mut self, paths: &[PathState], waiting: Waiting) -> Option<usize> {
        let Self { kind, choose, also } = self;
        also.clear();
        let choose = choose.as_ref().filter(|_| !paths.is_empty())?;
        ask(|py| {
            let told = |path: &PathState| PyPath {
                number: path.number,
                srtt_ns: path.srtt.as_nanos(),
                deviation_ns: path.deviation.as_nanos(),
                cwnd: path.cwnd,
                in_flight: path.in_flight,
                room: path.room,
            };
            let shown: Vec<_> = paths.iter().map(told).collect();
            let segments = Some(waiting.segments).filter(|&segments| segments < u64::MAX);
            let returned = choose.bind(py).call1((shown, segments, waiting.window))?;
            if returned.is_none() {
                return Ok(None);
            }
            let place = |one: &Bound<'_, PyAny>| {
                let number = one.cast::<PyPath>().ok()?.get().number;
                paths.iter().position(|path| path.number == number && path.room > 0)
            };
            let several = || returned.extract::<Vec<Bound<'_, PyAny>>>().ok();
            let places: Option<Vec<usize>> = match place(&returned) {
                Some(one) => Some(vec![one]),
                None => several().and_then(|all| all.iter().map(place).collect()),
            };
            let fault = || {
                let cure = "give one of the paths whose room is above 0, a list of them, or None to \
                            wait";
                kind.wrong(format!("choose returned {returned}; {cure}"))
            };
            let places = places.ok_or_else(fault)?;
            also.extend(places.iter().skip(1));
            Ok(places.first().copied())
        })
        .flatten()
    }

    fn also(&mut self, _: &[PathState], _: usize) -> Vec<usize> {
        std::mem::take(&mut self.also)
    }
}
