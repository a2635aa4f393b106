//! The schemes by name: those of the core, and those that a program adds.

use crate::config::{Arguments, Registry, Row, one_of};
use crate::scheme::{BUILT_IN, Scheme};

/// Parses the arguments in parentheses behind the name of a scheme.
pub type ParseScheme = dyn Fn(Arguments<'_>) -> Result<Scheme, String> + Sync;

/// A kind of scheme: a row of the registry.
///
/// ```
/// use std::fmt;
///
/// use clift::Registry;
/// use clift::scheme::{Scheme, SchemeForms, SchemeKind, Timing};
/// use clift::trace::{Fate, LinkTrace, LinkTraceBuilder, PhyTrace};
/// use clift::units::{Bytes, Duration};
///
/// /// A shared link: this many slots of each ten belong to another user.
/// #[derive(Debug)]
/// struct Shared(u32);
///
/// impl SchemeForms for Shared {
///     fn apply(&self, phy: &PhyTrace, timing: Timing) -> LinkTrace {
///         let mut link = LinkTraceBuilder::new(phy, timing.rtt);
///         let own = |&(slot, _): &(usize, _)| slot % 10 >= self.0 as usize;
///         for (_, (&t, &d)) in phy.t().iter().zip(phy.d().iter()).enumerate().filter(own) {
///             link.push(t, 1, if d > 0 { Fate::AtOnce(d) } else { Fate::Lost(1) });
///         }
///         link.finish()
///     }
/// }
///
/// impl fmt::Display for Shared {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         write!(f, "shared({})", self.0)
///     }
/// }
///
/// let mut registry = Registry::new();
/// registry.add(SchemeKind {
///     name: "shared",
///     summary: "A link of which another user has some slots of each ten.",
///     texts: &["shared(5)"],
///     parse: &|mut arguments| {
///         let others = arguments.number("how many of ten slots")?;
///         let [] = arguments.options([])?;
///         Ok(Scheme::own(Shared(others)))
///     },
/// })?;
/// let scheme = registry.within(|| "Shared( 9 )".parse::<Scheme>()).unwrap();
/// assert_eq!(scheme.to_string(), "shared(9)");
/// let t: Vec<i64> = (0..20).collect();
/// let phy = PhyTrace::new(t.into(), vec![5; 20].into(), Bytes(33)).unwrap();
/// let link = scheme.apply(&phy, Timing { rtt: Duration::from_millis(500), feedback: None });
/// assert_eq!(link.parts().t[..], [9, 19]);
/// # Ok::<(), clift::config::NameTaken>(())
/// ```
#[derive(Clone, Copy)]
pub struct SchemeKind {
    /// The name that its text begins with; upper and lower case do not matter.
    pub name: &'static str,
    /// Description, in a sentence or two.
    pub summary: &'static str,
    /// Texts that show its forms, the shortest first: "ARQ", "ARQ(max 3)".
    pub texts: &'static [&'static str],
    /// Parses the arguments in parentheses behind the name. The error is a few words that say what
    /// is wrong.
    pub parse: &'static ParseScheme,
}

impl Row for SchemeKind {
    const PART: &'static str = "a scheme";
    const BUILT_IN: &'static [Self] = &BUILT_IN;

    fn name(&self) -> &'static str {
        self.name
    }
}

impl SchemeKind {
    /// A regular expression for its texts.
    fn pattern(&self) -> String {
        // A lower-case name may also be the first word of a line of prose.
        let mut letters = self.name.chars();
        let name = match letters.next().filter(char::is_ascii_lowercase) {
            Some(first) => format!("[{}{first}]{}", first.to_ascii_uppercase(), letters.as_str()),
            None => self.name.to_owned(),
        };
        let bare = self.texts.contains(&self.name);
        match (bare, self.texts.iter().any(|text| text.contains('('))) {
            (true, true) => name + r"\s*(\(.*\))?",
            (false, true) => name + r"\s*\(.*\)",
            (_, false) => name,
        }
    }
}

/// The texts of the schemes there are as prose: "a, b or c", each between `quotes`.
pub(super) fn texts(quotes: &str) -> String {
    one_of(Registry::current().all::<SchemeKind>().flat_map(|kind| kind.texts).copied(), quotes)
}

/// A regular expression for the texts of the schemes there are.
pub(super) fn pattern() -> String {
    let patterns: Vec<_> = Registry::current().all().map(SchemeKind::pattern).collect();
    format!(r"^\s*({})\s*$", patterns.join("|"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::NameTaken;
    use crate::scheme::arq;

    #[test]
    fn a_text_of_each_kind_reads_back_and_fits_the_pattern() {
        for kind in &BUILT_IN {
            for text in kind.texts {
                assert_eq!(&text.parse::<Scheme>().unwrap().to_string(), text);
            }
        }
        let patterns = BUILT_IN.each_ref().map(SchemeKind::pattern);
        assert_eq!(patterns[..2], ["[Nn]one", r"FEC\s*\(.*\)"]);
        assert_eq!(patterns[2..4], [r"ARQ\s*(\(.*\))?", r"HARQ\s*\(.*\)"]);
    }

    #[test]
    fn a_name_is_given_once() {
        let row = |name| SchemeKind { name, texts: &[], ..arq::KIND };
        let taken = |name| Some(NameTaken { part: "a scheme", name });
        let mut registry = Registry::new();
        assert_eq!(registry.add(row("arq")).err(), taken("arq"));
        assert_eq!(registry.add(row("mine")).err(), None);
        assert_eq!(registry.add(row("MINE")).err(), taken("MINE"));
        let mine = || "Mine(max 2)".parse::<Scheme>();
        assert_eq!(registry.within(mine), "ARQ(max 2)".parse());
        assert!(mine().is_err(), "no other registry has it");
    }
}
