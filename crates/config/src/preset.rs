//! Presets: sets of defaults for an API.

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
}
