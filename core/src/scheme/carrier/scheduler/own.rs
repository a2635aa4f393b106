//! Schedulers registered from outside the core.

use rand_chacha::ChaCha8Rng;

use super::{CarrierOptions, NAMES, Scheduler, SchedulerParameters};
use crate::config::{Fault, KeyedRow, Own, Parameter, Row};

/// A kind of scheduler: a row of the registry.
///
/// ```
/// use clift::Registry;
/// use clift::config::{self, Value};
/// use clift::scheme::carrier::{
///     CarrierOptions, Scheduler, SchedulerConfig, SchedulerKind, SchedulerParameters, Terminals,
/// };
///
/// /// Each slot goes to the terminal with most bytes.
/// #[derive(Debug)]
/// struct LongestQueue;
///
/// impl Scheduler for LongestQueue {
///     fn assign(&mut self, _: u64, terminals: &Terminals, plan: &mut [Option<u32>]) {
///         let longest = terminals.all_waiting().max_by_key(|&number| terminals.waiting(number));
///         plan[0] = longest.map(|number| number as u32);
///     }
/// }
///
/// impl SchedulerParameters for LongestQueue {
///     fn build(&self, _: &CarrierOptions, _: rand_chacha::ChaCha8Rng) -> Box<dyn Scheduler> {
///         Box::new(Self)
///     }
/// }
///
/// let mut registry = Registry::new();
/// registry.add(SchedulerKind {
///     name: "longest queue",
///     summary: "Each slot goes to the terminal with most bytes.",
///     keys: &[],
///     make: &|_| Box::new(LongestQueue),
/// })?;
/// let read = |name: &str| {
///     let section = Value::table([("type", Value::text(name))]);
///     registry.within(|| config::read::<SchedulerConfig>(&section))
/// };
/// assert_eq!(serde_json::to_string(&read("longest queue").unwrap()).unwrap(),
///     r#"{"type":"longest queue"}"#);
/// assert!(read("shortest queue").unwrap_err().to_string().contains("did you mean longest queue?"));
/// # Ok::<(), clift::config::NameTaken>(())
/// ```
pub struct SchedulerKind {
    /// Name in configurations.
    pub name: &'static str,
    /// Description, in one sentence.
    pub summary: &'static str,
    /// Keys of its section.
    pub keys: &'static [&'static str],
    /// Makes the parameters from the given keys.
    pub make: &'static MakeScheduler,
}

/// Function that makes the parameters of a scheduler from keys and their values.
pub type MakeScheduler =
    dyn Fn(&[(&'static str, Parameter)]) -> Box<dyn SchedulerParameters> + Send + Sync;

impl Row for SchedulerKind {
    const PART: &'static str = "a carrier scheduler";
    const RESERVED: &'static [&'static str] = NAMES;

    fn name(&self) -> &'static str {
        self.name
    }
}

impl KeyedRow for SchedulerKind {
    fn keys(&self) -> &'static [&'static str] {
        self.keys
    }
}

impl SchedulerParameters for Own<SchedulerKind> {
    fn check(&self, carrier: &CarrierOptions) -> Result<(), Fault> {
        (self.kind().make)(self.parameters()).check(carrier)
    }

    fn build(&self, carrier: &CarrierOptions, rng: ChaCha8Rng) -> Box<dyn Scheduler> {
        (self.kind().make)(self.parameters()).build(carrier, rng)
    }
}
