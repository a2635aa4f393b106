//! The text format: `# key: value` lines, the header `t_ns,d_ns`, then integers
//! (docs/concepts/traces.md).
//!
//! ```text
//! # clift-trace: 1
//! # lldu_bytes: 33
//! # decode_ns: 36000000
//! t_ns,d_ns
//! 0,36000000
//! 1003802,0
//! ```
//!
//! Every key is optional. `checksum` has the CRC-32 of the other keys and of each column; the writer
//! adds it, and the reader refuses a file that does not fit it. A third column `bytes` may give the LLDU size slot by slot, for adaptive
//! coding; it takes precedence over the key `lldu_bytes`.

use std::io::{self, BufRead, Write};

use crate::budget::Budget;
use crate::trace::PhyTrace;
use crate::trace::Sizes;
use crate::trace::checksum::Checksums;
use crate::trace::decimal::{append_integer, parse_integer, parse_nanoseconds};
use crate::trace::error::{Fault, ReadError, Snippet};
use crate::trace::file::FormatRow;
use crate::trace::keys::{Keys, keys};
use crate::trace::lines::Lines;
use crate::trace::notes::one_line;
use crate::trace::probes;
use crate::trace::slots::SlotBuilder;
use crate::units::Bytes;

/// LLDU size if the file gives none: that of most scenarios in the papers.
pub const DEFAULT_LLDU: Bytes = Bytes(33);

/// Values whose checksum is computed at a time.
const PART: usize = 1 << 18;

pub(super) const FORMAT: FormatRow = FormatRow {
    name: "text",
    suffixes: &["csv", "txt"],
    doc: "CLIFT's own.",
    read: Some(|how, input| input.parsed(&how.file, |file| read(file, how.lldu, input.budget))),
    write: Some(|phy, _, out| Ok(write(phy, out)?)),
    ..FormatRow::NAMED
};

/// Reads a trace within a budget. `lldu` overrides the size that the file gives.
///
/// ```
/// use clift::budget::Budget;
/// use clift::trace::text;
/// let budget = Budget::unlimited();
/// let phy = text::read("# lldu_bytes: 40\nt_ns,d_ns\n0,5\n10,0\n".as_bytes(), None, &budget).unwrap();
/// assert_eq!((phy.len(), phy.lldu().0), (2, 40));
///
/// let fault = text::read("t_ns,d_ns\n0,5\n10,NaN\n".as_bytes(), None, &budget).unwrap_err();
/// assert_eq!(fault.to_string(), "line 3: `NaN` is not a time; write integer nanoseconds");
/// ```
///
/// # Errors
/// A [`ReadError`] with the first faulty line.
pub fn read(
    reader: impl BufRead,
    lldu: Option<Bytes>,
    budget: &Budget<'_>,
) -> Result<PhyTrace, ReadError> {
    let mut lines = Lines::new(reader);
    let mut keys = Keys::default();
    let sized = loop {
        let Some((number, line)) = lines.next()? else {
            return Err(crate::trace::Fault::empty().into());
        };
        match line.strip_prefix(b"#") {
            Some(comment) => read_key(comment, &mut keys).map_err(|fault| fault.at(number))?,
            None => break is_sized(line).map_err(|fault| fault.at(number))?,
        }
    };
    let mut slots = SlotBuilder::within(budget);
    while let Some((number, line)) = lines.next()? {
        read_slot(line, sized, &mut slots).map_err(|fault| fault.at(number))?;
    }
    let sizes = slots.sizes()?;
    let (t, d) = slots.columns();
    keys.sums.integers(0, t);
    keys.sums.integers(1, d);
    let names = [(0, "t_ns"), (1, "d_ns"), (2, "bytes")];
    let names = &names[..2 + usize::from(sized)];
    keys.sums.header(names.iter().map(|name| name.1));
    if let Some(column) = sizes.as_ref().and_then(Sizes::column) {
        keys.sums.integers(2, column);
    }
    keys.check(names)?;
    let one = || lldu.or(keys.lldu).unwrap_or(DEFAULT_LLDU).into();
    let sizes = sizes.filter(|_| lldu.is_none()).unwrap_or_else(one);
    slots.finish(sizes, keys.header)
}

