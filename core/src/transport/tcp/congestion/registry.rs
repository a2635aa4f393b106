//! The congestion controls by name: those of the core, and those that a program adds.

use std::fmt;
use std::str::FromStr;
use std::sync::{PoisonError, RwLock};

use rand_chacha::ChaCha8Rng;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use thiserror::Error;

use super::CongestionControl;
use super::compound::Compound;
use super::fixed::Fixed;
use crate::config::nearest;
use crate::transport::tcp::config::{Profile, TcpConfig};
use crate::transport::tcp::{linux, papers};

/// Makes a control for a connection; what it draws comes from the stream.
pub type BuildControl = dyn Fn(&TcpConfig, ChaCha8Rng) -> Box<dyn CongestionControl> + Sync;

/// What is known of a congestion control: a row of the registry.
#[derive(Clone, Copy)]
pub struct CongestionControlKind {
    /// The name by which a configuration chooses it.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// What it is, in a sentence or two.
    pub summary: &'static str,
    /// The profiles that have it.
    pub profiles: &'static [Profile],
    /// Makes one.
    pub build: &'static BuildControl,
}

const BOTH: &[Profile] = &[Profile::Papers, Profile::Linux];

static BUILT_IN: [CongestionControlKind; 11] = [
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
        summary: "Hybla (Caini and Firrincieli 2004): long round trips gain as fast as one of \
                  25 ms. Its window grows to 65,535 segments at most; in profile `papers` it \
                  may, whatever `cwnd_max` says.",
        profiles: BOTH,
        build: &|config, _| match config.profile() {
            Profile::Papers => Box::new(papers::Hybla::new()),
            Profile::Linux => Box::new(linux::Hybla::new()),
        },
    },
    CongestionControlKind {
        name: "westwood",
        aliases: &[],
        summary: "Westwood+ (Grieco and Mascolo 2004): a loss puts the window where the measured \
                  bandwidth does.",
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
        summary: "Compound (Tan et al. 2006): a second window that grows while queues are short, \
                  beyond `cwnd_max` too. Linux has no such module any more; profile `linux` runs \
                  the one of `papers`.",
        profiles: BOTH,
        build: &|_, _| Box::new(Compound::new()),
    },
    CongestionControlKind {
        name: "bbr",
        aliases: &[],
        summary: "BBR version 1, as Linux has it (draft-cardwell-iccrg-bbr-congestion-control-00): \
                  a model of bandwidth and round-trip time sets pace and window. In profile \
                  `linux` only.",
        profiles: &[Profile::Linux],
        build: &|config, rng| Box::new(linux::Bbr::new(config.mss().0, rng)),
    },
    CongestionControlKind {
        name: "bbr3",
        aliases: &[],
        summary: "BBR version 3, as its authors' Linux tree has it (google/bbr, branch v3; \
                  draft-ietf-ccwg-bbr), without ECN: bounds on what is in flight, and probes for \
                  bandwidth every two or three seconds. In profile `linux` only.",
        profiles: &[Profile::Linux],
        build: &|config, rng| Box::new(linux::Bbr3::new(config.mss().0, rng)),
    },
    // QUIC has a `newreno` and a `cubic` of its own, as it has none of the others.
    CongestionControlKind {
        name: "clift-newreno",
        aliases: &[],
        summary: "Over QUIC, `newreno` of profile `linux` in the place of QUIC's own.",
        profiles: &[],
        build: &|_, _| Box::new(linux::Reno),
    },
    CongestionControlKind {
        name: "clift-cubic",
        aliases: &[],
        summary: "Over QUIC, `cubic` of profile `linux` in the place of QUIC's own.",
        profiles: &[],
        build: &|config, _| Box::new(linux::Cubic::new(&config.options())),
    },
    CongestionControlKind {
        name: "dctcp",
        aliases: &[],
        summary: "DCTCP (RFC 8257) as Linux has it: the window falls by half the share of marked \
                  packets. It turns on explicit congestion notification, with an exact echo, and \
                  is for queues that mark at a step. In profile `linux` only.",
        profiles: &[Profile::Linux],
        build: &|_, _| Box::new(linux::Dctcp::new()),
    },
    CongestionControlKind {
        name: "prague",
        aliases: &[],
        summary: "Prague (draft-briscoe-iccrg-prague-congestion-control) after `tcp_prague` of the \
                  L4S team: DCTCP's law for paths with `dualpi2`. It turns on explicit congestion \
                  notification, with ECT(1) and counts of marks. In profile `linux` only.",
        profiles: &[Profile::Linux],
        build: &|config, _| Box::new(linux::Prague::new(config.mss().0, config.initial_window())),
    },
];

