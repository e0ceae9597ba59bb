use std::time::Duration;

/// How long leases last of late: what those have to expect who wait for one to end.
#[derive(Debug, Default)]
pub(super) struct LeaseLength {
    /// In nanoseconds; 0 before the first has ended.
    mean: u64,
}

impl LeaseLength {
    /// Of so many leases the mean is.
    const OVER: u64 = 8;

    pub(super) fn note(&mut self, length: Duration) {
        let length = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        let over = Self::OVER;
        self.mean = if self.mean == 0 { length } else { self.mean - self.mean / over + length / over };
    }

    /// How long `ahead` leases take that follow one another in so many places. When the first of those that run now ends
    /// nobody knows: so it is zero for one with nobody ahead.
    pub(super) fn turns(&self, ahead: usize, places: usize) -> Duration {
        let rounds = u128::from(self.mean) * ahead as u128 / places.max(1) as u128;
        Duration::from_nanos(u64::try_from(rounds).unwrap_or(u64::MAX))
    }
}
