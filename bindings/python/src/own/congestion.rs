//! Congestion controls written in Python.

use clift::transport::tcp::{
    Ack, CongestionControl, CongestionControlKind, Loss, Profile, Reduction, Window,
};
use clift::transport::{Handover, Timetable};
use clift::units::{BitRate, Duration};
use pyo3::prelude::*;

use super::raised::ask;
use super::{Kind, insert, seed};
use crate::errors::own_error;

/// Maximum window in segments: more than any path holds.
const MOST: u32 = 1 << 30;

/// `make(seed, mss_bytes)` makes an instance.
pub(super) fn add(kind: &'static Kind, summary: &'static str) -> PyResult<()> {
    insert(CongestionControlKind {
        name: kind.name,
        aliases: &[],
        summary,
        profiles: &[Profile::Papers, Profile::Linux],
        build: Box::leak(Box::new(move |config: &clift::transport::tcp::TcpConfig, rng| {
            let seed = seed(rng);
            let methods = ask(|py| {
                let control = kind.make.bind(py).call1((seed, config.mss().0))?;
                let on_loss = kind.needed(&control, "on_loss")?;
                let own = kind.method(&control, "on_timeout")?;
                Ok(Methods {
                    on_ack: kind.needed(&control, "on_ack")?,
                    on_timeout: own.unwrap_or_else(|| on_loss.clone_ref(py)),
                    on_loss,
                    window: Py::new(py, PyWindow(Window::new(config)))?,
                })
            });
            let timetable = Timetable::default();
            Box::new(OwnControl { kind, methods, timetable }) as Box<dyn CongestionControl>
        })),
    })
}

/// An ACK that acknowledges new data, outside fast recovery.
#[pyclass(frozen, get_all, name = "Ack", module = "clift._clift")]
pub(crate) struct PyAck {
    /// Arrival time, ns.
    now_ns: u64,
    /// Number of newly acknowledged segments.
    segments: u32,
    /// Segments estimated in flight before the ACK.
    in_flight: u64,
    /// Whether the window limited the sending rate, rather than the application; the window may
    /// grow only then.
    fills_window: bool,
    /// First unacknowledged segment; segments are numbered from 0.
    first: u64,
    /// Next segment to be sent for the first time.
    next: u64,
    /// Round-trip time of the newest acknowledged segment, ns; None if unknown.
    rtt_ns: Option<u64>,
    /// Smoothed round-trip time, ns; None before the first sample.
    srtt_ns: Option<u64>,
    /// The next handover on the way that the terminal knows; None: it knows none.
    handover: Option<PyHandover>,
    /// The last handover until now that the terminal knew; None: there was none.
    last_handover: Option<PyHandover>,
}

/// A handover that the terminal knows beforehand.
#[derive(Clone, Copy)]
#[pyclass(frozen, get_all, name = "Handover", module = "clift._clift")]
pub(crate) struct PyHandover {
    /// When, on the clock of `now_ns`, ns.
    at_ns: u64,
    /// From then until data can be sent again, ns.
    gap_ns: u64,
    /// One-way delay of the link after it, ns; None if unknown.
    delay_ns: Option<u64>,
    /// Rate of the link after it, bit/s; None if unknown.
    rate_bps: Option<u64>,
}

impl From<&Handover> for PyHandover {
    fn from(own: &Handover) -> Self {
        Self {
            at_ns: own.at.as_nanos(),
            gap_ns: own.gap.as_nanos(),
            delay_ns: own.delay.map(Duration::as_nanos),
            rate_bps: own.rate.map(BitRate::bits_per_second),
        }
    }
}

/// The congestion window, in segments.
#[pyclass(name = "Window", module = "clift._clift")]
pub(crate) struct PyWindow(Window);

#[pymethods]
impl PyWindow {
    /// Congestion window in segments.
    #[getter]
    fn cwnd(&self) -> u32 {
        self.0.cwnd()
    }

    #[setter]
    fn set_cwnd(&mut self, cwnd: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.set_cwnd(segments_from(1, "window.cwnd", cwnd)?);
        Ok(())
    }

