//! JSON files of measuring tools.

use std::fmt;
use std::io::BufRead;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error, Visitor};
use serde_json::error::Category;

use crate::budget::Budget;
use crate::trace::error::{Fault, ReadError};
use crate::trace::lines::{has, unmarked};

/// Memory for a byte of a file: the text, which doubles as it grows, and the values made of it, of
/// which the shortest (`0,`) take 8 bytes each.
const PER_BYTE: u64 = 8;

/// Reads a whole file as `T`; `tool` names the program that writes such files.
pub(super) fn read<T: DeserializeOwned>(
    mut reader: impl BufRead,
    tool: &str,
    budget: &Budget<'_>,
) -> Result<T, ReadError> {
    let mut text = Vec::new();
    loop {
        let part = reader.fill_buf()?;
        if part.is_empty() {
            break;
        }
        let length = part.len();
        budget.take(PER_BYTE * length as u64, format_args!("the JSON of {tool}"))?;
        text.extend_from_slice(part);
        reader.consume(length);
    }
    if text.starts_with(b"\x1f\x8b") {
        let fault = "compressed with gzip; unpack it first: gunzip FILE";
        return Err(ReadError::of_file(fault));
    }
    let read = serde_json::from_slice(unmarked(&text)).map_err(|error| {
        let (line, message) = (error.line() as u64, error.to_string());
        let message = message.rsplit_once(" at line ").map_or(&*message, |(fault, _)| fault);
        let fault = match error.classify() {
            Category::Eof => "the JSON ends here before it is complete; copy the file again".into(),
            Category::Data => format!("{message}: not a value that {tool} writes here"),
            Category::Syntax | Category::Io => format!("not valid JSON: {message}"),
        };
        Fault::Text(fault).at(line)
    });
    budget.give_back(PER_BYTE * text.len() as u64);
    read
}

/// True if a file that starts so is JSON with one of `marks`.
pub(super) fn has_any(start: &[u8], marks: &[&str]) -> bool {
    start.trim_ascii_start().starts_with(b"{") && marks.iter().any(|mark| has(start, mark))
}

/// A number that may be written as text ("626676", "NaN"), as JSON of protocol buffers does; `null`
/// is NaN.
#[derive(Clone, Copy)]
pub(super) struct Number(pub(super) f64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Numbers;
        impl Visitor<'_> for Numbers {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Number, E> {
                Ok(Number(number))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Number, E> {
                Ok(Number(number as f64))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Number, E> {
                Ok(Number(number as f64))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
                text.parse().map(Number).map_err(E::custom)
            }

            fn visit_unit<E: Error>(self) -> Result<Number, E> {
                Ok(Number(f64::NAN))
            }
        }
        deserializer.deserialize_any(Numbers)
    }
}

#[cfg(test)]
pub(super) mod tests {
    /// Reads every beginning of a file, and the file with each byte replaced. No beginning that
    /// lacks more than white space may be accepted.
    pub(in crate::trace) fn never_panics(file: &str, read: impl Fn(&[u8]) -> bool) {
        assert!(read(file.as_bytes()));
        let whole = file.trim_end();
        for end in 0..whole.len() {
            assert!(!read(&whole.as_bytes()[..end]), "cut at {end}");
        }
        for at in 0..whole.len() {
            for byte in [b'9', b'-', b'"', b'}', b'e', 0xff] {
                let mut hurt = whole.as_bytes().to_vec();
                hurt[at] = byte;
                let _ = read(&hurt);
            }
        }
    }
}
