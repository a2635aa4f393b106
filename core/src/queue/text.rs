//! Queue management in text form: `codel(target 5 ms, interval 100 ms)`.

use std::fmt;
use std::str::FromStr;

use super::{Aqm, CoDel, DualPi2, FqCoDel, Marks, OwnQueue, Pie, QueueKind};
use crate::config::Registry;
use crate::units::{Bytes, Duration, Size, quantity};

/// A queue of the core.
struct BuiltIn {
    name: &'static str,
    /// Example of its text.
    text: &'static str,
    /// Reads the options in parentheses.
    read: fn(&mut Options<'_>) -> Result<Aqm, String>,
}

static BUILT_IN: [BuiltIn; 5] = [
    BuiltIn { name: "none", text: "none", read: |_| Ok(Aqm::None) },
    BuiltIn {
        name: "codel",
        text: "codel(target 5 ms, interval 100 ms)",
        read: |options| codel(options).map(Aqm::CoDel),
    },
    BuiltIn { name: "fq-codel", text: "fq-codel(quantum 1514 B)", read: fq_codel },
    BuiltIn { name: "pie", text: "pie(target 15 ms, update 15 ms, burst 150 ms)", read: pie },
    BuiltIn {
        name: "dualpi2",
        text: "dualpi2(target 15 ms, update 16 ms, step 1 ms, marks even)",
        read: dualpi2,
    },
];

/// The names of the core's queues.
pub(super) fn built_in_names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|known| known.name)
}

/// The accepted texts as prose; registered queues are last.
fn known() -> String {
    let current = Registry::current();
    let added = current.all().map(|kind: &QueueKind| kind.text);
    let texts = BUILT_IN.iter().map(|known| known.text).chain(added);
    let texts: Vec<String> = texts.map(|text| format!("\"{text}\"")).collect();
    match texts.split_last() {
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// Parses the text written by `Display`; omitted options have the values of the RFC.
///
/// ```
/// use clift::queue::Aqm;
/// assert_eq!("PIE( target 20 ms )".parse::<Aqm>()?.to_string(), "pie(target 20 ms)");
/// let error = "red".parse::<Aqm>().unwrap_err();
/// assert!(error.starts_with("`red`: unknown; write \"none\", \"codel("), "{error}");
/// # Ok::<(), String>(())
/// ```
impl FromStr for Aqm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse(text).map_err(|reason| format!("`{text}`: {reason}; write {}", known()))
    }
}

fn parse(text: &str) -> Result<Aqm, String> {
    if let Some(own) = OwnQueue::parse(text) {
        return own.map(Aqm::Own);
    }
    let lower = text.trim().to_lowercase();
    let (name, inside) = match lower.split_once('(') {
        None => (lower.as_str(), ""),
        Some((name, rest)) => {
            let inside = rest.strip_suffix(')').ok_or("the closing parenthesis is missing")?;
            (name.trim_end(), inside)
        }
    };
    let mut options = Options::of(inside)?;
    let known = BUILT_IN.iter().find(|known| known.name == name).ok_or("unknown")?;
    let aqm = (known.read)(&mut options)?;
    options.end()?;
    Ok(aqm)
}

fn fq_codel(options: &mut Options<'_>) -> Result<Aqm, String> {
    let standard = FqCoDel::default();
    let quantum = options.take("quantum", size)?.unwrap_or(standard.quantum);
    Ok(Aqm::FqCoDel(FqCoDel { codel: codel(options)?, quantum }))
}

fn pie(options: &mut Options<'_>) -> Result<Aqm, String> {
    let standard = Pie::default();
    Ok(Aqm::Pie(Pie {
        target: options.take("target", time)?.unwrap_or(standard.target),
        update: options.take("update", time)?.unwrap_or(standard.update),
        burst: options.take("burst", any_time)?.unwrap_or(standard.burst),
    }))
}

fn dualpi2(options: &mut Options<'_>) -> Result<Aqm, String> {
    let standard = DualPi2::default();
    Ok(Aqm::DualPi2(DualPi2 {
        target: options.take("target", time)?.unwrap_or(standard.target),
        update: options.take("update", time)?.unwrap_or(standard.update),
        step: options.take("step", any_time)?.unwrap_or(standard.step),
        marks: options.take("marks", marks)?.unwrap_or(standard.marks),
    }))
}

fn codel(options: &mut Options<'_>) -> Result<CoDel, String> {
    let standard = CoDel::default();
    Ok(CoDel {
        target: options.take("target", time)?.unwrap_or(standard.target),
        interval: options.take("interval", time)?.unwrap_or(standard.interval),
        ce_threshold: options.take("ce_threshold", time)?,
    })
}

fn marks(text: &str) -> Result<Marks, String> {
    match text {
        "even" => Ok(Marks::Even),
        "drawn" => Ok(Marks::Drawn),
        _ => Err(format!("marks must be \"even\" or \"drawn\", not `{text}`")),
    }
}

fn any_time(text: &str) -> Result<Duration, String> {
    text.parse().map_err(|_| format!("`{text}` is not a time with its unit"))
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

/// Options in parentheses: names, each with a value.
struct Options<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Options<'a> {
    fn of(inside: &'a str) -> Result<Self, String> {
        let parts = inside.split(',').map(str::trim).filter(|part| !part.is_empty());
        let pairs = parts.map(|part| {
            let pair = part.split_once(char::is_whitespace);
            pair.map(|(name, value)| (name, value.trim()))
                .ok_or_else(|| format!("`{part}` has no value"))
        });
        pairs.collect::<Result<_, _>>().map(Self)
    }

    fn take<T>(
        &mut self,
        name: &str,
        read: fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        let Some(place) = self.0.iter().position(|(known, _)| *known == name) else {
            return Ok(None);
        };
        read(self.0.remove(place).1).map(Some)
    }

    fn end(self) -> Result<(), String> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(format!("`{name}` is unknown or given twice")),
        }
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
