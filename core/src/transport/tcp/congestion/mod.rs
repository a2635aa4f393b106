//! The registry of congestion controls by name: those of the core and those that a program adds;
//! and the [`CongestionControl`] interface of both profiles.
//!
//! `papers` and `linux` have their own loss detection, their own rules for the course of a
//! reduction, and their own versions of the algorithms. This folder holds the code that both use:
//! controls of one version, and the bandwidth estimate of Westwood+.

pub(super) mod ack_rate;
mod compound;
mod control;
mod coupled;
mod fixed;
mod subflow;
mod window;

pub use control::{
    Ack, CongestionControl, CongestionState, Loss, LostSegment, Pace, Rate, Reduction, Sample,
    Totals,
};
pub use subflow::Subflow;
pub use window::Window;

use rand_chacha::ChaCha8Rng;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::json;

use self::coupled::{Balia, Coupled, Lia, Olia};
use crate::config::{Chosen, ChosenRow, Row};
use crate::transport::tcp::config::{
    CongestionAlgorithm, CongestionControlKind, Profile, TcpConfig,
};
use crate::transport::tcp::linux::congestion as linux;
use crate::transport::tcp::papers::congestion as papers;

const BOTH: &[Profile] = &[Profile::Papers, Profile::Linux];

static BUILT_IN: [CongestionControlKind; 14] = [
    CongestionControlKind {
        name: "newreno",
        aliases: &["reno"],
        summary: "Additive increase, multiplicative decrease (RFC 5681); ns-2 and Linux call it \
                  `reno`.",
        profiles: BOTH,
        build: &|config, _| match config.profile() {
            Profile::Papers => Box::new(papers::Reno),
            Profile::Linux => with_slow_start(config, Box::new(linux::Reno)),
        },
    },
    CongestionControlKind {
        name: "cubic",
        aliases: &[],
        summary: "CUBIC: version 2.1 in profile `papers`, RFC 9438 as Linux has it in `linux`.",
        profiles: BOTH,
        build: &|config, _| match config.profile() {
            Profile::Papers => {
                Box::new(papers::Cubic::new(config.papers.unwrap_or_default().cube_root))
            }
            Profile::Linux => {
                with_slow_start(config, Box::new(linux::Cubic::new(&config.options())))
            }
        },
    },
    CongestionControlKind {
        name: "hybla",
        aliases: &[],
        summary: "Hybla (Caini and Firrincieli 2004): the window grows as fast as at a round trip \
                  of 25 ms, up to 65,535 segments; in profile `papers` it may exceed \
                  `cwnd_max`.",
        profiles: BOTH,
        build: &|config, _| match config.profile() {
            Profile::Papers => Box::new(papers::Hybla::new()),
            Profile::Linux => Box::new(linux::Hybla::new()),
        },
    },
    CongestionControlKind {
        name: "westwood",
        aliases: &[],
        summary: "Westwood+ (Grieco and Mascolo 2004): after a loss the window is the measured \
                  bandwidth times the minimum round-trip time.",
        profiles: BOTH,
        build: &|config, _| match config.profile() {
            Profile::Papers => Box::new(papers::Westwood::new(config.mss().0)),
            Profile::Linux => {
                Box::new(linux::Westwood::new(config.mss().0, config.options().timer_ticks))
            }
        },
    },
    CongestionControlKind {
        name: "compound",
        aliases: &[],
        summary: "Compound (Tan et al. 2006): adds a delay-based window that grows while queues are \
                  short, also beyond `cwnd_max`. Current Linux has no such module; profile \
                  `linux` runs that of `papers`.",
        profiles: BOTH,
        build: &|_, _| Box::new(compound::Compound::new()),
    },
    CongestionControlKind {
        name: "bbr",
        aliases: &[],
        summary: "BBR version 1, as in Linux (draft-cardwell-iccrg-bbr-congestion-control-00): \
                  a model of bandwidth and round-trip time sets pace and window. In profile \
                  `linux` only.",
        profiles: &[Profile::Linux],
        build: &|config, rng| Box::new(linux::Bbr::new(config.mss().0, rng)),
    },
    CongestionControlKind {
        name: "bbr3",
        aliases: &[],
        summary: "BBR version 3, as in its authors' Linux tree (google/bbr, branch v3; \
                  draft-ietf-ccwg-bbr), without ECN: bounds on the data in flight, and probes for \
                  bandwidth every two or three seconds. In profile `linux` only.",
        profiles: &[Profile::Linux],
        build: &|config, rng| Box::new(linux::Bbr3::new(config.mss().0, rng)),
    },
    // QUIC has `newreno` and `cubic` its own implementations, so that these two need other
    // names.
    CongestionControlKind {
        name: "clift-newreno",
        aliases: &[],
        summary: "Over QUIC, `newreno` of profile `linux` instead of QUIC's own.",
        profiles: &[],
        build: &|_, _| Box::new(linux::Reno),
    },
    CongestionControlKind {
        name: "clift-cubic",
        aliases: &[],
        summary: "Over QUIC, `cubic` of profile `linux` instead of QUIC's own.",
        profiles: &[],
        build: &|config, _| Box::new(linux::Cubic::new(&config.options())),
    },
    CongestionControlKind {
        name: "dctcp",
        aliases: &[],
        summary: "DCTCP (RFC 8257) as in Linux: the window falls by half the fraction of marked \
                  packets. Turns on explicit congestion notification with an exact echo; meant \
                  for queues with a marking threshold. In profile `linux` only.",
        profiles: &[Profile::Linux],
        build: &|_, _| Box::new(linux::Dctcp::new()),
    },
    CongestionControlKind {
        name: "prague",
        aliases: &[],
        summary: "Prague (draft-briscoe-iccrg-prague-congestion-control) after `tcp_prague` of the \
                  L4S team: DCTCP's law for paths with `dualpi2`. Turns on explicit congestion \
                  notification, with ECT(1) and counted marks. In profile `linux` only.",
        profiles: &[Profile::Linux],
        build: &|config, _| Box::new(linux::Prague::new(config.packet.0, config.initial_window())),
    },
    CongestionControlKind {
        name: "lia",
        aliases: &[],
        summary: "Linked increases over several paths (RFC 6356): together the subflows take no \
                  more than one TCP on the best path. With one path, Reno. In profile `linux` only.",
        profiles: &[Profile::Linux],
        build: &|_, _| Box::new(Coupled::<Lia>::alone()),
    },
    CongestionControlKind {
        name: "olia",
        aliases: &[],
        summary: "Opportunistic linked increases over several paths (Khalili et al. 2012). With one \
                  path, Reno. In profile `linux` only.",
        profiles: &[Profile::Linux],
        build: &|_, _| Box::new(Coupled::<Olia>::alone()),
    },
    CongestionControlKind {
        name: "balia",
        aliases: &[],
        summary: "Balanced linked adaptation over several paths (Peng et al. 2013). With one path, \
                  Reno. In profile `linux` only.",
        profiles: &[Profile::Linux],
        build: &|_, _| Box::new(Coupled::<Balia>::alone()),
    },
];

