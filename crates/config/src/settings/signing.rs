/// Which requests a pool signs: written as lists of methods and of what paths begin with.
///
/// What a path begins with ends at a slash or at the path's end: `/ajax/user/self` is also the beginning of
/// `/ajax/user/self/x`, but not of `/ajax/user/selfie`; `/ajax/` is that of all below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signing {
    /// The methods, in upper case; empty is all.
    pub methods: Vec<String>,
    /// What a path must begin with; empty is anything.
    pub allow: Vec<String>,
    /// What it must not begin with (in the settings with `!` before it).
    pub deny: Vec<String>,
}

impl Signing {
    /// Whether the pool may sign a request with this method and path (without its query).
    ///
    /// The allow list is compared byte for byte. The deny list is compared with what a server may make of the path:
    /// percent signs decoded, empty segments and what follows a `;` left out, upper and lower case the same; a path
    /// that then has dot segments or a control character is never signed. What is sent stays as it came, so a detour
    /// in the writing must not reach an account's own pages.
    ///
    /// ```
    /// use tidegate_config::Signing;
    ///
    /// let signing = Signing {
    ///     methods: vec!["GET".into()],
    ///     allow: vec!["/ajax/".into()],
    ///     deny: vec!["/ajax/user/self".into()],
    /// };
    /// assert!(signing.signs("GET", "/ajax/illust/1"));
    /// assert!(!signing.signs("POST", "/ajax/illust/1"));
    /// assert!(!signing.signs("GET", "/ajax/user/%73elf"));
    /// ```
    pub fn signs(&self, method: &str, path: &str) -> bool {
        let method = self.methods.is_empty() || self.methods.iter().any(|known| known == method);
        let allowed = self.allow.is_empty() || self.allow.iter().any(|prefix| begins(path, prefix));
        method && allowed && (self.deny.is_empty() || !self.denies(path))
    }

    fn denies(&self, path: &str) -> bool {
        let Some(path) = plain(path) else { return true };
        self.deny.iter().any(|prefix| plain(prefix).is_none_or(|prefix| path.starts_with(&prefix)))
    }
}

fn begins(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix)
        .is_some_and(|rest| prefix.ends_with('/') || rest.is_empty() || rest.starts_with('/'))
}

/// The path's segments as a lenient server may read them; `None` if that is not one plain path.
fn plain(path: &str) -> Option<Vec<Vec<u8>>> {
    let mut segments = Vec::new();
    for segment in decoded(path).split(|byte| *byte == b'/' || *byte == b'\\') {
        let end = segment.iter().position(|byte| *byte == b';').unwrap_or(segment.len());
        let segment = segment[..end].to_ascii_lowercase();
        if segment == b"." || segment == b".." || segment.iter().any(u8::is_ascii_control) {
            return None;
        }
        if !segment.is_empty() {
            segments.push(segment);
        }
    }
    Some(segments)
}

fn decoded(path: &str) -> Vec<u8> {
    let (bytes, mut out, mut at) = (path.as_bytes(), Vec::with_capacity(path.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let hex = |n: usize| bytes.get(at + n).and_then(|digit| char::from(*digit).to_digit(16));
        match (byte, hex(1), hex(2)) {
            (b'%', Some(high), Some(low)) => {
                out.push(u8::try_from(high * 16 + low).unwrap_or(b'%'));
                at += 3;
            }
            _ => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pixiv() -> Signing {
        Signing {
            methods: vec!["GET".into(), "HEAD".into()],
            allow: ["/ajax/", "/touch/ajax/", "/ranking_log.php"].map(Into::into).to_vec(),
            deny: ["/ajax/settings", "/ajax/user/self", "/touch/ajax/user/self"].map(Into::into).to_vec(),
        }
    }

    #[test]
    fn public_reads_are_signed_and_an_accounts_own_pages_never() {
        for (method, path, want) in [
            ("GET", "/ajax/illust/1", true),
            ("HEAD", "/touch/ajax/x", true),
            ("GET", "/ranking_log.php", true),
            ("GET", "/ajax/user/selfie", true),
            ("GET", "/ajax/user/1/settings", true),
            ("GET", "/ajax/%E3%81%82", true),
            ("POST", "/ajax/illust/1", false),
            ("get", "/ajax/illust/1", false),
            ("GET", "/", false),
            ("GET", "/ajax", false),
            ("GET", "/ranking_log.phpx", false),
            ("GET", "/AJAX/illust/1", false),
            ("GET", "/ajax/settings", false),
            ("GET", "/ajax/settings/self", false),
            ("GET", "/ajax/user/self", false),
            ("GET", "/ajax/user/self/", false),
            ("GET", "/ajax/user/%73elf", false),
            ("GET", "/ajax/user%2Fself", false),
            ("GET", "/ajax//user//self", false),
            ("GET", "/ajax/User/Self", false),
            ("GET", "/ajax/user;a=b/self;c", false),
            ("GET", "/ajax/user%5Cself", false),
            ("GET", "/ajax/x/../user/self", false),
            ("GET", "/ajax/x%2f%2E%2e/user/self", false),
            ("GET", "/ajax/user/self%00", false),
            ("GET", "/touch/ajax/user/self/status", false),
        ] {
            assert_eq!(pixiv().signs(method, path), want, "{method} {path}");
        }
        assert!(Signing::default().signs("BREW", "/anything/../at/all"), "no list, no bound");
    }

    proptest! {
        /// Whatever letters of a denied page are written with percent signs, it stays denied.
        #[test]
        fn no_writing_of_a_denied_page_is_signed(mask in any::<u32>(), tail in "[a-z/%0-9;.]{0,12}") {
            let written: String = "user/self".bytes().enumerate().map(|(n, byte)| match mask >> n & 1 {
                0 => char::from(byte).to_string(),
                _ => format!("%{byte:02x}"),
            }).collect();
            let path = format!("/ajax/{}/{}", written, tail);
            prop_assert!(!pixiv().signs("GET", &path), "{}", path);
        }
    }
}
