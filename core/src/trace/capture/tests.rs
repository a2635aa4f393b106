use super::*;
use crate::trace::series::Given;
use crate::units::Bytes;
use etherparse::PacketBuilder;

/// Frames with their capture times in microseconds.
type Frames = Vec<(i64, Vec<u8>)>;

const START: i64 = 1_700_000_000_000_000;

fn udp(number: u32, back: bool) -> Vec<u8> {
    let (from, to) =
        if back { ([10, 0, 0, 2], [10, 0, 0, 1]) } else { ([10, 0, 0, 1], [10, 0, 0, 2]) };
    let mut payload = vec![0; 100];
    payload[..4].copy_from_slice(&number.to_be_bytes());
    let mut frame = Vec::new();
    let packet = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4(from, to, 60).udp(5000, 6000);
    packet.write(&mut frame, &payload).unwrap();
    frame
}

/// A capture in pcap format; `snap` bytes of each frame, link type and byte order as given.
fn pcap(frames: &Frames, kind: u32, nano: bool, big: bool, snap: usize) -> Vec<u8> {
    let word = |word: u32| if big { word.to_be_bytes() } else { word.to_le_bytes() };
    let half = |half: u16| if big { half.to_be_bytes() } else { half.to_le_bytes() };
    let mut file = Vec::new();
    file.extend(word(if nano { 0xa1b2_3c4d } else { 0xa1b2_c3d4 }));
    file.extend(half(2));
    file.extend(half(4));
    for field in [0, 0, 65535, kind] {
        file.extend(word(field));
    }
    for (us, frame) in frames {
        let time = START + us;
        let part = (time % 1_000_000) as u32 * if nano { 1000 } else { 1 };
        let held = &frame[..frame.len().min(snap)];
        for field in [(time / 1_000_000) as u32, part, held.len() as u32, frame.len() as u32] {
            file.extend(word(field));
        }
        file.extend(held);
    }
    file
}

/// A capture in pcapng format, with a clock of 2^-20 s if `binary`.
fn pcapng(frames: &Frames, big: bool, binary: bool) -> Vec<u8> {
    let word = |word: u32| if big { word.to_be_bytes() } else { word.to_le_bytes() };
    let half = |half: u16| if big { half.to_be_bytes() } else { half.to_le_bytes() };
    let mut file = Vec::new();
    let mut block = |kind: u32, body: Vec<u8>| {
        let mut body = body;
        body.resize(body.len().next_multiple_of(4), 0);
        let size = body.len() as u32 + 12;
        file.extend([word(kind), word(size)].concat());
        file.extend(body);
        file.extend(word(size));
    };
    let section = [&word(0x1a2b_3c4d)[..], &half(1), &half(0), &[0xff; 8]].concat();
    block(0x0a0d_0d0a, section);
    let clock = [if binary { 0x80 | 20 } else { 9 }, 0, 0, 0];
    let about = [&half(1)[..], &half(0), &word(0), &half(9), &half(1), &clock, &[0; 4]].concat();
    block(1, about);
    for (us, frame) in frames {
        let time = (START + us) as u128;
        let count = if binary { (time << 20) / 1_000_000 } else { time * 1000 } as u64;
        let size = word(frame.len() as u32);
        let head = [word(0), word((count >> 32) as u32), word(count as u32), size, size].concat();
        block(6, [head, frame.clone()].concat());
    }
    file
}

/// 50 packets, 10 ms apart, with a delay of 30 ms; the 7th and 8th are lost.
fn both() -> (Frames, Frames) {
    let sent = (0..50).map(|n| (i64::from(n) * 10_000, udp(n, false))).collect::<Frames>();
    let seen = sent.iter().enumerate().filter(|(n, _)| !(7..9).contains(n));
    let seen = seen.map(|(_, (us, frame))| (us + 30_000, frame.clone())).collect();
    (sent, seen)
}

fn expected() -> (Vec<i64>, Vec<i64>) {
    let d = |n| if (7..9).contains(&n) { 0 } else { 30_000_000 };
    ((0..50).map(|n| n * 10_000_000).collect(), (0..50).map(d).collect())
}

fn read(sender: &[u8], receiver: &[u8], how: &TraceFile) -> Result<PhyTrace, ReadError> {
    let budget = Budget::unlimited();
    let sent = packets(sender, how.nat, SENDER, &budget)?;
    let seen = packets(receiver, how.nat, RECEIVER, &budget)?;
    let from = how.from.as_deref().map(|from| from.parse().unwrap());
    let rate = how.rate.as_ref().map(|rate| match rate {
        Given::Constant(rate) => *rate,
        Given::Column(..) => panic!("{rate}"),
    });
    pairs::trace([&sent, &seen], how, (from, rate), &budget)
}

