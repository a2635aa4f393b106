//! The JSON of iperf3 (`-J`): a rate per interval and, over UDP at the receiver, losses.
//!
//! Both ends' files are read. Over UDP the receiver counts what arrived and what was lost, so its
//! rate counts as received; the sender's rate is what it offered, and its file has the losses of
//! the whole test only, unless it holds the server's output too (`--get-server-output`). Over TCP
//! the rate is what that connection reached.

use std::fmt::Write as _;
use std::io::BufRead;

use serde::Deserialize;

use crate::budget::Budget;
use crate::trace::error::{FileError, ReadError};
use crate::trace::file::{FormatRow, Input, TraceFile};
use crate::trace::notes::readable;
use crate::trace::series::{self, RateIs};
use crate::trace::{Fault, Notes, PhyTrace, json};
use crate::units::counted;

pub(super) const FORMAT: FormatRow = FormatRow {
    name: "iperf3",
    doc: "JSON of iperf3 over TCP or UDP, of either end.",
    keys: &[series::KEYS],
    read: Some(read),
    content: Some(|start| json::has_any(start, &["\"iperf ", "\"intervals\""])),
    ..FormatRow::NAMED
};

/// The part of a file that is used.
#[derive(Deserialize)]
struct Log {
    #[serde(default)]
    start: Start,
    #[serde(default)]
    intervals: Vec<Interval>,
    #[serde(default)]
    end: End,
    error: Option<String>,
    /// The server's file, in the client's.
    server_output_json: Option<Box<Log>>,
}

#[derive(Default, Deserialize)]
struct Start {
    /// Written by the client only.
    connecting_to: Option<serde::de::IgnoredAny>,
    test_start: Option<Test>,
}

#[derive(Deserialize)]
struct Test {
    protocol: String,
    #[serde(default)]
    reverse: u8,
    #[serde(default)]
    bidir: u8,
}

#[derive(Deserialize)]
struct Interval {
    #[serde(default)]
    streams: Vec<Stream>,
    sum: Sum,
    /// The other direction of a test in both.
    sum_bidir_reverse: Option<Sum>,
}

#[derive(Deserialize)]
struct Stream {
    /// Round-trip time that a sender of TCP has measured, in us.
    rtt: Option<f64>,
}

#[derive(Clone, Copy, Deserialize)]
struct Sum {
    start: f64,
    bits_per_second: f64,
    lost_packets: Option<i64>,
    packets: Option<i64>,
    #[serde(default)]
    omitted: bool,
    /// Absent before iperf3 3.7.
    sender: Option<bool>,
}

#[derive(Default, Deserialize)]
struct End {
    /// Of UDP.
    sum: Option<Total>,
}

#[derive(Deserialize)]
struct Total {
    lost_packets: Option<i64>,
    packets: Option<i64>,
}

/// The share of lost packets. Packets that overtake others can make counts negative for a while.
fn share(lost: Option<i64>, packets: Option<i64>) -> Option<f64> {
    match (lost?.max(0), packets?) {
        (_, ..=0) => None,
        (lost, packets) => Some((lost as f64 / packets as f64).min(1.0)),
    }
}

fn read(how: &TraceFile, input: &Input<'_>) -> Result<PhyTrace, FileError> {
    let how = TraceFile {
        time: "time:s".parse().ok(),
        rate: how.rate.clone().or_else(|| "rate:bit/s".parse().ok()),
        loss: how.loss.clone().or_else(|| "loss".parse().ok()),
        // The table has the rates of UDP as they were sent.
        rate_is: how.rate_is.or(Some(RateIs::Sent)),
        ..how.clone()
    };
    series::read_made(&how, input, table)
}

