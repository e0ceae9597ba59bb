use super::url;
use crate::{
    problem::{Problem, shown_url},
    secret::Secret,
    settings::{Proxy, ProxyUrl},
};

/// `env`, `off` or the URL of a proxy.
pub(crate) fn proxy(text: &str) -> Result<Proxy, Problem> {
    match text {
        "env" => return Ok(Proxy::Environment),
        "off" => return Ok(Proxy::Off),
        _ => {}
    }
    const FORMS: &str = "write env, off, or a URL such as http://proxy.example.com:3128";
    if !text.contains("://") {
        return Err(Problem::new("is neither env nor off nor a URL", FORMS));
    }
    let parts = url::split(text)?;
    if !matches!(parts.scheme.as_str(), "http" | "https" | "socks5" | "socks5h") {
        return Err(Problem::new(
            "has a scheme other than http, https, socks5 and socks5h, which are the proxies that can be used",
            FORMS,
        ));
    }
    if !matches!(parts.rest, "" | "/") || text.contains(char::is_whitespace) {
        return Err(Problem::new("has more than a proxy's scheme, user, host and port", FORMS));
    }
    Ok(Proxy::Url(ProxyUrl { url: Secret::new(text), shown: shown_url(text) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_a_word_or_a_url_and_hides_its_password() {
        assert_eq!(proxy("env"), Ok(Proxy::Environment));
        assert_eq!(proxy("off"), Ok(Proxy::Off));
        let Ok(Proxy::Url(url)) = proxy("http://me:pass@proxy:3128/") else { panic!("no URL") };
        assert_eq!(
            (url.expose(), format!("{url} {url:?}").as_str()),
            ("http://me:pass@proxy:3128/", "http://***@proxy:3128/ ProxyUrl(http://***@proxy:3128/)")
        );
        assert!(matches!(proxy("socks5h://h:1080"), Ok(Proxy::Url(_))));
        for text in
            ["proxy:3128", "none", "ftp://h:1", "http://", "http://h/path", "http://h?x", "http://h:x", ""]
        {
            assert!(proxy(text).is_err(), "{text}");
        }
    }
}