/// Writes a trace in the form that [`read`] accepts.
///
/// # Errors
/// If the writer fails.
pub fn write(phy: &PhyTrace, mut out: impl Write) -> io::Result<()> {
    let mut sums = Checksums::default();
    for (key, value) in keys(phy) {
        if let Some(value) = one_line(&value) {
            sums.key(key, &value);
            writeln!(out, "# {key}: {value}")?;
        }
    }
    let bytes = phy.sizes().column();
    let columns = [Some(phy.t()), Some(phy.d()), bytes];
    for (index, column) in columns.into_iter().flatten().enumerate() {
        for part in column.chunks(PART) {
            sums.integers(index, part);
            // Lets a writer with a budget ask whether to continue.
            out.flush()?;
        }
    }
    let names = ["t_ns", "d_ns", "bytes"];
    let names = &names[..2 + usize::from(bytes.is_some())];
    sums.header(names.iter().copied());
    writeln!(out, "# {}: {sums}", Checksums::KEY)?;
    writeln!(out, "{}", names.join(","))?;
    let mut line = Vec::with_capacity(48);
    for (slot, (&t, &d)) in phy.t().iter().zip(phy.d().iter()).enumerate() {
        line.clear();
        append_integer(&mut line, t);
        line.push(b',');
        append_integer(&mut line, d);
        if let Some(bytes) = bytes {
            line.push(b',');
            append_integer(&mut line, bytes[slot]);
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

/// Parses a comment line without its `#`. A `key: value` with a lower-case key is metadata;
/// anything else is a remark.
fn read_key(comment: &[u8], keys: &mut Keys) -> Result<(), Fault> {
    let comment = std::str::from_utf8(comment).map_err(|_| Fault::not_text())?;
    let Some((key, value)) = comment.split_once(':') else { return Ok(()) };
    let (key, value) = (key.trim(), value.trim());
    let word = |c: char| c.is_ascii_lowercase() || matches!(c, '_' | '-');
    if key.is_empty() || !key.chars().all(word) {
        return Ok(());
    }
    if keys.set(key, &one_line(value).unwrap_or_default())? {
        return Ok(());
    }
    let known = "known are clift-trace, lldu_bytes, decode_ns, period_ns, rtt_ns, packing, \
                 packet_header_bytes, tick_ns, tick_phase_ns, description, source, understood, \
                 assumed, warnings and checksum";
    Err(Fault::Text(format!("unknown key {}; {known}", Snippet::new(key.as_bytes()))))
}

/// True if the header has the third column.
fn is_sized(header: &[u8]) -> Result<bool, Fault> {
    let mut names = header.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    match [names.next(), names.next(), names.next(), names.next()] {
        [Some(b"t_ns"), Some(b"d_ns"), None, None] => Ok(false),
        [Some(b"t_ns"), Some(b"d_ns"), Some(b"bytes"), None] => Ok(true),
        _ if probes::is_header(header) => {
            let cure = "is a header of probes; give the format probes and a direction, up or down";
            Err(Fault::of(header, cure))
        }
        _ => {
            let cure = "instead of the header `t_ns,d_ns`; for a bare two-column file give the \
                        unit (s, ms, us, ns), for another kind of file its format (0 and 1: \
                        loss); logs of rates, delays or a modem are read by `clift trace import`";
            Err(Fault::of(header, cure))
        }
    }
}

fn read_slot(line: &[u8], sized: bool, slots: &mut SlotBuilder<'_>) -> Result<(), Fault> {
    let mut fields = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    let columns = match [fields.next(), fields.next(), fields.next(), fields.next()] {
        [Some(t), Some(d), None, None] if !sized => (t, d, None),
        [Some(t), Some(d), bytes @ Some(_), None] if sized => (t, d, bytes),
        _ if line.is_empty() => return Err(Fault::blank()),
        _ => {
            let found = line.split(|&byte| byte == b',').count();
            return Err(Fault::columns(found, 2 + usize::from(sized)));
        }
    };
    let (t, d, bytes) = columns;
    if let Some(text) = bytes {
        let bytes = parse_integer(text).and_then(|bytes| u32::try_from(bytes).ok());
        let bytes = bytes.filter(|&bytes| bytes > 0);
        let bytes = bytes.ok_or_else(|| Fault::value("bytes", text, 1))?;
        slots.push_size(Bytes(bytes))?;
    }
    slots.push(parse_nanoseconds(t)?, parse_nanoseconds(d)?, t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Header, Loading, Notes, Packing};
    use crate::units::Duration;
    use proptest::prelude::*;

    fn read(reader: impl BufRead, lldu: Option<Bytes>) -> Result<PhyTrace, ReadError> {
        super::read(reader, lldu, &Budget::unlimited())
    }

    fn message(text: &str) -> String {
        read(text.as_bytes(), None).unwrap_err().to_string()
    }

    #[test]
    fn keys_spaces_line_ends_and_remarks_are_parsed() {
        let text = "\u{feff}# clift-trace: 1\r\n# made by hand\r\n#lldu_bytes:40\n# decode_ns: 7\n\
                    # description: a: b, c \n# source: field\n# period_ns: 100\n# rtt_ns: 9\n\
                    t_ns, d_ns\r\n 0 ,\t5\n10,0";
        let phy = read(text.as_bytes(), None).unwrap();
        assert_eq!((&phy.t()[..], &phy.d()[..]), (&[0, 10][..], &[5, 0][..]));
        assert_eq!(phy.lldu(), Bytes(40));
        let expected = Header {
            decode: Some(Duration::from_nanos(7)),
            description: Some("a: b, c".to_owned()),
            source: Some("field".to_owned()),
            period: Some(Duration::from_nanos(100)),
            rtt: Some(Duration::from_nanos(9)),
            unchecked: true,
            ..Header::default()
        };
        assert_eq!(phy.header(), &expected);
        assert_eq!(read(text.as_bytes(), Some(Bytes(8))).unwrap().lldu(), Bytes(8));
    }

    #[test]
    fn a_changed_or_truncated_file_is_never_read_as_another_trace() {
        let header = Header {
            decode: Some(Duration::from_nanos(36)),
            rtt: Some(Duration::from_nanos(500)),
            ..Header::default()
        };
        let sizes = [Bytes(33).into(), Sizes::each(vec![7, 8, 9].into()).unwrap()];
        for sizes in sizes {
            let phy = PhyTrace::with_header(
                vec![0, 10, 21].into(),
                vec![36, 0, 36].into(),
                sizes,
                header.clone(),
            );
            let (phy, mut whole) = (phy.unwrap(), Vec::new());
            write(&phy, &mut whole).unwrap();
            let cut = (0..whole.len()).map(|end| whole[..end].to_vec());
            let flipped = (0..8 * whole.len()).map(|at| {
                let mut flipped = whole.clone();
                flipped[at / 8] ^= 1 << (at % 8);
                flipped
            });
            let mut refused = 0;
            for changed in cut.chain(flipped) {
                match read(&changed[..], None) {
                    Ok(other) => {
                        let shown = String::from_utf8_lossy(&changed);
                        assert_eq!((other.t(), other.d()), (phy.t(), phy.d()), "{shown}");
                        assert_eq!(other.sizes(), phy.sizes(), "{shown}");
                        // A checksum that became a remark is missing, which a note says.
                        let unchecked = other.header().unchecked;
                        let expected = Header { unchecked, ..header.clone() };
                        assert_eq!(other.header(), &expected, "{shown}");
                    }
                    Err(error) => {
                        refused += 1;
                        assert!(!error.to_string().contains('\n'), "{error}");
                    }
                }
            }
            assert!(refused > 8 * whole.len());
        }
        let message = message("# checksum: 0 0 0\nt_ns,d_ns\n0,5\n");
        assert!(message.starts_with("damaged: a key does not fit its `checksum`"));
    }

    #[test]
    fn a_file_of_clift_without_a_checksum_is_read_with_a_note() {
        let old = read("# clift-trace: 1\nt_ns,d_ns\n0,5\n1,0\n".as_bytes(), None).unwrap();
        assert!(old.warnings()[0].starts_with("the file has no checksum"));
        let by_hand = read("t_ns,d_ns\n0,5\n1,0\n".as_bytes(), None).unwrap();
        assert_eq!(by_hand.warnings(), Vec::<String>::new());
    }

    #[test]
    fn a_column_of_equal_sizes_becomes_a_single_size() {
        let phy = read("t_ns,d_ns,bytes\n0,5,48\n1,5,48\n".as_bytes(), None).unwrap();
        assert_eq!(phy.lldu(), Bytes(48));
        let text = "# lldu_bytes: 7\nt_ns,d_ns,bytes\n0,5,48\n1,0,49\n";
        let phy = read(text.as_bytes(), None).unwrap();
        assert_eq!(phy.sizes().column().unwrap()[..], [48, 49]);
        assert_eq!((phy.lldu(), phy.bytes()), (Bytes(49), 97));
        // An explicit size overrides the column.
        assert_eq!(*read(text.as_bytes(), Some(Bytes(8))).unwrap().sizes(), Bytes(8).into());
        assert!(
            message("t_ns,d_ns,bytes\n0,5,0\n").starts_with("line 2: `0` is not valid for bytes")
        );
    }

    #[test]
    fn faults_have_a_line_and_a_cure() {
        let cases = [
            ("", "the trace is empty; give at least one slot"),
            ("# lldu_bytes: 3\n", "the trace is empty; give at least one slot"),
            ("t_ns,d_ns\n", "the trace is empty; give at least one slot"),
            ("0.5 0.036\n", "line 1: `0.5 0.036` instead of the header `t_ns,d_ns`"),
            ("t_ns,d_ns\n0,1\n1,nan\n", "line 3: `nan` is not a time; write integer nanoseconds"),
            ("t_ns,d_ns\n1.5,1\n", "line 2: `1.5` is not a time; write integer nanoseconds"),
            ("t_ns,d_ns\n0,-1\n", "line 2: `-1` is negative; times start at 0"),
            ("t_ns,d_ns\n5,1\n5,1\n", "line 3: time `5` does not come after the one before it"),
            ("t_ns,d_ns\n9223372036854775807,1\n", "line 2: `9223372036854775807` is over 2^61"),
            ("t_ns,d_ns\n99999999999999999999,1\n", "line 2: `99999999999999999999` is over 2^61"),
            ("t_ns,d_ns\n2305843009213693950,9\n", "slot 0: t + d is over 2^61 ns"),
            ("t_ns,d_ns\n1\n", "line 2: 1 column instead of 2"),
            ("t_ns,d_ns\n1,2,3\n", "line 2: 3 columns instead of 2"),
            ("t_ns,d_ns\n\n1,2\n", "line 2: an empty line; remove it"),
            ("# lldu_bytes: 0\nt_ns,d_ns\n", "line 1: `0` is not valid for lldu_bytes"),
            ("# lldu_bytes: 4294967296\n", "line 1: `4294967296` is not valid for lldu_bytes"),
            ("# decode_ns: x\n", "line 1: `x` is not valid for decode_ns"),
            ("# lldu: 3\n", "line 1: unknown key `lldu`; known are clift-trace"),
            ("# source: a\n# source: b\n", "line 2: the key `source` occurs twice"),
            ("# clift-trace: 2\n", "line 1: format version `2` is not known"),
            ("# period_ns: 4\nt_ns,d_ns\n0,1\n5,1\n", "period_ns must be above 5"),
        ];
        for (text, expected) in cases {
            let message = message(text);
            assert!(message.starts_with(expected), "{text:?}: {message}");
            assert!(!message.contains('\n'));
        }
        let binary = read(&b"# \xff: 1\n"[..], None).unwrap_err();
        assert!(binary.to_string().starts_with("line 1: not text; is the format right?"));
        let endless = vec![b'7'; 1 << 20];
        let long = read(&endless[..], None).unwrap_err().to_string();
        assert!(long.starts_with("line 1: longer than "), "{long}");
    }

    fn loading() -> impl Strategy<Value = Loading> {
        let packing =
            prop_oneof![Just(None), Just(Some(Packing::Packet)), Just(Some(Packing::Bytes))];
        (packing, 0u32..9, 0u64..1 << 61, 0u64..1 << 61).prop_map(
            |(packing, header, tick, phase)| Loading {
                packing,
                packet_header: Bytes(header),
                tick: Duration::from_nanos(tick),
                phase: Duration::from_nanos(phase.checked_rem(tick).unwrap_or(0)),
            },
        )
    }

    fn header() -> impl Strategy<Value = Header> {
        let text = || proptest::option::of("[ -~\u{e9}\u{4e2d}]{0,20}");
        let time = || proptest::option::of(1u64..1 << 61);
        let rtt = proptest::option::of(0u64..1 << 61);
        let lines = || {
            proptest::collection::vec("[ -:<-~]{0,9}", 0..3).prop_map(|lines| {
                lines.iter().filter_map(|line| one_line(line)).collect::<Vec<_>>()
            })
        };
        let notes = (lines(), lines(), lines());
        let notes = notes.prop_map(|(understood, assumed, warnings)| Notes {
            understood,
            assumed,
            warnings,
        });
        let all = (time(), rtt, text(), text(), notes, loading());
        all.prop_map(|(decode, rtt, description, source, notes, loading)| Header {
            loading,
            unchecked: false,
            notes,
            decode: decode.map(Duration::from_nanos),
            rtt: rtt.map(Duration::from_nanos),
            description: description.as_deref().and_then(one_line),
            source: source.as_deref().and_then(one_line),
            period: Some(Duration::from_nanos(1 << 61)),
        })
    }

    proptest! {
        #[test]
        fn written_traces_read_back_unchanged(
            gaps in proptest::collection::vec((1i64..1 << 50, 0i64..1 << 60, 1i64..1 << 32), 1..50),
            differ in any::<bool>(),
            lldu in 1u32..,
            header in header(),
        ) {
            let t = gaps.iter().scan(-1, |t, gap| { *t += gap.0; Some(*t) }).collect::<Vec<_>>();
            let d = gaps.iter().map(|gap| gap.1).collect::<Vec<_>>();
            let sizes = gaps.iter().map(|gap| gap.2).collect::<Vec<_>>();
            let sizes = if differ { Sizes::each(sizes.into()).unwrap() } else { Bytes(lldu).into() };
            let phy = PhyTrace::with_header(t.into(), d.into(), sizes, header).unwrap();
            let mut file = Vec::new();
            write(&phy, &mut file).unwrap();
            let back = read(&file[..], None).unwrap();
            prop_assert_eq!(back.t(), phy.t());
            prop_assert_eq!(back.d(), phy.d());
            prop_assert_eq!(back.sizes(), phy.sizes());
            prop_assert_eq!(back.header(), phy.header());
        }
    }
}
