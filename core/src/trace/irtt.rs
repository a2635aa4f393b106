//! The JSON of irtt: delays of probes in both directions, by the clocks of client and server.
//!
//! The file is that of `irtt client -o FILE.json` (irtt 0.9). The clocks of the two ends may differ
//! by seconds, so the delays of a direction count from the smallest, and the round-trip time of the
//! link is the smallest round-trip time, which a single clock measured.

use std::io::BufRead;

use serde::Deserialize;

use crate::budget::Budget;
use crate::trace::error::ReadError;
use crate::trace::file::{Direction, FormatRow};
use crate::trace::json;
use crate::trace::probes::{LOST, Sampling, trace_of};
use crate::trace::slots::SlotBuilder;
use crate::trace::{Fault, LATEST, Notes, PhyTrace};
use crate::units::counted;

pub(super) const FORMAT: FormatRow = FormatRow {
    name: "irtt",
    doc: "JSON of irtt: delays of probes in both directions.",
    keys: &[&["direction", "rate"]],
    read: Some(|how, input| {
        let why = "irtt measures two directions, up (from its client to its server) and down";
        let direction = how.needed(how.direction, why, "direction", input)?;
        let sampling = Sampling::of(how, input)?;
        input.parsed(&how.file, |file| read(file, direction, sampling, input.budget))
    }),
    content: Some(|start| json::has_any(start, &["\"irtt\"", "\"round_trips\""])),
    ..FormatRow::NAMED
};

/// The part of a file that is used.
#[derive(Deserialize)]
struct Log {
    round_trips: Vec<RoundTrip>,
}

