//! The ECN field of an IP packet.

/// The two ECN bits of an IP header (RFC 3168, section 5; RFC 9331 for ECT(1)).
///
/// ```
/// use clift::units::Ecn;
/// assert!(Ecn::Ect0.is_capable() && Ecn::Ce.is_capable() && !Ecn::NotEct.is_capable());
/// assert_eq!(Ecn::Ce as u8, 3);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[repr(u8)]
pub enum Ecn {
    /// Not-ECT: the transport does not react to marks, so a queue must drop the packet instead.
    #[default]
    NotEct = 0,
    /// ECT(1): L4S traffic. The queue may mark early, because the sender reduces in proportion to
    /// marks.
    Ect1 = 1,
    /// ECT(0): a mark has the same meaning as a loss.
    Ect0 = 2,
    /// Congestion experienced: a queue has marked the packet.
    Ce = 3,
}

impl Ecn {
    /// True if a queue may mark the packet instead of dropping it. A marked packet (CE) stays
    /// marked.
    #[inline]
    pub fn is_capable(self) -> bool {
        self != Self::NotEct
    }
}
