//! The flows of a cell, and what they cannot be.

use super::config::Traffic;
use super::traffic::{Application, ApplicationKind, Flow, Protocol, Transport};
use crate::config::Fault;
use crate::config::join;

/// Bounds what a typing error can ask for.
const MOST_FLOWS: u64 = 100_000;

/// The flows, one entry each.
pub(super) fn flows(config: &Traffic) -> Result<Vec<Flow>, Fault> {
    if config.flow.is_empty() {
        check_traffic("", &config.transport, &config.application)?;
        let flow = Flow {
            transport: config.transport.clone(),
            application: config.application.clone(),
            access: config.access.clone(),
            ..Flow::default()
        };
        let count = config.flows.unwrap_or(1);
        if count == 0 || u64::from(count) > MOST_FLOWS {
            return Err(Fault::new("flows", format!("{count} flows; give 1 to {MOST_FLOWS}")));
        }
        return Ok(vec![flow; count as usize]);
    }
    if config.flows.is_some() {
        let cure = "[[flow]] lists the flows; use `count` there, or leave [[flow]] out";
        return Err(Fault::new("flows", cure));
    }
    let mut flows = Vec::new();
    for (index, flow) in config.flow.iter().enumerate() {
        let key = format!("flow.{index}");
        check_traffic(&key, &flow.transport, &flow.application)?;
        if let Some(access) = &flow.access {
            access.check(&format!("{key}.access"))?;
        }
        if flow.count == 0 || flows.len() as u64 + u64::from(flow.count) > MOST_FLOWS {
            let message = format!("{} flows; give 1 to {MOST_FLOWS} in all", flow.count);
            return Err(Fault::of(&key, "count", message));
        }
        let mut flow = flow.clone();
        flow.access = flow.access.or_else(|| config.access.clone());
        flows.extend(std::iter::repeat_n(flow.clone(), flow.count as usize));
    }
    Ok(flows)
}

fn check_traffic(key: &str, transport: &Transport, application: &Application) -> Result<(), Fault> {
    check_application(&join(key, "application"), application, transport.kind.protocol)?;
    let check = transport.protocol().check();
    check.map_err(|fault| fault.within(&join(key, "transport")))
}

fn check_application(key: &str, app: &Application, protocol: Protocol) -> Result<(), Fault> {
    use ApplicationKind::{Bulk, ConstantRate, File};
    let belongs = [
        ("size", app.size.is_some(), File),
        ("rate", app.rate.is_some(), ConstantRate),
        ("message", app.message.is_some(), ConstantRate),
        ("deadline", app.deadline.is_some(), ConstantRate),
    ];
    if let Some((name, _, kind)) =
        belongs.iter().find(|(_, given, kind)| *given && *kind != app.kind)
    {
        let kind = if *kind == File { "file" } else { "constant rate" };
        let cure = format!("belongs to type = \"{kind}\"; set the type, or leave it out");
        return Err(Fault::of(key, name, cure));
    }
    match app.kind {
        Bulk if protocol == Protocol::Udp => {
            let cure = "datagrams have no flow control; give type = \"constant rate\" or \"file\"";
            Err(Fault::of(key, "type", cure))
        }
        File if app.size.is_none() => Err(Fault::new(
            key,
            "missing key `size`: how large is the file, e.g. size = \"100 kB\"",
        )),
        File if app.size.is_some_and(|size| size.0 == 0) => {
            Err(Fault::of(key, "size", "a file of 0 bytes; give 1 B or more"))
        }
        ConstantRate if app.rate.is_none() => {
            Err(Fault::new(key, "missing key `rate`: how much is sent, e.g. rate = \"64 kbit/s\""))
        }
        ConstantRate if app.message.is_some_and(|message| message.0 == 0) => {
            Err(Fault::of(key, "message", "a message of 0 bytes; give 1 B or more"))
        }
        _ => Ok(()),
    }
}
