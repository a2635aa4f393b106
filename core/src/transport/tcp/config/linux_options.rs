//! The parts of profile `linux`.

/// The parts of profile `linux`, each of which may be left out; named after what the kernel's
/// settings (`net.ipv4.tcp_*`) call them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LinuxOptions {
    /// A SYN and its answer go before the data: a round trip, and the first round-trip sample.
    pub handshake: bool,
    /// Losses are detected by the time of sending (RACK, RFC 8985); otherwise by the number of
    /// segments SACKed above (RFC 6675), and lost retransmissions by a timeout only.
    pub rack: bool,
    /// Tail loss probes (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// Proportional rate reduction (RFC 6937); otherwise the window falls at once.
    pub prr: bool,
    /// The receiver reports duplicates (RFC 2883), and the sender draws its conclusions.
    pub dsack: bool,
    /// Reductions that prove spurious are taken back.
    pub undo: bool,
    /// Spurious timeouts are detected by what is acknowledged after them (RFC 5682).
    pub frto: bool,
    /// How far the reordering degree may rise, in segments: 300; 3: it does not adapt.
    pub max_reordering: u32,
    /// HyStart: CUBIC leaves slow start when the ACKs of a round arrive over half of the least
    /// round-trip time, or the round-trip time rises.
    pub hystart: bool,
    /// The receiver acknowledges the first segments, and those after duplicates or long gaps, at
    /// once although it delays ACKs.
    pub quick_ack: bool,
    /// A window unused for a timeout decays (RFC 2861).
    pub slow_start_after_idle: bool,
    /// Segments leave spaced by a share of the round-trip time instead of in bursts; BBR's leave at
    /// its rate anyhow.
    pub pacing: bool,
}

impl LinuxOptions {
    /// The names of all parts.
    pub const NAMES: [&'static str; 12] = [
        "handshake",
        "rack",
        "tail_loss_probe",
        "prr",
        "dsack",
        "undo",
        "frto",
        "max_reordering",
        "hystart",
        "quick_ack",
        "slow_start_after_idle",
        "pacing",
    ];

    /// The part of that name, if it is one that is on or off.
    ///
    /// ```
    /// use clift::transport::tcp::LinuxOptions;
    /// let mut parts = LinuxOptions::default();
    /// *parts.switch("rack").unwrap() = false;
    /// assert!(!parts.rack && parts.switch("max_reordering").is_none());
    /// ```
    pub fn switch(&mut self, name: &str) -> Option<&mut bool> {
        match name {
            "handshake" => Some(&mut self.handshake),
            "rack" => Some(&mut self.rack),
            "tail_loss_probe" => Some(&mut self.tail_loss_probe),
            "prr" => Some(&mut self.prr),
            "dsack" => Some(&mut self.dsack),
            "undo" => Some(&mut self.undo),
            "frto" => Some(&mut self.frto),
            "hystart" => Some(&mut self.hystart),
            "quick_ack" => Some(&mut self.quick_ack),
            "slow_start_after_idle" => Some(&mut self.slow_start_after_idle),
            "pacing" => Some(&mut self.pacing),
            _ => None,
        }
    }
}

impl Default for LinuxOptions {
    /// What the kernel does unless it is told otherwise: everything but pacing.
    fn default() -> Self {
        Self {
            handshake: true,
            rack: true,
            tail_loss_probe: true,
            prr: true,
            dsack: true,
            undo: true,
            frto: true,
            max_reordering: 300,
            hystart: true,
            quick_ack: true,
            slow_start_after_idle: true,
            pacing: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_by_name() {
        let mut parts = LinuxOptions::default();
        for name in LinuxOptions::NAMES {
            match parts.switch(name) {
                Some(part) => *part = !*part,
                None => assert_eq!(name, "max_reordering"),
            }
        }
        let shown = format!("{parts:?}");
        assert_eq!(shown.matches("false").count(), 10);
        assert!(parts.pacing && LinuxOptions::NAMES.iter().all(|name| shown.contains(name)));
    }
}
