//! Queue management in text form: `codel(target 5 ms, interval 100 ms)`.

use std::fmt;
use std::str::FromStr;

use super::{Aqm, CoDel, DualPi2, FqCoDel, Marks, Pie, QueueKind};
use crate::config::{Arguments, Registry, called, one_of};
use crate::units::{Bytes, Duration, Size, quantity};

pub(super) static BUILT_IN: [QueueKind; 5] = [
    QueueKind {
        name: "none",
        summary: "Drops packets only when the queue is full.",
        text: "none",
        read: &|arguments| arguments.end().map(|()| Aqm::None),
    },
    QueueKind {
        name: "codel",
        summary: "Controlled Delay (RFC 8289).",
        text: "codel(target 5 ms, interval 100 ms)",
        read: &|mut arguments| {
            let codel = codel(&mut arguments)?;
            arguments.end().map(|()| Aqm::CoDel(codel))
        },
    },
    QueueKind {
        name: "fq-codel",
        summary: "A CoDel queue for each flow (RFC 8290).",
        text: "fq-codel(quantum 1514 B)",
        read: &fq_codel,
    },
    QueueKind {
        name: "pie",
        summary: "Proportional Integral controller Enhanced (RFC 8033).",
        text: "pie(target 15 ms, update 15 ms, burst 150 ms)",
        read: &pie,
    },
    QueueKind {
        name: "dualpi2",
        summary: "Two queues, one of them for flows that react to each mark (RFC 9332).",
        text: "dualpi2(target 15 ms, update 16 ms, step 1 ms, marks even)",
        read: &dualpi2,
    },
];

/// The accepted texts as prose; registered queues are last.
fn known() -> String {
    one_of(Registry::current().all().map(|kind: &QueueKind| kind.text), "\"")
}

/// Parses the text written by `Display`; omitted options have the values of the RFC.
///
/// ```
/// use clift::queue::Aqm;
/// assert_eq!("PIE( target 20 ms )".parse::<Aqm>()?.to_string(), "pie(target 20 ms)");
/// let error = "red".parse::<Aqm>().unwrap_err();
/// assert!(error.starts_with("`red`: unknown queue; write \"none\", \"codel("), "{error}");
/// # Ok::<(), String>(())
/// ```
impl FromStr for Aqm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let aqm = called::<QueueKind>(text);
        let aqm = aqm.and_then(|(kind, arguments)| (kind.read)(arguments));
        aqm.map_err(|reason| format!("`{text}`: {reason}; write {}", known()))
    }
}

fn fq_codel(mut options: Arguments<'_>) -> Result<Aqm, String> {
    let standard = FqCoDel::default();
    let quantum = options.option("quantum", size)?.unwrap_or(standard.quantum);
    let codel = codel(&mut options)?;
    options.end().map(|()| Aqm::FqCoDel(FqCoDel { codel, quantum }))
}

fn pie(mut options: Arguments<'_>) -> Result<Aqm, String> {
    let standard = Pie::default();
    let pie = Pie {
        target: options.option("target", time)?.unwrap_or(standard.target),
        update: options.option("update", time)?.unwrap_or(standard.update),
        burst: options.option("burst", any_time)?.unwrap_or(standard.burst),
    };
    options.end().map(|()| Aqm::Pie(pie))
}

fn dualpi2(mut options: Arguments<'_>) -> Result<Aqm, String> {
    let standard = DualPi2::default();
    let dualpi2 = DualPi2 {
        target: options.option("target", time)?.unwrap_or(standard.target),
        update: options.option("update", time)?.unwrap_or(standard.update),
        step: options.option("step", any_time)?.unwrap_or(standard.step),
        marks: options.option("marks", marks)?.unwrap_or(standard.marks),
    };
    options.end().map(|()| Aqm::DualPi2(dualpi2))
}

fn codel(options: &mut Arguments<'_>) -> Result<CoDel, String> {
    let standard = CoDel::default();
    Ok(CoDel {
        target: options.option("target", time)?.unwrap_or(standard.target),
        interval: options.option("interval", time)?.unwrap_or(standard.interval),
        ce_threshold: options.option("ce_threshold", time)?,
    })
}

fn marks(text: &str) -> Result<Marks, String> {
    match &*text.to_lowercase() {
        "even" => Ok(Marks::Even),
        "drawn" => Ok(Marks::Drawn),
        _ => Err(format!("marks must be \"even\" or \"drawn\", not `{text}`")),
    }
}

fn any_time(text: &str) -> Result<Duration, String> {
    let time = text.to_lowercase().parse();
    time.map_err(|_| format!("`{text}` is not a time with its unit"))
}

fn time(text: &str) -> Result<Duration, String> {
    match any_time(text)? {
        Duration::ZERO => Err(format!("`{text}` must be above 0")),
        time => Ok(time),
    }
}

fn size(text: &str) -> Result<Bytes, String> {
    let Size(bytes) = text
        .to_uppercase()
        .replace('K', "k")
        .parse()
        .map_err(|_| format!("`{text}` is not a size with its unit"))?;
    match u32::try_from(bytes) {
        Ok(bytes) if bytes > 0 => Ok(Bytes(bytes)),
        _ => Err(format!("`{text}` is not a valid packet size")),
    }
}

impl fmt::Display for Aqm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options = Vec::new();
        let mut note = |name: &str, value: String, standard: String| {
            if value != standard {
                options.push(format!("{name} {value}"));
            }
        };
        let note_codel = |note: &mut dyn FnMut(&str, String, String), it: &CoDel| {
            let standard = CoDel::default();
            note("target", it.target.to_string(), standard.target.to_string());
            note("interval", it.interval.to_string(), standard.interval.to_string());
            if let Some(threshold) = it.ce_threshold {
                note("ce_threshold", threshold.to_string(), String::new());
            }
        };
        let name = match self {
            Self::None => "none",
            Self::Own(own) => return own.fmt(f),
            Self::CoDel(it) => {
                note_codel(&mut note, it);
                "codel"
            }
            Self::FqCoDel(it) => {
                note_codel(&mut note, &it.codel);
                let quantum = |it: &FqCoDel| Size(it.quantum.0.into()).to_string();
                note("quantum", quantum(it), quantum(&FqCoDel::default()));
                "fq-codel"
            }
            Self::Pie(it) => {
                let standard = Pie::default();
                note("target", it.target.to_string(), standard.target.to_string());
                note("update", it.update.to_string(), standard.update.to_string());
                note("burst", it.burst.to_string(), standard.burst.to_string());
                "pie"
            }
            Self::DualPi2(it) => {
                let standard = DualPi2::default();
                note("target", it.target.to_string(), standard.target.to_string());
                note("update", it.update.to_string(), standard.update.to_string());
                note("step", it.step.to_string(), standard.step.to_string());
                if it.marks == Marks::Drawn {
                    note("marks", "drawn".to_owned(), String::new());
                }
                "dualpi2"
            }
        };
        match options.is_empty() {
            true => f.write_str(name),
            false => write!(f, "{name}({})", options.join(", ")),
        }
    }
}

quantity!(
    Aqm,
    "Aqm",
    r"^\s*([Nn]one|[Cc]o[Dd]el|[Ff][Qq]-[Cc]o[Dd]el|[Pp][Ii][Ee]|[Dd]ual[Pp][Ii]2)\s*(\([^()]*\))?\s*$",
    format!("active queue management, which drops packets before the queue is full: {}", known())
);
