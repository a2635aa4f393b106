use super::*;
use proptest::prelude::*;

fn read_csv(
    reader: impl BufRead,
    direction: Direction,
    sampling: Sampling,
) -> Result<PhyTrace, ReadError> {
    super::read_csv(reader, direction, sampling, &Budget::unlimited())
}

const AS_SENT: Sampling = Sampling { lldu: Bytes(1500), rate: None };
const FLAGGED: &str = "seq,send_time_s,up_delay_ms,up_lost,down_delay_ms,down_lost\n";

fn csv(text: &str, direction: Direction) -> Result<PhyTrace, String> {
    read_csv(text.as_bytes(), direction, AS_SENT).map_err(|fault| fault.to_string())
}

#[test]
fn flagged_probes_are_read_in_both_directions() {
    let text = format!("{FLAGGED}0,5.000,32.35,0,36.1,0\n1,5.010,30,0,36.3,1\n2,5.02,,1,36,0\n");
    let up = csv(&text, Direction::Up).unwrap();
    assert_eq!(up.t()[..], [0, 10_000_000, 20_000_000]);
    assert_eq!(up.d()[..], [2_350_001, 1, 0]);
    assert_eq!(up.header().rtt, Some(Duration::from_millis(60)));
    let down = csv(&text, Direction::Down).unwrap();
    assert_eq!(down.d()[..], [100_001, 0, 1]);
    assert_eq!(down.header().rtt, Some(Duration::from_millis(72)));
}

#[test]
fn lens_files_have_lost_and_unknown_probes() {
    let text = "timestamp,rtt,uplink,downlink\n1707277440000000000,50,20,30\n\
                1707277440010000000,-1,-1,0\n1707277440020000000,-1.0,21,-1\n";
    assert_eq!(csv(text, Direction::Up).unwrap().d()[..], [1, 0, 1_000_001]);
    let down = csv(text, Direction::Down).unwrap();
    assert_eq!((&down.t()[..], &down.d()[..]), (&[0, 20_000_000][..], &[1, 0][..]));
    // Both directions have the clock of the file, even if its first probe is unknown.
    let late = text.replace("50,20,30", "50,-1,0").replace("-1,-1,0", "50,20,30");
    let (up, down) = (csv(&late, Direction::Up).unwrap(), csv(&late, Direction::Down).unwrap());
    assert_eq!(up.t()[..], [0, 10_000_000, 20_000_000]);
    assert_eq!((&down.t()[..], &down.d()[..]), (&[10_000_000, 20_000_000][..], &[1, 0][..]));
    let rate = BitRate::from_bits_per_second(2_400_000);
    let sampling = Sampling { lldu: Bytes(1500), rate };
    let down = read_csv(late.as_bytes(), Direction::Down, sampling).unwrap();
    assert_eq!(down.t()[..], [0, 5_000_000, 10_000_000, 15_000_000, 20_000_000]);
    assert_eq!(down.d()[..], [1, 1, 1, 1, 0]);
}

#[test]
fn a_pair_of_files_is_read_line_by_line() {
    let interval = Duration::from_millis(10);
    let read = |delays: &str, losses: &str| {
        read_pair((delays.as_bytes(), losses.as_bytes()), interval, AS_SENT, &Budget::unlimited())
            .map_err(|fault| fault.to_string())
    };
    let phy = read("32\r\n30\r\n7\r\n", "0\r\n0\r\n1\r\n").unwrap();
    assert_eq!(phy.t()[..], [0, 10_000_000, 20_000_000]);
    assert_eq!(phy.d()[..], [3, 1, 0]);
    assert_eq!(phy.header().rtt, Some(Duration::from_nanos(60)));
    let long = read("1\n2\n3\n", "0\n").unwrap_err();
    assert_eq!(long, "3 delays but 1 loss flag; give one of each per packet");
    let short = read("1\n", "0\n0\n0\n").unwrap_err();
    assert_eq!(short, "1 delay but 3 loss flags; give one of each per packet");
    assert!(read("1\nx\n", "0\n0\n").unwrap_err().starts_with("line 2: `x` is not a time"));
    assert!(read("1\n2\n", "0\n2\n").unwrap_err().starts_with("line 2: `2` is neither 0"));
    assert!(read("", "").unwrap_err().starts_with("the trace is empty"));
}

#[test]
fn without_a_received_probe_the_round_trip_time_is_unknown() {
    let phy = csv(&format!("{FLAGGED}0,0,1,1,1,1\n1,1,1,1,1,1\n"), Direction::Up).unwrap();
    assert_eq!((&phy.d()[..], phy.header().rtt), (&[0, 0][..], None));
}

#[test]
fn a_smallest_delay_of_zero_is_a_round_trip_time_of_zero() {
    let phy = csv(&format!("{FLAGGED}0,0,0,0,1,0\n1,1,2,0,1,0\n"), Direction::Up).unwrap();
    assert_eq!((&phy.d()[..], phy.header().rtt), (&[1, 2_000_001][..], Some(Duration::ZERO)));
}

