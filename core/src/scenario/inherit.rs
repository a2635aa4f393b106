//! Keys that sections take from others which have them.

use crate::config::{Node, Table, Value};

/// Copies the scenario's keys into flows that leave them out, and those of `[link]` into the link
/// of the return path.
pub(super) fn inherit(table: &mut Table) {
    let transport = section(table.get("transport"));
    let application = table.get("application").cloned();
    let link = section(table.get("link"));
    if let Some(Node::List(flows)) = table.get_mut("flow").map(|flows| &mut flows.node) {
        for flow in flows.iter_mut().filter_map(Value::as_table_mut) {
            if let Some(base) = &transport {
                inherit_section(flow, "transport", base);
                let own = flow.get_mut("transport").and_then(Value::as_table_mut);
                if let Some(own) = own {
                    for name in ["linux", "quic"] {
                        if let Some(parts) = section(base.get(name)) {
                            inherit_section(own, name, &parts);
                        }
                    }
                }
            }
            if let (false, Some(base)) = (flow.contains("application"), &application) {
                flow.insert("application", base.clone());
            }
        }
    }
    if let Some(back) = table.get_mut("return").and_then(Value::as_table_mut)
        && ["trace", "channel", "link_trace"].into_iter().any(|name| back.contains(name))
        && let Some(mut base) = link
    {
        let own = section(back.get("link")).unwrap_or_default();
        // Reports about the return path travel on the forward path, so the link's feedback trace
        // does not apply.
        let mut others: Vec<&str> = FEEDBACK_TRACE.to_vec();
        if others.iter().any(|name| own.contains(name)) {
            others.push("feedback_loss");
        }
        if back.contains("link_trace") {
            others.extend(["rtt", "feedback", "live"]);
        }
        // Proxies belong to the forward path.
        others.push("pep");
        others.iter().for_each(|name| drop(base.remove(name)));
        inherit_section(back, "link", &base);
    }
}

/// The keys of a link that decide, slot by slot, which reports are lost.
const FEEDBACK_TRACE: [&str; 2] = ["feedback_trace", "feedback_channel"];

fn section(value: Option<&Value>) -> Option<Table> {
    value.and_then(Value::as_table).cloned()
}

fn inherit_section(table: &mut Table, name: &str, base: &Table) {
    match table.get_mut(name) {
        Some(Value { node: Node::Table(own), .. }) => own.inherit(base),
        Some(_) => {} // not a section: reported when it is read
        None => table.insert(name, Node::Table(base.clone()).into()),
    }
}
