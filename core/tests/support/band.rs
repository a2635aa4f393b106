//! A simultaneous confidence band: models against simulations cut into batches.

/// A value of a model beside batches of a simulation, each a sum and what it is a sum over.
pub struct Comparison {
    pub name: String,
    pub model: f64,
    pub batches: Vec<(f64, f64)>,
    /// Added to the band: what the batches cannot tell, of the model's unit.
    pub slack: f64,
}

/// One comparison, judged.
pub struct Verdict {
    pub simulated: f64,
    /// Half the width of its interval.
    pub within: f64,
    /// How far the model is off, in half widths.
    pub off: f64,
}

/// Judges all of them so that right models all pass with probability `confidence` (Bonferroni).
///
/// The simulated value is the ratio of the batches' sums; its error is that of the mean over
/// batches of `sum - ratio * over`, with Student's t.
pub fn judge(comparisons: &[Comparison], confidence: f64) -> Vec<Verdict> {
    let tail = (1.0 - confidence) / comparisons.len() as f64 / 2.0;
    comparisons.iter().map(|comparison| verdict(comparison, tail)).collect()
}

fn verdict(comparison: &Comparison, tail: f64) -> Verdict {
    let batches = &comparison.batches;
    let count = batches.len() as f64;
    let sum: f64 = batches.iter().map(|batch| batch.0).sum();
    let over: f64 = batches.iter().map(|batch| batch.1).sum();
    let simulated = sum / over;
    // Spread around what was simulated, so that a wrong model does not widen its own band.
    let squares: f64 = batches.iter().map(|(sum, over)| (sum - simulated * over).powi(2)).sum();
    let error = (squares / (count - 1.0) * count).sqrt() / over;
    let within = quantile(tail, count - 1.0) * error + comparison.slack;
    Verdict { simulated, within, off: (comparison.model - simulated).abs() / within }
}

/// What Student's t with `freedom` degrees exceeds with probability `tail`.
pub fn quantile(tail: f64, freedom: f64) -> f64 {
    // The density in x = tan(angle) scaled, integrated by Simpson's rule: t = sqrt(f) tan(angle)
    // has the density cos(angle)^(f - 1) in the angle.
    let steps = 4000;
    let integral = |from: f64| {
        let width = (std::f64::consts::FRAC_PI_2 - from) / f64::from(steps);
        (0..=steps)
            .map(|i| {
                let weight = if i == 0 || i == steps { 1.0 } else { 2.0 + 2.0 * f64::from(i % 2) };
                weight * (from + f64::from(i) * width).cos().powf(freedom - 1.0)
            })
            .sum::<f64>()
            * width
    };
    let half = integral(0.0);
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if integral(middle) / half / 2.0 > tail { low = middle } else { high = middle }
    }
    freedom.sqrt() * low.tan()
}
