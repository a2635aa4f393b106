//! A handshake without cryptography that is as long as that of TLS 1.3.
//!
//! Results depend on the sizes of handshake messages and of packets, not on what stands in them. So
//! nothing is encrypted here: a packet gets the 16 bytes of a tag, and a message is its length, the
//! transport parameters and zeros. Sizes are those of a handshake between client and server of rustls
//! 0.23.46 (ring; X25519, AES-256-GCM, one Ed25519 certificate, its two session tickets): with 60 and 90
//! bytes of transport parameters and a certificate of 330 bytes its messages had 239, 90, 571, 52 and
//! 178 bytes. The same client and server, on a connection that resumes one of theirs with 0-RTT, had
//! 99 bytes more in the first (the session and early data), 6 more in the second, and 156, with the
//! 90 bytes of transport parameters, in the third; the others were as long.
//!
//! Message by message, client on the left (RFC 8446 figure 1, RFC 9001 section 4):
//!
//! | message | level | bytes |
//! |---|---|---|
//! | ClientHello → | Initial | [`CLIENT_HELLO`] and the client's transport parameters |
//! | ← ServerHello | Initial | [`SERVER_HELLO`] |
//! | ← EncryptedExtensions to Finished | Handshake | [`SERVER_FLIGHT`], the certificates and the server's transport parameters |
//! | Finished → | Handshake | [`CLIENT_FINISHED`] |
//! | ← two NewSessionTickets | 1-RTT | [`TICKETS`] |

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::BytesMut;
use quinn_proto::crypto::{
    ClientConfig, CryptoError, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey,
    ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError};

use crate::keys::TAG;

/// Bytes of a ClientHello beside its transport parameters.
pub const CLIENT_HELLO: usize = 239 - 60;
/// Bytes of a ServerHello.
pub const SERVER_HELLO: usize = 90;
/// Bytes of a server's encrypted messages beside certificates and transport parameters.
pub const SERVER_FLIGHT: usize = 571 - 90 - 330;
/// Bytes of a client's Finished.
pub const CLIENT_FINISHED: usize = 52;
/// Bytes of the session tickets.
pub const TICKETS: usize = 178;
/// Bytes by which a ClientHello is longer that resumes a session and announces early data.
pub const RESUMES: usize = 99;
/// Bytes by which the ServerHello is longer that takes the session.
pub const RESUMED: usize = 6;
/// Bytes of the server's encrypted messages then, beside transport parameters: there is nothing to be
/// certified.
pub const RESUMED_FLIGHT: usize = 156 - 90;

/// Bytes that say how long a message is, and how long its transport parameters are.
const PREFIX: usize = 8;

/// What both ends know of the handshake.
#[derive(Debug)]
pub(crate) struct Handshake {
    /// Bytes of the server's certificates.
    pub(crate) certificates: usize,
    /// The server's transport parameters as the client heard them on an earlier connection, which this
    /// one resumes with early data.
    pub(crate) earlier: Option<Vec<u8>>,
}

impl ClientConfig for Handshake {
    fn start_session(
        self: Arc<Self>,
        _: u32,
        _: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(NullSession::new(Side::Client, self, params)))
    }
}

impl ServerConfig for Handshake {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(self: Arc<Self>, _: u32, params: &TransportParameters) -> Box<dyn Session> {
        Box::new(NullSession::new(Side::Server, self, params))
    }
}

/// Such a session for client and server of one's own quinn-proto endpoints, whose server's certificate
/// has so many bytes.
///
/// ```
/// let (client, server) = clift_quic::session::without_cryptography(330);
/// let client = quinn_proto::ClientConfig::new(client);
/// # let _ = (client, server);
/// ```
pub fn without_cryptography(certificate: usize) -> (Arc<dyn ClientConfig>, Arc<dyn ServerConfig>) {
    let handshake = Arc::new(Handshake { certificates: certificate, earlier: None });
    (handshake.clone(), handshake)
}

/// A server of which nothing is wanted but what its transport parameters are.
#[derive(Debug, Default)]
pub(crate) struct Earlier(Mutex<Vec<u8>>);

