//! The history of a Starlink dish: a sample of loss and round-trip time a second.
//!
//! The file is what `grpcurl` prints for `get_history`, or its fields under the names of
//! starlink-grpc-tools. The notes of that project say what is known of them: the arrays are ring
//! buffers with a sample a second; `current` counts all samples ever written; where the drop rate
//! is 1, the latency repeats the one before; the throughputs are what was used, not what the link
//! could have carried.

use std::fmt::Write as _;
use std::io::BufRead;

use serde::Deserialize;

use crate::budget::Budget;
use crate::trace::error::{FileError, ReadError};
use crate::trace::file::{FormatRow, Input, TraceFile};
use crate::trace::json::{self, Number};
use crate::trace::series::{self, DelayIs, Given};
use crate::trace::{Fault, Notes, PhyTrace};
use crate::units::counted;

pub(super) const FORMAT: FormatRow = FormatRow {
    name: "starlink",
    doc: "History of a Starlink dish (get_history): loss and round-trip time each second.",
    keys: &[series::KEYS],
    read: Some(read),
    content: Some(|start| json::has_any(start, &["\"popPing", "\"pop_ping_"])),
    ..FormatRow::NAMED
};

/// The answer of the dish, or its content.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct History {
    #[serde(alias = "dish_get_history")]
    dish_get_history: Option<Box<History>>,
    current: Option<Number>,
    #[serde(alias = "pop_ping_drop_rate")]
    pop_ping_drop_rate: Option<Vec<Number>>,
    #[serde(alias = "pop_ping_latency_ms")]
    pop_ping_latency_ms: Option<Vec<Number>>,
}

fn read(how: &TraceFile, input: &Input<'_>) -> Result<PhyTrace, FileError> {
    let rate = how.constant_rate(input)?.map(Given::Constant);
    let column = |name: &str| name.parse().ok();
    let how = TraceFile {
        rate,
        time: "time:s".parse().ok(),
        delay: how.delay.clone().or_else(|| "rtt:ms".parse().ok()),
        delay_is: if how.delay.is_none() { DelayIs::RoundTrip } else { how.delay_is },
        loss: how.loss.clone().or_else(|| column("loss")),
        ..how.clone()
    };
    series::read_made(&how, input, table)
}

