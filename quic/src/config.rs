//! Configuration of QUIC connections.

use std::sync::Arc;
use std::time;

use clift::config::Fault;
use clift::transport::quic::{LEAST_PAYLOAD, QuicOptions};
use clift::transport::tcp::{CongestionAlgorithm, ProxyConfig, SavedPath, TcpConfig};
use clift::transport::{self, End, FlowControl, Kind, Log, Options, Protocol, Purpose, Streams};
use clift::units::{Bytes, Duration, Instant, Packets, Size};
use quinn_proto::{
    AckFrequencyConfig, ClientConfig, Endpoint, EndpointConfig, IdleTimeout, MtuDiscoveryConfig,
    QlogConfig, QlogStream, ServerConfig, TransportConfig, VarInt,
};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::clock::Clock;
use crate::congestion::{Factory, QUINNS, Told, Whose};
use crate::endpoint::{Peer, QuicEndpoint, address};
use crate::keys::{ConnectionIds, Date, Signing, Tokens, first_id};
use crate::messages;
use crate::session::{Earlier, Handshake};

/// IPv4 and UDP headers.
const HEADER: u32 = 28;
/// Bytes of a full packet that are not data: header of a short packet with a two-byte number, tag,
/// header of a STREAM frame without length.
const OVERHEAD: u32 = 1 + 8 + 2 + 16 + 1 + 1 + 4;
/// Receive and send window unless given: what 500 Mbit/s over one second take. quinn's 1.25 MB, meant
/// for 100 Mbit/s over 100 ms, would limit every flow over a satellite.
const WINDOW: u64 = 64_000_000;

/// A QUIC connection and its options. Options that are not given have quinn's defaults.
///
/// ```
/// use clift::transport::Protocol;
/// use clift::transport::quic::QuicOptions;
/// use clift_quic::QuicConfig;
/// let config = QuicConfig { congestion: "bbr".parse()?, ..QuicConfig::default() };
/// assert_eq!(config.check(), Ok(()));
/// assert_eq!((config.name(), config.packet().0), ("quic", 1500));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct QuicConfig {
    /// Congestion control: `newreno`, `cubic` and `bbr` are quinn's; all others are CLIFT's.
    pub congestion: CongestionAlgorithm,
    /// Size of the largest IP packet, including headers: the upper limit of path MTU discovery.
    pub packet: Bytes,
    /// Initial window, in packets of [`QuicOptions::initial_mtu`]. Default: 12,000 bytes (quinn's
    /// BBR: 200 packets of 1200 bytes).
    pub initial_window: Option<Packets>,
    /// Upper limit of the congestion window, in packets.
    pub cwnd_max: Option<Packets>,
    /// Receive window of the stream and of the connection. Default: 64 MB for the stream.
    pub receive_window: Option<Size>,
    /// Explicit congestion notification (RFC 9000, section 13.4). Default: off. quinn validates it,
    /// and treats a mark as a loss of the preceding packets.
    pub ecn: bool,
    /// Path parameters of an earlier connection, for Careful Resume (RFC 9959); with any
    /// window-based congestion control (not BBR).
    pub careful_resume: Option<SavedPath>,
    /// Further options.
    pub options: QuicOptions,
    /// Takes the qlog of the main sender.
    pub log: Option<Log>,
}

impl Default for QuicConfig {
    fn default() -> Self {
        Self::from(&Options::default())
    }
}

impl From<&Options> for QuicConfig {
    fn from(options: &Options) -> Self {
        let tcp = &options.tcp;
        Self {
            congestion: tcp.congestion,
            packet: tcp.packet,
            initial_window: tcp.initial_window,
            cwnd_max: tcp.cwnd_max,
            receive_window: tcp.receive_window,
            ecn: tcp.ecn == Some(true),
            careful_resume: tcp.careful_resume,
            options: options.quic.clone(),
            log: None,
        }
    }
}

