//! Closed form without a scheme: LLDUs received in their first slot.

use crate::scheme::law::{Chain, Prediction, Setting};

pub(crate) fn predict(chain: &Chain, setting: &Setting) -> Prediction {
    let arrives = chain.arrival_probability();
    Prediction {
        efficiency: arrives,
        residual_loss: chain.erasure_probability(),
        coding_ratio: 1.0,
        transmissions: 1.0,
        recovered: 0.0,
        recovery_delay_ms: None,
        mean_delay_ms: (arrives > 0.0).then(|| setting.least_delay_ms()),
    }
}