/// The intervals as a table of time, rate and loss.
fn table(reader: impl BufRead, budget: &Budget<'_>) -> Result<(String, Notes), ReadError> {
    let fault = |text: String| ReadError::of_file(text);
    let mut log: Log = json::read(reader, "iperf3 (-J)", budget)?;
    if let Some(error) = log.error {
        return Err(fault(format!(
            "iperf3 failed: {}",
            error.trim().trim_start_matches("error - ")
        )));
    }
    let total = log.end.sum.as_ref().and_then(|sum| share(sum.lost_packets, sum.packets));
    let mut client = log.start.connecting_to.is_some();
    let first = |log: &Log| log.intervals.first().map(|one| one.sum);
    let lossless = |log: &Log| first(log).is_none_or(|sum| sum.lost_packets.is_none());
    let mut notes = Notes::default();
    if lossless(&log)
        && let Some(server) = log.server_output_json.take().filter(|server| !lossless(server))
    {
        (log, client) = (*server, false);
    }
    let Some(sum) = first(&log) else { return Err(Fault::empty().into()) };
    let test = log.start.test_start.as_ref();
    let (udp, reverse, both) = test.map_or_else(
        || (sum.packets.is_some(), false, false),
        |test| (test.protocol.eq_ignore_ascii_case("UDP"), test.reverse > 0, test.bidir > 0),
    );
    let sends = |sum: &Sum| sum.sender.unwrap_or(client != reverse);
    // Of a test in both directions, the one that this end received.
    let used = |one: &Interval| match one.sum_bidir_reverse {
        Some(other) if sends(&one.sum) => other,
        _ => one.sum,
    };
    let sender = log.intervals.first().is_some_and(|one| sends(&used(one)));
    budget.take(80 * log.intervals.len() as u64, "a table of intervals")?;
    let (mut table, mut omitted, mut nothing) = ("time,rate,loss\n".to_owned(), 0u64, 0u64);
    for one in &log.intervals {
        let sum = used(one);
        if sum.omitted {
            omitted += 1;
            continue;
        }
        let lost = share(sum.lost_packets, sum.packets);
        let lost = lost.or(if udp && sender { total } else { None }).unwrap_or(0.0);
        // A receiver's rate leaves out what was lost.
        let sent = if udp && !sender && lost < 1.0 { 1.0 / (1.0 - lost) } else { 1.0 };
        nothing += u64::from(sum.bits_per_second == 0.0);
        let _ = writeln!(table, "{},{},{lost}", sum.start, (sum.bits_per_second * sent).round());
    }
    if nothing == log.intervals.len() as u64 - omitted {
        return Err(fault("iperf3 transferred nothing in any interval".to_owned()));
    }
    let end = if client { "client" } else { "server" };
    let does = if sender { "sent" } else { "received" };
    let protocol = if udp { "UDP" } else { "TCP" };
    notes.understood.push(format!("JSON of iperf3 over {protocol}: what the {end} {does}"));
    notes.assumed.push("iperf3 counts payload, so headers are left out of the rate".to_owned());
    match (udp, sender, total) {
        (false, ..) => notes.warnings.push(
            "the rate is what one TCP transfer reached, with its own control and queue: the link \
             may have carried more"
                .to_owned(),
        ),
        (true, false, _) => notes.understood.push(
            "the receiver's rate leaves out what was lost; the link's rate adds it again"
                .to_owned(),
        ),
        (true, true, Some(_)) => notes.warnings.push(
            "the sender's file has the losses of the whole test only, so they are spread evenly: \
             use the receiver's file, or --get-server-output"
                .to_owned(),
        ),
        (true, true, None) => notes
            .warnings
            .push("the sender's file has no losses: use the receiver's file".to_owned()),
    }
    let trips = log.intervals.iter().flat_map(|one| one.streams.iter().filter_map(|own| own.rtt));
    // One of 0 is unknown.
    let least = trips.filter(|&rtt| rtt > 0.0).min_by(f64::total_cmp);
    if let Some(least) = least.filter(|_| !udp) {
        let least = readable((1e3 * least) as i64);
        notes.understood.push(format!("the least round-trip time that TCP measured is {least}"));
    }
    if both {
        notes.assumed.push(format!("of a test in both directions, what this end {does}"));
    }
    if omitted > 0 {
        let intervals =
            counted(omitted, "interval that iperf3 omits is", "intervals that iperf3 omits are");
        notes.understood.push(format!("{intervals} left out"));
    }
    Ok((table, notes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::InMemory;
    use crate::trace::json::tests::never_panics;

    fn parsed(text: &[u8]) -> Result<PhyTrace, String> {
        let mut files = InMemory::default();
        files.insert("x.json", text);
        let file = TraceFile { format: "iperf3".parse().ok(), ..TraceFile::new("x.json") };
        file.read(&files).map_err(|error| error.to_string())
    }

    /// A file of two seconds; `sums` are the fields that follow the rate.
    fn log(start: &str, sums: [(u64, &str); 2], end: &str) -> String {
        let intervals = [0, 1].map(|second| {
            let (rate, more) = sums[second];
            format!(
                r#"{{"streams": [], "sum": {{"start": {second}, "end": {}, "seconds": 1,
                "bytes": 1, "bits_per_second": {rate}{more}, "omitted": false}}}}"#,
                second + 1
            )
        });
        format!(
            "{{\"start\": {{\"version\": \"iperf 3.16\", {start}}},\n\"intervals\": [{}],\n\"end\": {{{end}}}}}",
            intervals.join(",")
        )
    }

    const CLIENT: &str = r#""connecting_to": {"host": "192.0.2.1", "port": 5201}, "#;

    fn test(protocol: &str, reverse: u8) -> String {
        format!(r#""test_start": {{"protocol": "{protocol}", "reverse": {reverse}}}"#)
    }

    /// Output of a UDP receiver: 9 of 10 packets lost in the first second.
    fn received() -> String {
        let sums = [
            (12_000, r#", "lost_packets": 9, "packets": 10, "sender": false"#),
            (120_000, r#", "lost_packets": 0, "packets": 10, "sender": false"#),
        ];
        log(&test("UDP", 0), sums, "")
    }

    #[test]
    fn losses_of_udp_at_the_receiver_count_once() {
        let phy = parsed(received().as_bytes()).unwrap();
        // 120 kbit/s were sent in both seconds: 10 slots of 1500 bytes in each.
        assert_eq!(phy.len(), 20);
        assert!(phy.d()[10..].iter().all(|&d| d > 0));
        assert!(phy.d()[..10].iter().filter(|&&d| d == 0).count() > 5);
    }

    #[test]
    fn a_sender_of_udp_spreads_the_losses_of_the_whole_test() {
        let sums = [(120_000, r#", "packets": 10, "sender": true"#); 2];
        let end = r#""sum": {"lost_packets": 20, "packets": 20}"#;
        let sender = log(&format!("{CLIENT}{}", test("UDP", 0)), sums, end);
        let phy = parsed(sender.as_bytes()).unwrap();
        assert!(phy.len() == 20 && phy.d().iter().all(|&d| d == 0));
        let with_server = sender
            .replace("\"end\": {", &format!("\"server_output_json\": {}, \"end\": {{", received()));
        assert_eq!(parsed(with_server.as_bytes()).unwrap().d()[10..], [1; 10]);
    }

    #[test]
    fn tcp_of_both_ends_and_directions_is_read_and_warned_of() {
        for (start, expected) in [
            (format!("{CLIENT}{}", test("TCP", 0)), "what the client sent"),
            (format!("{CLIENT}{}", test("TCP", 1)), "what the client received"),
            (test("TCP", 0), "what the server received"),
            (test("TCP", 1), "what the server sent"),
        ] {
            let phy = parsed(log(&start, [(120_000, ""), (24_000, "")], "").as_bytes()).unwrap();
            assert_eq!(phy.len(), 12);
            let notes = &phy.header().notes;
            assert!(notes.understood[0].ends_with(expected), "{notes:?}");
            assert!(notes.warnings.join(";").contains("the link may have carried more"));
        }
    }

    #[test]
    fn the_least_round_trip_of_tcp_is_noted() {
        let whole = log(&format!("{CLIENT}{}", test("TCP", 0)), [(120_000, ""), (24_000, "")], "");
        let noted = |streams: [&str; 2]| {
            let [first, second] = streams.map(|own| format!("\"streams\": [{own}]"));
            let (start, rest) = whole.split_once("\"streams\": []").unwrap();
            let text = format!("{start}{first}{}", rest.replace("\"streams\": []", &second));
            parsed(text.as_bytes()).unwrap().header().notes.understood.join("; ")
        };
        let said = noted([r#"{"rtt": 114688}, {"rtt": 69398}"#, r#"{"rtt": 0}"#]);
        assert!(
            said.contains("the least round-trip time that TCP measured is 69.398 ms"),
            "{said}"
        );
        assert!(!noted([r#"{"bytes": 1}"#, ""]).contains("round-trip"));
    }

    #[test]
    fn failed_tests_and_damaged_files_are_reported() {
        let failed = r#"{"start": {}, "intervals": [], "end": {},
            "error": "error - unable to connect to server: Connection refused"}"#;
        assert_eq!(
            parsed(failed.as_bytes()).unwrap_err(),
            "x.json: iperf3 failed: unable to connect to server: Connection refused"
        );
        let whole = received();
        let fault = parsed(&whole.as_bytes()[..whole.len() - 2]).unwrap_err();
        assert!(fault.starts_with("x.json: line 5: the JSON ends here"), "{fault}");
        let none = log(&test("TCP", 0), [(0, ""), (0, "")], "");
        assert!(parsed(none.as_bytes()).unwrap_err().contains("transferred nothing"));
        let negative = whole.replace("120000", "-1");
        assert!(parsed(negative.as_bytes()).unwrap_err().contains("sample 2: rate `-1`"));
    }

    #[test]
    fn cut_and_flipped_files_never_panic() {
        never_panics(&received(), |text| parsed(text).is_ok());
    }
}