/// The samples from the oldest to the latest, as a table of time, round-trip time and loss.
fn table(reader: impl BufRead, budget: &Budget<'_>) -> Result<(String, Notes), ReadError> {
    let mut history: History = json::read(reader, "a Starlink dish (get_history)", budget)?;
    if let Some(content) = history.dish_get_history.take() {
        history = *content;
    }
    let missing = |name| ReadError::of_file(format!("no `{name}` in the history"));
    let lost = history.pop_ping_drop_rate.ok_or_else(|| missing("popPingDropRate"))?;
    let delays = history.pop_ping_latency_ms.ok_or_else(|| missing("popPingLatencyMs"))?;
    let current = history.current.ok_or_else(|| missing("current"))?.0;
    let room = lost.len();
    if delays.len() != room {
        let fault = format!(
            "{} of loss but {} of latency; copy the file again",
            counted(room, "sample", "samples"),
            delays.len()
        );
        return Err(ReadError::of_file(fault));
    }
    if !(0.0..1e18).contains(&current) {
        return Err(ReadError::of_file(format!("`current` is {current}, not a count")));
    }
    let (mut samples, current) = ((0..room).collect::<Vec<_>>(), current as u64);
    match usize::try_from(current) {
        Ok(count) if count < room => samples.truncate(count),
        _ if room > 0 => samples.rotate_left((current % room as u64) as usize),
        _ => {}
    }
    if samples.is_empty() {
        return Err(Fault::empty().into());
    }
    budget.take(32 * samples.len() as u64, "a table of samples")?;
    let (mut table, mut gone) = ("time,rtt,loss\n".to_owned(), 0u64);
    for (second, &at) in samples.iter().enumerate() {
        let (Number(delay), Number(share)) = (delays[at], lost[at]);
        // A missing drop rate means a missing sample: an outage, without a delay.
        gone += u64::from(share.is_nan());
        let known = delay.is_finite() && !share.is_nan();
        let delay = if known { delay.to_string() } else { String::new() };
        let share = if share.is_nan() { 1.0 } else { share };
        let _ = writeln!(table, "{second},{delay},{share}");
    }
    let mut notes = Notes::default();
    notes.assumed.push(
        "a sample each second, in the order of the ring buffer; half of a round-trip time and all \
         losses are this way's"
            .to_owned(),
    );
    notes.assumed.push(
        "the throughputs of a history are the traffic, not the capacity of the link, so slots do not \
         follow them: give a rate (rate) for slots at that rate"
            .to_owned(),
    );
    if gone > 0 {
        let samples = counted(gone, "second has", "seconds have");
        notes.warnings.push(format!("{samples} no sample and count as outages"));
    }
    Ok((table, notes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::InMemory;
    use crate::trace::json::tests::never_panics;

    fn parsed(text: &[u8], more: impl Fn(&mut TraceFile)) -> Result<PhyTrace, String> {
        let mut files = InMemory::default();
        files.insert("x.json", text);
        let mut file = TraceFile::new("x.json");
        more(&mut file);
        file.read(&files).map_err(|error| error.to_string())
    }

    /// Seven samples in a ring of five: the oldest kept is the third. One is wholly lost.
    const ANSWER: &str = r#"{
        "apiVersion": "8",
        "dishGetHistory": {
            "current": "7",
            "popPingDropRate": [0, 0, 0, 1, 0],
            "popPingLatencyMs": [41.5, 20, 30, 30, 44],
            "downlinkThroughputBps": [1, 2, 3, 4, 5]
        }
    }"#;

    #[test]
    fn a_ring_of_samples_is_read_from_the_oldest() {
        let phy = parsed(ANSWER.as_bytes(), |_| {}).unwrap();
        let second = 1_000_000_000;
        assert_eq!(phy.t()[..], [0, second, 2 * second, 3 * second, 4 * second]);
        let ms = 1_000_000;
        assert_eq!(phy.d()[..], [15 * ms, 0, 22 * ms, 20_750_000, 10 * ms]);
        let few = ANSWER.replace("\"7\"", "2");
        assert_eq!(parsed(few.as_bytes(), |_| {}).unwrap().d()[..], [20_750_000, 10 * ms]);
        let rate = |file: &mut TraceFile| file.rate = "12 kbit/s".parse().ok();
        assert_eq!(parsed(ANSWER.as_bytes(), rate).unwrap().len(), 5);
    }

    #[test]
    fn names_of_starlink_grpc_tools_and_missing_samples_are_understood() {
        let own = r#"{"current": 3, "pop_ping_drop_rate": [0, "NaN", 0],
            "pop_ping_latency_ms": [20, null, 30]}"#;
        let phy = parsed(own.as_bytes(), |file| file.format = "starlink".parse().ok()).unwrap();
        assert_eq!(phy.d()[..], [10_000_000, 15_000_000]);
        let notes = &phy.header().notes;
        assert!(notes.warnings.join(";").contains("1 second has no sample"), "{notes:?}");
    }

    #[test]
    fn damaged_histories_are_reported() {
        let fault =
            |from: &str, to: &str| parsed(ANSWER.replace(from, to).as_bytes(), |_| {}).unwrap_err();
        assert_eq!(
            fault("41.5, ", ""),
            "x.json: 5 samples of loss but 4; copy the file again".replace("4;", "4 of latency;")
        );
        assert!(fault("\"7\"", "-1").ends_with("`current` is -1, not a count"));
        assert!(fault("\"current\": \"7\",", "").ends_with("no `current` in the history"));
        assert!(fault("[0, 0", "[2, 0").contains("sample 4: loss `2` must be a share"));
        assert!(fault("41.5", "-1").contains("sample 4: delay `-1` is negative"));
    }

    #[test]
    fn cut_and_flipped_files_never_panic() {
        let read = |text: &[u8]| parsed(text, |file| file.format = "starlink".parse().ok()).is_ok();
        never_panics(ANSWER, read);
    }
}
