//! The hops of a plan.

use std::sync::Arc;

use crate::link::Coding;
use crate::scenario::leg::Leg;
use crate::scenario::link::Link;
use crate::scenario::link_kind::LinkKind;
use crate::scenario::phy::PlannedPhy;
use crate::transport::tcp::ProxyConfig;

/// One hop, or several hops of the return path.
#[derive(Clone, Debug)]
pub enum PlannedHop {
    /// A wired leg.
    Leg(Leg),
    /// A link.
    Link(Box<PlannedLink>),
    /// A proxy. On the return path: the position of one of the forward path's proxies, the last one
    /// first.
    Proxy(PlannedProxy),
    /// A code around the hops that follow.
    Coding(PlannedCoding),
    /// The return path over the first hops of the forward path, as many as given, in reverse: it
    /// takes as long as they do.
    WayBack(usize),
}

/// A link: the medium that carries its packets, and its use.
#[derive(Clone, Debug)]
pub struct PlannedLink {
    /// The section of the link: "" for the scenario itself, "return", "path.1".
    pub key: String,
    /// The section within it that holds the keys of this kind of link; "" if there is none.
    pub section: &'static str,
    /// The kind of link.
    pub kind: Arc<dyn LinkKind>,
    /// The PHY trace under the link, if it has one.
    pub phy: Option<PlannedPhy>,
    /// The `[link]` section.
    pub link: Link,
    /// Name and direction, in a network: its random draws do not depend on the other links.
    pub named: Option<(String, u32)>,
}

/// A proxy that splits TCP.
#[derive(Clone, Debug)]
pub struct PlannedProxy {
    /// The key of the proxy: "path.1.pep", "link.pep".
    pub key: String,
    /// The settings of the proxy.
    pub config: ProxyConfig,
}

/// A code around the hops that follow it in the plan.
#[derive(Clone, Debug)]
pub struct PlannedCoding {
    /// The code.
    pub coding: Coding,
    /// Number of hops between encoder and decoder.
    pub hops: usize,
}
