//! What becomes of given arrivals before a wire: `queue_fates AQM RATE PACKETS [SEED]` reads "time_ns flow
//! bytes field" a line, by time, `field` being the ECN field, and writes "delivered time_ns", "marked
//! time_ns" or "dropped time_ns" for each.
//! `validation/queues.py` runs it beside the queue discs of ns-3, `validation/kernel/queues.py` beside a
//! kernel's.

use std::error::Error;
use std::io::{self, BufRead, Write};

use clift::link::{Admission, Link, LinkEvent, Packet, PacketId, QueueLimit, StreamRange};
use clift::seed::Seed;
use clift::simulation::{Hop, LegConfig, Way};
use clift::units::{Bytes, Duration, Ecn, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [aqm, rate, packets, seed @ ..] = &arguments[..] else {
        return Err(
            "usage: queue_fates AQM RATE PACKETS [SEED], e.g. codel '12 Mbit/s' 1000".into()
        );
    };
    let seed = seed.first().map_or(Ok(1), |seed| seed.parse())?;
    let leg = LegConfig {
        rate: Some(rate.parse()?),
        queue: QueueLimit::Packets(packets.parse()?),
        aqm: aqm.parse()?,
        ..LegConfig::of_delay(Duration::ZERO)
    };
    let mut way = Way::new(&[Hop::Leg(leg)], Seed(seed), 0)?;
    let mut fates: Vec<(&str, u64)> = Vec::new();
    for (number, line) in io::stdin().lock().lines().enumerate() {
        let line = line?;
        let words: Vec<u64> = line.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let &[at, flow, bytes, field @ 0..=3] = &words[..] else {
            return Err(format!("line {}: not \"time_ns flow bytes field\"", number + 1).into());
        };
        let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][field as usize];
        let now = Instant::from_nanos(at);
        while let Some(event) = way.poll(now) {
            note(&mut fates, event);
        }
        fates.push(("pending", 0));
        let range = StreamRange { flow: flow as u32, start: 0, end: 1 };
        let packet = Packet::new(PacketId(number as u64), Bytes(bytes as u32)).carrying(range);
        let packet = packet.with_ecn(ecn);
        if let Admission::Dropped(_) = way.enqueue(now, packet) {
            fates[number] = ("dropped", at);
        }
    }
    while let Some(at) = way.poll_timeout() {
        while let Some(event) = way.poll(at) {
            note(&mut fates, event);
        }
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    for (fate, at) in fates {
        writeln!(out, "{fate} {at}")?;
    }
    Ok(())
}

fn note(fates: &mut [(&str, u64)], event: LinkEvent) {
    let at = event.at().as_nanos();
    match event {
        LinkEvent::Delivered(transit) => {
            let (fate, when) = &mut fates[transit.packet.0 as usize];
            (*fate, *when) = (if *fate == "marked" { "marked" } else { "delivered" }, at);
        }
        LinkEvent::Marked { packet, .. } => fates[packet.0 as usize] = ("marked", at),
        LinkEvent::Lost(transit) => fates[transit.packet.0 as usize] = ("dropped", at),
        _ => {}
    }
}
