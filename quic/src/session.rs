//! A handshake without cryptography, with message sizes of TLS 1.3.
//!
//! Results depend on the sizes of handshake messages and packets, not on their content. So nothing
//! is encrypted here: a packet gets 16 bytes in place of the tag, and a message consists of its
//! length, the transport parameters and zeros. The sizes are those of a handshake between client
//! and server of rustls 0.23.46 (ring; X25519, AES-256-GCM, one Ed25519 certificate, its two
//! session tickets). With 60 and 90 bytes of transport parameters and a certificate of 330 bytes,
//! its messages had 239, 90, 571, 52 and 178 bytes. When the same client resumed a session with
//! 0-RTT, the first message was 99 bytes longer (the session and early data), the second was 6
//! bytes longer, and the third had 156 bytes, including the 90 bytes of transport parameters; the
//! others had the same length.
//!
//! Messages, with the client on the left (RFC 8446 figure 1, RFC 9001 section 4):
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

/// Bytes of a ClientHello without its transport parameters.
pub const CLIENT_HELLO: usize = 239 - 60;
/// Bytes of a ServerHello.
pub const SERVER_HELLO: usize = 90;
/// Bytes of a server's encrypted messages without certificates and transport parameters.
pub const SERVER_FLIGHT: usize = 571 - 90 - 330;
/// Bytes of a client's Finished.
pub const CLIENT_FINISHED: usize = 52;
/// Bytes of the session tickets.
pub const TICKETS: usize = 178;
/// Additional bytes of a ClientHello that resumes a session and announces early data.
pub const RESUMES: usize = 99;
/// Additional bytes of a ServerHello that accepts the session.
pub const RESUMED: usize = 6;
/// Bytes of the server's encrypted messages in a resumed session, without transport parameters;
/// there is no certificate.
pub const RESUMED_FLIGHT: usize = 156 - 90;

/// Bytes that hold the lengths of a message and of its transport parameters.
const PREFIX: usize = 8;

/// Handshake data that both ends know.
#[derive(Debug)]
pub(crate) struct Handshake {
    /// Bytes of the server's certificates.
    pub(crate) certificates: usize,
    /// The server's transport parameters from an earlier connection, which this connection resumes
    /// with early data.
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

/// Sessions of this kind for client and server of other quinn-proto endpoints. The server's
/// certificate has `certificate` bytes.
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

/// A server that is used only to obtain its transport parameters.
#[derive(Debug, Default)]
pub(crate) struct Earlier(Mutex<Vec<u8>>);

impl Earlier {
    /// The parameters; empty before a client connects.
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

/// State of an end in the handshake.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Step {
    /// The client has not sent its hello, or the server has not received it.
    Begin,
    /// The client waits for the server's hello; the server has to send it.
    Hello,
    /// The client waits for the rest of the server's flight; the server has to send it.
    Flight,
    /// The client has to send its Finished; the server waits for it.
    Finish,
    /// The server has tickets to send.
    Tickets,
    /// The handshake is complete.
    Done,
}

struct NullSession {
    side: Side,
    handshake: Arc<Handshake>,
    own: Vec<u8>,
    peer: Option<TransportParameters>,
    step: Step,
    /// Bytes of incomplete messages.
    heard: Vec<u8>,
}

impl NullSession {
    fn new(side: Side, handshake: Arc<Handshake>, params: &TransportParameters) -> Self {
        let mut own = Vec::new();
        params.write(&mut own);
        let earlier = handshake.earlier.as_deref().filter(|_| side == Side::Client);
        // The parameters were written by a server here, so they are valid.
        let peer = earlier.and_then(|mut known| TransportParameters::read(side, &mut known).ok());
        Self { side, handshake, own, peer, step: Step::Begin, heard: Vec::new() }
    }

    fn resumes(&self) -> bool {
        self.handshake.earlier.is_some()
    }

    /// Writes a message of `length` bytes, with the transport parameters if requested.
    fn say(&self, buf: &mut Vec<u8>, length: usize, with_params: bool) {
        let params: &[u8] = if with_params { &self.own } else { &[] };
        let start = buf.len();
        let whole = (length + params.len()) as u32;
        buf.extend_from_slice(&whole.to_be_bytes());
        buf.extend_from_slice(&(params.len() as u32).to_be_bytes());
        buf.extend_from_slice(params);
        buf.resize(start + whole as usize, 0);
    }

    /// Takes the first complete message from the received bytes and returns its transport
    /// parameters.
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
        self.resumes()
            .then(|| (Box::new(NullCipher) as Box<dyn HeaderKey>, Box::new(NullCipher) as _))
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
                // The client reads tickets and discards them.
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
            // The server's hello has been received: return the handshake keys, once.
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

/// Packets without encryption, with space for a tag.
struct NullCipher;

fn keys() -> Keys {
    Keys {
        header: KeyPair { local: Box::new(NullCipher), remote: Box::new(NullCipher) },
        packet: KeyPair { local: Box::new(NullCipher), remote: Box::new(NullCipher) },
    }
}

impl PacketKey for NullCipher {
    /// The tag is the packet's number. A header contains only its last bits, and the receiver
    /// infers the rest (RFC 9000 section 17.1), incorrectly for a packet that arrives very late.
    /// With real cryptography such a packet fails to decrypt (RFC 9001 section 5.3), so it must
    /// fail here too.
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

    /// The limit of AES-GCM (RFC 9001 section 6.6).
    fn confidentiality_limit(&self) -> u64 {
        1 << 23
    }

    fn integrity_limit(&self) -> u64 {
        1 << 52
    }
}

impl HeaderKey for NullCipher {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        TAG
    }
}
