use std::fmt;
use std::io;
use std::str::FromStr;

use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::Token;

/// What stands for a token wherever people can see it: the first 8 bytes of an HMAC-SHA256 of its value.
///
/// It shows as 16 lower-case hexadecimal digits, and is the same for the same value under the same [`IdKey`].
///
/// ```
/// use tidegate_token_manager::TokenId;
///
/// let id: TokenId = "7f3a9c21d04be85a".parse()?;
/// assert_eq!(id.to_string(), "7f3a9c21d04be85a");
/// assert!("7F3A9C21D04BE85A".parse::<TokenId>().is_err());
/// # Ok::<(), tidegate_token_manager::ParseTokenIdError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenId(u64);

impl TokenId {
    /// The id of these 8 bytes.
    pub const fn from_bytes(bytes: [u8; 8]) -> Self {
        Self(u64::from_be_bytes(bytes))
    }

    /// The 8 bytes that [`from_bytes`](Self::from_bytes) takes.
    pub const fn to_bytes(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenId({self})")
    }
}

impl FromStr for TokenId {
    type Err = ParseTokenIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // `from_str_radix` alone would also take a sign, upper case, and fewer digits.
        let plain = text.len() == 16 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let value = u64::from_str_radix(text, 16).ok().filter(|_| plain);
        value.map(Self).ok_or(ParseTokenIdError(()))
    }
}

/// The text is no [`TokenId`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a token's id is 16 lower-case hexadecimal digits")]
pub struct ParseTokenIdError(());

/// The key under which tokens become ids.
///
/// Processes that show or store the same tokens need the same key. Its `Debug` shows nothing of it.
///
/// ```
/// use tidegate_token_manager::{IdKey, Token};
///
/// let key = IdKey::from_bytes(b"any length");
/// let id = key.id(&Token::new("12345_abcdef"));
/// assert_eq!(id, key.id(&Token::new("12345_abcdef")));
/// assert_ne!(id, IdKey::from_bytes(b"another").id(&Token::new("12345_abcdef")));
/// ```
#[derive(Clone)]
pub struct IdKey(Hmac<Sha256>);

impl IdKey {
    /// A key of 32 bytes from the operating system, for ids that need not outlive the process.
    ///
    /// # Errors
    ///
    /// The operating system has no random bytes to give.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self::from_bytes(&bytes))
    }

    /// The key of these bytes, of any length; 32 random ones are right.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        #[expect(
            clippy::expect_used,
            reason = "RFC 2104 takes a key of any length, and so does this constructor"
        )]
        Self(Hmac::new_from_slice(bytes).expect("HMAC takes a key of any length"))
    }

    /// The id of a token under this key.
    pub fn id(&self, token: &Token) -> TokenId {
        let mut mac = self.0.clone();
        mac.update(token.expose().as_bytes());
        let digest: [u8; 32] = mac.finalize().into_bytes().into();
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        TokenId::from_bytes(first)
    }
}

impl fmt::Debug for IdKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_beginning_of_an_hmac_sha256() {
        // RFC 4231, test cases 1 and 2.
        let rows = [
            ([0x0b; 20].as_slice(), "Hi There", "b0344c61d8db3853"),
            (b"Jefe", "what do ya want for nothing?", "5bdcc146bf60754e"),
        ];
        for (key, text, id) in rows {
            assert_eq!(IdKey::from_bytes(key).id(&Token::new(text)).to_string(), id, "{text}");
        }
    }

    #[test]
    fn an_id_is_read_back_only_as_it_is_shown() {
        let id = TokenId::from_bytes([0, 1, 2, 3, 4, 5, 6, 0xff]);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(TokenId::from_bytes(id.to_bytes()), id);
        for text in [
            "",
            "0",
            "+001020304050607",
            "000102030405060",
            "00010203040506ff0",
            "00010203040506FF",
            "00010203040506fg",
        ] {
            assert!(text.parse::<TokenId>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn secrets_do_not_show() {
        let key = IdKey::random().unwrap();
        assert_eq!(format!("{key:?}"), "IdKey(…)");
        let spec = crate::TokenSpec::new("zq81secret");
        assert!(!format!("{spec:?}").contains("zq81"), "{spec:?}");
    }
}
