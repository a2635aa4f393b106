//! Land mobile satellite channels against their closed forms: short forms of
//! `validation/lms_statistics.py`. Samples of a fading signal depend on each other, so bounds are
//! set by the number of independent stretches.

use clift::budget::Budget;
use clift::channel::lms::{
    Code, EventState, Fading, LandMobile, Loo, Motion, Preset, Propagation, Receiver, Reference,
    Series, Shadowing,
};
use clift::config::Fault;
use clift::seed::Seed;
use clift::trace::{MiTrace, PhyTrace};
use clift::units::Duration;
use support::fading::powers;

const HOUR: Duration = Duration::from_secs(3600);

fn channel(propagation: Propagation) -> LandMobile {
    LandMobile { propagation, ..Preset::Internet.channel() }
}

fn trace(
    channel: &LandMobile,
    esn0_db: f64,
    length: Duration,
    seed: u64,
) -> Result<PhyTrace, Fault> {
    channel.trace_within(esn0_db, length, (Seed(seed), 0), &Budget::unlimited())
}

fn information(channel: &LandMobile, esn0_db: f64, length: Duration, seed: u64) -> MiTrace {
    let own = (Seed(seed), 0);
    channel.information_within(esn0_db, length, own, &Budget::unlimited()).unwrap()
}

/// Every `stride`-th of the levels in dB, sorted.
fn sorted(channel: &LandMobile, count: usize, stride: usize, seed: u64) -> Vec<f64> {
    let mut levels = powers(channel, count, stride, seed);
    levels.iter_mut().for_each(|level| *level = 10.0 * level.log10());
    levels.sort_by(f64::total_cmp);
    levels
}

/// Largest distance between the shares of a sample and a distribution.
fn distance(sorted: &[f64], cdf: impl Fn(f64) -> f64) -> f64 {
    let count = sorted.len() as f64;
    // The closed form is costly: 60 places are enough to see its shape.
    (0..60)
        .map(|place| (place * sorted.len() / 60).min(sorted.len() - 1))
        .map(|rank| (cdf(sorted[rank]) - rank as f64 / count).abs())
        .fold(0.0, f64::max)
}

#[test]
fn a_steady_loo_state_has_the_law_of_loo() {
    for (loo, seed) in [
        (Loo { direct_db: 0.0, psi_db: 0.3, multipath_db: -10.0 }, 1),
        (Loo { direct_db: -8.0, psi_db: 3.5, multipath_db: -12.0 }, 2),
        (Loo { direct_db: -40.0, psi_db: 0.0, multipath_db: -3.0 }, 3),
    ] {
        // A sample every 2 m and a correlation of 0.4 m: independent.
        let channel = channel(Propagation::steady(loo, 0.4).unwrap());
        let levels = sorted(&channel, 2000, 470, seed);
        let distance = distance(&levels, |db| channel.level_cdf(db));
        // Kolmogorov's bound at 1e-5, and the grid of 60 places.
        assert!(distance < 2.47 / (2000f64).sqrt() + 0.003, "{loo:?}: {distance}");
    }
}

/// The mixture over states and transitions; a stretch of about 30 m is independent of the next.
fn levels_follow_the_mixture(roads: usize, samples: usize) {
    let every = [
        Propagation::p681("urban", 30.0, 2.2).unwrap(),
        Propagation::perez_fontan("intermediate-tree-shadowed", 40.0, 2.2).unwrap(),
        Propagation::p681("rural-wooded", 40.0, 2.2).unwrap(),
        Propagation::perez_fontan("suburban", 40.0, 2.2).unwrap(),
    ];
    for (seed, road) in every.into_iter().take(roads).enumerate() {
        let channel = channel(road);
        // A sample every 8.5 m: 60 km give 0.06.
        let levels = sorted(&channel, samples, 2000, seed as u64);
        let distance = distance(&levels, |db| channel.level_cdf(db));
        let bound = 0.06 * (7000.0 / samples as f64).sqrt();
        assert!(distance < bound, "{:?}: {distance}", channel.propagation);
    }
}

#[test]
fn levels_along_a_road_follow_the_mixture_of_its_states() {
    levels_follow_the_mixture(2, 600);
}