/// The constant window of a proxy. A configuration selects it by a number, not by this name.
static FIXED: CongestionControlKind = CongestionControlKind {
    name: "fixed",
    aliases: &[],
    summary: "A constant window of `cwnd_max`.",
    profiles: BOTH,
    build: &|config, _| Box::new(fixed::Fixed(config.window_limit())),
};

/// Wraps `control` in HyStart++ if the options ask for it.
fn with_slow_start(
    config: &TcpConfig,
    control: Box<dyn CongestionControl>,
) -> Box<dyn CongestionControl> {
    let options = config.options();
    if options.hystart_plus {
        return Box::new(linux::HyStartPlus::new(control, options.pacing));
    }
    control
}

impl Row for CongestionControlKind {
    const PART: &'static str = "a congestion control";
    const BUILT_IN: &'static [Self] = &BUILT_IN;

    fn name(&self) -> &'static str {
        self.name
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }
}

impl ChosenRow for CongestionControlKind {
    const SCHEMA: &'static str = "Congestion";

    fn only(&self) -> Option<&'static str> {
        self.profiles.is_empty().then_some("over QUIC")
    }
}

/// The schema of a congestion control of TCP.
pub(super) fn of_tcp(_: &mut SchemaGenerator) -> Schema {
    let names = BUILT_IN.iter().filter(|row| row.only().is_none()).map(|row| json!(row.name));
    let names: Vec<_> = names.chain([json!(null)]).collect();
    json_schema!({ "type": ["string", "null"], "enum": names })
}

