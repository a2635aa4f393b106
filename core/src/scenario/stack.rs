//! From `[transport]` to a TCP connection.

use super::traffic::Transport;
use crate::config::Fault;
use crate::transport::tcp::TcpConfig;

/// The connection that `[transport]` (found at `key`) describes.
///
/// # Errors
/// If there is no such connection.
pub(super) fn connection(key: &str, config: &Transport) -> Result<TcpConfig, Fault> {
    let tcp = TcpConfig {
        congestion: config.congestion,
        profile: config.profile,
        packet: config.packet,
        initial_window: config.initial_window,
        delayed_ack: config.delayed_ack,
        cwnd_max: config.cwnd_max,
        receive_window: config.receive_window,
        timestamps: config.timestamps,
        sack: config.sack,
        linux: config.linux,
    };
    tcp.check().map_err(|fault| fault.within(key))?;
    Ok(tcp)
}
