use super::*;
use http::StatusCode;
use tidegate_token_manager::TokenId;

fn token(name: Option<&str>, state: State, rate_limited: u64) -> TokenStatus {
    TokenStatus {
        id: TokenId::from_bytes([0x7f; 8]),
        name: name.map(str::to_owned),
        state,
        failures: 0,
        until: None,
        retry_in: Duration::ZERO,
        in_flight: 0,
        reason: None,
        last_status: None,
        requests: 0,
        successes: 0,
        rate_limited: 0,
        rejected: 0,
        cooldowns: [rate_limited, 0, 0, 0],
        last_used: None,
        pace: None,
        scopes: Vec::new(),
    }
}

fn lines(page: &str, start: &str) -> Vec<String> {
    page.lines().filter(|line| line.starts_with(start)).map(str::to_owned).collect()
}

#[test]
fn every_series_is_there_from_the_start_at_zero() {
    let metrics = Metrics::new(["/", "/proxy/i.pximg.net/"]).unwrap();
    let scrape = Scrape {
        pools: vec![(
            "default".to_owned(),
            vec![token(None, State::Ready, 0), token(Some("b"), State::Ready, 0)],
        )],
        budgets: vec![("https://up.example".to_owned(), 10)],
        store: Some(StoreScrape { connected: false, told: 0, heard: 0, failures: 0 }),
    };
    let page = metrics.render(&scrape);
    for series in [
        "tidegate_requests_total{route=\"/\",status=\"200\"} 0",
        "tidegate_requests_total{route=\"/proxy/i.pximg.net/\",status=\"503\"} 0",
        "tidegate_requests_total{route=\"none\",status=\"404\"} 0",
        "tidegate_request_duration_seconds_bucket{le=\"0.005\"} 0",
        "tidegate_request_duration_seconds_bucket{le=\"+Inf\"} 0",
        "tidegate_attempts_total{outcome=\"success\",route=\"/\"} 0",
        "tidegate_attempts_total{outcome=\"caller\",route=\"/\"} 0",
        "tidegate_retries_total{reason=\"upstream\"} 0",
        "tidegate_retries_total{reason=\"token_limited\"} 0",
        "tidegate_retry_budget_balance{upstream=\"https://up.example\"} 10",
        "tidegate_tokens{pool=\"default\",state=\"ready\"} 2",
        "tidegate_tokens{pool=\"default\",state=\"disabled\"} 0",
        "tidegate_token_cooldowns_total{pool=\"default\",reason=\"rejected\",token=\"b\"} 0",
        "tidegate_token_cooldowns_total{pool=\"default\",reason=\"operator\",token=\"7f7f7f7f7f7f7f7f\"} 0",
        "tidegate_token_wait_seconds_count 0",
        "tidegate_in_flight 0",
        "tidegate_shed_total 0",
        "tidegate_store_connected 0",
        "tidegate_store_news_total{direction=\"heard\"} 0",
        "tidegate_store_failures_total 0",
    ] {
        assert!(page.lines().any(|line| line == series), "{series} is missing in\n{page}");
    }
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let zero = line.ends_with(" 0");
        assert!(zero || line.contains("budget") || line.contains("state=\"ready\""), "{line}");
    }
}

#[test]
fn what_happened_is_counted() {
    let metrics = Metrics::new(["/"]).unwrap();
    let running = metrics.begin();
    metrics.answered("/", StatusCode::OK, Duration::from_millis(20));
    metrics.answered("/", StatusCode::from_u16(999).unwrap(), Duration::from_secs(70));
    metrics.shed();
    metrics.know_clients(["web"]);
    for (status, attempts) in [(Some(200), 1), (Some(429), 0), (Some(429), 2), (Some(503), 0), (None, 1)] {
        metrics.client("web", status.map(|status| StatusCode::from_u16(status).unwrap()), attempts);
    }
    let cooling = token(None, State::Cooling, 3);
    let page = metrics.render(&Scrape {
        pools: vec![("p".to_owned(), vec![cooling])],
        budgets: vec![],
        store: None,
    });
    for series in [
        "tidegate_requests_total{route=\"/\",status=\"200\"} 1",
        "tidegate_requests_total{route=\"/\",status=\"other\"} 1",
        "tidegate_request_duration_seconds_bucket{le=\"0.025\"} 1",
        "tidegate_request_duration_seconds_bucket{le=\"120\"} 2",
        "tidegate_in_flight 1",
        "tidegate_shed_total 1",
        "tidegate_client_requests_total{client=\"web\",outcome=\"served\"} 1",
        "tidegate_client_requests_total{client=\"web\",outcome=\"limited\"} 1",
        "tidegate_client_requests_total{client=\"web\",outcome=\"failed\"} 2",
        "tidegate_client_requests_total{client=\"web\",outcome=\"left\"} 1",
        "tidegate_tokens{pool=\"p\",state=\"cooling\"} 1",
        "tidegate_token_cooldowns_total{pool=\"p\",reason=\"rate_limited\",token=\"7f7f7f7f7f7f7f7f\"} 3",
    ] {
        assert!(page.lines().any(|line| line == series), "{series} is missing in\n{page}");
    }
    drop(running);
    let page = metrics.render(&Scrape::default());
    assert_eq!(lines(&page, "tidegate_in_flight "), ["tidegate_in_flight 0"]);
    assert!(lines(&page, "tidegate_tokens").is_empty(), "a pool that is gone is gone here too");
}

#[test]
fn a_retry_is_counted_by_how_the_attempt_before_it_ended() {
    let attempt = |ended, fault| Attempt {
        cause: Cause::First,
        token: None,
        wait: Duration::ZERO,
        token_wait: Duration::ZERO,
        ended,
        fault,
        duration: Duration::ZERO,
    };
    for (ended, fault, want) in [
        (Ended::Status(StatusCode::BAD_GATEWAY), Some(Fault::Upstream), ("upstream", "upstream")),
        (
            Ended::Status(StatusCode::TOO_MANY_REQUESTS),
            Some(Fault::TokenLimited),
            ("token_limited", "token_limited"),
        ),
        (Ended::Status(StatusCode::FORBIDDEN), Some(Fault::Forbidden), ("forbidden", "forbidden")),
        (Ended::Failed("attempt_timeout"), Some(Fault::Upstream), ("upstream", "attempt_timeout")),
        (Ended::Failed("reset"), Some(Fault::Upstream), ("upstream", "reset")),
        (Ended::Failed("something new"), Some(Fault::Upstream), ("upstream", "other")),
        (Ended::Status(StatusCode::OK), Some(Fault::None), ("success", "other")),
        (Ended::Unfinished, None, ("caller", "other")),
    ] {
        let attempt = attempt(ended, fault);
        assert_eq!((outcome(attempt.fault), reason(&attempt)), want, "{attempt:?}");
        assert!(OUTCOMES.contains(&outcome(fault)) && RETRY_REASONS.contains(&reason(&attempt)));
    }
}
