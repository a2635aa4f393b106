use super::*;
use crate::units::{BitRate, Bytes};

fn read(
    reader: impl BufRead,
    interval: Option<Duration>,
    sampling: Sampling,
) -> Result<PhyTrace, ReadError> {
    super::read(reader, interval, sampling, &Budget::unlimited())
}

const MS: i64 = 1_000_000;
const AS_SENT: Sampling = Sampling { lldu: Bytes(1500), rate: None };

/// A log over a satellite in the words of iputils 20221126: `-D -O`, the third probe lost, the
/// fifth unreachable, the last on its way when ping ended.
const STAMPED: &str = "\
PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.
[1700000000.600000] 64 bytes from 192.0.2.1: icmp_seq=1 ttl=52 time=600 ms
[1700000001.621000] 64 bytes from 192.0.2.1: icmp_seq=2 ttl=52 time=620 ms
[1700000003.001000] no answer yet for icmp_seq=3
[1700000003.603000] 64 bytes from gw.example (192.0.2.1): icmp_seq=4 ttl=52 time=600 ms
[1700000003.700000] 64 bytes from gw.example (192.0.2.1): icmp_seq=4 ttl=52 time=697 ms (DUP!)
[1700000004.100000] From 198.51.100.1 icmp_seq=5 Destination Host Unreachable
[1700000005.605000] 64 bytes from 192.0.2.1: icmp_seq=6 ttl=52 time=601 ms
^C
--- 192.0.2.1 ping statistics ---
7 packets transmitted, 4 received, +1 duplicates, 42.8571% packet loss, time 6009ms
rtt min/avg/max/mdev = 600.012/605.250/620.498/8.500 ms, pipe 2
";

fn parsed(text: &str) -> PhyTrace {
    read(text.as_bytes(), None, AS_SENT).unwrap()
}

fn answers(rows: &[(u64, &str)]) -> String {
    let row = |(number, time): &(u64, &str)| {
        format!("64 bytes from 192.0.2.1: icmp_seq={number} ttl=52 time={time} ms\n")
    };
    rows.iter().map(row).collect()
}

#[test]
fn times_of_lines_less_round_trips_say_when_probes_left() {
    let phy = parsed(STAMPED);
    // 0, 1.001 and 3.003 s are known; the third lies between, the fifth too, from 3.003 to 5.004 s.
    assert_eq!(phy.t()[..], [0, 1001 * MS, 2002 * MS, 3003 * MS, 4_003_500_000, 5004 * MS]);
    assert_eq!(phy.d()[..], [1, 10 * MS + 1, 0, 1, 0, MS / 2 + 1]);
    assert_eq!(phy.header().rtt, Some(Duration::from_millis(600)));
    let said = &phy.header().notes;
    assert!(said.understood[0].starts_with("output of ping, probes 1 to 6"), "{said:?}");
    let warnings = said.warnings.join("; ");
    for expected in [
        "the last 1 probe that was sent had no answer when ping ended: left out",
        "1 answer came again",
        "1 line is not from ping and is ignored, the first is line 9",
        "a coarse clock: all delays are multiples of 500 us",
    ] {
        assert!(warnings.contains(expected), "{expected}: {warnings}");
    }
}

/// Three probes 1.5 s apart, whose lines start with these times; the second was lost.
fn dated(times: [&str; 3]) -> String {
    let [start, first, last] = times;
    format!(
        "{start}PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n\
         {first}64 bytes from 192.0.2.1: icmp_seq=1 ttl=52 time=500 ms\n\
         {last}64 bytes from 192.0.2.1: icmp_seq=3 ttl=52 time=500 ms\n\
         {last}\n{last}--- 192.0.2.1 ping statistics ---\n\
         {last}3 packets transmitted, 2 received, 33% packet loss, time 3000ms\n\
         {last}rtt min/avg/max/mdev = 500.0/500.0/500.0/0.0 ms\n"
    )
}

