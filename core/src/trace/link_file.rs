//! Link traces as files: `t_ns`, `d_ns`, `lost_ns`, `transmissions`.

use std::io::{self, Write};
use std::path::Path;

use crate::trace::link_trace::dense;
use crate::trace::{FileError, LinkTrace, write_file};

/// Rows that are written at a time.
const PART: usize = 1 << 20;

impl LinkTrace {
    /// Writes the link trace to `path`, whole or not at all, as long as `go_on` says so: as CSV if
    /// the suffix is `.csv`, else as Parquet.
    ///
    /// # Errors
    /// A [`FileError`] that names the file; what it held before is then unchanged.
    pub fn write(&self, path: &Path, go_on: &(dyn Fn() -> bool + Sync)) -> Result<(), FileError> {
        if path.extension().is_some_and(|suffix| suffix == "csv") {
            return write_file(path, go_on, |out| Ok(self.write_csv(out)?));
        }
        #[cfg(feature = "parquet")]
        return write_file(path, go_on, |out| Ok(self.write_parquet(out)?));
        #[cfg(not(feature = "parquet"))]
        Err(FileError::NotWritten { place: path.display().to_string(), format: "parquet" })
    }

    /// Writes the link trace as text, a line of names first.
    ///
    /// ```
    /// use clift::scheme::{Scheme, Timing};
    /// use clift::trace::PhyTrace;
    /// use clift::units::{Bytes, Duration};
    /// let phy = PhyTrace::new(vec![0, 10].into(), vec![5, 0].into(), Bytes(33)).unwrap();
    /// let timing = Timing { rtt: Duration::ZERO, feedback: None };
    /// let mut out = Vec::new();
    /// Scheme::None.apply(&phy, timing).write_csv(&mut out).unwrap();
    /// assert_eq!(out, b"t_ns,d_ns,lost_ns,transmissions\n0,5,0,1\n10,0,5,1\n");
    /// ```
    ///
    /// # Errors
    /// What the writer says.
    pub fn write_csv(&self, mut out: impl Write) -> io::Result<()> {
        writeln!(out, "t_ns,d_ns,lost_ns,transmissions")?;
        self.parts_of(|t, d, lost, transmissions| {
            let rows = t.iter().zip(d).zip(lost.iter().zip(transmissions));
            for ((t, d), (lost, transmissions)) in rows {
                writeln!(out, "{t},{d},{lost},{transmissions}")?;
            }
            Ok(())
        })
    }

    /// Writes the link trace as Parquet, with the LLDU size, the round-trip time and how
    /// packets go onto the LLDUs as metadata.
    ///
    /// # Errors
    /// What the writer says.
    #[cfg(feature = "parquet")]
    pub fn write_parquet(&self, out: impl Write + Send) -> io::Result<()> {
        use crate::trace::parquet::{Kind, Values, Writer};
        let columns = [
            ("t_ns", Kind::I64),
            ("d_ns", Kind::I64),
            ("lost_ns", Kind::I64),
            ("transmissions", Kind::U32),
        ];
        let mut keys = vec![
            ("clift-link-trace", "1".to_owned()),
            ("lldu_bytes", self.parts().lldu.0.to_string()),
            ("rtt_ns", self.parts().rtt.as_nanos().to_string()),
        ];
        keys.extend(crate::trace::keys::loading(self.parts().loading));
        let mut file = Writer::new(out, &columns, keys)?;
        self.parts_of(|t, d, lost, transmissions| {
            file.part(&[
                Values::I64(t),
                Values::I64(d),
                Values::I64(lost),
                Values::U32(transmissions),
            ])
        })?;
        file.finish()
    }

    /// Hands the four columns to `each`, part by part.
    fn parts_of(
        &self,
        mut each: impl FnMut(&[i64], &[i64], &[i64], &[u32]) -> io::Result<()>,
    ) -> io::Result<()> {
        let parts = self.parts();
        for start in (0..self.len()).step_by(PART) {
            let rows = start..self.len().min(start + PART);
            let lost = dense(&parts.lost, 0, rows.clone());
            let transmissions = dense(&parts.transmissions, 1, rows.clone());
            each(&parts.t[rows.clone()], &parts.d[rows], &lost, &transmissions)?;
        }
        Ok(())
    }
}
