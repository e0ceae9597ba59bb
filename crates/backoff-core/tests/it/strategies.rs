//! Lengths, numbers and bits over their whole range, the ends more often than chance would have them.

use std::time::Duration;

use proptest::prelude::*;

pub(crate) fn duration() -> impl Strategy<Value = Duration> {
    prop_oneof![
        1 => Just(Duration::ZERO),
        1 => Just(Duration::from_nanos(1)),
        1 => Just(Duration::from_nanos(u64::MAX)),
        1 => Just(Duration::MAX),
        4 => (0..=10_000_u64).prop_map(Duration::from_millis),
        4 => any::<u64>().prop_map(Duration::from_nanos),
        4 => (any::<u64>(), 0..1_000_000_000_u32).prop_map(|(seconds, nanos)| Duration::new(seconds, nanos)),
    ]
}

pub(crate) fn number() -> impl Strategy<Value = u32> {
    prop_oneof![1 => Just(u32::MAX), 6 => 0..140_u32, 2 => any::<u32>()]
}

pub(crate) fn entropy() -> impl Strategy<Value = u64> {
    prop_oneof![1 => Just(0), 1 => Just(u64::MAX), 6 => any::<u64>()]
}