/// A proxy's window that nothing moves: chosen by a number, not by this name.
static FIXED: CongestionControlKind = CongestionControlKind {
    name: "fixed",
    aliases: &[],
    summary: "A window that stays as it is, `cwnd_max`.",
    profiles: BOTH,
    build: &|config, _| Box::new(Fixed(config.window_limit())),
};

/// A control whose first slow start is HyStart++'s, if the options say so.
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

static ADDED: RwLock<Vec<&CongestionControlKind>> = RwLock::new(Vec::new());

/// A congestion control that is in the registry; parsed from its names.
///
/// ```
/// use clift::transport::tcp::{CongestionAlgorithm, Profile};
/// assert_eq!("reno".parse(), Ok(CongestionAlgorithm::NEWRENO));
/// assert_eq!(CongestionAlgorithm::CUBIC.name(), "cubic");
/// assert!("vegas".parse::<CongestionAlgorithm>().is_err());
/// assert!(!CongestionAlgorithm::BBR.is_in(Profile::Papers));
/// ```
#[derive(Clone, Copy)]
pub struct CongestionAlgorithm(&'static CongestionControlKind);

impl CongestionAlgorithm {
    /// Additive increase, multiplicative decrease.
    pub const NEWRENO: Self = Self(&BUILT_IN[0]);
    /// CUBIC.
    pub const CUBIC: Self = Self(&BUILT_IN[1]);
    /// Hybla.
    pub const HYBLA: Self = Self(&BUILT_IN[2]);
    /// Westwood+.
    pub const WESTWOOD: Self = Self(&BUILT_IN[3]);
    /// Compound.
    pub const COMPOUND: Self = Self(&BUILT_IN[4]);
    /// BBR version 1.
    pub const BBR: Self = Self(&BUILT_IN[5]);
    /// A window that stays as it is.
    pub(in crate::transport::tcp) const FIXED: Self = Self(&FIXED);
    /// BBR version 3.
    pub const BBR3: Self = Self(&BUILT_IN[6]);

    /// Every algorithm there is: those of the core, then those registered, oldest first.
    pub fn all() -> Vec<Self> {
        let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
        BUILT_IN.iter().chain(added.iter().copied()).map(Self).collect()
    }

    /// Those that a profile has.
    pub fn in_profile(profile: Profile) -> impl Iterator<Item = Self> {
        Self::all().into_iter().filter(move |algorithm| algorithm.is_in(profile))
    }

    /// Whether a profile has it.
    pub fn is_in(self, profile: Profile) -> bool {
        self.0.profiles.contains(&profile)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// What it is, in a sentence or two.
    pub fn summary(self) -> &'static str {
        self.0.summary
    }

    /// One for a connection like `config`; what it draws comes from `rng`.
    pub fn build(self, config: &TcpConfig, rng: ChaCha8Rng) -> Box<dyn CongestionControl> {
        let control = (self.0.build)(config, rng);
        match config.careful_resume {
            Some(saved) => Box::new(linux::CarefulResume::new(control, saved, config)),
            None => control,
        }
    }
}

impl PartialEq for CongestionAlgorithm {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for CongestionAlgorithm {}

impl fmt::Debug for CongestionAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CongestionAlgorithm").field(&self.name()).finish()
    }
}

impl fmt::Display for CongestionAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for CongestionAlgorithm {
    type Err = UnknownCongestionAlgorithm;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::all();
        let is_meant = |it: &&Self| it.0.name == name || it.0.aliases.contains(&name);
        known.iter().find(is_meant).copied().ok_or_else(|| UnknownCongestionAlgorithm {
            name: name.to_owned(),
            known: known.iter().map(|it| it.name()).collect(),
        })
    }
}

impl<'de> Deserialize<'de> for CongestionAlgorithm {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Name;
        impl de::Visitor<'_> for Name {
            type Value = CongestionAlgorithm;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<CongestionAlgorithm, E> {
                name.parse().map_err(|unknown: UnknownCongestionAlgorithm| {
                    let near = nearest(name, unknown.known.iter().copied());
                    let hint = near.map(|near| format!(" (did you mean {near}?)"));
                    let (known, hint) = (unknown.known.join(", "), hint.unwrap_or_default());
                    E::custom(format!("unknown value `{name}`, one of {known}{hint}"))
                })
            }
        }
        from.deserialize_str(Name)
    }
}

