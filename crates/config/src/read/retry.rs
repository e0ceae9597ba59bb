use tidegate_backoff_core::{Exponential, Ratio};

use super::in_order;
use crate::{catalogue::retry as entry, reader::Reader, settings::Retry, size};

pub(super) fn read(reader: &mut Reader<'_>) -> Retry {
    let max_retries = reader.read(&entry::MAX_RETRIES).get();
    let (base, max) = (reader.read(&entry::BASE), reader.read(&entry::MAX));
    in_order(reader, &base, &max);
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
        schedule: Exponential::new(base.get(), max.get()),
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
