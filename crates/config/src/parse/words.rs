use tidegate_backoff_core::Jitter;

use crate::{
    preset::Preset,
    problem::Problem,
    settings::{ClientCredential, LogFormat, LogLevel, Pacing, RuleVerdict, Strategy, WhenExhausted},
};

/// One of a few words. A near miss is told which was probably meant.
fn one_of<T: Copy>(text: &str, words: &[(&str, T)]) -> Result<T, Problem> {
    let plain = text.to_ascii_lowercase().replace('_', "-");
    if let Some((_, value)) = words.iter().find(|(word, _)| word.replace('_', "-") == plain) {
        return Ok(*value);
    }
    let names: Vec<_> = words.iter().map(|(word, _)| *word).collect();
    let all = match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.join(", "),
    };
    Err(Problem::new("is none of the words that can stand here", format!("write {all}")))
}

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident: $type:ty { $($word:literal => $value:expr),+ $(,)? })+) => {$(
        $(#[$doc])*
        pub(crate) fn $name(text: &str) -> Result<$type, Problem> {
            one_of(text, &[$(($word, $value)),+])
        }
    )+};
}

words! {
    preset: Preset {
        "pixiv" => Preset::Pixiv, "generic" => Preset::Generic, "github" => Preset::Github, "openai" => Preset::Openai,
    }
    client_credential: ClientCredential {
        "pass" => ClientCredential::Pass, "refuse" => ClientCredential::Refuse, "replace" => ClientCredential::Replace,
    }
    jitter: Jitter {
        "none" => Jitter::None, "full" => Jitter::Full, "equal" => Jitter::Equal, "decorrelated" => Jitter::Decorrelated,
    }
    /// PixivFE's words, and one more.
    strategy: Strategy {
        "round-robin" => Strategy::RoundRobin, "random" => Strategy::Random,
        "least-recently-used" => Strategy::LeastRecentlyUsed, "least-loaded" => Strategy::LeastLoaded,
    }
    when_exhausted: WhenExhausted {
        "wait" => WhenExhausted::Wait, "fail" => WhenExhausted::Fail, "soonest" => WhenExhausted::Soonest,
    }
    pacing: Pacing { "learned" => Pacing::Learned, "off" => Pacing::Off }
    log_level: LogLevel {
        "off" => LogLevel::Off, "error" => LogLevel::Error, "warn" => LogLevel::Warn, "info" => LogLevel::Info,
        "debug" => LogLevel::Debug, "trace" => LogLevel::Trace,
    }
    log_format: LogFormat { "text" => LogFormat::Text, "json" => LogFormat::Json }
    rule_verdict: RuleVerdict {
        "token_limited" => RuleVerdict::TokenLimited, "token_rejected" => RuleVerdict::TokenRejected,
        "upstream" => RuleVerdict::Upstream, "request" => RuleVerdict::Request, "success" => RuleVerdict::Success,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_may_be_written_with_either_dash_and_in_either_case() {
        for text in ["least-recently-used", "least_recently_used", "Least-Recently-Used"] {
            assert_eq!(strategy(text), Ok(Strategy::LeastRecentlyUsed), "{text}");
        }
        assert_eq!(rule_verdict("token-limited"), Ok(RuleVerdict::TokenLimited));
    }

    #[test]
    fn an_unknown_word_is_told_all_that_can_stand_there() {
        assert_eq!(
            strategy("rand").unwrap_err().mend,
            "write round-robin, random, least-recently-used or least-loaded"
        );
        assert_eq!(pacing("").unwrap_err().mend, "write learned or off");
    }
}