impl CongestionAlgorithm {
    /// Additive increase, multiplicative decrease.
    pub const NEWRENO: Self = Chosen(&BUILT_IN[0]);
    /// CUBIC.
    pub const CUBIC: Self = Chosen(&BUILT_IN[1]);
    /// Hybla.
    pub const HYBLA: Self = Chosen(&BUILT_IN[2]);
    /// BBR version 1.
    pub const BBR: Self = Chosen(&BUILT_IN[5]);
    /// A constant window.
    pub(in crate::transport::tcp) const FIXED: Self = Chosen(&FIXED);
    /// BBR version 3.
    pub const BBR3: Self = Chosen(&BUILT_IN[6]);

    /// Algorithms that a profile supports.
    pub fn in_profile(profile: Profile) -> impl Iterator<Item = Self> {
        Self::all().into_iter().filter(move |algorithm| algorithm.is_in(profile))
    }

    /// True if it was registered from outside the core.
    pub(crate) fn is_own(self) -> bool {
        !BUILT_IN.iter().any(|row| std::ptr::eq(row, self.0))
    }

    /// True if `profile` supports the algorithm.
    pub fn is_in(self, profile: Profile) -> bool {
        self.0.profiles.contains(&profile)
    }

    /// True if the algorithm couples the subflows of a connection with several paths. With one path
    /// it is NewReno.
    ///
    /// ```
    /// use clift::transport::tcp::CongestionAlgorithm;
    /// assert!("lia".parse::<CongestionAlgorithm>().unwrap().is_coupled());
    /// assert!(!CongestionAlgorithm::NEWRENO.is_coupled());
    /// ```
    pub fn is_coupled(self) -> bool {
        ["lia", "olia", "balia"].contains(&self.name())
    }

    /// Builds a control for a connection with configuration `config`. Random draws come from `rng`.
    pub fn build(self, config: &TcpConfig, rng: ChaCha8Rng) -> Box<dyn CongestionControl> {
        let control = (self.0.build)(config, rng);
        match config.careful_resume {
            Some(saved) => Box::new(linux::CarefulResume::new(control, saved, config)),
            None => control,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{NameTaken, Registry};

    #[test]
    fn names_round_trip() {
        for algorithm in CongestionAlgorithm::all() {
            assert_eq!(algorithm.to_string().parse(), Ok(algorithm));
        }
        let message = "bic".parse::<CongestionAlgorithm>().unwrap_err().to_string();
        assert!(message.starts_with("unknown value `bic`, one of newreno, "), "{message}");
    }

    #[test]
    fn the_constants_have_their_names() {
        let names = CongestionAlgorithm::all().into_iter().map(CongestionAlgorithm::name);
        let known = ["newreno", "cubic", "hybla", "westwood", "compound", "bbr", "bbr3"];
        assert_eq!(names.take(7).collect::<Vec<_>>(), known);
        assert_eq!(CongestionAlgorithm::BBR.name(), "bbr");
        assert_eq!(CongestionAlgorithm::BBR3.name(), "bbr3");
    }

    #[test]
    fn a_name_is_given_once() {
        let taken = |name| Some(NameTaken { part: "a congestion control", name });
        let row = |name, aliases| CongestionControlKind { name, aliases, ..BUILT_IN[0] };
        let mut registry = Registry::new();
        assert_eq!(registry.add(row("cubic", &[])).err(), taken("cubic"));
        assert_eq!(registry.add(row("mine", &["reno"])).err(), taken("reno"));
        assert_eq!(registry.add(row("mine", &["my own"])).err(), None);
        assert_eq!(registry.add(row("my own", &[])).err(), taken("my own"));
        let mine = registry.within(|| "my own".parse()).unwrap();
        assert!(registry.within(CongestionAlgorithm::all).contains(&mine));
        assert!(!CongestionAlgorithm::all().contains(&mine));
    }
}
