//! Stage 6: what links and flows are measured by.
//!
//! A metric is a field of what is measured ([`FlowMetrics`], [`LinkMetrics`], ...) and a row of
//! [`CATALOG`]; [`Outcome::summary`] has all of them by name.

mod application;
mod catalog;
mod distribution;
mod flow;
mod hop;
mod numbers;
mod outcome;
mod value;

pub use application::{PageMetrics, RequestMetrics, VoiceMetrics};
pub use catalog::{Better, CATALOG, Metric, Place};
pub use distribution::{DelaySummary, Distribution};
pub use flow::{EcnMetrics, FlowMetrics, MessageMetrics, ProxyMetrics, fairness};
pub use hop::{HopMetrics, LegCounters, LegMetrics, LinkMetrics};
pub use numbers::MOST_FLOWS;
pub use outcome::Outcome;
pub use value::Value;
