//! Links to start from.

use std::num::NonZeroU32;
use std::sync::Arc;

use crate::scheme::nr::config::{
    AmConfig, ControlErrors, HarqConfig, HarqMode, NtnConfig, NtnHeaders, NtnPhy, PdcpConfig,
    RlcConfig, UmConfig,
};
use crate::units::{Bytes, Duration, Probability};

/// The presets, and the round-trip time of each.
///
/// The delays of the satellites are the largest round trips of TR 38.821, table 4.2-2, for
/// transparent payloads (service and feeder link at 10 degrees of elevation, both ways): GEO
/// 541.46 ms, LEO at 600 km 25.77 ms and at 1200 km 41.77 ms. They are four slant ranges above a
/// sphere of 6371 km.
pub const PRESETS: [(&str, Duration); 4] = [
    ("nr-ntn-geo", Duration::from_micros(541_460)),
    ("nr-ntn-leo600", Duration::from_micros(25_770)),
    ("nr-ntn-leo1200", Duration::from_micros(41_770)),
    ("nr-terrestrial", Duration::from_micros(20)),
];

/// Transmissions of a block at most: the first and three more.
const TRANSMISSIONS: u32 = 4;

impl NtnConfig {
    /// A preset by name; `None`: there is none of that name ([`PRESETS`] lists them).
    ///
    /// All: RLC AM with 18-bit sequence numbers, packets in order, 15 kHz subcarriers (slots of
    /// 1 ms) for satellites and 30 kHz (0.5 ms) on the ground; TBs of 1250 bytes a millisecond
    /// (10 Mbit/s); a block error rate of 10 % at first (the usual target of link adaptation) and,
    /// by combining, 1 % of those that are sent again; 4 slots of processing; 16 processes (32 over
    /// satellites: Release 17); headers of 3 bytes for each packet (PDCP, 18 bits: TS 38.323
    /// section 6.2.2.3) and 6 for each PDU (MAC subheader 3, RLC 3: TS 38.321 section 6.1.2,
    /// TS 38.322 section 6.2.2.4). [`NtnConfig::with_fitting_timers`] gives
    /// the timers. TB size, error rates and processing times are
    /// ours, not 3GPP's.
    ///
    /// ```
    /// use clift::scheme::nr::NtnConfig;
    /// use clift::units::Duration;
    /// let geo = NtnConfig::preset("nr-ntn-geo").unwrap();
    /// assert_eq!(geo.t_reassembly(), Duration::from_millis(1650));
    /// assert!(NtnConfig::preset("nr-ntn-meo").is_none());
    /// ```
    pub fn preset(name: &str) -> Option<Self> {
        let &(_, rtt) = PRESETS.iter().find(|(known, _)| *known == name)?;
        let satellite = name != "nr-terrestrial";
        let slot = Duration::from_micros(if satellite { 1_000 } else { 500 });
        let processing = slot * 4;
        let bler = [0.1, 0.01].map(|p| Probability::new(p).unwrap_or(Probability::ONE));
        let config = Self {
            phy: NtnPhy::Random {
                slot,
                tb: Bytes(if satellite { 1250 } else { 625 }),
                decode: slot * 2,
                bler: Arc::new(bler),
            },
            propagation: rtt.half().into(),
            way_back: rtt.half().into(),
            harq: HarqConfig {
                mode: HarqMode::Feedback {
                    processes: nonzero(if satellite { 32 } else { 16 }),
                    max_transmissions: nonzero(TRANSMISSIONS),
                    processing,
                },
                repetitions: nonzero(1),
            },
            control: ControlErrors::default(),
            rlc: RlcConfig::Am(AmConfig {
                window: nonzero(131_072),
                t_reassembly: Duration::ZERO,
                t_status_prohibit: Duration::ZERO,
                t_poll_retransmit: Duration::ZERO,
                poll_pdu: Some(nonzero(32)),
                poll_byte: Some(nonzero(25_000)),
                max_retx: Some(nonzero(32)),
                status_delay: slot,
                status_loss: Probability::ZERO,
            }),
            pdcp: PdcpConfig { in_order: true, t_reordering: Some(Duration::ZERO), discard: None },
            headers: NtnHeaders { sdu: Bytes(3), pdu: Bytes(6) },
        };
        Some(config.with_fitting_timers())
    }

    /// `t-Reassembly` of either mode.
    pub fn t_reassembly(&self) -> Duration {
        match self.rlc {
            RlcConfig::Um(um) => um.t_reassembly,
            RlcConfig::Am(am) => am.t_reassembly,
        }
    }

    /// The same link with RLC UM (12-bit sequence numbers) and timers that suit it.
    pub fn unacknowledged(mut self) -> Self {
        let t_reassembly = self.t_reassembly();
        self.rlc = RlcConfig::Um(UmConfig { window: nonzero(2048), t_reassembly });
        self.with_fitting_timers()
    }