impl Earlier {
    /// The parameters, once somebody has called.
    pub(crate) fn parameters(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ServerConfig for Earlier {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(self: Arc<Self>, _: u32, params: &TransportParameters) -> Box<dyn Session> {
        params.write(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let handshake = Arc::new(Handshake { certificates: 0, earlier: None });
        Box::new(NullSession::new(Side::Server, handshake, params))
    }
}

/// Where a side is in the handshake.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Step {
    /// The client has not said hello, or the server has not heard it.
    Begin,
    /// The client waits for the server's hello; the server has one to say.
    Hello,
    /// The client waits for the rest of the server's flight; the server has it to say.
    Flight,
    /// The client has to say that it is finished; the server waits for that.
    Finish,
    /// The server has tickets to send.
    Tickets,
    /// It is over.
    Done,
}

struct NullSession {
    side: Side,
    handshake: Arc<Handshake>,
    own: Vec<u8>,
    peer: Option<TransportParameters>,
    step: Step,
    /// Bytes of messages that are not whole yet.
    heard: Vec<u8>,
}

impl NullSession {
    fn new(side: Side, handshake: Arc<Handshake>, params: &TransportParameters) -> Self {
        let mut own = Vec::new();
        params.write(&mut own);
        let earlier = handshake.earlier.as_deref().filter(|_| side == Side::Client);
        // A server that wrote them says nothing that cannot be read.
        let peer = earlier.and_then(|mut known| TransportParameters::read(side, &mut known).ok());
        Self { side, handshake, own, peer, step: Step::Begin, heard: Vec::new() }
    }

    fn resumes(&self) -> bool {
        self.handshake.earlier.is_some()
    }

    /// Writes a message of `length` bytes and the transport parameters, if it has them.
    fn say(&self, buf: &mut Vec<u8>, length: usize, with_params: bool) {
        let params: &[u8] = if with_params { &self.own } else { &[] };
        let start = buf.len();
        let whole = (length + params.len()) as u32;
        buf.extend_from_slice(&whole.to_be_bytes());
        buf.extend_from_slice(&(params.len() as u32).to_be_bytes());
        buf.extend_from_slice(params);
        buf.resize(start + whole as usize, 0);
    }

    /// Takes the first message out of what was heard, if it is whole: its transport parameters.
    fn next_message(&mut self) -> Option<Vec<u8>> {
        let number = |at: usize| {
            let bytes = self.heard.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_be_bytes(bytes) as usize)
        };
        let (whole, params) = (number(0)?, number(4)?);
        if whole < PREFIX + params || self.heard.len() < whole {
            return None;
        }
        let params = self.heard[PREFIX..PREFIX + params].to_vec();
        self.heard.drain(..whole);
        Some(params)
    }

    fn learn(&mut self, params: &[u8]) -> Result<(), TransportError> {
        self.peer = Some(TransportParameters::read(self.side, &mut &params[..])?);
        Ok(())
    }
}

impl Session for NullSession {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        self.resumes().then(|| (Box::new(Open) as Box<dyn HeaderKey>, Box::new(Open) as _))
    }

    fn early_data_accepted(&self) -> Option<bool> {
        Some(self.resumes())
    }

    fn is_handshaking(&self) -> bool {
        match self.side {
            Side::Client => self.step != Step::Done,
            Side::Server => !matches!(self.step, Step::Tickets | Step::Done),
        }
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.heard.extend_from_slice(buf);
        let mut told = false;
        while let Some(params) = self.next_message() {
            self.step = match (self.side, self.step) {
                (Side::Server, Step::Begin) => {
                    self.learn(&params)?;
                    told = true;
                    Step::Hello
                }
                (Side::Server, Step::Finish) => Step::Tickets,
                (Side::Client, Step::Hello) => Step::Flight,
                (Side::Client, Step::Flight) => {
                    self.learn(&params)?;
                    told = true;
                    Step::Finish
                }
                // The client reads tickets, and keeps none.
                (_, step) => step,
            };
        }
        Ok(told)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peer)
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        match (self.side, self.step) {
            (Side::Client, Step::Begin) => {
                let more = if self.resumes() { RESUMES } else { 0 };
                self.say(buf, CLIENT_HELLO + more, true);
                self.step = Step::Hello;
                None
            }
            // The server's hello is in: keys of the handshake, once.
            (Side::Client, Step::Flight) if !self.own.is_empty() => {
                self.own.clear();
                Some(keys())
            }
            (Side::Client, Step::Finish) => {
                self.say(buf, CLIENT_FINISHED, false);
                self.step = Step::Done;
                Some(keys())
            }
            (Side::Server, Step::Hello) => {
                let more = if self.resumes() { RESUMED } else { 0 };
                self.say(buf, SERVER_HELLO + more, false);
                self.step = Step::Flight;
                Some(keys())
            }
            (Side::Server, Step::Flight) => {
                let length = match self.resumes() {
                    true => RESUMED_FLIGHT,
                    false => SERVER_FLIGHT + self.handshake.certificates,
                };
                self.say(buf, length, true);
                self.step = Step::Finish;
                Some(keys())
            }
            (Side::Server, Step::Tickets) => {
                self.say(buf, TICKETS, false);
                self.step = Step::Done;
                None
            }
            _ => None,
        }
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(keys().packet)
    }

    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        true
    }

    fn export_keying_material(
        &self,
        _: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

/// Packets as they are, with the room of a tag.
struct Open;

fn keys() -> Keys {
    Keys {
        header: KeyPair { local: Box::new(Open), remote: Box::new(Open) },
        packet: KeyPair { local: Box::new(Open), remote: Box::new(Open) },
    }
}

impl PacketKey for Open {
    /// The tag is the packet's number. Headers have its last bits alone, and the receiver guesses the
    /// rest (RFC 9000 section 17.1), wrongly for a packet that comes very late: with real
    /// cryptography such a packet does not decrypt (RFC 9001 section 5.3), and must not here.
    fn encrypt(&self, packet: u64, buf: &mut [u8], _: usize) {
        let length = buf.len();
        let (number, rest) = buf[length - TAG..].split_at_mut(size_of::<u64>());
        number.copy_from_slice(&packet.to_le_bytes());
        rest.fill(0);
    }

    fn decrypt(&self, packet: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let length = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        if payload[length..length + size_of::<u64>()] != packet.to_le_bytes() {
            return Err(CryptoError);
        }
        payload.truncate(length);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    /// Of AES-GCM (RFC 9001 section 6.6).
    fn confidentiality_limit(&self) -> u64 {
        1 << 23
    }

    fn integrity_limit(&self) -> u64 {
        1 << 52
    }
}

impl HeaderKey for Open {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        TAG
    }
}