#[test]
fn dates_before_lines_are_times() {
    for times in [
        ["[2024-05-28 23:59:58.34] ", "[2024-05-28 23:59:58.84] ", "[2024-05-29 00:00:01.84] "],
        ["2024-05-28 23:59:58.34 ", "2024-05-28 23:59:58.84 ", "2024-05-29 00:00:01.84 "],
        ["2024-05-28T23:59:58.34Z ", "2024-05-29T01:59:58.84+02:00 ", "2024-05-29T00:00:01.84Z "],
        ["2024/05/28 23:59:58.34 ", "2024/05/28 23:59:58.84 ", "2024/05/29 00:00:01.84 "],
        ["Dec 31 23:59:58.34 ", "Dec 31 23:59:58.84 ", "Jan 01 00:00:01.84 "],
        ["23:59:58.34 ", "23:59:58.84 ", "00:00:01.84 "],
        ["1716940798.34 ", "1716940798.84 ", "1716940801.84 "],
    ] {
        let phy = parsed(&dated(times));
        assert_eq!(phy.t()[..], [0, 1500 * MS, 3000 * MS], "{times:?}");
        assert_eq!(phy.d()[..], [1, 0, 1], "{times:?}");
        let notes = &phy.header().notes;
        assert!(notes.warnings.is_empty(), "{notes:?}");
        assert!(!notes.assumed.join(";").contains("no times"), "{notes:?}");
    }
}

#[test]
fn whole_seconds_give_the_average_interval() {
    let text = dated(["May 28 23:59:58 ", "May 28 23:59:58 ", "May 29 00:00:01 "]);
    let (unsummed, _) = text.split_once("---").unwrap();
    let phy = parsed(unsummed);
    assert_eq!(phy.t()[..], [0, 1500 * MS, 3000 * MS]);
    let notes = phy.header().notes.assumed.join(";");
    assert!(notes.contains("times are whole seconds: a probe every 1.5 s"), "{notes}");
    let notes = parsed(&text).header().notes.assumed.join(";");
    assert!(
        notes.contains("no times finer than seconds (ping -D): a probe every 1.5 s"),
        "{notes}"
    );
    let text = dated(["May 28 10:00:00 "; 3]);
    let (unsummed, _) = text.split_once("---").unwrap();
    let fault = read(unsummed.as_bytes(), None, AS_SENT).unwrap_err().to_string();
    assert_eq!(fault, "the times of the lines do not advance; give interval");
    let given = read(text.as_bytes(), Some(Duration::from_millis(200)), AS_SENT).unwrap();
    assert_eq!(given.t()[..], [0, 200 * MS, 400 * MS]);
}

#[test]
fn without_times_the_interval_is_given_or_the_summarys_or_a_second() {
    let rows = answers(&[(1, "20.5"), (2, "21.5"), (4, "20.5")]);
    let summed = format!(
        "{rows}\n--- x ping statistics ---\n5 packets transmitted, 3 received, 40% packet loss, time 808ms\n"
    );
    let of = |text: &str, interval| read(text.as_bytes(), interval, AS_SENT).unwrap();
    for (text, interval, step, why) in [
        (&rows, None, 1000 * MS, "a probe every 1 s, as ping does by default"),
        (&summed, None, 202 * MS, "a probe every 202 ms, the summary's time by its packets"),
        (&summed, Some(Duration::from_millis(10)), 10 * MS, "a probe every 10 ms, as given"),
    ] {
        let phy = of(text, interval);
        assert_eq!(phy.t()[..], [0, step, 2 * step, 3 * step]);
        assert_eq!(phy.d()[..], [1, MS / 2 + 1, 0, 1]);
        let assumed = phy.header().notes.assumed.join("; ");
        assert!(assumed.contains(why) && assumed.contains("lost on this way"), "{assumed}");
    }
    let fault = read(STAMPED.as_bytes(), Some(USUAL), AS_SENT).unwrap_err().to_string();
    assert_eq!(fault, "the log contains times (ping -D); remove interval");
}

#[test]
fn leading_probes_are_lost_if_the_log_has_its_beginning() {
    let rows = answers(&[(3, "20"), (4, "20")]);
    assert_eq!(parsed(&rows).d()[..], [1, 1]);
    let whole = format!("PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n{rows}");
    assert_eq!(parsed(&whole).d()[..], [0, 0, 1, 1]);
    // BusyBox counts from 0.
    let busybox = "PING x (192.0.2.1): 56 data bytes\n64 bytes from 192.0.2.1: seq=0 ttl=64 time=0.3 ms\n\
                   64 bytes from 192.0.2.1: seq=2 ttl=64 time=0.3 ms\n";
    assert_eq!(parsed(busybox).d()[..], [1, 0, 1]);
    // macOS says what timed out.
    let macos = "PING x (192.0.2.1): 56 data bytes\nRequest timeout for icmp_seq 0\n\
                 64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=9.1 ms\n";
    assert_eq!(parsed(macos).d()[..], [0, 1]);
}

