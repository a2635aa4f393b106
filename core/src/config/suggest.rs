//! "did you mean": finds the nearest known name.

/// The candidate nearest to `word`, if it is near enough for a typing error.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    // The distance is quadratic in the lengths, and a name longer than any key is not a
    // misspelling.
    if word.chars().count() > 40 {
        return None;
    }
    let near = (word.chars().count() / 3).max(1);
    candidates
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
        assert_eq!(nearest("bandwidth", keys.into_iter()), None);
        assert_eq!(distance("ca", "ac"), 1);
        assert_eq!(distance("", "abc"), 3);
    }
}