impl Serialize for CongestionAlgorithm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl JsonSchema for CongestionAlgorithm {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Congestion".into()
    }

    /// The core's own names: what a program adds is not known where files are edited.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = BUILT_IN.iter().map(|kind| kind.name).collect::<Vec<_>>();
        json_schema!({ "description": "A congestion control.", "type": "string", "enum": names })
    }
}

/// Adds a congestion control, for this process and for good: configurations choose it by name.
///
/// ```
/// use clift::transport::tcp::{
///     Ack, CongestionControl, CongestionControlKind, Loss, Profile, Reduction, TcpConfig, Window,
///     register_congestion_control,
/// };
///
/// /// A window that stays as it is.
/// #[derive(Debug)]
/// struct Fixed;
///
/// impl CongestionControl for Fixed {
///     fn grow(&mut self, _: &Ack, _: &mut Window) {}
///     fn reduce(&mut self, _: Loss, window: &Window) -> Reduction {
///         Reduction::to(window.cwnd())
///     }
/// }
///
/// let fixed = register_congestion_control(CongestionControlKind {
///     name: "fixed",
///     aliases: &[],
///     summary: "A window that stays as it is.",
///     profiles: &[Profile::Papers, Profile::Linux],
///     build: &|_, _| Box::new(Fixed),
/// })?;
/// assert_eq!("fixed".parse(), Ok(fixed));
/// assert_eq!(TcpConfig::papers(fixed).check(), Ok(()));
/// # Ok::<(), clift::transport::tcp::NameTaken>(())
/// ```
///
/// # Errors
/// If one of its names is another's.
pub fn register_congestion_control(
    kind: CongestionControlKind,
) -> Result<CongestionAlgorithm, NameTaken> {
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    let taken = |name: &&&'static str| {
        let known = BUILT_IN.iter().chain(added.iter().copied());
        known.into_iter().any(|it| it.name == **name || it.aliases.contains(*name))
    };
    let names = std::iter::once(&kind.name).chain(kind.aliases);
    if let Some(name) = names.into_iter().find(|name| taken(name)) {
        return Err(NameTaken(name));
    }
    let kind: &'static CongestionControlKind = Box::leak(Box::new(kind));
    added.push(kind);
    Ok(CongestionAlgorithm(kind))
}

/// A name under which another congestion control is registered.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("there is a congestion control `{0}` already; choose another name")]
pub struct NameTaken(pub &'static str);

/// A name that no congestion control has.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("`{name}` is not a congestion control algorithm; give {}", listed(known))]
pub struct UnknownCongestionAlgorithm {
    /// The name.
    pub name: String,
    /// The names there are.
    pub known: Vec<&'static str>,
}

/// "`a`, `b` or `c`".
fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for algorithm in CongestionAlgorithm::all() {
            assert_eq!(algorithm.to_string().parse(), Ok(algorithm));
        }
        let message = "bic".parse::<CongestionAlgorithm>().unwrap_err().to_string();
        assert!(
            message.starts_with("`bic` is not a congestion control algorithm; give `newreno`, ")
        );
        assert!(message.contains("`bbr`"), "{message}");
    }

    #[test]
    fn the_constants_are_what_they_are_called() {
        let names = CongestionAlgorithm::all().into_iter().map(CongestionAlgorithm::name);
        let known = ["newreno", "cubic", "hybla", "westwood", "compound", "bbr", "bbr3"];
        assert_eq!(names.take(7).collect::<Vec<_>>(), known);
        assert_eq!(CongestionAlgorithm::COMPOUND.name(), "compound");
        assert_eq!(CongestionAlgorithm::BBR.name(), "bbr");
        assert_eq!(CongestionAlgorithm::BBR3.name(), "bbr3");
    }

    #[test]
    fn a_name_is_given_once() {
        let row = |name, aliases| CongestionControlKind { name, aliases, ..BUILT_IN[0] };
        assert_eq!(register_congestion_control(row("cubic", &[])), Err(NameTaken("cubic")));
        assert_eq!(register_congestion_control(row("mine", &["reno"])), Err(NameTaken("reno")));
        let mine = register_congestion_control(row("mine", &["my own"])).unwrap();
        assert_eq!("my own".parse(), Ok(mine));
        assert_eq!(register_congestion_control(row("my own", &[])), Err(NameTaken("my own")));
        assert!(CongestionAlgorithm::all().contains(&mine));
    }
}