fn traced(sender: &[u8], receiver: &[u8], options: &TraceFile) -> PhyTrace {
    read(sender, receiver, options).unwrap()
}

fn same(phy: &PhyTrace, what: &str) {
    let (t, d) = expected();
    assert_eq!((&phy.t()[..], &phy.d()[..]), (&t[..], &d[..]), "{what}");
}

#[test]
fn every_capture_format_gives_the_same_trace() {
    let (sent, seen) = both();
    let plain = pcap(&sent, 1, false, false, 65535);
    let receiver = [
        pcap(&seen, 1, false, false, 65535),
        pcap(&seen, 1, true, false, 65535),
        pcap(&seen, 1, false, true, 65535),
        pcap(&seen, 1, true, true, 65535),
        pcap(&seen, 1, false, false, 60),
        pcapng(&seen, false, false),
        pcapng(&seen, true, false),
    ];
    for (case, receiver) in receiver.iter().enumerate() {
        same(&traced(&plain, receiver, &TraceFile::default()), &format!("case {case}"));
    }
    let short = traced(&plain, &receiver[4], &TraceFile::default());
    // Packets of 128 bytes do not show what the path carries.
    assert_eq!(short.lldu(), Bytes(1500));
    assert!(short.header().notes.assumed[0].ends_with("(the longest packet has 128)"));
    assert!(short.header().notes.understood.iter().any(|note| note.contains("first 16 bytes")));
    // Two bytes of payload are not enough if nothing else differs.
    let alike = read(&plain[..], &pcap(&seen, 1, false, false, 44)[..], &TraceFile::default());
    let message = alike.unwrap_err().to_string();
    assert!(message.starts_with("50 of 50 packets look the same as others"), "{message}");
    // A binary clock differs by less than its resolution.
    let binary = traced(&plain, &pcapng(&seen, false, true), &TraceFile::default());
    let (_, d) = expected();
    assert!(binary.d().iter().zip(&d).all(|(a, b)| (a - b).abs() < 1000 && (*a == 0) == (*b == 0)));
}

#[test]
fn every_link_type_gives_the_same_trace() {
    let (sent, seen) = both();
    let plain = pcap(&sent, 1, false, false, 65535);
    let behind = |head: &[u8]| -> Frames {
        seen.iter().map(|(us, frame)| (*us, [head, &frame[14..]].concat())).collect()
    };
    let tagged = |tag: &[u8]| -> Frames {
        let frame = |frame: &[u8]| [&frame[..12], tag, &frame[12..]].concat();
        seen.iter().map(|(us, whole)| (*us, frame(whole))).collect()
    };
    let cooked = [&[0; 14][..], &[8, 0]].concat();
    let cooked_2 = [&[8, 0][..], &[0; 18]].concat();
    let cases = [
        (101, behind(&[])),
        (228, behind(&[])),
        (12, behind(&[])),
        (0, behind(&[2, 0, 0, 0])),
        (108, behind(&[0, 0, 0, 2])),
        (113, behind(&cooked)),
        (276, behind(&cooked_2)),
        (1, tagged(&[0x81, 0, 0, 5])),
        (1, tagged(&[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6])),
    ];
    for (kind, frames) in cases {
        let receiver = pcap(&frames, kind, true, false, 65535);
        same(&traced(&plain, &receiver, &TraceFile::default()), &format!("link type {kind}"));
    }
    let message = read(&pcap(&sent, 147, true, false, 99)[..], &plain[..], &TraceFile::default());
    assert!(message.unwrap_err().to_string().starts_with("link type 147 is not known; known are"));
}

#[test]
fn the_return_path_is_recognised_despite_clock_offsets() {
    let (mut sent, mut seen) = both();
    for n in 0..50 {
        let left = i64::from(n) * 10_000 + 31_000;
        seen.push((left, udp(n, true)));
        sent.push((left + 20_000, udp(n, true)));
    }
    sent.sort_by_key(|frame| frame.0);
    for ahead in [0, 700_000, -700_000] {
        let late: Frames = seen.iter().map(|(us, frame)| (us + ahead, frame.clone())).collect();
        let files = [&sent, &late].map(|frames| pcap(frames, 1, false, false, 65535));
        let clock_offset = Some(format!("{} us", -ahead).parse().unwrap());
        let options = TraceFile { clock_offset, ..TraceFile::default() };
        same(&traced(&files[0], &files[1], &options), &format!("{ahead} us ahead"));
        let unsaid = traced(&files[0], &files[1], &TraceFile::default());
        let warnings = unsaid.warnings().join("\n");
        match ahead {
            // The smallest delay becomes 1 ns.
            -700_000 => {
                assert!(warnings.contains("the smallest delay is -670 ms"), "{warnings}");
                assert!(warnings.contains("equally long, it is 695 ms"), "{warnings}");
                assert!(unsaid.d().iter().all(|&d| d <= 1));
            }
            700_000 => assert!(warnings.contains("equally long, it is -705 ms"), "{warnings}"),
            _ => assert!(warnings.contains("equally long, it is -5 ms"), "{warnings}"),
        }
    }
}

