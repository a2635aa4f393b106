//! The flows of a cell, and checks on them.

use std::collections::BTreeSet;

use super::config::Traffic;
use super::traffic::{Flow, Transport};
use crate::application::ApplicationConfig;
use crate::config::{Fault, check_name, join};

/// Limits the effect of a typing error.
pub(super) const MOST_FLOWS: u64 = 100_000;

/// Returns the flows, one entry each, with the section of each.
pub(super) fn flows(config: &Traffic) -> Result<(Vec<Flow>, Vec<String>), Fault> {
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
        return Ok((vec![flow; count as usize], vec![String::new(); count as usize]));
    }
    if config.flows.is_some() {
        let cure = "[[flow]] lists the flows; use `count` there, or leave [[flow]] out";
        return Err(Fault::new("flows", cure));
    }
    let (mut flows, mut keys) = (Vec::new(), Vec::new());
    let mut names = BTreeSet::new();
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
        check_times(flow).map_err(|fault| fault.within(&key))?;
        if let Some(name) = &flow.name {
            check_name(name).map_err(|fault| fault.within("name").within(&key))?;
            if !names.insert(name) {
                let cure = format!("another flow has the name {name}; give each its own");
                return Err(Fault::of(&key, "name", cure));
            }
        }
        if let Some(name) = &flow.name
            && let Some(several) = config.flow.iter().find(|other| numbers(other, name))
        {
            let of = several.name.as_deref().unwrap_or_default();
            let cure = format!("{name} is also one of the flows {of}; give it another name");
            return Err(Fault::of(&key, "name", cure));
        }
        keys.extend(std::iter::repeat_n(key, flow.count as usize));
        let mut flow = flow.clone();
        flow.access = flow.access.or_else(|| config.access.clone());
        flows.extend(std::iter::repeat_n(flow.clone(), flow.count as usize));
    }
    Ok((flows, keys))
}

/// Whether `name` is that of one of the flows of an entry, NAME-0, NAME-1 and so on.
fn numbers(flow: &Flow, name: &str) -> bool {
    let is_numbered = flow.count > 1 || flow.arrivals.is_some();
    let number = || name.strip_prefix(flow.name.as_deref()?)?.strip_prefix('-');
    is_numbered && number().is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Checks the end and the arrivals of a flow.
fn check_times(flow: &Flow) -> Result<(), Fault> {
    if let Some(arrivals) = &flow.arrivals {
        arrivals.check().map_err(|fault| fault.within("arrivals"))?;
    }
    let Some(end) = flow.end else { return Ok(()) };
    if end <= flow.start {
        let message = format!("{end} is not after the start; give a time after {}", flow.start);
        return Err(Fault::new("end", message));
    }
    if flow.arrivals.is_none() && flow.application.ends() {
        let cure = "the application has an end; leave `end` out";
        return Err(Fault::new("end", cure));
    }
    Ok(())
}

fn check_traffic(
    key: &str,
    transport: &Transport,
    application: &ApplicationConfig,
) -> Result<(), Fault> {
    let protocol = transport.protocol();
    let of = |name: &'static str| move |fault: Fault| fault.within(&join(key, name));
    application.check(&*protocol).map_err(of("application"))?;
    protocol.check().map_err(of("transport"))
}
