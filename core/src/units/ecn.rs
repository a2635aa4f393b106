//! The ECN field of an IP packet.

/// What the two ECN bits of an IP header say (RFC 3168, section 5; RFC 9331 for ECT(1)).
///
/// ```
/// use clift::units::Ecn;
/// assert!(Ecn::Ect0.is_capable() && Ecn::Ce.is_capable() && !Ecn::NotEct.is_capable());
/// assert_eq!(Ecn::Ce as u8, 3);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not react to marks: a queue has to drop.
    #[default]
    NotEct = 0,
    /// ECT(1): a mark may come early, as the transport reduces in proportion to marks (L4S).
    Ect1 = 1,
    /// ECT(0): a mark stands for a loss.
    Ect0 = 2,
    /// Congestion experienced: a queue has marked it.
    Ce = 3,
}

impl Ecn {
    /// Whether a queue may mark the packet in the place of dropping it; one that is marked stays so.
    #[inline]
    pub fn is_capable(self) -> bool {
        self != Self::NotEct
    }
}