#[derive(Deserialize)]
struct RoundTrip {
    seqno: u64,
    lost: Lost,
    timestamps: Timestamps,
    #[serde(default)]
    delay: Delays,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Lost {
    False,
    /// Lost in an unknown direction.
    True,
    TrueUp,
    TrueDown,
}

#[derive(Deserialize)]
struct Timestamps {
    client: Client,
}

#[derive(Deserialize)]
struct Client {
    send: Stamp,
}

/// A time by the wall clock and by a clock that is never set; options of irtt may leave one out.
#[derive(Deserialize)]
struct Stamp {
    wall: Option<i64>,
    monotonic: Option<i64>,
}

/// Delays in ns; without times of the server only the round-trip time.
#[derive(Default, Deserialize)]
struct Delays {
    send: Option<i64>,
    receive: Option<i64>,
    rtt: Option<i64>,
}

/// Reads one direction of a file of irtt.
///
/// ```
/// use clift::budget::Budget;
/// use clift::trace::irtt;
/// use clift::trace::probes::{Direction, Sampling};
/// use clift::units::{Bytes, Duration};
/// let json = r#"{"round_trips": [
///     {"seqno": 0, "lost": "false", "timestamps": {"client": {"send": {"monotonic": 100}}},
///      "delay": {"send": 10488213200, "receive": -10470921200, "rtt": 17292000}},
///     {"seqno": 1, "lost": "true_up", "timestamps": {"client": {"send": {"monotonic": 600}}},
///      "delay": {}}]}"#;
/// let sampling = Sampling { lldu: Bytes(1500), rate: None };
/// let phy = irtt::read(json.as_bytes(), Direction::Up, sampling, &Budget::unlimited()).unwrap();
/// assert_eq!((&phy.t()[..], &phy.d()[..]), (&[0, 500][..], &[1, 0][..]));
/// assert_eq!(phy.header().rtt, Some(Duration::from_nanos(17_292_000)));
/// ```
///
/// # Errors
/// A [`ReadError`] with the first fault.
pub fn read(
    reader: impl BufRead,
    direction: Direction,
    sampling: Sampling,
    budget: &Budget<'_>,
) -> Result<PhyTrace, ReadError> {
    let Log { round_trips } = json::read(reader, "irtt", budget)?;
    let (lost_here, way) = match direction {
        Direction::Up => (Lost::TrueUp, "up, from its client to its server"),
        Direction::Down => (Lost::TrueDown, "down, from its server to its client"),
    };
    let one_way = |delay: &Delays| match direction {
        Direction::Up => delay.send,
        Direction::Down => delay.receive,
    };
    let half = |rtt: i64| rtt / 2 + rtt % 2;
    let received = || round_trips.iter().filter(|one| one.lost == Lost::False);
    let both = received().all(|one| one_way(&one.delay).is_some());
    let delay = |one: &RoundTrip| if both { one_way(&one.delay) } else { one.delay.rtt.map(half) };
    let round_trip = received().filter_map(|one| one.delay.rtt).min();
    let smallest = received().filter_map(delay).min();
    // The smallest delay becomes half of the smallest round-trip time.
    let shift = |delay: i64| {
        delay.saturating_sub(smallest.unwrap_or(0)).saturating_add(round_trip.map_or(0, half))
    };
    let mut probes = SlotBuilder::within(budget);
    let (mut first, mut unknown) = (None, 0u64);
    for one in &round_trips {
        let fault = |text: &str| ReadError::of_file(format!("round trip {}: {text}", one.seqno));
        let stamp = &one.timestamps.client.send;
        let sent = stamp.monotonic.or(stamp.wall).ok_or_else(|| fault("no time of sending"))?;
        let t = sent.saturating_sub(*first.get_or_insert(sent));
        let d = match one.lost {
            Lost::False => shift(delay(one).ok_or_else(|| fault("received, but without a delay"))?),
            lost if lost == lost_here => LOST,
            Lost::True => {
                unknown += 1;
                LOST
            }
            // It was lost in the other direction, so its delay in this one is unknown.
            Lost::TrueUp | Lost::TrueDown => continue,
        };
        if t >= LATEST || d >= LATEST || (d < 0 && d != LOST) {
            return Err(fault("a time or a delay beyond 2^61 ns (73 years), or below 0"));
        }
        probes.push(t, d, t.to_string().as_bytes()).map_err(|error| fault(&error.to_string()))?;
    }
    if round_trips.is_empty() {
        return Err(Fault::empty().into());
    }
    let mut notes = Notes::default();
    let all = counted(round_trips.len(), "round trip", "round trips");
    notes.understood.push(format!("JSON of irtt, {all}, {way}"));
    notes.assumed.push(if both {
        "delays of this way count from the smallest, since the clocks of the two ends may differ"
            .into()
    } else {
        "the server took no times, so half of each round-trip time is this way's".into()
    });
    if unknown > 0 {
        notes.assumed.push(format!(
            "{} in a direction that irtt could not tell, so on this way",
            counted(unknown, "probe was lost", "probes were lost")
        ));
    }
    trace_of(probes, 0, sampling, notes, budget)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::json::tests::never_panics;
    use crate::units::Bytes;

    fn read(
        reader: impl BufRead,
        way: Direction,
        sampling: Sampling,
    ) -> Result<PhyTrace, ReadError> {
        super::read(reader, way, sampling, &Budget::unlimited())
    }

    const AS_SENT: Sampling = Sampling { lldu: Bytes(1500), rate: None };

    fn round_trip(seqno: u64, lost: &str, delay: &str) -> String {
        format!(
            r#"{{"seqno": {seqno}, "lost": "{lost}", "timestamps": {{"client": {{"receive": {{}},
            "send": {{"wall": 17072774407728337{seqno:02}, "monotonic": {}}}}}, "server": {{}}}},
            "delay": {delay}, "ipdv": {{}}}}"#,
            1000 * seqno
        )
    }

    fn log(round_trips: &[String]) -> String {
        let version = r#""version": {"irtt": "0.9.1", "protocol": 1}"#;
        format!("{{{version}, \"round_trips\": [{}]}}", round_trips.join(", "))
    }

    /// The server's clock is 10 s ahead; each kind of loss occurs once.
    fn example() -> String {
        log(&[
            round_trip(0, "false", r#"{"send": 10000000300, "receive": -9999999800, "rtt": 500}"#),
            round_trip(1, "true_up", "{}"),
            round_trip(2, "true_down", "{}"),
            round_trip(3, "true", "{}"),
            round_trip(4, "false", r#"{"send": 10000000350, "receive": -9999999790, "rtt": 560}"#),
        ])
    }

    #[test]
    fn directions_have_their_own_losses_and_delays_whatever_the_clocks_say() {
        let up = read(example().as_bytes(), Direction::Up, AS_SENT).unwrap();
        assert_eq!(up.t()[..], [0, 1000, 3000, 4000]);
        assert_eq!(up.d()[..], [1, 0, 0, 51]);
        assert_eq!(up.header().rtt.unwrap().as_nanos(), 500);
        let down = read(example().as_bytes(), Direction::Down, AS_SENT).unwrap();
        assert_eq!(down.t()[..], [0, 2000, 3000, 4000]);
        assert_eq!(down.d()[..], [1, 0, 0, 11]);
        assert!(down.header().notes.assumed.join(";").contains("1 probe was lost in a direction"));
    }

    #[test]
    fn without_times_of_the_server_half_of_a_round_trip_is_taken() {
        let rows = ["500", "560"].map(|rtt| format!(r#"{{"rtt": {rtt}}}"#));
        let log = log(&[round_trip(0, "false", &rows[0]), round_trip(1, "false", &rows[1])]);
        let phy = read(log.as_bytes(), Direction::Up, AS_SENT).unwrap();
        assert_eq!(phy.d()[..], [1, 31]);
    }

    #[test]
    fn a_byte_order_mark_before_the_json_is_passed_over() {
        let marked = read(format!("\u{feff}{}", example()).as_bytes(), Direction::Up, AS_SENT);
        assert_eq!(marked.unwrap().t()[..], [0, 1000, 3000, 4000]);
    }

    #[test]
    fn damaged_files_are_reported_with_their_line() {
        let fault =
            |text: &str| read(text.as_bytes(), Direction::Up, AS_SENT).unwrap_err().to_string();
        let whole = example();
        assert_eq!(
            fault(&whole[..whole.len() - 3]),
            "line 11: the JSON ends here before it is complete; copy the file again"
        );
        assert!(fault("{}").starts_with("line 1: missing field `round_trips`"));
        assert!(fault(&whole.replace("true_up", "maybe")).contains("unknown variant `maybe`"));
        assert!(fault("\x1f\u{8b}").starts_with("line 1: "));
        let twice = log(&[round_trip(3, "true", "{}"), round_trip(3, "true", "{}")]);
        assert!(fault(&twice).starts_with("round trip 3: time `0` does not come after"));
        let far = round_trip(0, "false", r#"{"send": -9223372036854775808, "rtt": 1}"#);
        let near = round_trip(1, "false", r#"{"send": 9223372036854775807, "rtt": 1}"#);
        assert!(fault(&log(&[far, near])).starts_with("round trip 1: a time or a delay beyond"));
    }

    #[test]
    fn cut_and_flipped_files_never_panic() {
        never_panics(&example(), |text| read(text, Direction::Down, AS_SENT).is_ok());
    }
}
