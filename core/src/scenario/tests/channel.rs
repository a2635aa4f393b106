//! Land mobile channels.

use super::*;
use crate::channel::Model;
use crate::channel::lms::{IsolatedTrees, Loo, PerAxis, Preset, Shadowing};
use crate::config::Registry;
use crate::units::{Decibels, Duration, Metres};

/// Keys reach the channel in its units, and keys left out come from the preset.
#[test]
fn a_land_mobile_channel_follows_its_keys() {
    let spec = |text: &str| {
        let text = format!("duration = \"30 s\"\nseed = 7\n[channel]\nmodel = \"lms\"\n{text}");
        let scenario = Scenario::parse("geo.toml", &text, &[], &Registry::new()).unwrap();
        let phy = asked(&scenario.cells()[0], 0).remove(0);
        assert_eq!((phy.seed, phy.trace), (7, None));
        let config = phy.channel.unwrap();
        let (channel, esn0_db) = config.land_mobile().unwrap();
        let Model::Lms(options) = config.model else { panic!("the model of the file") };
        (options, channel, esn0_db, phy.slots.unwrap())
    };
    let (plain, channel, esn0_db, slots) = spec("");
    // 90 s of slots of 1.003802 ms.
    assert_eq!((plain.preset, esn0_db, slots), (Preset::Internet, 6.0, 89_659));
    assert_eq!(channel, Preset::Internet.channel());
    let (options, channel, esn0_db, slots) = spec(
        "preset = \"distribution\"\nesn0 = \"-1.5 dB\"\nenvironment = \"rural-wooded\"\npropagation = \"p681\"\n\
         elevation = \"45 deg\"\ncarrier = \"2200 MHz\"\nspeed = \"10 m/s\"\ninterleaving = \"0 ms\"\nbranches = 2\n\
         reference = \"los\"\nmodulation = \"qpsk\"\nper_table = [[-1, 0.9], [2.5, 0.01]]\nper_axis = \"esn0\"\n\
         offset = \"0.5 dB\"\nrate = \"264 kbit/s\"\nlength = \"40 s\"",
    );
    assert_eq!((slots, esn0_db, channel.receiver.offset_db), (40_000, -1.5, 0.5));
    assert_eq!(options.elevation.unwrap().0, 45.0);
    assert!((channel.motion.doppler_hz() - 10.0 * 2.2 / 0.299_792_458).abs() < 1e-9);
    assert!((options.carrier.unwrap().0 - 2.2).abs() < 1e-12);
    assert_eq!((options.interleaving, options.branches), (Some(Duration::ZERO), Some(2)));
    assert_eq!(options.per_axis, Some(PerAxis::EsN0));
    assert_eq!(options.per_table, Some(vec![(-1.0, 0.9), (2.5, 0.01)]));
    // 33 bytes at 264 kbit/s.
    assert_eq!(channel.slot, Duration::from_millis(1));
    let (_, channel, ..) = spec(
        "loo = { direct = \"-1 dB\", psi = \"0.5 dB\", multipath = \"-13 dB\", correlation = \"1.7 m\" }",
    );
    let state = Loo { direct_db: -1.0, psi_db: 0.5, multipath_db: -13.0 };
    assert_eq!(channel.propagation.shadowing, Shadowing::Steady(state));
    assert_eq!(channel.propagation.correlation_m, 1.7);
    let (_, channel, ..) = spec(
        "trees = { gap = \"0.065 km\", crossing = \"5 m\", depth = \"5.28 dB\", spread = \"1 dB\", multipath = \"-25 dB\" }",
    );
    let road = IsolatedTrees {
        gap: Metres(65.0),
        crossing: Metres(5.0),
        depth: Decibels(5.28),
        spread: Decibels(1.0),
        multipath: Decibels(-25.0),
    };
    assert_eq!(channel.propagation.shadowing, Shadowing::Trees(road));
}

#[test]
fn es_n0_varies_like_any_other_key() {
    let text = "[channel]\nmodel = \"lms\"\n[vary]\nchannel.esn0 = [\"5 dB\", \"6 dB\"]\nscheme = [\"ARQ\", \"none\"]";
    let scenario = Scenario::parse("geo.toml", text, &[], &Registry::new()).unwrap();
    let [low, _, high, _] = scenario.cells() else { panic!("four cells") };
    assert_eq!(low.labels()[0], ("esn0".to_owned(), "5 dB".to_owned()));
    let (low, high) = (asked(low, 1).remove(0), asked(high, 1).remove(0));
    // The same road at both levels.
    assert_eq!(low.seed, high.seed);
    assert_ne!(low.channel, high.channel);
}

/// A file that says little runs on round numbers: no paper's LLDU, decoding time or round trip.
#[test]
fn defaults_are_neutral() {
    let config = |keys: &str| {
        let text = format!("[channel]\nmodel = \"bernoulli\"\nerasures = 0\n{keys}");
        let scenario = Scenario::parse("geo.toml", &text, &[], &Registry::new()).unwrap();
        let channel = asked(&scenario.cells()[0], 0).remove(0).channel.unwrap();
        channel.trace_within(3, crate::seed::Seed(1), 0, &crate::budget::Budget::unlimited())
    };
    let phy = config("rate = \"12 Mbit/s\"").unwrap();
    assert_eq!((phy.lldu(), phy.t()[1], phy.d()[1]), (Bytes(1500), 1_000_000, 1_000_000));
    let phy = config("slot = \"7 us\"").unwrap();
    assert_eq!((phy.lldu(), phy.t()[1], phy.d()[1]), (Bytes(1500), 7_000, 7_000));
}
