//! Two states that a process stays in for a while: expected sums until it leaves.

/// In each state, where a step goes: to a state of the pair, or out of it (rows sum to 1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transient {
    /// stay[from][to].
    pub(crate) stay: [[f64; 2]; 2],
    /// Given beside `stay`, for 1 minus its row sum would lose digits where leaving is rare.
    pub(crate) leave: [f64; 2],
}

impl Transient {
    /// Whether the process leaves at last, wherever it starts.
    pub(crate) fn ends(&self) -> bool {
        self.determinant() > 0.0
    }

    /// Of 1 - `stay`, in products of probabilities only.
    fn determinant(&self) -> f64 {
        let [[_, good_bad], [bad_good, _]] = self.stay;
        let [leave_good, leave_bad] = self.leave;
        leave_good * (leave_bad + bad_good) + leave_bad * good_bad
    }

    /// The expected sum of `gain` over the states visited until the process leaves, by where it
    /// starts (which counts); infinite where it never leaves and gains.
    pub(crate) fn sum(&self, gain: [f64; 2]) -> [f64; 2] {
        let [[_, good_bad], [bad_good, _]] = self.stay;
        let [leave_good, leave_bad] = self.leave;
        let moves = [leave_good + good_bad, leave_bad + bad_good];
        let determinant = self.determinant();
        if determinant > 0.0 {
            return [
                (gain[0] * moves[1] + good_bad * gain[1]) / determinant,
                (gain[1] * moves[0] + bad_good * gain[0]) / determinant,
            ];
        }
        // One state at least is never left for good.
        if leave_good > 0.0 {
            let bad = forever(gain[1]);
            return [(gain[0] + times(good_bad, bad)) / moves[0], bad];
        }
        if leave_bad > 0.0 {
            let good = forever(gain[0]);
            return [good, (gain[1] + times(bad_good, good)) / moves[1]];
        }
        let reached = |own: f64, other: f64, way: f64| forever(own + times(way, other));
        [reached(gain[0], gain[1], good_bad), reached(gain[1], gain[0], bad_good)]
    }
}

/// `share` times `value`; a share of 0 gives 0 even of an infinite value.
pub(crate) fn times(share: f64, value: f64) -> f64 {
    if share == 0.0 { 0.0 } else { share * value }
}

fn forever(gain: f64) -> f64 {
    if gain == 0.0 { 0.0 } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_series() {
        let process = Transient { stay: [[0.2, 0.3], [0.1, 0.6]], leave: [0.5, 0.3] };
        let gain = [1.0, 2.0];
        let mut sum = [0.0, 0.0];
        for _ in 0..500 {
            sum =
                [0, 1].map(|s| gain[s] + process.stay[s][0] * sum[0] + process.stay[s][1] * sum[1]);
        }
        let [good, bad] = process.sum(gain);
        assert!((good - sum[0]).abs() < 1e-12 && (bad - sum[1]).abs() < 1e-12);
    }

    #[test]
    fn what_is_never_left_sums_to_infinity() {
        let stuck = Transient { stay: [[0.0, 0.5], [0.0, 1.0]], leave: [0.5, 0.0] };
        assert_eq!(stuck.sum([1.0, 1.0]), [f64::INFINITY, f64::INFINITY]);
        assert_eq!(stuck.sum([1.0, 0.0]), [1.0, 0.0]);
        let both = Transient { stay: [[0.0, 1.0], [1.0, 0.0]], leave: [0.0, 0.0] };
        assert_eq!(both.sum([1.0, 0.0]), [f64::INFINITY, f64::INFINITY]);
        let apart = Transient { stay: [[1.0, 0.0], [0.0, 1.0]], leave: [0.0, 0.0] };
        assert_eq!(apart.sum([1.0, 0.0]), [f64::INFINITY, 0.0]);
        let good = Transient { stay: [[1.0, 0.0], [0.5, 0.0]], leave: [0.0, 0.5] };
        assert_eq!(good.sum([0.0, 3.0]), [0.0, 3.0]);
    }
}
