//! A link trace from given columns.

use crate::trace::{Column, Fault, Header, LinkTrace, Loading, Parts, PhyTrace, Sizes};
use crate::units::Duration;

/// The columns of a link trace, one value per data LLDU, and its common properties.
///
/// ```
/// use clift::trace::{LinkColumns, Sizes};
/// use clift::units::{Bytes, Duration};
/// let columns = LinkColumns {
///     t: vec![0, 10, 20].into(),
///     d: vec![5, 35, 0].into(),
///     lost: vec![0, 0, 40],
///     transmissions: vec![1, 2, 3],
///     sizes: Bytes(100).into(),
///     rtt: Duration::from_nanos(20),
///     period: None,
///     slots: None,
///     loading: Default::default(),
/// };
/// let stats = columns.trace()?.stats();
/// assert_eq!((stats.delivered, stats.lost, stats.recovered, stats.slots_used), (2, 1, 1, 6));
/// # Ok::<(), clift::trace::Fault>(())
/// ```
#[derive(Clone, Debug)]
pub struct LinkColumns {
    /// First transmission times, ns.
    pub t: Column,
    /// Recovery times, ns; 0: not delivered.
    pub d: Column,
    /// Time from `t` until the LLDU was given up, ns; 0 if it was delivered or is pending.
    pub lost: Vec<i64>,
    /// Number of transmissions.
    pub transmissions: Vec<i64>,
    /// Payloads.
    pub sizes: Sizes,
    /// Round-trip time of the link.
    pub rtt: Duration,
    /// Period with which it repeats; default: last `t` - first `t` + median gap.
    pub period: Option<Duration>,
    /// Number of slots, all used; default: one per transmission.
    pub slots: Option<u64>,
    /// How packets are loaded onto the LLDUs.
    pub loading: Loading,
}

impl LinkColumns {
    /// Builds the link trace. LLDUs sent more than once and delivered count as recovered.
    ///
    /// # Errors
    /// A [`Fault`] with the first faulty LLDU.
    pub fn trace(self) -> Result<LinkTrace, Fault> {
        let Self { t, d, lost, transmissions, sizes, rtt, period, slots, loading } = self;
        let header = Header { period, rtt: Some(rtt), loading, ..Header::default() };
        // The validity rules of slots also apply to data LLDUs.
        let phy = PhyTrace::with_header(t, d, sizes, header)?;
        for (column, values) in [("lost", &lost), ("transmissions", &transmissions)] {
            if values.len() != phy.len() {
                let cure = "give one for each t";
                return Err(Fault::length(phy.len(), column, values.len(), cure));
            }
        }
        let units = || lost.iter().zip(&transmissions).zip(phy.d().iter()).enumerate();
        for (slot, ((&lost, &sent), &d)) in units() {
            let late = lost > crate::trace::LATEST - phy.t()[slot];
            let reason = match (lost, d) {
                _ if lost < 0 => "lost is negative; give 0 if it was not given up",
                _ if late => "t + lost is over 2^61 ns (73 years); check the unit",
                (1.., 1..) => "is delivered (d above 0) and given up (lost above 0); keep one",
                _ if u32::try_from(sent).is_ok_and(|sent| sent > 0) => continue,
                _ => "transmissions must be from 1 to 4294967295",
            };
            return Err(Fault::Text(format!("LLDU {slot}: {reason}")));
        }
        let sent: u64 = transmissions.iter().map(|&sent| sent.unsigned_abs()).sum();
        let parts = Parts::of(&phy, rtt);
        let recovered = units().filter(|(_, ((_, sent), d))| **sent > 1 && **d > 0);
        let recovered = recovered
            .fold((0, 0), |(n, sum), (_, (_, &d))| (n + 1, sum + u128::from(d.unsigned_abs())));
        let lost = (0..).zip(&lost).filter(|(_, lost)| **lost > 0);
        let again = (0..).zip(&transmissions).filter(|(_, sent)| **sent > 1);
        let slots = match slots.unwrap_or(sent) {
            slots if slots < phy.len() as u64 => {
                let lldus = phy.len();
                let cure = format!("each needs its own slot, so give {lldus} or more");
                return Err(Fault::Text(format!("{slots} slots for {lldus} data LLDUs; {cure}")));
            }
            slots => slots,
        };
        let trace = LinkTrace::from_parts(Parts {
            t: phy.t().clone(),
            d: phy.d().clone(),
            lost: lost.map(|(index, &lost)| (index, lost)).collect(),
            transmissions: again.map(|(index, &sent)| (index, sent as u32)).collect(),
            recovered,
            slots_used: slots,
            slots,
            ..parts
        });
        Ok(trace.sized_with(&phy))
    }
}
