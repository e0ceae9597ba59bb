use tidegate_backoff_core::{Exponential, Ratio};

use super::bounds::{Bound, settle};
use crate::{
    catalogue::retry as entry,
    reader::{Reader, Scope},
    settings::Retry,
    size,
};

pub(super) fn read(reader: &mut Reader<'_>) -> Retry {
    let max_retries = reader.read(&entry::MAX_RETRIES).get();
    let mut base = Bound::read(reader, &entry::BASE, Scope::Main);
    let mut max = Bound::read(reader, &entry::MAX, Scope::Main);
    settle(reader, &mut base, &mut max);
    let jitter = reader.read(&entry::JITTER).get();
    let max_retry_after = reader.read(&entry::MAX_RETRY_AFTER).get();
    let budget = reader.read(&entry::BUDGET).value;
    let (budget_ratio, budget_min_per_second) = budget.unwrap_or((Ratio::from_millionths(0), 0));
    let (limit, memory) = (reader.read(&entry::REPLAY_LIMIT), reader.read(&entry::REPLAY_MEMORY));
    if let (Some(one), Some(all)) = (limit.value, memory.value) {
        if one > all {
            reader.notice(format!(
                "a request body longer than {} is never held, for that is all of {} ({})",
                size::show(all),
                memory.name,
                memory.source
            ));
        }
    }
    Retry {
        schedule: Exponential::new(base.value(), max.value()),
        jitter,
        max_retries,
        max_retry_after,
        budget_ratio,
        budget_min_per_second,
        replay_limit: limit.get(),
        replay_memory: memory.get(),
        retry_unsafe: reader.read(&entry::RETRY_UNSAFE).get(),
    }
}
