//! Samples of a land mobile channel. They are drawn here, since the tests compile without optimisation.

use clift::channel::lms::LandMobile;
use clift::seed::Seed;

/// Every `stride`-th of the received powers, by the channel's reference.
pub fn powers(channel: &LandMobile, count: usize, stride: usize, seed: u64) -> Vec<f64> {
    let (mut fading, _, scale) = channel.fading(Seed(seed), 0).unwrap();
    (0..count)
        .map(|_| {
            let power = fading.power() * scale;
            (1..stride).for_each(|_| {
                fading.power();
            });
            power
        })
        .collect()
}
