//! Land mobile channels.

use super::*;
use crate::channel::lms::{CodeChoice, IsolatedTrees, Loo, Preset};
use crate::units::Duration;

/// Keys reach the channel in its own units, and what is left out is the preset's.
#[test]
fn a_land_mobile_channel_is_what_its_keys_say() {
    let spec = |text: &str| {
        let text = format!("duration = \"30 s\"\nseed = 7\n[channel]\nmodel = \"lms\"\n{text}");
        let scenario = Scenario::parse("geo.toml", &text, &[]).unwrap();
        let phy = asked(&scenario.cells()[0], 0).remove(0);
        assert_eq!((phy.seed, phy.slots, phy.trace), (7, None, None));
        let Some(Erasures::Lms(spec)) = phy.erasures else { panic!("the model of the file") };
        spec
    };
    let plain = spec("");
    assert_eq!(plain.duration, Duration::from_secs(90));
    assert_eq!((plain.options.preset, plain.esn0_db), (Preset::Internet, 6.0));
    let wood = spec(
        "preset = \"distribution\"\nesn0 = \"-1.5 dB\"\nenvironment = \"rural-wooded\"\npropagation = \"p681\"\n\
         elevation = \"45 deg\"\ncarrier = \"2200 MHz\"\nspeed = \"10 m/s\"\ninterleaving = \"0 ms\"\nbranches = 2\n\
         reference = \"los\"\nmodulation = \"qpsk\"\nper_table = [[-1, 0.9], [2.5, 0.01]]\nper_axis = \"esn0\"\n\
         offset = \"0.5 dB\"\nrate = \"264 kbit/s\"\nlength = \"40 s\"",
    );
    assert_eq!((wood.duration, wood.esn0_db), (Duration::from_secs(40), -1.5));
    let options = wood.options;
    assert_eq!(options.offset_db, Some(0.5));
    assert_eq!((options.elevation_deg, options.speed_kmh), (Some(45.0), Some(36.0)));
    assert!((options.carrier_ghz.unwrap() - 2.2).abs() < 1e-12);
    assert_eq!((options.interleaving, options.branches), (Some(Duration::ZERO), Some(2)));
    assert_eq!(options.code, Some(CodeChoice::EsN0(vec![(-1.0, 0.9), (2.5, 0.01)])));
    // 33 bytes at 264 kbit/s.
    assert_eq!((options.slot, options.lldu), (Some(Duration::from_millis(1)), None));
    let loo = spec(
        "loo = { direct = \"-1 dB\", psi = \"0.5 dB\", multipath = \"-13 dB\", correlation = \"1.7 m\" }",
    );
    let state = Loo { direct_db: -1.0, psi_db: 0.5, multipath_db: -13.0 };
    assert_eq!(loo.options.loo, Some((state, 1.7)));
    let trees = spec(
        "trees = { gap = \"0.065 km\", crossing = \"5 m\", depth = \"5.28 dB\", spread = \"1 dB\", multipath = \"-25 dB\" }",
    );
    let road = IsolatedTrees {
        gap_m: 65.0,
        crossing_m: 5.0,
        depth_db: 5.28,
        depth_sd_db: 1.0,
        multipath_db: -25.0,
    };
    assert_eq!(trees.options.trees, Some(road));
}

#[test]
fn es_n0_varies_like_any_other_key() {
    let text = "[channel]\nmodel = \"lms\"\n[vary]\nchannel.esn0 = [\"5 dB\", \"6 dB\"]\nscheme = [\"ARQ\", \"none\"]";
    let scenario = Scenario::parse("geo.toml", text, &[]).unwrap();
    let [low, _, high, _] = scenario.cells() else { panic!("four cells") };
    assert_eq!(low.labels()[0], ("esn0".to_owned(), "5 dB".to_owned()));
    let (low, high) = (asked(low, 1).remove(0), asked(high, 1).remove(0));
    // The same road at both levels.
    assert_eq!(low.seed, high.seed);
    assert_ne!(low.erasures, high.erasures);
}
