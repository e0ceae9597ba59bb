//! Settings as text, and back.

use std::time::Duration;

use serde_json::{from_str, json, to_value};
use tidegate_backoff_core::{Backoff, CoolDown, Exponential, Jitter, Ratio};

#[test]
fn settings_are_read_back() {
    let longest = Exponential::new(Duration::from_millis(500), Duration::MAX);
    for jitter in Jitter::ALL {
        let backoff = Backoff::new(longest, jitter);
        let text = to_value(backoff).unwrap();
        assert_eq!(text["jitter"], json!(jitter.as_str()), "the names are those of the settings");
        assert_eq!(text["schedule"]["base"], json!({ "secs": 0, "nanos": 500_000_000 }));
        assert_eq!(from_str::<Backoff>(&text.to_string()).unwrap(), backoff);
    }
    let cool_down = CoolDown { max_retries: 7, ..CoolDown::default() };
    assert_eq!(from_str::<CoolDown>(&to_value(cool_down).unwrap().to_string()).unwrap(), cool_down);
    assert_eq!(from_str::<CoolDown>(r#"{"max_retries":7}"#).unwrap(), cool_down, "the rest by default");
    assert_eq!(from_str::<Ratio>("200000").unwrap(), Ratio::from_millionths(200_000));
}

#[test]
fn what_is_no_setting_is_refused() {
    for text in [r#"{"base":{"secs":1,"nanos":0}}"#, r#"{"base":1,"max":2}"#, "null"] {
        assert!(from_str::<Exponential>(text).is_err(), "{text}");
    }
    assert!(from_str::<Jitter>(r#""Full""#).is_err());
    assert!(from_str::<CoolDown>(r#"{"max_retry":7}"#).is_err());
}
