//! Stage 6: what links and flows are measured by (DESIGN section 8).

mod distribution;
mod flow;
mod hop;

pub use distribution::{DelaySummary, Distribution};
pub use flow::{FlowMetrics, MessageMetrics, fairness};
pub use hop::{HopMetrics, LegCounters, LegMetrics, LinkMetrics};