#[test]
#[ignore = "long"]
fn levels_along_a_long_road_follow_the_mixture_of_its_states() {
    levels_follow_the_mixture(4, 7000);
}

#[test]
fn unit_mean_power_has_unit_mean_power_and_line_of_sight_does_not() {
    mean_power_follows_the_reference(2000, 0.2);
}

#[test]
#[ignore = "long"]
fn unit_mean_power_has_unit_mean_power_over_a_long_road() {
    mean_power_follows_the_reference(40_000, 0.06);
}

fn mean_power_follows_the_reference(samples: usize, bound: f64) {
    let road = Propagation::perez_fontan("intermediate-tree-shadowed", 40.0, 2.2).unwrap();
    let mean = |reference| {
        let channel = LandMobile { reference, ..channel(road.clone()) };
        let levels = sorted(&channel, samples, 800, 4);
        levels.iter().map(|db| 10f64.powf(db / 10.0)).sum::<f64>() / levels.len() as f64
    };
    let (unit, line_of_sight) = (mean(Reference::UnitMeanPower), mean(Reference::LineOfSight));
    assert!((unit - 1.0).abs() < bound, "{unit}");
    let expected = road.shadowing.law().mean_power();
    assert!((line_of_sight / expected - 1.0).abs() < bound, "{line_of_sight} {expected}");
    assert!(line_of_sight < 0.7);
}

/// A shadowed direct path alone: its autocorrelation falls to 1/e over the correlation length.
#[test]
fn shadowing_is_correlated_over_distance() {
    let loo = Loo { direct_db: -3.0, psi_db: 4.0, multipath_db: -90.0 };
    let channel = channel(Propagation::steady(loo, 1.5).unwrap());
    let step = channel.fading(Seed(9), 0).unwrap().0.step_m();
    let mean = -3.0 - 10.0 * loo_mean_power_db(&channel);
    let powers = powers(&channel, 2_000_000, 1, 9);
    let shadow: Vec<f64> = powers.iter().map(|power| (10.0 * power.log10() - mean) / 4.0).collect();
    for metres in [0.0, 0.5, 1.5, 4.0] {
        let lag = (metres / step).round() as usize;
        let products = shadow.iter().zip(&shadow[lag..]).map(|(a, b)| a * b).sum::<f64>();
        let correlation = products / (shadow.len() - lag) as f64;
        let expected = (-(lag as f64) * step / 1.5).exp();
        // 8.5 km of 3 m each: 2800 independent values.
        assert!((correlation - expected).abs() < 0.06, "{metres}: {correlation} {expected}");
    }
}

fn loo_mean_power_db(channel: &LandMobile) -> f64 {
    match channel.reference {
        Reference::UnitMeanPower => channel.propagation.shadowing.law().mean_power().log10(),
        Reference::LineOfSight => 0.0,
    }
}

/// Rice's formula for a Rayleigh signal: sqrt(2 pi) f_d rho exp(-rho^2) crossings a second, and
/// (exp(rho^2) - 1) / (rho f_d sqrt(2 pi)) seconds below.
#[test]
fn rayleigh_levels_are_crossed_as_often_as_rice_says() {
    let loo = Loo { direct_db: -60.0, psi_db: 0.0, multipath_db: 0.0 };
    let channel = channel(Propagation::steady(loo, 1.0).unwrap());
    let (_, step_s, _) = channel.fading(Seed(5), 0).unwrap();
    let powers = powers(&channel, 2_000_000, 1, 5);
    let seconds = powers.len() as f64 * step_s;
    let doppler = channel.motion.doppler_hz();
    for rho in [0.3f64, 0.7, 1.0, 1.5] {
        let below = |power: &f64| *power < rho * rho;
        let crossings = powers.windows(2).filter(|w| !below(&w[0]) && below(&w[1])).count() as f64;
        let expected = (2.0 * std::f64::consts::PI).sqrt() * doppler * rho * (-rho * rho).exp();
        let bound = 0.03 + 4.5 / crossings.sqrt();
        assert!((crossings / seconds / expected - 1.0).abs() < bound, "{rho}: {crossings}");
        let fade = powers.iter().filter(|power| below(power)).count() as f64 * step_s / crossings;
        let expected =
            ((rho * rho).exp() - 1.0) / (rho * doppler * (2.0 * std::f64::consts::PI).sqrt());
        assert!((fade / expected - 1.0).abs() < bound, "{rho}: {fade} {expected}");
    }
}

