//! The schemes by name: those of the core, and those that a program adds.

use crate::config::{NameTaken, Registry, Row};
use crate::scheme::{Arguments, Scheme, arq, fec, harq2, none};

/// A kind of scheme: a row of the registry.
#[derive(Clone, Copy, Debug)]
pub struct SchemeKind {
    /// The name that its text begins with; upper and lower case do not matter.
    pub name: &'static str,
    /// Description, in a sentence or two.
    pub summary: &'static str,
    /// Texts that show its forms, the shortest first: "ARQ", "ARQ(max 3)".
    pub texts: &'static [&'static str],
    /// Parses the arguments in parentheses behind the name. The error is a few words that say what
    /// is wrong.
    pub parse: fn(Arguments<'_>) -> Result<Scheme, String>,
}

static BUILT_IN: [&SchemeKind; 4] = [&none::KIND, &fec::KIND, &arq::KIND, &harq2::KIND];

static KINDS: Registry<SchemeKind> = Registry::new(&BUILT_IN);

impl Row for SchemeKind {
    const PART: &'static str = "a scheme";

    fn name(&self) -> &'static str {
        self.name
    }
}

impl SchemeKind {
    /// Every kind of scheme there is: those of the core, then those registered, oldest first.
    pub fn all() -> Vec<&'static Self> {
        KINDS.all()
    }

    /// The kind of this name.
    pub(super) fn of(name: &str) -> Option<&'static Self> {
        KINDS.named(name)
    }

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
    let kinds = SchemeKind::all();
    let texts = kinds.iter().flat_map(|kind| kind.texts);
    let texts: Vec<String> = texts.map(|text| format!("{quotes}{text}{quotes}")).collect();
    match texts.split_last() {
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// A regular expression for the texts of the schemes there are.
pub(super) fn pattern() -> String {
    let patterns: Vec<String> = SchemeKind::all().into_iter().map(SchemeKind::pattern).collect();
    format!(r"^\s*({})\s*$", patterns.join("|"))
}

/// Adds a kind of scheme, for this process and for good: its text chooses it wherever that of a
/// scheme stands.
///
/// ```
/// use std::fmt;
///
/// use clift::scheme::{Scheme, SchemeForms, SchemeKind, Timing, register_scheme};
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
/// register_scheme(SchemeKind {
///     name: "shared",
///     summary: "A link of which another user has some slots of each ten.",
///     texts: &["shared(5)"],
///     parse: |mut arguments| {
///         let others = arguments.number("how many of ten slots")?;
///         let [] = arguments.options([])?;
///         Ok(Scheme::own(Shared(others)))
///     },
/// })?;
/// let scheme: Scheme = "Shared( 9 )".parse().unwrap();
/// assert_eq!(scheme.to_string(), "shared(9)");
/// let t: Vec<i64> = (0..20).collect();
/// let phy = PhyTrace::new(t.into(), vec![5; 20].into(), Bytes(33)).unwrap();
/// let link = scheme.apply(&phy, Timing { rtt: Duration::from_millis(500), feedback: None });
/// assert_eq!(link.parts().t[..], [9, 19]);
/// # Ok::<(), clift::config::NameTaken>(())
/// ```
///
/// # Errors
/// If another kind has the name.
pub fn register_scheme(kind: SchemeKind) -> Result<(), NameTaken> {
    KINDS.add(kind, |_| false).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_each_kind_reads_back_and_fits_the_pattern() {
        for kind in BUILT_IN {
            for text in kind.texts {
                assert_eq!(&text.parse::<Scheme>().unwrap().to_string(), text);
            }
        }
        let patterns = BUILT_IN.map(SchemeKind::pattern);
        assert_eq!(patterns[..2], ["[Nn]one", r"FEC\s*\(.*\)"]);
        assert_eq!(patterns[2..], [r"ARQ\s*(\(.*\))?", r"HARQ\s*\(.*\)"]);
    }

    #[test]
    fn a_name_is_given_once() {
        let row = |name| SchemeKind { name, texts: &[], ..arq::KIND };
        let taken = |name| Err(NameTaken { part: "a scheme", name });
        assert_eq!(register_scheme(row("arq")), taken("arq"));
        assert_eq!(register_scheme(row("mine")), Ok(()));
        assert_eq!(register_scheme(row("MINE")), taken("MINE"));
        assert!(SchemeKind::all().iter().any(|kind| kind.name == "mine"));
        assert_eq!("Mine(max 2)".parse(), "ARQ(max 2)".parse::<Scheme>());
    }
}
