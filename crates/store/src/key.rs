use std::io;

use tidegate_token_manager::IdKey;

const BYTES: usize = 32;

/// A store's own key as it is written down: 64 hexadecimal digits. A secret of the lesser kind: with it, one
/// who has a token can tell its id, and nothing else.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct StoreKey([u8; BYTES]);

impl StoreKey {
    pub(crate) fn random() -> io::Result<Self> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(bytes))
    }

    pub(crate) fn read(text: &str) -> Option<Self> {
        let digits = text.trim_end_matches(['\r', '\n']).as_bytes();
        if digits.len() != 2 * BYTES {
            return None;
        }
        let mut bytes = [0; BYTES];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let (high, low) = (char::from(pair[0]).to_digit(16)?, char::from(pair[1]).to_digit(16)?);
            *byte = u8::try_from(high * 16 + low).ok()?;
        }
        Some(Self(bytes))
    }

    pub(crate) fn write(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(crate) fn id_key(&self) -> IdKey {
        IdKey::from_bytes(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_back_and_nothing_else_is_one() {
        let key = StoreKey::random().unwrap();
        let text = key.write();
        assert!(
            StoreKey::read(&text) == Some(key.clone()) && StoreKey::read(&format!("{text}\n")) == Some(key)
        );
        for bad in
            ["", "00", &text[1..], &format!("{text}00"), &text.replace(&text[..1], "g"), &"é".repeat(32)]
        {
            assert!(StoreKey::read(bad).is_none(), "{bad}");
        }
    }
}