#[test]
fn numbers_go_on_where_those_printed_begin_anew_and_late_answers_find_their_place() {
    let rows = answers(&[(65_534, "20"), (65_535, "20"), (1, "20"), (0, "2020"), (2, "22")]);
    let phy = parsed(&rows);
    assert_eq!(phy.d()[..], [1, 1, 1000 * MS + 1, 1, MS + 1]);
    assert_eq!(phy.t()[4], 4000 * MS);
}

#[test]
fn a_clock_that_is_set_back_keeps_probes_apart_and_is_told() {
    let line = |number: u64, stamp: &str| {
        format!("[{stamp}] 64 bytes from ::1: icmp_seq={number} ttl=64 time=1 ms\n")
    };
    let text = line(1, "100.0") + &line(2, "101.0") + &line(3, "91.0") + &line(4, "102.0");
    let phy = parsed(&text);
    assert_eq!(phy.t()[..], [0, 1000 * MS, 1000 * MS + 1, 2000 * MS]);
    assert!(phy.header().notes.warnings.join("").contains("1 probe left before the one before"));
}

#[test]
fn probes_become_slots_at_a_rate_and_all_may_be_lost() {
    let rate = BitRate::from_bits_per_second(12_000);
    let sampling = Sampling { lldu: Bytes(750), rate };
    let phy = read(STAMPED.as_bytes(), None, sampling).unwrap();
    // A slot in half a second, up to the last probe.
    assert_eq!((phy.len(), phy.lldu()), (11, Bytes(750)));
    assert_eq!(phy.d().iter().filter(|&&d| d == 0).count(), 4);
    let none = parsed("PING x\nno answer yet for icmp_seq=1\nno answer yet for icmp_seq=2\n");
    assert_eq!((&none.d()[..], none.header().rtt), (&[0, 0][..], None));
}

#[test]
fn faults_have_a_line_and_a_cure() {
    let one = answers(&[(1, "20")]);
    let cases = [
        (
            String::new(),
            "not the output of ping: no line has `icmp_seq=`; for other logs give `time`",
        ),
        ("t,rtt\n0,20\n".to_owned(), "not the output of ping"),
        (
            "\r\nPinging 8.8.8.8 with 32 bytes of data:\r\n\
             Reply from 8.8.8.8: bytes=32 time=600ms TTL=50\r\nRequest timed out.\r\n"
                .to_owned(),
            "line 3: ping of Windows prints neither numbers nor times of its probes; run `ping -D`",
        ),
        (
            format!("{one}64 bytes from 192.0.2.1: icmp_seq=2 tt"),
            "line 2: `64 bytes from 192.0.2.1: icmp_seq=2 tt` is an answer without its number or `time=... ms`; if the file was cut off here",
        ),
        (format!("{one}64 bytes from 192.0.2.1: icmp_seq=2 ttl=52 time=2"), "line 2: `64 bytes"),
        (format!("{one}64 bytes from x: icmp_seq=2 time=x ms\n"), "line 2: `x` is not a time"),
        (format!("{one}64 bytes from x: icmp_seq=2 time=1e30 ms\n"), "line 2: `1e30` is over 2^61"),
        (
            format!("{one}PING x\n"),
            "line 2: a second run of ping begins; put each run in its own file",
        ),
        (answers(&[(65_536, "1")]), "line 1: `64 bytes"),
    ];
    for (text, expected) in cases {
        let message = read(text.as_bytes(), None, AS_SENT).unwrap_err().to_string();
        assert!(message.starts_with(expected), "{text:?}: {message}");
    }
    let far = answers(&[(1, "1"), (30_000, "1"), (60_000, "1"), (24_464, "1")]);
    let budget = Budget::of(crate::budget::MemoryLimit::Bytes(1 << 20));
    let refused = super::read(far.as_bytes(), None, AS_SENT, &budget).unwrap_err().to_string();
    assert!(refused.contains("of memory in total, but"), "{refused}");
}

#[test]
fn answers_of_two_addresses_are_refused() {
    let two = answers(&[(1, "20"), (2, "21")])
        + "64 bytes from 192.0.2.9: icmp_seq=2 ttl=52 time=60 ms\n";
    let error = read(two.as_bytes(), None, AS_SENT).unwrap_err().to_string();
    assert_eq!(
        error,
        "line 3: an answer of `192.0.2.9` among those of `192.0.2.1`: put each target in its own file"
    );
    let named = two.replace("from 192.0.2.9:", "from gw.example (192.0.2.1):");
    assert_eq!(parsed(&named).len(), 2);
}
