//! Links to start from.

use std::num::NonZeroU32;
use std::sync::Arc;

use crate::link::HORIZON;
use crate::scheme::ntn::config::{HarqMode, NtnConfig, NtnPhy, RlcConfig, UplinkConfig};
use crate::scheme::ntn::options::{NtnOptions, NtnPath};
use crate::units::{Bytes, Duration, Probability, Timer};

/// The presets.
///
/// The delays of the satellites are the largest round trips of TR 38.821, table 4.2-2, for
/// transparent payloads (service and feeder link at 10 degrees of elevation, both ways): GEO
/// 541.46 ms, LEO at 600 km 25.77 ms and at 1200 km 41.77 ms. They are four slant ranges above a
/// sphere of 6371 km.
pub const PRESETS: [Preset; 4] = [
    Preset { name: "nr-ntn-geo", rtt: Duration::from_micros(541_460), ..SATELLITE },
    Preset { name: "nr-ntn-leo600", rtt: LEO600, covers: Some(LEO600), ..SATELLITE },
    Preset { name: "nr-ntn-leo1200", rtt: LEO1200, covers: Some(LEO1200), ..SATELLITE },
    Preset {
        name: "nr-terrestrial",
        rtt: Duration::from_micros(20),
        slot: Duration::from_micros(500),
        tb: Bytes(625),
        processes: NonZeroU32::new(16).unwrap(),
        covers: None,
    },
];

const LEO600: Duration = Duration::from_micros(25_770);
const LEO1200: Duration = Duration::from_micros(41_770);
const SATELLITE: Preset = Preset {
    name: "",
    rtt: Duration::ZERO,
    slot: Duration::from_millis(1),
    tb: Bytes(1250),
    processes: NonZeroU32::new(32).unwrap(),
    // The delay of a GEO satellite hardly changes: a delay that is given is the cell's.
    covers: Some(Duration::ZERO),
};

/// A link to start from.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// The round-trip time.
    pub rtt: Duration,
    /// Length of a slot.
    pub(super) slot: Duration,
    /// Bytes of a TB.
    pub(super) tb: Bytes,
    /// HARQ processes.
    pub(super) processes: NonZeroU32,
    /// Where `K_offset` covers the round trip: at least this one.
    covers: Option<Duration>,
}

impl Preset {
    /// Transmissions of a block at most: the first and three more.
    pub(super) const TRANSMISSIONS: u32 = 4;

    /// `K_offset` for a longest round trip: in whole milliseconds, slots of 15 kHz (TS 38.331
    /// section 6.3.2, `cellSpecificKoffset-r17`).
    pub(super) fn k_offset(self, longest: Duration) -> Option<Duration> {
        let covered = longest.max(self.covers?).as_nanos().min(HORIZON as u64);
        Some(Duration::from_millis(covered.div_ceil(1_000_000)))
    }

    /// Block error rates.
    pub(super) fn bler() -> Arc<[Probability]> {
        [0.1, 0.01].map(|p| Probability::new(p).unwrap_or(Probability::ONE)).into()
    }
}

/// The timers of RLC and PDCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timers {
    /// `t-Reassembly` of either mode.
    pub reassembly: Duration,
    /// `t-StatusProhibit` (AM).
    pub status_prohibit: Duration,
    /// `t-PollRetransmit` (AM).
    pub poll_retransmit: Duration,
    /// `t-Reordering`; `None`: infinity.
    pub reordering: Option<Duration>,
}

impl NtnConfig {
    /// A preset by name; `None`: there is none of that name ([`PRESETS`] lists them).
    ///
    /// All: RLC AM with 18-bit sequence numbers, packets in order, 15 kHz subcarriers (slots of
    /// 1 ms) for satellites and 30 kHz (0.5 ms) on the ground; TBs of 1250 bytes a millisecond
    /// (10 Mbit/s); a block error rate of 10 % at first (the usual target of link adaptation) and,
    /// by combining, 1 % of those that are sent again; 4 slots of processing; 16 processes (32 over
    /// satellites: Release 17); headers of 3 bytes for each packet and 6 for each PDU.
    /// [`NtnConfig::timers`] gives the timers. TB size, error rates and processing times are ours,
    /// not 3GPP's.
    ///
    /// ```
    /// use clift::scheme::ntn::NtnConfig;
    /// use clift::units::Duration;
    /// let geo = NtnConfig::preset("nr-ntn-geo").unwrap();
    /// assert_eq!(geo.timers().reassembly, Duration::from_millis(1650));
    /// assert!(NtnConfig::preset("nr-ntn-meo").is_none());
    /// ```
    pub fn preset(name: &str) -> Option<Self> {
        let path = NtnPath { preset: name.to_owned(), ..NtnPath::default() };
        NtnOptions { path, ..NtnOptions::default() }.over(None, None, None).ok()
    }