    /// Slow-start threshold in segments; None before the first loss.
    #[getter]
    fn ssthresh(&self) -> Option<u32> {
        Some(self.0.ssthresh()).filter(|ssthresh| *ssthresh < u32::MAX)
    }

    #[setter]
    fn set_ssthresh(&mut self, ssthresh: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.set_ssthresh(segments_from(1, "window.ssthresh", ssthresh)?);
        Ok(())
    }

    /// Whether the window is below the slow-start threshold.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.0.in_slow_start()
    }

    /// Grows by the acknowledged segments, up to the threshold; returns the segments left over.
    fn slow_start(&mut self, segments: &Bound<'_, PyAny>) -> PyResult<u32> {
        Ok(self.0.slow_start(segments_from(0, "window.slow_start: segments", segments)?))
    }

    /// Grows by one segment for every `count` acknowledged segments.
    fn increase(&mut self, count: &Bound<'_, PyAny>, segments: &Bound<'_, PyAny>) -> PyResult<()> {
        let count = segments_from(0, "window.increase: count", count)?;
        self.0.increase(count, segments_from(0, "window.increase: segments", segments)?);
        Ok(())
    }
}

/// A number of segments, at least `least`.
fn segments_from(least: u32, name: &str, value: &Bound<'_, PyAny>) -> PyResult<u32> {
    let segments = value.extract::<u32>().ok().filter(|n| (least..=MOST).contains(n));
    segments.ok_or_else(|| {
        let cure = format!("give a whole number of segments, {least} or more");
        own_error(format!("{name} = {value}: {cure}"))
    })
}

#[derive(Debug)]
struct Methods {
    on_ack: Py<PyAny>,
    on_loss: Py<PyAny>,
    on_timeout: Py<PyAny>,
    window: Py<PyWindow>,
}

#[derive(Debug)]
struct OwnControl {
    kind: &'static Kind,
    /// `None` if making the instance raised an exception.
    methods: Option<Methods>,
    timetable: Timetable,
}

impl CongestionControl for OwnControl {
    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        let Some(methods) = &self.methods else { return };
        let told = PyAck {
            now_ns: ack.now.as_nanos(),
            segments: ack.segments,
            in_flight: ack.prior_in_flight,
            fills_window: ack.fills(window),
            first: ack.first,
            next: ack.next,
            rtt_ns: ack.rtt.map(Duration::as_nanos),
            srtt_ns: ack.srtt.map(Duration::as_nanos),
            handover: self.timetable.next(ack.now).map(Into::into),
            last_handover: self.timetable.last(ack.now).map(Into::into),
        };
        let grown = ask(|py| {
            methods.window.try_borrow_mut(py)?.0 = *window;
            let returned = methods.on_ack.call1(py, (told, &methods.window))?;
            if !returned.is_none(py) {
                let fault = format!("on_ack returned {returned}; set window.cwnd instead");
                return Err(self.kind.wrong(fault));
            }
            Ok(methods.window.try_borrow(py)?.0)
        });
        if let Some(grown) = grown {
            *window = grown;
        }
    }

    fn foresee(&mut self, timetable: &Timetable) {
        self.timetable = timetable.clone();
    }

    fn reduce(&mut self, loss: Loss, window: &Window) -> Reduction {
        let reduced = self.methods.as_ref().and_then(|methods| {
            let (name, method) = match loss {
                Loss::Detected => ("on_loss", &methods.on_loss),
                Loss::Timeout => ("on_timeout", &methods.on_timeout),
            };
            ask(|py| {
                methods.window.try_borrow_mut(py)?.0 = *window;
                let returned = method.bind(py).call1((&methods.window,))?;
                match returned.extract::<u32>() {
                    Ok(reduced) if (1..=MOST).contains(&reduced) => Ok(reduced),
                    _ => Err(self.kind.wrong(format!(
                        "{name} returned {returned}; give a whole number of segments, 1 or more"
                    ))),
                }
            })
        });
        Reduction::to(reduced.unwrap_or_else(|| window.cwnd().max(2)))
    }
}