/// A channel without fading is the Gaussian channel: the code's own curve comes out.
#[test]
fn over_the_gaussian_channel_the_code_has_its_curve() {
    let still = Loo { direct_db: 0.0, psi_db: 0.0, multipath_db: -150.0 };
    let mut channel = channel(Propagation::steady(still, 1.0).unwrap());
    channel.receiver.offset_db = 0.0;
    for esn0_db in [-1.5, -1.0, -0.5] {
        let phy = trace(&channel, esn0_db, Duration::from_secs(200), 6).unwrap();
        let rate = phy.erasures().erasure_rate();
        let modulation = channel.receiver.modulation;
        let expected =
            channel.receiver.code.per(modulation.information(10f64.powf(esn0_db / 10.0)));
        let bound = 4.5 * (expected * (1.0 - expected) / phy.len() as f64).sqrt() + 2e-3 * expected;
        assert!((rate - expected).abs() < bound, "{esn0_db}: {rate} {expected}");
    }
}

/// DESIGN section 6: about 1.8, 0.5, 0.15, 0.06 % at 5, 6, 7, 8 dB in bursts of one to two slots.
#[test]
fn the_internet_preset_erases_what_table_3_implies() {
    internet_preset_erases(&[(5.0, 0.018), (6.0, 0.0055)], Duration::from_secs(300));
}

#[test]
#[ignore = "long"]
fn the_internet_preset_erases_what_table_3_implies_at_every_level() {
    internet_preset_erases(&[(5.0, 0.018), (6.0, 0.0055), (7.0, 0.0015), (8.0, 0.0006)], HOUR);
}

fn internet_preset_erases(levels: &[(f64, f64)], duration: Duration) {
    let channel = Preset::Internet.channel();
    for &(esn0_db, expected) in levels {
        let erasures = trace(&channel, esn0_db, duration, 1).unwrap().erasures();
        let rate = erasures.erasure_rate();
        assert!((1.0 / 1.6..1.6).contains(&(rate / expected)), "{esn0_db}: {rate}");
        let burst = erasures.bursts.mean().unwrap();
        assert!((1.2..2.5).contains(&burst), "{esn0_db}: {burst}");
    }
}

#[test]
fn more_power_and_interleaving_never_hurt() {
    for preset in [Preset::Internet, Preset::DistributionUp] {
        let mut before = f64::INFINITY;
        for step in [0, 2, 5] {
            let esn0_db = preset.esn0_db() - 2.0 + f64::from(step);
            let mut channel = preset.channel();
            let rate = |channel: &LandMobile| {
                let phy = trace(channel, esn0_db, Duration::from_secs(12), 2).unwrap();
                phy.erasures().erasure_rate()
            };
            let interleaved = rate(&channel);
            channel.receiver.interleaver.depth = Duration::ZERO;
            assert!(interleaved <= before, "{preset} {esn0_db}");
            assert!(interleaved <= 1.02 * rate(&channel) + 1e-4, "{preset} {esn0_db}");
            before = interleaved;
        }
    }
}

/// The same draws at every level: a slot that arrives at one arrives at all higher ones.
#[test]
fn slots_are_paired_over_es_n0() {
    let channel = Preset::Internet.channel();
    let at = |esn0_db| trace(&channel, esn0_db, Duration::from_secs(60), 3).unwrap();
    let (low, high) = (at(5.0), at(5.5));
    assert!(low.d().iter().zip(high.d().iter()).all(|(low, high)| low <= high));
}

#[test]
fn slots_do_not_depend_on_how_they_are_cut() {
    for preset in [Preset::Internet, Preset::DistributionUp, Preset::Its] {
        let channel = preset.channel();
        let whole = channel.synthesis(8.0, Seed(4), 0).unwrap().slots(20_000);
        let mut parts = channel.synthesis(8.0, Seed(4), 0).unwrap();
        let (mut t, mut d, mut information) = (Vec::new(), Vec::new(), Vec::new());
        for count in [1, 0, 4095, 4096, 7, 11_801] {
            let part = parts.slots(count);
            t.extend(part.t);
            d.extend(part.d);
            information.extend(part.information);
        }
        assert_eq!((t, d), (whole.t, whole.d), "{preset}");
        // Integrals start elsewhere, so means may differ in the last digit.
        let close = information.iter().zip(&whole.information).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(close, "{preset}");
    }
}

