//! Stage 6: metrics of links and flows.
//!
//! A metric is a field of a metrics type ([`FlowMetrics`], [`LinkMetrics`], ...) and a row of
//! [`CATALOG`]. [`Outcome::summary`] returns all of them by name.

mod application;
mod catalog;
mod distribution;
mod flow;
mod hop;
mod numbers;
mod outcome;
mod value;

pub use application::{ConferenceMetrics, PageMetrics, RequestMetrics, VideoMetrics, VoiceMetrics};
pub use catalog::{Better, CATALOG, Metric, SummaryPart};
pub use distribution::{DelaySummary, Distribution};
pub use flow::{
    FlowMetrics, MessageMetrics, PathMetrics, ProxyMetrics, ReorderingMetrics, fairness,
};
pub use hop::{HopMetrics, LegCounters, LegMetrics, LinkMetrics};
pub use numbers::MOST_FLOWS;
pub use outcome::Outcome;
pub use value::Value;