#[test]
fn packets_outside_the_receivers_capture_are_left_out() {
    let (sent, mut seen) = both();
    // Its capture stops while the 45th packet is in flight, and starts with the 3rd.
    seen.retain(|(us, _)| (55_000..475_000).contains(us));
    let files = [&sent, &seen].map(|frames| pcap(frames, 1, false, false, 65535));
    let phy = traced(&files[0], &files[1], &TraceFile::default());
    let (_, d) = expected();
    assert_eq!(phy.d()[..], d[3..45]);
    assert!(phy.header().notes.understood[2].starts_with("8 are left out, which"));
    // A packet lost at the end while others still arrive counts as lost.
    let (sent, mut seen) = both();
    seen.push((600_000, udp(1000, true)));
    seen.retain(|(us, _)| *us != 49 * 10_000 + 30_000);
    let files = [&sent, &seen].map(|frames| pcap(frames, 1, false, false, 65535));
    let phy = traced(&files[0], &files[1], &TraceFile::default());
    assert_eq!((phy.len(), phy.d()[49]), (50, 0));
}

#[test]
fn addresses_behind_nat_are_not_compared() {
    let (sent, seen) = both();
    let seen: Frames = seen
        .into_iter()
        .map(|(us, frame)| {
            let mut packet = Vec::new();
            let builder =
                PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4([192, 0, 2, 9], [10, 0, 0, 2], 59);
            builder.udp(40_000, 6000).write(&mut packet, &frame[42..]).unwrap();
            (us, packet)
        })
        .collect();
    let files = [&sent, &seen].map(|frames| pcap(frames, 1, false, false, 65535));
    let message =
        read(&files[0][..], &files[1][..], &TraceFile::default()).unwrap_err().to_string();
    assert!(message.starts_with("no packet is in both captures"), "{message}");
    same(&traced(&files[0], &files[1], &TraceFile { nat: true, ..TraceFile::default() }), "nat");
}

#[test]
fn duplicates_reordering_and_equal_times_cause_warnings() {
    let (mut sent, mut seen) = both();
    seen.push((600_000, seen[0].1.clone()));
    seen[20].0 += 25_000;
    sent[1].0 = 0;
    let files = [&sent, &seen].map(|frames| pcap(frames, 1, false, false, 65535));
    let phy = traced(&files[0], &files[1], &TraceFile::default());
    assert_eq!(phy.t()[..3], [0, 1, 20_000_000]);
    let warnings = phy.warnings().join("\n");
    for expected in ["1 packet at the receiver not seen", "2 packets arrived behind a later"] {
        assert!(warnings.contains(expected), "{warnings}");
    }
    assert!(warnings.contains("1 packet has the time of the one before"), "{warnings}");
    let kept =
        traced(&files[0], &files[1], &TraceFile { keep_order: Some(true), ..TraceFile::default() });
    let arrivals = kept.t().iter().zip(&kept.d()[..]).filter(|(_, d)| **d > 0).map(|(t, d)| t + d);
    assert!(arrivals.is_sorted());
}

#[test]
fn truncated_and_damaged_captures_do_not_panic() {
    let (sent, seen) = both();
    let whole = pcap(&sent, 1, false, false, 65535);
    for receiver in [pcap(&seen, 1, true, true, 65535), pcapng(&seen, false, false)] {
        for end in (0..receiver.len().min(2000)).step_by(29) {
            let read = read(&whole[..], &receiver[..end], &TraceFile::default());
            if let Err(error) = read {
                assert!(!error.to_string().contains(char::is_control), "{error}");
            }
        }
        // The headers of the file and of its first packet, then some bytes of others.
        for at in (0..100).chain((100..receiver.len().min(2000)).step_by(13)) {
            let mut hurt = receiver.clone();
            hurt[at] ^= [1, 0x80, 0xff][at % 3];
            if let Err(error) = read(&whole[..], &hurt[..], &TraceFile::default()) {
                assert!(!error.to_string().contains(char::is_control), "{error}");
            }
        }
    }
    let cut = traced(&whole, &pcap(&seen, 1, true, true, 65535)[..5000], &TraceFile::default());
    assert!(cut.warnings().iter().any(|warning| warning.contains("ends within a packet")));
    let none = read(&b"t_ns,d_ns\n0,5\n10,0\n2000000,5\n"[..], &whole[..], &TraceFile::default());
    assert!(none.unwrap_err().to_string().starts_with("not a capture"));
}

