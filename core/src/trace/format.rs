//! The registry of trace file formats. Each format defines its own row.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::trace::error::Fault;
use crate::trace::file::Format;
use crate::trace::lines::unmarked;
use crate::trace::{FORMATS, TimeUnit, capture, columns, series, text};

impl Format {
    /// CLIFT's own text.
    pub const TEXT: Self = Self(&text::FORMAT);
    /// Two bare columns of times.
    pub const COLUMNS: Self = Self(&columns::FORMAT);

    /// Rate, delay and loss over time.
    pub const SERIES: Self = Self(&series::FORMAT);
    /// Two captures of packets.
    pub const CAPTURE: Self = Self(&capture::FORMAT);

    /// All formats, in the order in which messages list them.
    pub fn all() -> impl Iterator<Item = Self> {
        FORMATS.iter().map(|row| Self(row))
    }

    /// The format of files with this suffix.
    ///
    /// # Errors
    /// If the suffix is unknown; the message lists the formats.
    pub fn of(path: &Path) -> Result<Self, Fault> {
        let suffix = suffix(path);
        let known = Self::all().find(|format| format.suffixes().contains(&suffix.as_str()));
        known.ok_or_else(|| unknown_suffix(path, &(list(Self::is_read) + elsewhere(&suffix))))
    }

    /// The format of a measuring tool's file, from its first bytes ([`Format::START`]).
    ///
    /// ```
    /// use clift::trace::Format;
    /// let format = |start: &str| Format::of_content(start.as_bytes()).map(Format::name);
    /// assert_eq!(format("{\"version\": {\"irtt\": \"0.9.1\""), Some("irtt"));
    /// assert_eq!(format("\u{feff}{\"intervals\": ["), Some("iperf3"));
    /// assert_eq!(format("0\n0\n12\n12\n13\n13\n14\n25\n"), Some("mahimahi"));
    /// assert_eq!(format("t_ns,d_ns\n"), None);
    /// ```
    pub fn of_content(start: &[u8]) -> Option<Self> {
        let start = unmarked(start);
        Self::all().find(|format| format.0.content.is_some_and(|is_of| is_of(start)))
    }

    /// Number of bytes that [`Format::of_content`] needs to see.
    pub const START: u64 = 1 << 14;

    /// True if a file of the format becomes a table, whose columns and constants can be replaced.
    pub(super) fn is_table(self) -> bool {
        self.0.keys.contains(&series::KEYS)
    }

    /// Name of the format in scenarios and on the command line.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// File suffixes of the format, without the dot, used unless a format is given.
    pub fn suffixes(self) -> &'static [&'static str] {
        self.0.suffixes
    }

    /// One-line description of the format.
    pub fn doc(self) -> &'static str {
        self.0.doc
    }

    /// True if the content of a file can tell that it is of the format.
    pub fn is_known_by_content(self) -> bool {
        self.0.content.is_some()
    }

    /// True if files of the format can be read.
    pub fn is_read(self) -> bool {
        self.0.read.is_some()
    }

    /// True if files of the format can be written.
    pub fn is_written(self) -> bool {
        self.0.write.is_some()
    }

    /// Keys of a description that apply to some formats, among them this one.
    pub(super) fn keys(self) -> impl Iterator<Item = &'static str> {
        self.0.keys.iter().copied().flatten().copied()
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Format({})", self.name())
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = Fault;

    fn from_str(name: &str) -> Result<Self, Fault> {
        let known = Self::all().find(|format| format.name() == name);
        known.ok_or_else(|| {
            Fault::Text(format!("`{name}` is not a format; known are {}", list(|_| true)))
        })
    }
}

/// The format given, else that by the suffix. A text file with a unit is "columns".
pub(super) fn format_of(
    given: Option<Format>,
    path: &Path,
    unit: Option<TimeUnit>,
) -> Result<Format, Fault> {
    match given {
        Some(format) => Ok(format),
        None => Format::of(path).map(|format| match unit {
            Some(_) if format == Format::TEXT => Format::COLUMNS,
            _ => format,
        }),
    }
}

fn suffix(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

/// The fault of a file without a known suffix, where the formats `known` are possible.
fn unknown_suffix(path: &Path, known: &str) -> Fault {
    let suffix = suffix(path);
    let dot = if suffix.is_empty() { "" } else { "." };
    let fault = "does not determine the format; give a format:";
    Fault::Text(format!("the suffix `{dot}{suffix}` {fault} {known}"))
}

/// The same for a file to write.
pub(super) fn not_written(path: &Path) -> Fault {
    unknown_suffix(path, &list(Format::is_written))
}

/// The command that reads files of this suffix, if a different one does.
fn elsewhere(suffix: &str) -> &'static str {
    match suffix.trim_start_matches('.') {
        "pcap" | "pcapng" | "cap" => "; two captures are read by `clift trace capture`",
        "toml" => "; a scenario is run by `clift run`",
        "log" | "tsv" | "xlsx" | "dat" => "; logs are read by `clift trace import`",
        _ => "",
    }
}

/// The formats that the content of a file can tell.
pub(super) fn known_by_content() -> String {
    list(Format::is_known_by_content)
}

fn list(which: impl Fn(Format) -> bool) -> String {
    Format::all().filter(|&format| which(format)).map(Format::name).collect::<Vec<_>>().join(", ")
}

mod with_serde {
    use std::borrow::Cow;
    use std::sync::LazyLock;

    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use serde::de::{self, Deserialize, Deserializer};
    use serde::ser::{Serialize, Serializer};

    use super::Format;

    /// Names of the formats that can be read, for descriptions of traces.
    static READ: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        Format::all().filter(|format| format.is_read()).map(Format::name).collect()
    });

    impl Serialize for Format {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str(self.name())
        }
    }

    impl<'de> Deserialize<'de> for Format {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let name = Cow::<str>::deserialize(deserializer)?;
            let known = name.parse().ok().filter(|format: &Self| format.is_read());
            known.ok_or_else(|| de::Error::unknown_variant(&name, &READ))
        }
    }

    impl JsonSchema for Format {
        fn schema_name() -> Cow<'static, str> {
            "TraceFormat".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            let read = Self::all().filter(|format| format.is_read());
            let one = |format: Self| {
                json_schema!({
                    "description": format.doc(), "type": "string", "const": format.name()
                })
            };
            let all: Vec<Schema> = read.map(one).collect();
            json_schema!({ "description": "A format of trace files.", "oneOf": all })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_suffixes_tell_formats_apart() {
        for format in Format::all() {
            assert_eq!(format.name().parse::<Format>().unwrap(), format);
            assert!(format.is_read() || format.is_written(), "{format}");
            for suffix in format.suffixes() {
                assert_eq!(Format::of(Path::new(&format!("x.{suffix}"))).unwrap(), format);
            }
        }
        let message = "dat".parse::<Format>().unwrap_err().to_string();
        assert!(
            message.starts_with("`dat` is not a format; known are text, columns, "),
            "{message}"
        );
    }

    #[test]
    fn messages_list_only_the_formats_that_apply() {
        let path = Path::new("x.md");
        let read = Format::of(path).unwrap_err().to_string();
        assert!(read.contains(", runs") && !read.contains(", netem"), "{read}");
        let written = super::not_written(path).to_string();
        assert!(written.contains(", netem") && !written.contains(", capture"), "{written}");
    }
}