#[test]
fn slots_at_a_rate_use_the_nearest_probe() {
    let text = format!("{FLAGGED}0,0,10,0,0,0\n1,0.010,11,0,0,0\n2,0.020,12,1,0,0\n");
    // 1250 bytes at 2 Mbit/s: a slot every 5 ms; 5 ms is equally near to 0 and to 10 ms.
    let rate = BitRate::from_bits_per_second(2_000_000);
    let sampling = Sampling { lldu: Bytes(1250), rate };
    let phy = read_csv(text.as_bytes(), Direction::Up, sampling).unwrap();
    assert_eq!(phy.t()[..], [0, 5_000_000, 10_000_000, 15_000_000, 20_000_000]);
    assert_eq!(phy.d()[..], [1, 1, 1_000_001, 1_000_001, 0]);
    let rate = BitRate::from_bits_per_second(u64::MAX);
    let fault = read_csv(text.as_bytes(), Direction::Up, Sampling { lldu: Bytes(1), rate });
    assert!(fault.unwrap_err().to_string().starts_with("more than 4294967295 slots"));
}

#[test]
fn faults_have_a_line_and_a_cure() {
    let cases = [
        (String::new(), "the trace is empty"),
        (FLAGGED.to_owned(), "the trace is empty"),
        ("a,b\n".to_owned(), "line 1: `a,b` is not the header of a probe file; known are"),
        ("timestamp,rtt\n".to_owned(), "line 1: no column `uplink` in the header"),
        (format!("{FLAGGED}0,0,1,0,1\n"), "line 2: 5 columns instead of 6"),
        (format!("{FLAGGED}0,0,NaN,0,1,0\n"), "line 2: `NaN` is not a time"),
        (format!("{FLAGGED}0,0,-2,0,1,0\n"), "line 2: `-2` is negative"),
        (format!("{FLAGGED}0,0,1,yes,1,0\n"), "line 2: `yes` is neither 0 (received)"),
        (format!("{FLAGGED}0,1,1,0,1,0\n0,1,1,0,1,0\n"), "line 3: time `1` does not come"),
        (format!("{FLAGGED}0,0,1e300,0,1,0\n"), "line 2: `1e300` is over 2^61"),
    ];
    for (text, expected) in cases {
        let message = csv(&text, Direction::Up).unwrap_err();
        assert!(message.starts_with(expected), "{text:?}: {message}");
    }
    let lens = "timestamp,rtt,uplink,downlink\n5,1,-2,1\n";
    assert!(csv(lens, Direction::Up).unwrap_err().starts_with("line 2: `-2` is negative"));
}

proptest! {
    /// Compares with a search over all probes.
    #[test]
    fn resampling_agrees_with_a_search(
        gaps in proptest::collection::vec(1i64..1000, 1..40),
        lldu in 1u32..50,
        rate in 1_000_000u64..2_000_000_000,
    ) {
        let t: Vec<i64> = gaps.iter().scan(-gaps[0], |t, gap| { *t += gap; Some(*t) }).collect();
        let d: Vec<i64> = (0..t.len() as i64).collect();
        let bit_rate = BitRate::from_bits_per_second(rate).unwrap();
        let (slots, fates) = resample(&t, &d, Bytes(lldu), bit_rate, &Budget::unlimited()).unwrap();
        for (index, (&slot, &fate)) in slots.iter().zip(&fates).enumerate() {
            let exact = index as f64 * f64::from(lldu) * 8e9 / rate as f64;
            prop_assert!((slot as f64 - exact).abs() <= 0.5001);
            let nearest = t.iter().enumerate().min_by_key(|(_, t)| (*t - slot).abs()).unwrap();
            prop_assert_eq!(fate, nearest.0 as i64);
        }
        prop_assert!(slots[slots.len() - 1] <= t[t.len() - 1] + 1);
    }
}

#[test]
fn measured_delays_keep_their_order_by_default() {
    use crate::trace::{Format, InMemory, TraceFile};
    // The delay falls by 30 ms between probes 100 ms apart, so that order is kept. Slots of 5 ms
    // use the delay of the nearest probe.
    let text = format!("{FLAGGED}0,0,50,0,9,0\n1,0.1,20,0,9,0\n");
    let mut files = InMemory::default();
    files.insert("x.csv", text);
    let file = |keep_order| TraceFile {
        format: Some("probes".parse::<Format>().unwrap()),
        direction: Some(Direction::Up),
        rate: BitRate::from_bits_per_second(2_400_000).map(crate::trace::series::Given::Constant),
        keep_order,
        ..TraceFile::new("x.csv")
    };
    let overtakings = |keep_order| {
        let phy = file(keep_order).read(&files).unwrap();
        let arrivals: Vec<i64> = phy.t().iter().zip(phy.d().iter()).map(|(t, d)| t + d).collect();
        arrivals.windows(2).filter(|pair| pair[1] < pair[0]).count()
    };
    assert_eq!([None, Some(true), Some(false)].map(overtakings), [0, 0, 1]);
}
