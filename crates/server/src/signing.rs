//! Which requests a pool signs.

use std::borrow::Cow;

use http::Method;
use tidegate_config::Signing;

/// Whether the pool signs `method` on `path` (the path as the upstream will see it).
///
/// An upstream may decode a path and fold its slashes before it looks at it. So a path is allowed only if it is
/// allowed as it stands and decoded, and it is denied if either form is, in any case of its letters.
pub(crate) fn signs(signing: &Signing, method: &Method, path: &str) -> bool {
    let decoded = folded(&decoded(path));
    let method_is_signed =
        signing.methods.is_empty() || signing.methods.iter().any(|allowed| allowed == method.as_str());
    let allowed =
        |path: &str| signing.allow.is_empty() || signing.allow.iter().any(|prefix| path.starts_with(prefix));
    let denied = |path: &str| signing.deny.iter().any(|prefix| begins_ignoring_case(path, prefix));
    method_is_signed && allowed(path) && allowed(&decoded) && !denied(path) && !denied(&decoded)
}

fn begins_ignoring_case(path: &str, prefix: &str) -> bool {
    path.as_bytes().get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix.as_bytes()))
}

/// `path` with its percent signs decoded, however often they were encoded over.
fn decoded(path: &str) -> Cow<'_, str> {
    let mut path = Cow::Borrowed(path);
    while let Some(once) = decoded_once(&path) {
        path = Cow::Owned(once);
    }
    path
}

/// `None` when there is nothing to decode. Each round leaves fewer ASCII characters, so the rounds end.
fn decoded_once(path: &str) -> Option<String> {
    let bytes = path.as_bytes();
    let hex = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match (byte, hex(at + 1), hex(at + 2)) {
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
    (out.len() < bytes.len()).then(|| String::from_utf8_lossy(&out).into_owned())
}

/// `path` with each run of slashes folded into one, and without `;` parameters of its segments.
fn folded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for segment in path.split('/').skip_while(|segment| segment.is_empty()) {
        if !segment.is_empty() {
            out.push('/');
            out.push_str(segment.split(';').next().unwrap_or_default());
        }
    }
    if path.ends_with('/') {
        out.push('/');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixiv() -> Signing {
        let list = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect();
        Signing {
            methods: list(&["GET", "HEAD"]),
            allow: list(&["/ajax/", "/rpc/", "/ranking_log.php"]),
            deny: list(&["/ajax/settings", "/ajax/user/self"]),
        }
    }

    #[test]
    fn only_allowed_reads_are_signed_however_they_are_written() {
        let rows = [
            ("GET", "/ajax/illust/1", true),
            ("HEAD", "/ajax/illust/1", true),
            ("GET", "/ajax/user/11/profile", true),
            ("GET", "/ajax/search/%E3%81%82", true),
            ("GET", "/ranking_log.php", true),
            ("POST", "/ajax/illust/1", false),
            ("get", "/ajax/illust/1", false),
            ("GET", "/", false),
            ("GET", "/setting_user.php", false),
            ("GET", "/ajax/user/self", false),
            ("GET", "/ajax/user/self/", false),
            ("GET", "/ajax/settings/self", false),
            ("GET", "/ajax/user/%73elf", false),
            ("GET", "/ajax/user/%2573elf", false),
            ("GET", "/ajax/user//self", false),
            ("GET", "/ajax/user%2Fself", false),
            ("GET", "/ajax/USER/Self", false),
            ("GET", "/ajax;x=1/user;y/self", false),
            ("GET", "//ajax/illust/1", false),
            ("GET", "/%61jax/illust/1", false),
            ("GET", "/AJAX/illust/1", false),
        ];
        for (method, path, want) in rows {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            assert_eq!(signs(&pixiv(), &method, path), want, "{method} {path}");
        }
        assert!(signs(&Signing::default(), &Method::DELETE, "/anything"), "no list is everything");
    }
}
