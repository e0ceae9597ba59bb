use std::fmt;
use std::num::NonZeroU32;

/// A credential of the upstream: a secret.
///
/// It has no `Display`, and its `Debug` shows nothing of the value. What may be shown is its
/// [`TokenId`](crate::TokenId).
///
/// ```
/// use tidegate_token_manager::Token;
///
/// let token = Token::new("12345_abcdef");
/// assert_eq!(token.expose(), "12345_abcdef");
/// assert_eq!(format!("{token:?}"), "Token(…)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Box<str>);

impl Token {
    /// Takes the value as it is: nothing is trimmed.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into().into_boxed_str())
    }

    /// The value itself, for the one place that signs a request.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// One token as the settings give it.
///
/// ```
/// use tidegate_token_manager::TokenSpec;
///
/// let spec = TokenSpec { name: Some("ci".into()), ..TokenSpec::new("12345_abcdef") };
/// assert_eq!(spec.weight.get(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenSpec {
    /// The secret. Two specs with the same value are one token: the first counts.
    pub value: Token,
    /// What people call it; without a name its id stands in logs and metrics.
    pub name: Option<String>,
    /// Its share of the requests, relative to the other tokens' weights.
    pub weight: NonZeroU32,
    /// Tokens of one group share a limit of the upstream's, as several keys of one organisation do.
    pub group: Option<String>,
}

impl TokenSpec {
    /// A token without name and group, of weight 1.
    pub fn new(value: impl Into<String>) -> Self {
        Self { value: Token::new(value), name: None, weight: NonZeroU32::MIN, group: None }
    }
}
