//! Values that quinn takes from the operating system by default: keys, connection ids, the date.
//! Here all of them come from the flow's random stream.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use quinn_proto::crypto::{AeadKey, CryptoError, HandshakeTokenKey, HmacKey};
use quinn_proto::{ConnectionId, ConnectionIdGenerator, TimeSource};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Length of a connection id that an end chooses, in bytes; quinn's.
pub(crate) const CID_LEN: usize = 8;
/// Length of the connection id that a client first chooses for the server, in bytes; quinn's.
const FIRST_CID_LEN: usize = 20;

/// Signs reset tokens. Forgery is not a concern here; tokens only need to differ.
#[derive(Debug)]
pub(crate) struct Signing(pub(crate) u64);

impl HmacKey for Signing {
    fn sign(&self, data: &[u8], signature_out: &mut [u8]) {
        let mut state = self.0;
        for &byte in data {
            state = mix(state ^ u64::from(byte));
        }
        for chunk in signature_out.chunks_mut(8) {
            state = mix(state);
            chunk.copy_from_slice(&state.to_le_bytes()[..chunk.len()]);
        }
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut own = [0; 32];
        self.sign(data, &mut own);
        if own == signature { Ok(()) } else { Err(CryptoError) }
    }
}

/// A step of SplitMix64.
fn mix(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// Bytes that sealing adds, as with AES-GCM.
pub(crate) const TAG: usize = 16;

/// Seals tokens, so that they have the length of sealed tokens.
#[derive(Debug)]
pub(crate) struct Tokens;

impl HandshakeTokenKey for Tokens {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Self)
    }
}

impl AeadKey for Tokens {
    fn seal(&self, data: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        data.resize(data.len() + TAG, 0);
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let length = data.len().checked_sub(TAG).ok_or(CryptoError)?;
        Ok(&mut data[..length])
    }
}

/// Connection ids from a random stream.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionIds(pub(crate) ChaCha8Rng);

impl ConnectionIdGenerator for ConnectionIds {
    fn generate_cid(&mut self) -> ConnectionId {
        let mut bytes = [0; CID_LEN];
        self.0.fill_bytes(&mut bytes);
        ConnectionId::new(&bytes)
    }

    fn cid_len(&self) -> usize {
        CID_LEN
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// Generator of the connection id that a client first uses for the server.
pub(crate) fn first_id(rng: &mut ChaCha8Rng) -> Arc<dyn Fn() -> ConnectionId + Send + Sync> {
    let mut bytes = [0; FIRST_CID_LEN];
    rng.fill_bytes(&mut bytes);
    Arc::new(move || ConnectionId::new(&bytes))
}

/// A constant date; tokens contain their creation time.
#[derive(Debug)]
pub(crate) struct Date;

impl TimeSource for Date {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_700_000_000)
    }
}