/// QUIC as a transport; configurations select it by its name if their registry has it.
///
/// ```
/// let mut registry = clift::Registry::new();
/// registry.add(clift_quic::KIND)?;
/// assert!(registry.within(|| "quic".parse::<clift::transport::Choice>()).is_ok());
/// # Ok::<(), clift::config::NameTaken>(())
/// ```
pub const KIND: Kind = Kind {
    name: "quic",
    summary: "QUIC: quinn-proto, unmodified.",
    make: |options| Arc::new(QuicConfig::from(options)),
};

impl Protocol for QuicConfig {
    fn name(&self) -> &'static str {
        "quic"
    }

    fn check(&self) -> Result<(), Fault> {
        self.options.check().map_err(|fault| fault.within("quic"))?;
        let (packet, least) = (self.packet.0, LEAST_PAYLOAD + HEADER);
        if !(least..=65_535).contains(&packet) {
            let message = format!("{packet} bytes are not a QUIC packet; give {least} to 65535");
            return Err(Fault::new("packet", message));
        }
        if self.options.initial_mtu.0 > packet - HEADER {
            let message = format!(
                "{} bytes of UDP payload do not fit into a packet of {packet}; give at most {}",
                self.options.initial_mtu.0,
                packet - HEADER
            );
            return Err(Fault::new("quic.initial_mtu", message));
        }
        if self.congestion.name() == "dctcp" {
            let message = "dctcp needs an exact echo of marks, which CLIFT supports only over TCP; choose \
                           another, or protocol = \"tcp\"";
            return Err(Fault::new("congestion", message));
        }
        if self.congestion.is_coupled() {
            let message = format!(
                "{} couples the paths of a connection, and QUIC here has one; choose another, or \
                 protocol = \"tcp\" with `paths`",
                self.congestion
            );
            return Err(Fault::new("congestion", message));
        }
        if let Whose::Ours(algorithm) = Whose::of(self.congestion)
            && algorithm.build(&TcpConfig::linux(algorithm), no_draws()).has_model()
        {
            let message = format!(
                "{algorithm} sets pacing rate and window from delivery rates, which QUIC here does not \
                 measure for it; give one of {}",
                QUINNS.join(", ")
            );
            return Err(Fault::new("congestion", message));
        }
        if self.careful_resume.is_some() && self.congestion.name() == "bbr" {
            let message = "bbr sets its window from a model; give a window-based congestion control, such as \
                           cubic";
            return Err(Fault::new("careful_resume", message));
        }
        match self.receive_window {
            Some(Size(window)) if window < u64::from(LEAST_PAYLOAD) => {
                let message = format!("{window} bytes take no full packet; give 1200 B or more");
                Err(Fault::new("receive_window", message))
            }
            _ => Ok(()),
        }
    }

    fn packet(&self) -> Bytes {
        self.packet
    }

    fn payload(&self) -> Bytes {
        let mtu = match self.options.mtu_discovery {
            true => self.packet.0.saturating_sub(HEADER),
            false => self.options.initial_mtu.0,
        };
        Bytes(mtu.saturating_sub(OVERHEAD).max(1))
    }

    /// The receive window, given or quinn's, limits the data in flight.
    fn flow_control(&self) -> FlowControl {
        FlowControl::Window
    }

    fn connect(
        &self,
        purpose: Purpose,
        _: [Option<&ProxyConfig>; 2],
        rng: ChaCha8Rng,
    ) -> Option<[Box<dyn transport::Endpoint>; 2]> {
        Some(self.open(purpose, rng))
    }

    /// The size that the first packets carry: larger packets may not pass the path.
    fn datagram(&self) -> Option<Bytes> {
        Some(Bytes(self.options.initial_mtu.0.saturating_sub(messages::OVERHEAD)))
    }

    fn dialogues(&self) -> Option<Streams> {
        Some(Streams::Many)
    }

    fn logging(&self, log: Log) -> Option<Arc<dyn Protocol>> {
        Some(Arc::new(Self { log: Some(log), ..self.clone() }))
    }
}

/// A random stream for a controller that is inspected but never run.
fn no_draws() -> ChaCha8Rng {
    clift::seed::Seed(0).rng(clift::seed::Stream::Flow(0))
}