#[test]
fn the_same_capture_twice_and_mostly_foreign_traffic_are_refused() {
    let (sent, seen) = both();
    let file = |frames: &Frames| pcap(frames, 1, false, false, 65535);
    let fault = |sent: &Frames, seen: &Frames, options: &TraceFile| {
        let (sent, seen) = (file(sent), file(seen));
        read(&sent[..], &seen[..], options).unwrap_err().to_string()
    };
    let twice = fault(&sent, &sent, &TraceFile::default());
    assert!(twice.starts_with("both captures hold the same packets at the same times"), "{twice}");
    // Three times as many packets of another host, which the receiver never sees.
    let mut mixed = sent.clone();
    for n in 0..3 * sent.len() as u32 {
        mixed.push((i64::from(n) * 1000, udp(1_000_000 + n, true)));
    }
    mixed.sort_by_key(|frame| frame.0);
    let share = fault(&mixed, &seen, &TraceFile::default());
    assert!(share.contains("are in both captures, less than 50 %: other hosts"), "{share}");
    let options = TraceFile { from: Some("10.0.0.1".to_owned()), ..TraceFile::default() };
    let phy = traced(&file(&mixed), &file(&seen), &options);
    same(&phy, "only from 10.0.0.1");
}

/// With packets in both directions and one address given, the return path still reveals the clocks.
#[test]
fn the_return_path_reveals_the_clock_offset() {
    let (mut sent, mut seen) = both();
    // The receiver's clock is 5 s ahead, so that the return path appears to take -4.97 s.
    seen.iter_mut().for_each(|frame| frame.0 += 5_000_000);
    for n in 0..40 {
        let (at, packet) = (i64::from(n) * 10_000 + 100, udp(1000 + n, true));
        seen.push((at + 5_000_000, packet.clone()));
        sent.push((at + 30_000, packet));
    }
    sent.sort_by_key(|frame| frame.0);
    seen.sort_by_key(|frame| frame.0);
    let file = |frames: &Frames| pcap(frames, 1, false, false, 65535);
    let only = |from: &str| TraceFile { from: Some(from.to_owned()), ..TraceFile::default() };
    let phy = traced(&file(&sent), &file(&seen), &only("10.0.0.1"));
    assert_eq!(phy.len(), 50);
    assert_eq!(phy.d()[0], 5_030_000_000);
    let warned = phy.warnings().join("\n");
    assert!(
        warned.contains("clock offset: if both ways take equally long, it is -5 s"),
        "{warned}"
    );
    assert!(!warned.contains("not seen at the sender"), "{warned}");
    let absent = read(&file(&sent)[..], &file(&seen)[..], &only("10.0.0.9")).unwrap_err();
    let absent = absent.to_string();
    let start =
        "no packet from 10.0.0.9 in the capture of the sender; there are packets from 10.0.0";
    assert!(absent.starts_with(start), "{absent}");
}

/// Slots in a pause take the fate of the nearest packet, and a warning says so.
#[test]
fn pauses_filled_with_slots_cause_a_warning() {
    let (mut sent, mut seen) = both();
    for frames in [&mut sent, &mut seen] {
        let last = frames.iter().filter(|frame| frame.0 > 400_000).count();
        let from = frames.len() - last;
        frames[from..].iter_mut().for_each(|frame| frame.0 += 2_000_000);
    }
    let file = |frames: &Frames| pcap(frames, 1, false, false, 65535);
    let warned =
        |options: &TraceFile| traced(&file(&sent), &file(&seen), options).warnings().join("\n");
    assert!(!warned(&TraceFile::default()).contains("pause"));
    let rate = "100 kbit/s".parse().ok();
    let told = warned(&TraceFile { rate, ..TraceFile::default() });
    assert!(told.contains("1 pause of 200 ms or more between packets, 80."), "{told}");
}

#[test]
fn a_block_shorter_than_its_frame_is_reported_as_damage() {
    for (order, length) in [(true, 0u32), (true, 10), (false, 8), (false, 11)] {
        let word = |number: u32| if order { number.to_be_bytes() } else { number.to_le_bytes() };
        // A section, then a block of process information, whose content may be empty.
        let section = [0x0a0d_0d0a, 28, 0x1a2b_3c4d].map(word);
        let version = if order { [0, 1, 0, 0] } else { [1, 0, 0, 0] };
        let rest = [[0xff; 4], [0xff; 4], word(28)];
        let block = [word(0x8000_0001), word(length), word(length), word(0)];
        let parts: [&[[u8; 4]]; 4] = [&section, &[version], &rest, &block];
        let file: Vec<u8> = parts.concat().concat();
        let error = read(&file[..], &file[..], &TraceFile::default()).unwrap_err().to_string();
        assert!(error.contains("a block shorter than its frame behind 1 good block"), "{error}");
    }
}
