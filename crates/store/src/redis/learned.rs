//! What is known of a token's limit, as a word: numbers of a fixed length, so that the script finds of two words the
//! same to be the greater as `LearnedNews` does. Times are in nanoseconds, everything in hexadecimal.

use std::time::Duration;

use tidegate_backoff_core::{Bound, LearnedLimit};

/// Less than any other.
const NOTHING: &str = "-";

pub(super) fn write(limit: Option<LearnedLimit>) -> String {
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    limit.map_or(NOTHING.to_owned(), |limit| {
        format!(
            "{:016x}/{:016x}/{:016x}/{:08x}/{:08x}/{}",
            nanos(limit.interval),
            nanos(limit.refused),
            nanos(limit.cost),
            limit.credit,
            limit.window,
            u8::from(limit.bound == Bound::Ceiling),
        )
    })
}

/// None if it is none of this version's words.
pub(super) fn read(word: &str) -> Option<Option<LearnedLimit>> {
    if word == NOTHING {
        return Some(None);
    }
    let mut parts = word.split('/');
    let mut number = |digits: usize| {
        let part = parts.next().filter(|part| part.len() == digits)?;
        u64::from_str_radix(part, 16).ok()
    };
    let [interval, refused, cost] = [number(16)?, number(16)?, number(16)?].map(Duration::from_nanos);
    let [credit, window] = [number(8)?, number(8)?].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let bound = match number(1)? {
        0 => Bound::Floor,
        1 => Bound::Ceiling,
        _ => return None,
    };
    parts.next().is_none().then_some(Some(LearnedLimit { interval, refused, cost, credit, window, bound }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Vec<Option<LearnedLimit>> {
        let limit = LearnedLimit {
            interval: Duration::from_millis(500),
            refused: Duration::from_millis(480),
            cost: Duration::from_secs(60),
            credit: 10,
            window: 100,
            bound: Bound::Ceiling,
        };
        let most = Duration::from_nanos(u64::MAX);
        vec![
            None,
            Some(limit),
            Some(LearnedLimit { bound: Bound::Floor, ..limit }),
            Some(LearnedLimit { interval: Duration::from_nanos(7), ..limit }),
            Some(LearnedLimit { window: u32::MAX, credit: 9, ..limit }),
            Some(LearnedLimit { interval: most, refused: most, cost: most, ..limit }),
        ]
    }

    #[test]
    fn words_are_read_back_and_have_the_order_of_what_they_say() {
        for one in some() {
            assert_eq!(read(&write(one)), Some(one));
            for other in some() {
                assert_eq!(write(one).cmp(&write(other)), one.cmp(&other), "{one:?} {other:?}");
            }
        }
        assert_eq!(
            write(some()[1]),
            "000000001dcd6500/000000001c9c3800/0000000df8475800/0000000a/00000064/1"
        );
    }

    #[test]
    fn what_is_no_word_of_ours_is_told_apart() {
        let word = write(some()[1]);
        for other in ["", "37.5/60", "--", &word[1..], &format!("{word}/1"), &word.replace("/1", "/2")] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