/// A qlog with the times of the run.
fn qlog(log: Log, clock: Clock) -> Option<QlogStream> {
    let mut config = QlogConfig::default();
    config
        .writer(Box::new(log))
        .title(Some("CLIFT".to_owned()))
        .description(Some("the end that sends most of the data; simulated time".to_owned()))
        .start_time(clock.at(Instant::ZERO));
    config.into_stream()
}

/// A random stream derived from another.
fn branch(rng: &mut ChaCha8Rng) -> ChaCha8Rng {
    use rand::SeedableRng;
    ChaCha8Rng::from_seed(seed(rng))
}

fn seed(rng: &mut ChaCha8Rng) -> [u8; 32] {
    let mut seed = [0; 32];
    rng.fill_bytes(&mut seed);
    seed
}

fn time(time: Duration) -> time::Duration {
    time::Duration::from_nanos(time.as_nanos())
}

/// A QUIC integer, limited to its maximum.
fn number(value: u64) -> VarInt {
    VarInt::from_u64(value).unwrap_or(VarInt::MAX)
}

impl QuicConfig {
    /// The endpoints of a connection; the one that sends most of the data writes the qlog.
    fn open(&self, purpose: Purpose, rng: ChaCha8Rng) -> [Box<dyn transport::Endpoint>; 2] {
        let clock = Clock::new();
        let told = [(), ()].map(|()| Arc::new(Told::default()));
        let converses = purpose == Purpose::Dialogue;
        let log = self.log.as_ref();
        let logs = if converses { [None, log] } else { [log, None] };
        let ([client, server], calls) = self.ends(rng, clock, told.each_ref(), logs);
        let [of_client, of_server] = told;
        let flags = (converses && self.options.zero_rtt, self.ecn);
        let end = |end, endpoint, told| {
            let end = QuicEndpoint::new((end, purpose), endpoint, clock, told, flags);
            Box::new(end) as Box<dyn transport::Endpoint>
        };
        let (client, server) = ((client, Some(calls)), (server, None));
        match converses {
            true => [end(End::Sender, server, of_server), end(End::Receiver, client, of_client)],
            false => [end(End::Sender, client, of_client), end(End::Receiver, server, of_server)],
        }
    }

    /// Makes client and server, and the configuration of the client's call. Each end reports its
    /// bytes in flight and writes a qlog if `log` is given.
    fn ends(
        &self,
        mut rng: ChaCha8Rng,
        clock: Clock,
        told: [&Arc<Told>; 2],
        logs: [Option<&Log>; 2],
    ) -> ([Endpoint; 2], ClientConfig) {
        let certificates = self.options.certificate.0 as usize;
        let earlier = self.options.zero_rtt.then(|| self.earlier(&mut branch(&mut rng), clock));
        let handshake = Arc::new(Handshake { certificates, earlier: earlier.flatten() });
        let mut of_ends = told.map(|told| {
            let factory = self.factory(branch(&mut rng), clock, told);
            self.transport(factory)
        });
        for (config, log) in of_ends.iter_mut().zip(logs) {
            config.qlog_stream(log.and_then(|log| qlog(log.clone(), clock)));
        }
        let [of_client, of_server] = of_ends.map(Arc::new);

        let mut client = ClientConfig::new(handshake.clone());
        client.transport_config(of_client).initial_dst_cid_provider(first_id(&mut rng));
        let mut server = ServerConfig::new(handshake, Arc::new(Tokens));
        server.transport_config(of_server).time_source(Arc::new(Date));
        // quinn's default. The tokens would only serve a later connection, which does not exist
        // here.
        server.validation_token.sent(2);

        let mut endpoint = |server| {
            let config = Arc::new(self.endpoint(&mut rng));
            Endpoint::new(config, server, true, None)
        };
        ([endpoint(None), endpoint(Some(Arc::new(server)))], client)
    }