/// Bits of a seed, for ever: a change of them is a change of results.
#[test]
fn a_seed_gives_the_same_bits() {
    let trace = |seed| {
        let phy = trace(&Preset::Internet.channel(), 5.0, Duration::from_secs(20), seed).unwrap();
        phy.d().iter().enumerate().filter(|&(_, &d)| d == 0).map(|(slot, _)| slot).collect()
    };
    let (one, again, other): (Vec<usize>, Vec<usize>, Vec<usize>) = (trace(1), trace(1), trace(2));
    assert_eq!(one, again);
    assert_ne!(one, other);
}

/// The presets' decoding times: the depth of the interleaver, or the slot without one.
#[test]
fn decoding_takes_as_long_as_the_interleaver_is_deep() {
    let mut channel = Preset::Internet.channel();
    let second = Duration::from_secs(1);
    let phy = trace(&channel, 8.0, second, 1).unwrap();
    assert_eq!(phy.nominal_decoding(), Duration::from_millis(36));
    channel.receiver.interleaver.depth = Duration::ZERO;
    let phy = trace(&channel, 8.0, second, 1).unwrap();
    assert_eq!(phy.nominal_decoding(), Duration::from_nanos(1_003_802));
}

/// A steep fall of a measured level: with even spreading over 36 ms a code word of a hard
/// threshold at half the information is lost from the instant on at which half of it is below.
#[test]
fn a_measured_series_goes_through_the_same_receiver() {
    let mut channel = Preset::Internet.channel();
    channel.receiver = Receiver {
        code: Code::threshold(0.5).unwrap(),
        offset_db: 0.0,
        interleaver: clift::channel::lms::Interleaver {
            depth: Duration::from_millis(36),
            branches: None,
        },
        ..channel.receiver
    };
    let ms = 1_000_000;
    let series =
        Series::new(vec![0, 500 * ms, 501 * ms, 1036 * ms], vec![20.0, 20.0, -40.0, -40.0]);
    let phy =
        channel.of_series_within(series.unwrap(), (Seed(1), 0), &Budget::unlimited()).unwrap();
    let first = phy.d().iter().position(|&d| d == 0).unwrap();
    // Half of the word lies behind 500.4 ms or so when it starts 18 ms before.
    let start_ms = phy.t()[first] as f64 / 1e6;
    assert!((start_ms - 482.4).abs() < 1.5, "{start_ms}");
    assert!(phy.d()[first..].iter().all(|&d| d == 0));
    assert!((phy.t()[phy.len() - 1] as f64 / 1e6 - 999.0).abs() < 2.0);
}

#[test]
fn information_is_what_the_trace_was_decided_by() {
    let channel = LandMobile {
        receiver: Receiver {
            code: Code::threshold(0.8).unwrap(),
            ..Preset::Its.channel().receiver
        },
        ..Preset::Its.channel()
    };
    let (phy, mi) = (
        trace(&channel, 10.0, Duration::from_secs(60), 7).unwrap(),
        information(&channel, 10.0, Duration::from_secs(60), 7),
    );
    assert_eq!((mi.values().len(), mi.every()), (phy.len(), Duration::from_millis(1)));
    let agree = mi.values().iter().zip(phy.d().iter());
    assert!(agree.clone().filter(|(mi, d)| (**mi < 0.8) != (**d == 0)).count() < 5);
}

/// Tauran 2017: the mean information at 7 to 13 dB that its reproduction was made with.
#[test]
fn the_its_preset_has_its_mean_information() {
    its_preset_informs(&[(10.0, 0.832)], Duration::from_secs(600), 0.06);
}

#[test]
#[ignore = "long"]
fn the_its_preset_has_its_mean_information_over_an_hour() {
    its_preset_informs(&[(7.0, 0.733), (10.0, 0.832), (13.0, 0.902)], HOUR, 0.025);
}

fn its_preset_informs(levels: &[(f64, f64)], duration: Duration, bound: f64) {
    let channel = Preset::Its.channel();
    for &(esn0_db, expected) in levels {
        let mean = information(&channel, esn0_db, duration, 8).mean();
        assert!((mean - expected).abs() < bound, "{esn0_db}: {mean}");
    }
}

