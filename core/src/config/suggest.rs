//! "did you mean": finds the nearest known name.

/// Names of one quantity that sections call differently.
const SYNONYMS: [&[&str]; 5] = [
    &["p", "loss", "erasures", "plr"],
    &["bandwidth", "capacity", "rate"],
    &["latency", "delay", "rtt"],
    &["buffer", "queue"],
    &["mtu", "packet"],
];

/// The candidate nearest to `word`, if it is near enough for a typing error or another name of it.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    // The distance is quadratic in the lengths, and a name longer than any key is not a
    // misspelling.
    if word.chars().count() > 40 {
        return None;
    }
    let candidates: Vec<&str> = candidates.collect();
    let mut other = SYNONYMS.iter().filter(|names| names.contains(&word)).flat_map(|names| *names);
    if let Some(found) = other.find_map(|name| candidates.iter().find(|one| *one == name)) {
        return Some(found);
    }
    // Every letter is within one error of every other.
    let near = if word.chars().count() == 1 { 0 } else { (word.chars().count() / 3).max(1) };
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= near)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein distance, in which a swap of neighbours counts once.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let differs = usize::from(a[i - 1] != b[j - 1]);
            let mut cost =
                (row[j - 1] + 1).min(rows[i - 1][j] + 1).min(rows[i - 1][j - 1] + differs);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                cost = cost.min(rows[i - 2][j - 2] + 1);
            }
            row.push(cost);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspellings_match_and_other_words_do_not() {
        let keys = ["rate", "rtt", "queue", "feedback"];
        assert_eq!(nearest("rat", keys.into_iter()), Some("rate"));
        assert_eq!(nearest("qeuue", keys.into_iter()), Some("queue"));
        assert_eq!(nearest("bandwidth", ["rtt", "queue"].into_iter()), None);
        assert_eq!(nearest("bandwidth", keys.into_iter()), Some("rate"));
        assert_eq!(nearest("p", ["k", "n", "loss"].into_iter()), Some("loss"));
        assert_eq!(nearest("q", ["k", "n"].into_iter()), None);
        assert_eq!(distance("ca", "ac"), 1);
        assert_eq!(distance("", "abc"), 3);
    }
}