    /// The transport parameters of such a server, as a client received them on an earlier
    /// connection. A client's first packet to a separate server yields them.
    fn earlier(&self, rng: &mut ChaCha8Rng, clock: Clock) -> Option<Vec<u8>> {
        let known = Arc::new(Earlier::default());
        let transport = self.transport(self.factory(branch(rng), clock, &Arc::default()));
        let mut server = ServerConfig::new(known.clone(), Arc::new(Tokens));
        server.transport_config(Arc::new(transport)).time_source(Arc::new(Date));
        let certificates = self.options.certificate.0 as usize;
        let mut client = ClientConfig::new(Arc::new(Handshake { certificates, earlier: None }));
        client.initial_dst_cid_provider(first_id(rng));

        let now = clock.at(Instant::ZERO);
        let [mut here, mut there] = [None, Some(Arc::new(server))].map(|server| {
            Peer::new(Endpoint::new(Arc::new(self.endpoint(rng)), server, true, None))
        });
        let called = here.endpoint.connect(now, client, address(End::Receiver), "clift");
        let (_, mut connection) = called.ok()?;
        let mut hello = Vec::new();
        let _ = connection.poll_transmit(now, 1, &mut hello)?;
        there.handle(now, address(End::Sender), None, hello);
        Some(known.parameters())
    }

    fn factory(&self, rng: ChaCha8Rng, clock: Clock, told: &Arc<Told>) -> Factory {
        let mtu = u64::from(self.options.initial_mtu.0);
        let packets = |count: Packets| u32::try_from(count.0.get()).unwrap_or(u32::MAX);
        Factory {
            whose: Whose::of(self.congestion),
            saved: self.careful_resume,
            initial: self.initial_window.map(|count| u64::from(packets(count)) * mtu),
            limit: self.cwnd_max.map(packets),
            rng,
            clock,
            told: Arc::clone(told),
        }
    }

    fn transport(&self, factory: Factory) -> TransportConfig {
        let options = &self.options;
        let window = self.receive_window.map_or(WINDOW, |Size(bytes)| bytes);
        let send_window = self.receive_window.map_or(WINDOW, |Size(bytes)| 8 * bytes);
        let mut config = TransportConfig::default();
        config
            .stream_receive_window(number(window))
            .send_window(options.send_window.map_or(send_window, |Size(bytes)| bytes))
            .initial_mtu(options.initial_mtu.0 as u16)
            .initial_rtt(time(options.initial_rtt))
            .packet_threshold(options.packet_threshold)
            .time_threshold(options.time_threshold as f32)
            .persistent_congestion_threshold(options.persistent_congestion_threshold)
            .max_idle_timeout(IdleTimeout::try_from(time(options.idle_timeout)).ok())
            .congestion_controller_factory(Arc::new(factory));
        if self.receive_window.is_some() {
            config.receive_window(number(window));
        }
        config.mtu_discovery_config(options.mtu_discovery.then(|| {
            let mut discovery = MtuDiscoveryConfig::default();
            discovery.upper_bound((self.packet.0 - HEADER) as u16);
            discovery
        }));
        let QuicOptions { ack_eliciting_threshold, max_ack_delay, reordering_threshold, .. } =
            *options;
        if ack_eliciting_threshold.is_some()
            || max_ack_delay.is_some()
            || reordering_threshold.is_some()
        {
            let mut frequency = AckFrequencyConfig::default();
            if let Some(threshold) = ack_eliciting_threshold {
                frequency.ack_eliciting_threshold(threshold.into());
            }
            if let Some(threshold) = reordering_threshold {
                frequency.reordering_threshold(threshold.into());
            }
            frequency.max_ack_delay(max_ack_delay.map(time));
            config.ack_frequency_config(Some(frequency));
        }
        config
    }

    fn endpoint(&self, rng: &mut ChaCha8Rng) -> EndpointConfig {
        let mut config = EndpointConfig::new(Arc::new(Signing(rng.next_u64())));
        let ids = branch(rng);
        config
            .cid_generator(move || Box::new(ConnectionIds(ids.clone())))
            .rng_seed(Some(seed(rng)));
        // Between 1200 and 65,507, as `check` ensures.
        let largest = (self.packet.0 - HEADER).min(65_507) as u16;
        config.max_udp_payload_size(largest).ok();
        config
    }
}