    /// The same link without HARQ feedback and with timers that do not wait for it.
    pub fn without_feedback(mut self) -> Self {
        self.harq.mode = HarqMode::NoFeedback;
        self.with_fitting_timers()
    }

    /// The same link with the timers of RLC and PDCP that suit its delays and HARQ.
    ///
    /// `t-Reassembly` is the time that HARQ may need for all retransmissions and repetitions,
    /// `t-StatusProhibit` a round trip, `t-PollRetransmit` a round trip and the longer of those two;
    /// `t-Reordering` lets RLC AM repeat three times, or is `t-Reassembly` in UM. Each is taken up
    /// to the next value that TS 38.331 section 6.3.2 has for it, or is the greatest of them.
    pub fn with_fitting_timers(mut self) -> Self {
        let (slot, decode) = match &self.phy {
            NtnPhy::Random { slot, decode, .. } => (*slot, *decode),
            NtnPhy::Trace(trace) => (trace.median_gap(), trace.nominal_decoding()),
        };
        let bundle = slot * u64::from(self.harq.repetitions.get() - 1);
        let round = bundle + decode + self.propagation.longest() + self.way_back.longest();
        let (round, again) = match self.harq.mode {
            HarqMode::NoFeedback => (round, Duration::ZERO),
            HarqMode::Feedback { processing, max_transmissions, .. } => {
                let round = round + processing;
                (round, round * u64::from(max_transmissions.get() - 1))
            }
        };
        let reassembly = next_of(&T_REASSEMBLY_MS, again + bundle);
        match &mut self.rlc {
            RlcConfig::Um(um) => {
                um.t_reassembly = reassembly;
                self.pdcp.t_reordering = Some(next_of(&T_REORDERING_MS, reassembly));
            }
            RlcConfig::Am(am) => {
                am.t_reassembly = reassembly;
                // What a report asks for arrives before the next report.
                am.t_status_prohibit = next_of(&T_STATUS_PROHIBIT_MS, round);
                let answer = round + reassembly.max(am.t_status_prohibit);
                am.t_poll_retransmit = next_of(&T_POLL_RETRANSMIT_MS, answer);
                self.pdcp.t_reordering = Some(next_of(&T_REORDERING_MS, answer * 3));
            }
        }
        self
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

/// The least of `values` (ascending, in ms) that is not below `time`, else the greatest.
fn next_of(values: &[u64], time: Duration) -> Duration {
    let least = values.iter().map(|&ms| Duration::from_millis(ms)).find(|&value| value >= time);
    least.unwrap_or(Duration::from_millis(values[values.len() - 1]))
}

/// `n` is written here and not 0.
fn nonzero(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_a_link() {
        for (name, rtt) in PRESETS {
            let config = NtnConfig::preset(name).unwrap();
            assert_eq!(config.check(), Ok(()), "{name}");
            assert!(config.t_reassembly() > rtt, "{name}");
            assert_eq!(config.unacknowledged().check(), Ok(()), "{name}");
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
            let printed = PRESETS[preset].1.as_nanos() as f64 / 1e6;
            assert!((round_trip_ms - printed).abs() <= 0.005, "{round_trip_ms} {printed}");
        }
    }

    #[test]
    fn timers_are_values_of_the_standard() {
        let timers = |config: NtnConfig| {
            let RlcConfig::Am(am) = config.rlc else { panic!("acknowledged mode") };
            let reordering = config.pdcp.t_reordering.unwrap();
            [am.t_reassembly, am.t_status_prohibit, am.t_poll_retransmit, reordering]
                .map(|time| time.as_nanos() / 1_000_000)
        };
        assert_eq!(timers(NtnConfig::preset("nr-ntn-geo").unwrap()), [1650, 800, 4000, 3000]);
        assert_eq!(timers(NtnConfig::preset("nr-ntn-leo600").unwrap()), [100, 40, 150, 500]);
        // A round trip of 1.4 s and 6 ms.
        let far = Duration::from_millis(700);
        let config = NtnConfig {
            propagation: far.into(),
            way_back: far.into(),
            ..NtnConfig::preset("nr-ntn-geo").unwrap()
        };
        assert_eq!(timers(config.with_fitting_timers()), [2200, 1600, 4000, 3000]);
    }

    /// The table in docs/concepts/ntn.md.
    #[test]
    fn the_presets_have_the_timers_of_the_docs() {
        let timers = |config: &NtnConfig| {
            let RlcConfig::Am(am) = config.rlc else { panic!("not AM") };
            let um = config.clone().unacknowledged();
            let reordering = [config, &um].map(|c| c.pdcp.t_reordering.unwrap());
            let times = [am.t_reassembly, am.t_status_prohibit, am.t_poll_retransmit];
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
            let preset = NtnConfig::preset(name).unwrap();
            assert_eq!(timers(&preset), with, "{name}");
            assert_eq!(timers(&preset.without_feedback()), without, "{name}");
        }
    }
}
