//! A measured series of levels over time.

use crate::config::Fault;
use crate::units::Duration;

/// Es/N0 at increasing instants, linearly interpolated in dB, constant after the last.
///
/// ```
/// use clift::channel::lms::Series;
/// let second = 1_000_000_000;
/// assert!(Series::new(vec![0, second], vec![8.0, 2.5]).is_ok());
/// assert!(Series::new(vec![second, 0], vec![8.0, 2.5]).is_err());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    t: Vec<i64>,
    db: Vec<f64>,
    step_ns: f64,
    /// Number of samples produced, and the row before the next sample.
    given: u64,
    row: usize,
}

impl Series {
    /// Instants in ns and levels in dB. The first instant becomes time 0.
    ///
    /// # Errors
    /// If there are fewer than two rows, instants do not increase, or a level is not a number.
    pub fn new(mut t: Vec<i64>, db: Vec<f64>) -> Result<Self, Fault> {
        let fault = |what: String| Err(Fault::at(format!("the series of levels {what}")));
        if t.len() != db.len() {
            return fault(format!("has {} instants and {} levels", t.len(), db.len()));
        }
        if t.len() < 2 {
            return fault("has fewer than two rows; give two or more".to_owned());
        }
        if let Some(row) = db.iter().position(|db| !(-200.0..=200.0).contains(db)) {
            return fault(format!(
                "has {} dB in row {row}; give a number from -200 to 200, or remove the row",
                db[row]
            ));
        }
        if let Some(row) = (1..t.len()).find(|&row| t[row] <= t[row - 1]) {
            return fault(format!(
                "does not increase in time in row {row}; sort it, with one row per instant"
            ));
        }
        let first = t[0];
        for t in &mut t {
            *t = t.checked_sub(first).ok_or_else(|| {
                Fault::at("the series of levels spans more than 292 years; check the unit")
            })?;
        }
        Ok(Self { t, db, step_ns: 0.0, given: 0, row: 0 })
    }

    /// Time from the first instant to the last.
    pub fn duration(&self) -> Duration {
        Duration::from_nanos(self.t[self.t.len() - 1] as u64)
    }

    /// Sets the sampling interval `step_ns`, from time 0.
    pub(super) fn every(mut self, step_ns: f64) -> Self {
        self.step_ns = step_ns;
        self
    }

    /// `db` added to every level.
    pub(super) fn shifted(mut self, db: f64) -> Self {
        self.db.iter_mut().for_each(|level| *level += db);
        self
    }

    pub(super) fn sample(&mut self) -> f64 {
        let now = self.given as f64 * self.step_ns;
        self.given += 1;
        while self.row + 2 < self.t.len() && self.t[self.row + 1] as f64 <= now {
            self.row += 1;
        }
        let (t0, t1) = (self.t[self.row] as f64, self.t[self.row + 1] as f64);
        let place = ((now - t0) / (t1 - t0)).min(1.0);
        self.db[self.row] + (self.db[self.row + 1] - self.db[self.row]) * place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_linear_between_rows_and_held_at_the_end() {
        let series = Series::new(vec![100, 200, 400], vec![0.0, 10.0, -10.0]).unwrap();
        let mut series = series.every(25.0);
        let samples: Vec<f64> = (0..14).map(|_| series.sample()).collect();
        assert_eq!(samples[..6], [0.0, 2.5, 5.0, 7.5, 10.0, 7.5]);
        assert_eq!(samples[12..], [-10.0, -10.0]);
    }

    #[test]
    fn what_is_no_series_is_refused() {
        let fault = |t: Vec<i64>, db: Vec<f64>| Series::new(t, db).unwrap_err().to_string();
        assert!(fault(vec![0], vec![1.0]).contains("two or more"));
        assert!(fault(vec![0, 1], vec![1.0]).contains("2 instants and 1 levels"));
        assert!(fault(vec![0, 0], vec![1.0, 1.0]).contains("row 1"));
        assert!(fault(vec![0, 1], vec![1.0, f64::NAN]).contains("NaN dB in row 1"));
        assert!(fault(vec![i64::MIN, i64::MAX], vec![1.0, 1.0]).contains("292 years"));
    }
}