#[test]
fn what_is_no_channel_is_refused() {
    assert!(Motion::new(0.0, 2.2).unwrap_err().to_string().contains("above 0"));
    assert!(Motion::new(60.0, 0.0).unwrap_err().to_string().contains("GHz"));
    assert!(Motion::new(f64::NAN, 2.2).is_err());
    let channel = Preset::Internet.channel();
    assert!(trace(&channel, f64::NAN, HOUR, 1).is_err());
    assert!(trace(&channel, 5.0, Duration::ZERO, 1).is_err());
    assert!("internet2".parse::<Preset>().unwrap_err().to_string().contains("distribution-down"));
}

/// P(duration <= `metres`): lognormal, cut below.
fn duration_cdf(state: &EventState, metres: f64) -> f64 {
    let above = |metres: f64| {
        0.5 * libm::erfc((metres.ln() - state.mu) / state.sigma / std::f64::consts::SQRT_2)
    };
    1.0 - above(metres.max(state.shortest_m)) / above(state.shortest_m)
}

/// States last as long as their law says: the model's chain and lognormal durations, seen in the
/// signal of a road without multipath and spread.
#[test]
fn states_last_as_long_as_their_law_says() {
    let road = Propagation::p681("rural-wooded", 45.0, 2.2).unwrap();
    let Shadowing::TwoState(model) = &road.shadowing else { panic!() };
    for (state, seed) in [(0, 1), (1, 2)] {
        let mut lengths: Vec<f64> = road
            .segments(Seed(seed), 0)
            .skip(2)
            .filter(|segment| !segment.is_transition() && segment.state == state)
            .take(5000)
            .map(|segment| segment.length_m)
            .collect();
        lengths.sort_by(f64::total_cmp);
        let law = |metres: f64| duration_cdf(&model.states[state], metres);
        assert!(distance(&lengths, law) < 2.47 / 5000f64.sqrt() + 0.003, "{state}");
        let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
        let expected = model.states[state].mean_duration_m();
        assert!((mean / expected - 1.0).abs() < 0.12, "{state}: {mean} {expected}");
    }
}

#[test]
fn samples_are_a_32nd_of_a_wavelength_apart() {
    let (fading, step_s, _): (Fading, f64, f64) =
        Preset::Internet.channel().fading(Seed(1), 0).unwrap();
    assert!((fading.step_m() - 0.299_792_458 / 2.2 / 32.0).abs() < 1e-12);
    assert!((step_s * 60.0 / 3.6 - fading.step_m()).abs() < 1e-12);
}

/// Urban at 70 degrees: durations with sigma = 2.47, whose stationary law no run-up reaches. A place
/// at random lies in an event that weighs its length, so half of the starts are deep inside one.
#[test]
fn a_road_starts_at_a_random_place_however_long_its_events() {
    let road = Propagation::p681("urban", 70.0, 2.2).unwrap();
    let Shadowing::TwoState(model) = &road.shadowing else { panic!() };
    let good = model.states[0];
    let first: Vec<_> =
        (0..4000).map(|seed| road.segments(Seed(seed), 0).next().unwrap()).collect();
    let stays = first.iter().filter(|segment| !segment.is_transition() && segment.state == 0);
    let mut left: Vec<f64> = stays.map(|segment| segment.length_m).collect();
    // 3614 m of good, 19 m of bad and two transitions of 2 m on average.
    let share = left.len() as f64 / first.len() as f64;
    assert!((share - 0.9937).abs() < 4.0 * (0.0063f64 / 4000.0).sqrt(), "{share}");
    // P(remaining duration <= x) is the integral of 1 - F over the mean duration.
    left.sort_by(f64::total_cmp);
    let law = |metres: f64| {
        let steps = 20_000;
        let step = metres / f64::from(steps);
        let rest = |i: i32| 1.0 - duration_cdf(&good, (f64::from(i) + 0.5) * step);
        (0..steps).map(rest).sum::<f64>() * step / good.mean_duration_m()
    };
    let distance = distance(&left, law);
    assert!(distance < 2.47 / (left.len() as f64).sqrt() + 0.002, "{distance}");
}
