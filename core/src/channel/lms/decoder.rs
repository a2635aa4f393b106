//! The decoder of a receiver, apart from the slots that it decodes.

use super::code::Code;
use super::information::InformationTable;
use super::receiver::Receiver;

/// A receiver's modulation and code: levels, mutual information and packet error rates.
///
/// ```
/// use clift::channel::lms::{Decoder, Preset};
/// let decoder = Decoder::new(&Preset::Internet.channel().receiver);
/// // QPSK at Es/N0 = 1.
/// let information = decoder.information(1.0);
/// assert!((information - 0.486).abs() < 1e-3 && (decoder.esn0(information) - 1.0).abs() < 1e-6);
/// assert!(decoder.per(information) < 0.01);
/// ```
#[derive(Clone, Debug)]
pub struct Decoder {
    code: Code,
    table: InformationTable,
}

impl Decoder {
    /// The decoder of a receiver.
    pub fn new(receiver: &Receiver) -> Self {
        let table = InformationTable::new(receiver.modulation);
        Self { code: receiver.code.clone(), table }
    }

    /// Mutual information per coded bit at an Es/N0 (linear), from 0 to 1.
    pub fn information(&self, esn0: f64) -> f64 {
        self.table.at(10.0 * libm::log10(esn0))
    }

    /// The Es/N0 (linear) with a mutual information per coded bit, from 0.001 to 10,000.
    pub fn esn0(&self, information: f64) -> f64 {
        libm::exp10(self.table.db(information) / 10.0)
    }

    /// Packet error rate at a mean mutual information per coded bit ([`Code::per`]).
    pub fn per(&self, information: f64) -> f64 {
        self.code.per(information)
    }
}