    /// The timers of RLC and PDCP: those given, and for the others what suits the delays and HARQ
    /// of the link.
    ///
    /// `t-Reassembly` is the time that HARQ may need for all retransmissions and repetitions,
    /// `t-StatusProhibit` a round trip, `t-PollRetransmit` a round trip and the longer of those
    /// two; `t-Reordering` lets RLC AM repeat three times, or is `t-Reassembly` in UM. Each is
    /// taken up to the next value that TS 38.331 section 6.3.2 has for it, or is the greatest of
    /// them.
    pub fn timers(&self) -> Timers {
        // Neither count has a bound; beyond the horizon all timers are their greatest values.
        let times = |time: Duration, count: NonZeroU32| {
            let product = time.as_nanos().saturating_mul(u64::from(count.get() - 1));
            Duration::from_nanos(product.min(HORIZON as u64))
        };
        let (slot, decode) = self.slot_and_decoding();
        let bundle = times(slot, self.harq.repetitions);
        let (block, trip) = (bundle + decode, self.propagation.longest() + self.way_back.longest());
        let (round, again) = match self.harq.mode {
            HarqMode::NoFeedback => (block + trip, Duration::ZERO),
            HarqMode::Feedback { processing, max_transmissions, .. } => {
                let block = block + processing;
                let again = block + self.k_offset.unwrap_or(trip);
                (block + trip, times(again, max_transmissions))
            }
        };
        let reassembly = next_of(&T_REASSEMBLY_MS, again + bundle);
        // A grant for a report arrives before the next report.
        let prohibit = next_of(&T_STATUS_PROHIBIT_MS, round);
        let answer = round + reassembly.max(prohibit);
        let own = |given: Option<Timer>, wait| match given {
            Some(given) => given.get(),
            None => Some(next_of(&T_REORDERING_MS, wait)),
        };
        let reordering = self.pdcp.t_reordering;
        match self.rlc {
            RlcConfig::Um(um) => Timers {
                reassembly: um.t_reassembly.unwrap_or(reassembly),
                status_prohibit: prohibit,
                poll_retransmit: next_of(&T_POLL_RETRANSMIT_MS, answer),
                reordering: own(reordering, reassembly),
            },
            RlcConfig::Am(am) => Timers {
                reassembly: am.t_reassembly.unwrap_or(reassembly),
                status_prohibit: am.t_status_prohibit.unwrap_or(prohibit),
                poll_retransmit: am
                    .t_poll_retransmit
                    .unwrap_or_else(|| next_of(&T_POLL_RETRANSMIT_MS, answer)),
                reordering: own(reordering, answer * 3),
            },
        }
    }

    fn slot_and_decoding(&self) -> (Duration, Duration) {
        match &self.phy {
            NtnPhy::Random { slot, decode, .. } => (*slot, *decode),
            NtnPhy::Trace(trace) => (trace.median_gap(), trace.nominal_decoding()),
        }
    }

    /// `retxBSR-Timer` of an uplink.
    pub(super) fn retx_bsr(&self, uplink: UplinkConfig) -> Duration {
        let trip = self.propagation.longest() + self.way_back.longest();
        let (_, decode) = self.slot_and_decoding();
        let round = decode + uplink.processing + self.k_offset.unwrap_or(trip);
        uplink.retx_bsr.unwrap_or_else(|| next_of(&RETX_BSR_MS, round))
    }
}

// Values of TS 38.331 section 6.3.2 (t-Reassembly with t-ReassemblyExt-r17), thinned where they
// are dense.
const T_REASSEMBLY_MS: [u64; 23] = [
    5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100, 120, 140, 200, 210, 220, 340, 350, 550, 1100,
    1650, 2200,
];
const T_POLL_RETRANSMIT_MS: [u64; 17] =
    [5, 10, 20, 30, 45, 60, 80, 100, 150, 200, 300, 400, 500, 800, 1000, 2000, 4000];
const T_STATUS_PROHIBIT_MS: [u64; 19] =
    [5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 200, 300, 500, 800, 1000, 1200, 1600, 2000, 2400];
const T_REORDERING_MS: [u64; 20] = [
    10, 20, 30, 40, 50, 60, 80, 100, 120, 160, 200, 240, 300, 500, 750, 1000, 1500, 2000, 2500,
    3000,
];
const RETX_BSR_MS: [u64; 11] = [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240];

