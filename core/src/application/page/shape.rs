//! Pages whose sizes and numbers of objects were published.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::content::{PageContent, PageObject};
use crate::units::Duration;

/// A page of published size. Sizes, and numbers of objects, are those of the source; which object
/// tells of which, and how bytes are shared among objects of a kind, no source says: what is assumed
/// is in the text of each.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum Shape {
    /// The web page of 3GPP2's and NGMN's traffic model for evaluations at its means, as ns-3's
    /// `ThreeGppHttpVariables` has them: a main object of 10,710 bytes and, 130 ms of parsing later,
    /// 4 objects (3.95 after truncation) of 7,758 bytes; 42 kB in all. The model draws all of these;
    /// here they stand.
    #[serde(rename = "3gpp")]
    ThreeGpp,
    /// The median mobile home page of October 2024 (HTTP Archive, Web Almanac 2024, page weight): 66
    /// requests, 2311 KiB. Assumed: the kinds have the shares of the desktop page.
    #[serde(rename = "mobile-2024")]
    Mobile2024,
    /// The median desktop home page of October 2024 (HTTP Archive, Web Almanac 2024, page weight): 71
    /// requests, 2652 KiB; of these HTML 18 KiB, 24 scripts of 613 KiB, 18 images of 1054 KiB, style
    /// sheets of 78 KiB, fonts of 131 KiB. The medians of the kinds leave 758 KiB. Assumed: one
    /// HTML, 8 style sheets, 4 fonts and 16 others with what is left; of a kind the n-th largest has
    /// 1/n of the bytes of the largest; HTML names style sheets, scripts and images, 50 ms after it
    /// arrived; the first style sheet names the fonts, the first script the others, 20 ms after.
    #[serde(rename = "desktop-2024")]
    Desktop2024,
}

const KIB: u64 = 1024;

/// Objects of a kind: what they are called, how many, how many bytes in all, whose arrival tells of
/// them, and how much later they are asked for, in ms.
type Kind = (&'static str, u64, u64, Option<&'static str>, u64);

impl Shape {
    /// The objects.
    ///
    /// ```
    /// use clift::application::Shape;
    /// let page = Shape::Desktop2024.content();
    /// assert_eq!((page.objects().len(), page.bytes()), (71, 2652 * 1024));
    /// ```
    pub fn content(self) -> PageContent {
        match self {
            Self::ThreeGpp => {
                page(&[("main", 1, 10_710, None, 0)], Some(("embedded", 4, 7_758, "main 1", 130)))
            }
            Self::Mobile2024 => page(&home(66, 2311 * KIB), None),
            Self::Desktop2024 => page(&home(71, 2652 * KIB), None),
        }
    }
}

/// The kinds of a home page with so many requests and bytes.
fn home(requests: u64, bytes: u64) -> [Kind; 6] {
    let objects = |count: u64| (count * requests + 35) / 71;
    let size = |kib: u64| kib * KIB * bytes / (2652 * KIB);
    let html = ("html", 1, size(18), None, 0);
    let styles = ("style", objects(8), size(78), Some("html 1"), 50);
    let scripts = ("script", objects(24), size(613), Some("html 1"), 50);
    let images = ("image", objects(18), size(1054), Some("html 1"), 50);
    let fonts = ("font", objects(4), size(131), Some("style 1"), 20);
    let known = [html, styles, scripts, images, fonts];
    let (count, sum) =
        known.iter().fold((0, 0), |(count, sum), kind| (count + kind.1, sum + kind.2));
    let others = ("other", requests - count, bytes - sum, Some("script 1"), 20);
    [html, styles, scripts, images, fonts, others]
}

/// A page of kinds that share their bytes by 1/n, and of one whose objects are `alike`: name, number,
/// bytes of each, parent and delay in ms.
fn page(kinds: &[Kind], alike: Option<(&str, u64, u64, &str, u64)>) -> PageContent {
    let mut objects: Vec<PageObject> = Vec::new();
    let add = |objects: &mut Vec<PageObject>, name, bytes, parent: Option<&str>, ms| {
        let parent = parent.and_then(|of| objects.iter().position(|it| it.name == of));
        let parse = Duration::from_millis(ms);
        objects.push(PageObject { name, bytes, parent, parse, ..PageObject::default() });
    };
    for &(name, count, bytes, parent, ms) in kinds {
        for (place, bytes) in shares(count, bytes).into_iter().enumerate() {
            add(&mut objects, format!("{name} {}", place + 1), bytes, parent, ms);
        }
    }
    if let Some((name, count, bytes, parent, ms)) = alike {
        for place in 0..count {
            add(&mut objects, format!("{name} {}", place + 1), bytes, Some(parent), ms);
        }
    }
    PageContent::of(objects)
}

/// `bytes` in `count` parts, the n-th of which is 1/n of the first, to the byte.
fn shares(count: u64, bytes: u64) -> Vec<u64> {
    // Harmonic numbers in parts of a billion.
    let sum: u64 = (1..=count).map(|n| 1_000_000_000 / n).sum();
    let share =
        |n: u64| (u128::from(bytes) * u128::from(1_000_000_000 / n) / u128::from(sum)) as u64;
    let mut shares: Vec<u64> = (1..=count).map(share).collect();
    let rest = bytes - shares.iter().sum::<u64>();
    if let Some(first) = shares.first_mut() {
        *first += rest;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_what_their_sources_say() {
        let sum = |page: &PageContent, kind: &str| {
            let own = page.objects().iter().filter(|it| it.name.starts_with(kind));
            own.fold((0, 0), |(count, bytes), it| (count + 1, bytes + it.bytes))
        };
        let desktop = Shape::Desktop2024.content();
        assert_eq!(sum(&desktop, "image"), (18, 1054 * KIB));
        assert_eq!(sum(&desktop, "script"), (24, 613 * KIB));
        assert_eq!(sum(&desktop, "style").1 + sum(&desktop, "font").1, (78 + 131) * KIB);
        assert_eq!(sum(&desktop, ""), (71, 2652 * KIB));
        assert_eq!(sum(&Shape::Mobile2024.content(), ""), (66, 2311 * KIB));
        let small = Shape::ThreeGpp.content();
        assert_eq!(sum(&small, "embedded"), (4, 4 * 7_758));
        assert_eq!(small.objects()[0].bytes, 10_710);
        for page in [desktop, small] {
            let told = page.objects().iter().filter(|it| it.parent.is_none());
            assert_eq!(told.count(), 1, "all but the first are told of");
        }
    }
}
