//! The plan of a link: its medium and its use.

use std::sync::Arc;

use super::hop::{PlannedHop, PlannedLink, PlannedProxy};
use crate::config::{Fault, join};
use crate::scenario::kinds::{
    GivenLinkTrace, LiveScheme, OpenLoop, Sections, own_kind, own_sections,
};
use crate::scenario::leg::Leg;
use crate::scenario::link::{Link, Reports, SlotLink};
use crate::scenario::link_kind::LinkKind;
use crate::scenario::phy::phy;
use crate::scheme::Scheme;
use crate::transport::tcp::Pep;
use crate::units::Duration;

/// The link in the section `key`, and the leg behind it if it has `delays`.
pub(super) fn link(
    key: &str,
    sections: &Sections,
    duration: Duration,
) -> Result<Vec<PlannedHop>, Fault> {
    let link = sections.link.clone().unwrap_or_default();
    link.check().map_err(|fault| fault.within("link").within(key))?;
    let behind = link.usage.delays.is_some().then(|| Leg {
        delays: link.usage.delays.clone(),
        keep_order: link.usage.keep_order,
        ..Leg::default()
    });
    let own = own_kind(key, sections, duration)?;
    let (section, kind) = match own {
        Some(own) => own,
        None => ("", over_slots(key, sections, &link, duration)?),
    };
    let phy = phy(key, ("trace", &sections.trace), ("channel", &sections.channel), duration)?;
    let proxy = link.usage.pep.as_ref().and_then(Pep::proxy);
    let planned = PlannedLink { key: key.to_owned(), section, kind, phy, link, named: None };
    let mut hops = vec![PlannedHop::Link(Box::new(planned))];
    hops.extend(behind.map(PlannedHop::Leg));
    if let Some(config) = proxy {
        let key = join(key, "link.pep");
        let far = PlannedProxy { key: key.clone(), config: config.far_end() };
        hops.insert(0, PlannedHop::Proxy(PlannedProxy { key, config }));
        hops.push(PlannedHop::Proxy(far));
    }
    Ok(hops)
}

/// A link trace, or a scheme over slots.
fn over_slots(
    key: &str,
    sections: &Sections,
    link: &Link,
    duration: Duration,
) -> Result<Arc<dyn LinkKind>, Fault> {
    let SlotLink { rtt, feedback, live, .. } = link.slots;
    let scheme = sections.scheme.clone();
    if let Some(name) = &sections.link_trace {
        let of_scheme = [
            ("scheme", scheme.is_some()),
            ("link.live", live),
            ("link.feedback", feedback.is_some()),
            ("link.rtt", rtt.is_some()),
        ];
        let of_scheme = of_scheme.into_iter().find(|(_, given)| *given).map(|(name, _)| name);
        if let Some(given) = sections.slots().or(of_scheme) {
            let cure = "`link_trace` already gives the fate of every LLDU; leave one of them out";
            return Err(Fault::of(key, given, cure));
        }
        return Ok(Arc::new(GivenLinkTrace(name.clone())));
    }
    if sections.slots().is_none() {
        let own = own_sections().map(|section| format!("[{section}], ")).collect::<String>();
        let cure = format!(
            "the scenario has no link; give [trace] with a file, [channel] with a model, {own}or [[path]]"
        );
        return Err(Fault::new(key, cure));
    }
    if rtt.is_some() || sections.trace.is_none() {
        link.slots.timing(None).map_err(|fault| fault.within("link").within(key))?;
    }
    let scheme = scheme.unwrap_or(Scheme::None);
    if !live {
        return Ok(Arc::new(OpenLoop(scheme)));
    }
    let Reports { feedback_trace, feedback_channel } = &link.reports;
    if let Some(channel) = feedback_channel {
        let of = join(key, "link.feedback_channel");
        channel.check_fates_only().map_err(|fault| fault.within(&of))?;
    }
    let (trace, channel) =
        (("feedback_trace", feedback_trace), ("feedback_channel", feedback_channel));
    let reports = phy(&join(key, "link"), trace, channel, duration)?;
    Ok(Arc::new(LiveScheme { scheme, reports }))
}
