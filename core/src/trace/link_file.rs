//! Files of link traces: `t_ns`, `d_ns`, `lost_ns`, `transmissions`, and `bytes` if LLDUs differ in
//! size.

use std::io::{self, Write};
use std::path::Path;

use crate::trace::link_trace::dense;
use crate::trace::{Column, FileError, LinkTrace, write_file};

/// Rows written at a time.
const PART: usize = 1 << 20;

impl LinkTrace {
    /// Writes the link trace to `path`, completely or not at all, while `go_on` returns true: as
    /// CSV if the suffix is `.csv`, else as Parquet.
    ///
    /// # Errors
    /// A [`FileError`] that names the file; its previous content is then unchanged.
    pub fn write(&self, path: &Path, go_on: &(dyn Fn() -> bool + Sync)) -> Result<(), FileError> {
        if path.extension().is_some_and(|suffix| suffix == "csv") {
            return write_file(path, go_on, |out| Ok(self.write_csv(out)?));
        }
        #[cfg(feature = "parquet")]
        return write_file(path, go_on, |out| Ok(self.write_parquet(out)?));
        #[cfg(not(feature = "parquet"))]
        {
            let cure = crate::trace::Fault::new("clift cannot write the format parquet");
            Err(FileError::new(path.display().to_string(), cure))
        }
    }

    /// Writes the link trace as text, with a header line.
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
    /// If the writer fails.
    pub fn write_csv(&self, mut out: impl Write) -> io::Result<()> {
        let sized = self.sizes().map_or("", |_| ",bytes");
        writeln!(out, "t_ns,d_ns,lost_ns,transmissions{sized}")?;
        self.parts_of(|t, d, lost, transmissions, bytes| {
            let rows = t.iter().zip(d).zip(lost.iter().zip(transmissions));
            for (row, ((t, d), (lost, transmissions))) in rows.enumerate() {
                write!(out, "{t},{d},{lost},{transmissions}")?;
                if let Some(bytes) = bytes {
                    write!(out, ",{}", bytes[row])?;
                }
                writeln!(out)?;
            }
            Ok(())
        })
    }

    /// Writes the link trace as Parquet. The LLDU size, the round-trip time and the loading of
    /// packets onto LLDUs are metadata.
    ///
    /// # Errors
    /// If the writer fails.
    #[cfg(feature = "parquet")]
    pub fn write_parquet(&self, out: impl Write + Send) -> io::Result<()> {
        use crate::trace::parquet::{Kind, LINK_TRACE, Values, Writer};
        let mut columns = vec![
            ("t_ns", Kind::I64),
            ("d_ns", Kind::I64),
            ("lost_ns", Kind::I64),
            ("transmissions", Kind::U32),
        ];
        let mut keys =
            vec![(LINK_TRACE, "1".to_owned()), ("rtt_ns", self.parts().rtt.as_nanos().to_string())];
        match self.sizes() {
            Some(_) => columns.push(("bytes", Kind::I64)),
            None => keys.insert(1, ("lldu_bytes", self.parts().lldu.0.to_string())),
        }
        keys.extend(crate::trace::keys::loading(self.parts().loading));
        let mut file = Writer::new(out, &columns, keys)?;
        self.parts_of(|t, d, lost, transmissions, bytes| {
            let mut part =
                vec![Values::I64(t), Values::I64(d), Values::I64(lost), Values::U32(transmissions)];
            part.extend(bytes.map(Values::I64));
            file.part(&part)
        })?;
        file.finish()
    }

    /// Bytes of each LLDU, if they differ.
    fn sizes(&self) -> Option<&Column> {
        self.parts().sizes.as_ref()?.lldus.column()
    }

    /// Passes the columns to `each`, part by part.
    fn parts_of(
        &self,
        mut each: impl FnMut(&[i64], &[i64], &[i64], &[u32], Option<&[i64]>) -> io::Result<()>,
    ) -> io::Result<()> {
        let parts = self.parts();
        for start in (0..self.len()).step_by(PART) {
            let rows = start..self.len().min(start + PART);
            let lost = dense(&parts.lost, 0, rows.clone());
            let transmissions = dense(&parts.transmissions, 1, rows.clone());
            let (t, d) = (&parts.t[rows.clone()], &parts.d[rows.clone()]);
            let bytes = self.sizes().map(|bytes| &bytes[rows]);
            each(t, d, &lost, &transmissions, bytes)?;
        }
        Ok(())
    }
}
