//! Presets: sets of defaults for an API. A preset is nothing else: whatever it sets can be set otherwise. What `github`
//! and `openai` say of limits in a body is known to the API client; a `[[rule]]` goes before it.

use crate::settings::BaseUrl;

/// A set of defaults for an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preset {
    /// pixiv, as PixivFE calls it: the default while the upstream is pixiv's.
    Pixiv,
    /// Any API; the credential must be named.
    Generic,
    /// GitHub's API.
    Github,
    /// OpenAI's API.
    Openai,
}

impl Preset {
    /// The word that the settings use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pixiv => "pixiv",
            Self::Generic => "generic",
            Self::Github => "github",
            Self::Openai => "openai",
        }
    }

    /// The preset when none is named: by the upstream.
    pub(crate) fn of(url: &BaseUrl) -> Self {
        match url.host() {
            "www.pixiv.net" | "pixiv.net" => Self::Pixiv,
            _ => Self::Generic,
        }
    }

    /// What it sets at a TOML path, as one would write it.
    pub(crate) fn default(self, path: &str) -> Option<&'static str> {
        self.defaults().iter().find(|(known, _)| *known == path).map(|(_, text)| *text)
    }

    /// All that it sets, by TOML path.
    pub(crate) const fn defaults(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Pixiv => &PIXIV,
            Self::Generic => &[],
            Self::Github => &[
                ("upstream.url", "https://api.github.com"),
                ("upstream.credential", "bearer"),
                // core, search, graphql and others are limited each on its own.
                ("token.scope", "header:x-ratelimit-resource"),
            ],
            Self::Openai => &[
                ("upstream.url", "https://api.openai.com"),
                ("upstream.credential", "bearer"),
                // Each model has limits of its own.
                ("token.scope", "json:/model"),
                // A model may think for minutes before the head.
                ("upstream.attempt_timeout", "10m"),
                ("server.request_timeout", "11m"),
            ],
        }
    }
}

/// The pool signs reads of what is public, and none of the pages that show or change the account behind the token.
const PIXIV: [(&str, &str); 5] = [
    ("upstream.credential", "cookie:PHPSESSID"),
    ("upstream.accept_language", "en-US,en;q=0.5"),
    (
        "upstream.user_agent",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0",
    ),
    ("token.methods", "GET,HEAD"),
    (
        "token.paths",
        "/ajax/,/touch/ajax/,/touch/ajax_api/,/rpc/,/ranking_log.php,\
         !/ajax/settings,!/ajax/user/self,!/ajax/follow_latest,!/ajax/linked_service,!/touch/ajax/user/self",
    ),
];

/// The Referer that pixiv wants to see.
pub(crate) const PIXIV_REFERER: &str = "https://www.pixiv.net/";

/// Routes of the pixiv preset that carry images and the like, without a token: prefix, upstream, Referer.
pub(crate) const PIXIV_CONTENT: [(&str, &str, &str); 6] = [
    ("/proxy/i.pximg.net/", "https://i.pximg.net/", PIXIV_REFERER),
    ("/proxy/s.pximg.net/", "https://s.pximg.net/", PIXIV_REFERER),
    ("/proxy/booth.pximg.net/", "https://booth.pximg.net/", PIXIV_REFERER),
    ("/proxy/embed.pixiv.net/", "https://embed.pixiv.net/", PIXIV_REFERER),
    ("/proxy/source.pixiv.net/", "https://source.pixiv.net/", PIXIV_REFERER),
    ("/proxy/ugoira.com/", "https://t-hk.ugoira.com/", "https://ugoira.com/"),
];
