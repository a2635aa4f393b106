//! Pages of published size.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::content::{PageContent, PageObject};
use crate::units::Duration;

/// A page of published size. The sizes and numbers of objects are those of the source. No source
/// gives the dependencies among objects or the sizes of single objects; the text of each page lists
/// what is assumed.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum Shape {
    /// The web page of 3GPP2's and NGMN's traffic model for evaluations, with the mean values of
    /// ns-3's `ThreeGppHttpVariables`: a main object of 10,710 bytes and, after 130 ms of parsing,
    /// 4 objects (3.95 after truncation) of 7,758 bytes; 42 kB in total. The model draws these
    /// values at random; here they are fixed.
    #[serde(rename = "3gpp")]
    ThreeGpp,
    /// The median mobile home page of October 2024 (HTTP Archive, Web Almanac 2024, page weight):
    /// 66 requests, 2311 KiB. Assumed: the same shares of object kinds as on the desktop page.
    #[serde(rename = "mobile-2024")]
    Mobile2024,
    /// The median desktop home page of October 2024 (HTTP Archive, Web Almanac 2024, page weight):
    /// 71 requests, 2652 KiB, with 18 KiB of HTML, 24 scripts of 613 KiB in total, 18 images of
    /// 1054 KiB, style sheets of 78 KiB and fonts of 131 KiB. These medians leave 758 KiB. Assumed:
    /// one HTML object, 8 style sheets, 4 fonts and 16 other objects with the remaining bytes.
    /// Within a kind, the n-th largest object has 1/n of the bytes of the largest. The HTML object
    /// reveals style sheets, scripts and images 50 ms after its arrival. The first style sheet
    /// reveals the fonts, and the first script the other objects, 20 ms after their arrival.
    #[serde(rename = "desktop-2024")]
    Desktop2024,
}

const KIB: u64 = 1024;

/// Objects of a kind: name, number, total bytes, the object whose arrival reveals them, and the
/// time from that arrival to the request in ms.
type Kind = (&'static str, u64, u64, Option<&'static str>, u64);

impl Shape {
    /// The objects of the page.
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

/// The kinds of objects of a home page with this number of requests and bytes.
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

/// A page of kinds whose objects share bytes by 1/n, and of one kind whose objects are `alike`:
/// name, number, bytes of each, parent and delay in ms.
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

/// Splits `bytes` into `count` parts, the n-th of which is 1/n of the first; the sum is exact.
fn shares(count: u64, bytes: u64) -> Vec<u64> {
    // Harmonic numbers in units of 10^-9.
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
    fn shapes_match_their_sources() {
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
            let roots = page.objects().iter().filter(|it| it.parent.is_none());
            assert_eq!(roots.count(), 1, "all objects but the first have a parent");
        }
    }
}
