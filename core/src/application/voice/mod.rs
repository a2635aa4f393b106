//! Voice: codecs, a call over datagrams, and the E-model that judges it.

mod call;
mod codec;
mod emodel;

pub use call::Voice;
pub use codec::{Codec, CodecData};
pub use emodel::{DEFAULT_RATING, EModel};
