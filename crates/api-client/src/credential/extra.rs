//! The cookies that PixivFE sends beside a token.

use std::fmt;

use tidegate_token_manager::TokenId;

/// Cookies that go with each token (`yuid_b`, `p_ab_id`, `p_ab_id_2`, `p_ab_d_id`): a browser has them from its
/// first visit and keeps them. They are made up once per token, and the same while the process lives.
#[derive(Clone, Copy)]
pub struct ExtraCookies {
    seed: u64,
}

impl ExtraCookies {
    /// Cookies of a new process.
    pub fn random() -> Self {
        Self::from_seed(fastrand::u64(..))
    }

    /// The cookies that follow from `seed`, for those who want the same after a restart.
    pub const fn from_seed(seed: u64) -> Self {
        Self { seed }
    }

    /// Name and value of the cookies that go with the token `id`.
    pub fn of(&self, id: TokenId) -> [(&'static str, String); 4] {
        const DIGITS_AND_LETTERS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        // One stream of draws per token and process, always drawn in the same order.
        let mut draws = fastrand::Rng::with_seed(self.seed ^ u64::from_be_bytes(id.to_bytes()));
        let yuid: String =
            (0..7).map(|_| char::from(DIGITS_AND_LETTERS[draws.usize(..DIGITS_AND_LETTERS.len())])).collect();
        [
            ("yuid_b", yuid),
            ("p_ab_id", draws.u32(0..10).to_string()),
            ("p_ab_id_2", draws.u32(0..10).to_string()),
            ("p_ab_d_id", draws.u32(..).to_string()),
        ]
    }
}

impl fmt::Debug for ExtraCookies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtraCookies").finish_non_exhaustive()
    }
}