/// The least of `values` (ascending, in ms) that is not below `time`, else the greatest.
fn next_of(values: &[u64], time: Duration) -> Duration {
    let least = values.iter().map(|&ms| Duration::from_millis(ms)).find(|&value| value >= time);
    least.unwrap_or(Duration::from_millis(values[values.len() - 1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::ntn::config::UmConfig;

    fn unacknowledged(config: &NtnConfig) -> NtnConfig {
        NtnConfig { rlc: RlcConfig::Um(UmConfig::default()), ..config.clone() }
    }

    #[test]
    fn every_preset_is_a_link() {
        for Preset { name, rtt, .. } in PRESETS {
            let config = NtnConfig::preset(name).unwrap();
            assert_eq!(config.check(), Ok(()), "{name}");
            assert!(config.timers().reassembly > rtt, "{name}");
            assert_eq!(unacknowledged(&config).check(), Ok(()), "{name}");
        }
    }

    #[test]
    fn the_round_trips_are_those_of_the_geometry() {
        // From height h, the earth's centre, radius and 10 degrees of elevation: law of cosines.
        let slant_m = |height: f64| {
            let (radius, sine) = (6_371_000.0, 10.0f64.to_radians().sin());
            let below = radius * sine;
            (below * below + height * height + 2.0 * height * radius).sqrt() - below
        };
        // The farthest distances of the table, in km, and its round trips: to the printed digit.
        for (preset, height_km, farthest_km) in
            [(0, 35_786.0, 40_581.0), (1, 600.0, 1_932.0), (2, 1_200.0, 3_131.0)]
        {
            let slant = slant_m(height_km * 1e3);
            assert_eq!((slant / 1e3).round(), farthest_km);
            let round_trip_ms = 4.0 * slant / 299_792_458.0 * 1e3;
            let printed = PRESETS[preset].rtt.as_nanos() as f64 / 1e6;
            assert!((round_trip_ms - printed).abs() <= 0.005, "{round_trip_ms} {printed}");
        }
    }

    #[test]
    fn k_offset_covers_the_cell_in_whole_milliseconds() {
        let ms = |name: &str, delay: Option<u64>| {
            let path = NtnPath { preset: name.to_owned(), ..NtnPath::default() };
            let delay = delay.map(|us| Duration::from_micros(us).into());
            let config = NtnOptions { path, ..NtnOptions::default() }.over(None, delay, None);
            config.unwrap().k_offset.map(|offset| offset.as_nanos() / 1_000_000)
        };
        let presets = PRESETS.map(|preset| ms(preset.name, None));
        assert_eq!(presets, [Some(542), Some(26), Some(42), None]);
        // A satellite overhead is in the same cell; one farther away is in a larger one.
        assert_eq!(ms("nr-ntn-leo600", Some(4_000)), Some(26));
        assert_eq!(ms("nr-ntn-leo600", Some(20_100)), Some(41));
        assert_eq!(ms("nr-ntn-geo", Some(250_000)), Some(500));
        assert_eq!(ms("nr-terrestrial", Some(4_000)), None);
    }

    #[test]
    fn timers_are_values_of_the_standard() {
        let timers = |config: NtnConfig| {
            let Timers { reassembly, status_prohibit, poll_retransmit, reordering } =
                config.timers();
            [reassembly, status_prohibit, poll_retransmit, reordering.unwrap()]
                .map(|time| time.as_nanos() / 1_000_000)
        };
        assert_eq!(timers(NtnConfig::preset("nr-ntn-geo").unwrap()), [1650, 800, 4000, 3000]);
        assert_eq!(timers(NtnConfig::preset("nr-ntn-leo600").unwrap()), [100, 40, 150, 500]);
        // A round trip of 1.4 s and 6 ms.
        let far = Duration::from_millis(700);
        let config = NtnConfig {
            propagation: far.into(),
            way_back: far.into(),
            k_offset: None,
            ..NtnConfig::preset("nr-ntn-geo").unwrap()
        };
        assert_eq!(timers(config), [2200, 1600, 4000, 3000]);
    }

    #[test]
    fn the_greatest_counts_and_times_give_the_greatest_timers() {
        let mut config = NtnConfig::preset("nr-ntn-geo").unwrap();
        config.harq.repetitions = NonZeroU32::MAX;
        let times = Duration::from_nanos(HORIZON as u64 / 4);
        (config.propagation, config.way_back) = (times.into(), times.into());
        config.k_offset = None;
        config.harq.mode = HarqMode::Feedback {
            processes: NonZeroU32::MIN,
            silent: 0,
            max_transmissions: NonZeroU32::MAX,
            processing: times,
        };
        assert_eq!(config.check(), Ok(()));
        assert_eq!(config.timers().reassembly, Duration::from_millis(2200));
    }

    /// The table in docs/concepts/ntn.md.
    #[test]
    fn the_presets_have_the_timers_of_the_docs() {
        let timers = |config: &NtnConfig| {
            let (am, um) = (config.timers(), unacknowledged(config).timers());
            let reordering = [am, um].map(|timers| timers.reordering.unwrap());
            let times = [am.reassembly, am.status_prohibit, am.poll_retransmit];
            [times[0], times[1], times[2], reordering[0], reordering[1]]
                .map(|time| time.as_nanos() / 1_000_000)
        };
        let table = [
            ("nr-ntn-geo", [1650, 800, 4000, 3000, 2000], [5, 800, 2000, 3000, 10]),
            ("nr-ntn-leo600", [100, 40, 150, 500, 100], [5, 30, 60, 200, 10]),
            ("nr-ntn-leo1200", [200, 50, 300, 750, 200], [5, 50, 100, 300, 10]),
            ("nr-terrestrial", [10, 5, 20, 40, 10], [5, 5, 10, 20, 10]),
        ];
        for (name, with, without) in table {
            let mut preset = NtnConfig::preset(name).unwrap();
            assert_eq!(timers(&preset), with, "{name}");
            preset.harq.mode = HarqMode::NoFeedback;
            assert_eq!(timers(&preset), without, "{name}");
        }
    }
}
