//! Applications written in Python.

use std::sync::Arc;

use clift::application::{Application, ApplicationKind, Arrival, Traffic};
use clift::config::{Fault, Parameter};
use clift::metrics::{Distribution, FlowMetrics, MessageMetrics};
use clift::transport::Endpoint;
use clift::units::{Bytes, Duration, Instant};
use pyo3::prelude::*;
use rand_chacha::ChaCha8Rng;

use super::raised::ask;
use super::{Given, Kind, dict, insert, seed};

/// More than any run can send.
const MOST: u64 = 1 << 60;
/// Maximum size of one hand-over to datagrams, which leave as soon as they are handed over.
const MOST_DATAGRAMS: u64 = 100_000_000;

/// `make(seed, start_ns, payload_bytes, parameters)` makes an instance.
pub(super) fn add(kind: &'static Kind, summary: &'static str) -> PyResult<()> {
    insert(ApplicationKind {
        name: kind.name,
        summary,
        keys: kind.signature.names(),
        make: Box::leak(Box::new(move |given: &[(&'static str, Parameter)]| {
            Arc::new(OwnApplication { kind, given: given.to_vec() }) as Arc<dyn Application>
        })),
    })
}

struct OwnApplication {
    kind: &'static Kind,
    given: Given,
}

impl std::fmt::Debug for OwnApplication {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OwnApplication").field(&self.kind.name).field(&self.given).finish()
    }
}

impl OwnApplication {
    fn traffic(&self, start: Instant, payload: Bytes, seed: u64) -> Box<dyn Traffic> {
        let kind = self.kind;
        let methods = ask(|py| {
            let arguments = (seed, start.as_nanos(), payload.0, dict(py, &self.given)?);
            let own = kind.make.bind(py).call1(arguments)?;
            Ok(Methods {
                send: kind.needed(&own, "send")?,
                arrived: kind.method(&own, "arrived")?,
                report: kind.method(&own, "report")?,
            })
        });
        Box::new(OwnTraffic { kind, methods, stream: 0 })
    }
}

impl Application for OwnApplication {
    fn check(&self) -> Result<(), Fault> {
        self.kind.signature.check(&self.given).map_err(Fault::at)
    }

    fn start(&self, start: Instant, payload: Bytes) -> Box<dyn Traffic> {
        self.traffic(start, payload, 0)
    }

    fn start_own(&self, start: Instant, payload: Bytes, rng: ChaCha8Rng) -> Box<dyn Traffic> {
        self.traffic(start, payload, seed(rng))
    }
}

#[derive(Debug)]
struct Methods {
    send: Py<PyAny>,
    arrived: Option<Py<PyAny>>,
    report: Option<Py<PyAny>>,
}

struct OwnTraffic {
    kind: &'static Kind,
    methods: Option<Methods>,
    /// In-order bytes of a stream.
    stream: u64,
}

/// Message counters of an application: sent, received, in time, and delays in ns.
type Counted = (u64, u64, u64, Vec<u64>);

impl OwnTraffic {
    /// Checks the return value of `send`: bytes, and the time of the next call.
    fn sent(
        &self,
        now: Instant,
        returned: &Bound<'_, PyAny>,
        most: u64,
    ) -> PyResult<(u64, Option<u64>)> {
        let wrong = |fault: &str| self.kind.wrong(format!("send returned {returned}; {fault}"));
        let pair = returned.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>();
        let (bytes, next) = pair.map_err(|_| {
            wrong("give bytes to hand over, and the time of the next call in ns (None: never)")
        })?;
        let bytes = match bytes.extract::<u64>() {
            Ok(bytes) if bytes <= most => bytes,
            _ if most < MOST => {
                return Err(wrong(
                    "over datagrams, which have no flow control, give whole bytes up to 100 MB",
                ));
            }
            _ if bytes.extract::<f64>().is_ok_and(|bytes| bytes == f64::INFINITY) => u64::MAX,
            _ => return Err(wrong("bytes are a whole number from 0 on, or math.inf")),
        };
        if next.is_none() {
            return Ok((bytes, None));
        }
        match next.extract::<u64>() {
            Ok(next) if next > now.as_nanos() => Ok((bytes, Some(next))),
            _ => Err(wrong(&format!(
                "the time of the next call is a whole number of ns after now ({})",
                now.as_nanos()
            ))),
        }
    }
}

impl Traffic for OwnTraffic {
    fn drive(&mut self, now: Instant, sender: &mut dyn Endpoint) -> Option<Instant> {
        let methods = self.methods.as_ref()?;
        let most = if sender.acknowledged().is_some() { MOST } else { MOST_DATAGRAMS };
        let (bytes, next) = ask(|py| {
            let returned = methods.send.bind(py).call1((now.as_nanos(),))?;
            self.sent(now, &returned, most)
        })?;
        if bytes > 0 {
            sender.write(0, bytes, false);
        }
        // For unlimited data, closing would end the stream at what was sent so far.
        if next.is_none() && bytes < u64::MAX {
            sender.close();
        }
        next.map(Instant::from_nanos)
    }

    fn arrived(&mut self, now: Instant, what: Arrival) {
        let (start, end) = match what {
            Arrival::Stream(bytes) => {
                let before = std::mem::replace(&mut self.stream, bytes);
                (before, bytes)
            }
            Arrival::Datagram { start, len } => (start, start + u64::from(len)),
        };
        let Some(arrived) = self.methods.as_ref().and_then(|methods| methods.arrived.as_ref())
        else {
            return;
        };
        if start < end {
            ask(|py| arrived.call1(py, (now.as_nanos(), start, end)));
        }
    }

    fn report(&self, metrics: &mut FlowMetrics) {
        let Some(report) = self.methods.as_ref().and_then(|methods| methods.report.as_ref()) else {
            return;
        };
        let counted = ask(|py| {
            let returned = report.bind(py).call0()?;
            let wrong = |cure: &str| self.kind.wrong(format!("report returned {returned}; {cure}"));
            let counted = returned.extract::<Counted>().map_err(|_| {
                wrong("give messages sent, received, in time, and a list of their delays in ns")
            })?;
            let (sent, received, in_time, _) = counted;
            if received > sent || in_time > received {
                return Err(wrong("no more can be received than sent, or in time than received"));
            }
            Ok(counted)
        });
        if let Some((sent, received, in_time, delays)) = counted {
            let mut delay = Distribution::default();
            delays.into_iter().for_each(|nanos| delay.record(Duration::from_nanos(nanos)));
            let mut messages = MessageMetrics::default();
            (messages.sent, messages.judged, messages.received) = (sent, sent, received);
            (messages.in_time, messages.delay) = (in_time, delay.summary());
            metrics.messages = Some(messages);
        }
    }
}
