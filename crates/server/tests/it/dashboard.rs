//! The operators' page in a real browser.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fantoccini::Locator;
use fantoccini::key::Key;
use serde_json::json;

use crate::browser::Browser;
use crate::gateway::Gateway;
use crate::need;
use crate::upstream::{Upstream, reply, status};

const ANNA: &str = "#tokens tbody tr:nth-child(1)";
const BEN: &str = "#tokens tbody tr:nth-child(2)";

/// An upstream that limits tokA while `limits`; the rest of two seconds can be watched.
async fn upstream(limits: &Arc<AtomicBool>) -> Upstream {
    let limits = limits.clone();
    Upstream::start(move |call| match call.token() {
        Some("tokA") if limits.load(Ordering::Relaxed) => reply(429, &[("retry-after", "2")], "{}"),
        _ => status(200),
    })
    .await
}

async fn gateway(upstream: &Upstream, settings: &[(&str, &str)]) -> Gateway {
    let all = [("PIXIVFE_TOKEN", ""), ("TIDEGATE_TOKEN_FILE", "tokens")];
    let all: Vec<_> = all.iter().chain(settings).copied().collect();
    Gateway::start_with(upstream, &all, &[("tokens", "anna=tokA\nben=tokB\n")]).await
}

#[tokio::test]
async fn the_dashboard_shows_what_happens_and_its_buttons_work() {
    let tools = ["chromedriver", "chromium"];
    let Some([driver, chromium]) = need::tools("the dashboard in a browser", tools) else { return };
    let limits = Arc::new(AtomicBool::new(true));
    let upstream = upstream(&limits).await;
    let mut gateway = gateway(&upstream, &[]).await;
    let browser = Browser::start(&driver, &chromium).await;
    browser.look(1280, "light").await;
    browser.open(gateway.admin).await;
    browser.sees("#link[data-state=live]").await;
    assert_eq!(browser.text("#summary").await, "2 tokens: 2 ready");
    assert_eq!(browser.text(&format!("{ANNA} th")).await.split(' ').next(), Some("anna"));

    a_limited_token_turns_counts_down_and_comes_back(&browser, &gateway, &limits).await;
    buttons_work(&browser, &gateway).await;
    it_can_be_read_everywhere(&browser, &gateway).await;
    let page = browser.page.source().await.unwrap();
    assert!(!page.contains("tokA") && !page.contains("tokB"), "no token stands in the page");
    assert_eq!(browser.console().await, Vec::<String>::new(), "nothing is logged to the console");

    // The gateway goes and comes back, with another state: the page comes back by itself.
    let admin = gateway.admin.to_string();
    gateway.child.kill().await.unwrap();
    browser.sees("#link[data-state=lost]").await;
    let again = self::gateway(&upstream, &[("TIDEGATE_ADMIN", &admin)]).await;
    browser.sees("#link[data-state=live]").await;
    browser.until("document.querySelectorAll('#requests tbody tr').length === 0").await;
    drop(again);
    browser.close().await;
}

async fn a_limited_token_turns_counts_down_and_comes_back(
    browser: &Browser,
    gateway: &Gateway,
    limits: &AtomicBool,
) {
    assert_eq!(gateway.get("/first?secret=1").await.status.as_u16(), 200);
    browser.sees(&format!("{ANNA}[data-state=cooling]")).await;
    assert!(browser.text(&format!("{ANNA} .state")).await.contains("cooling"));
    let width = format!("parseFloat(document.querySelector('{ANNA} .rest .bar > div').style.width)");
    let first = browser.value(&width).await.as_f64().unwrap();
    browser.until(&format!("{width} > 0 && {width} < {first}")).await;
    let left = browser.text(&format!("{ANNA} .rest")).await;
    assert!(left.contains('s') && !left.contains('–'), "{left:?}");

    let asked = browser.text("#requests tbody tr:nth-child(1)").await;
    for said in
        ["GET /first", "200 in", "1. anna → 429 over its limit", "2. ben → 200", "other token at once"]
    {
        assert!(asked.contains(said), "{said}: {asked}");
    }
    assert!(!asked.contains("secret"), "{asked}");
    assert_eq!(browser.text(&format!("{ANNA} [data-label='Last status'] span")).await, "429");

    limits.store(false, Ordering::Relaxed);
    browser.sees(&format!("{ANNA}[data-state=probing]")).await;
    for _ in 0..2 {
        gateway.get("/second").await;
    }
    browser.sees(&format!("{ANNA}[data-state=ready]")).await;
    assert_eq!(browser.text(&format!("{ANNA} .rest")).await, "–");
    browser.until("document.getElementById('news').textContent.includes('anna is ready')").await;
    // The figures of whole seconds follow within one.
    browser.until("parseFloat(document.getElementById('rate').textContent) > 0").await;
    browser.until("document.getElementById('share').textContent === '100 %'").await;
    browser.until("document.querySelectorAll('#rate-chart polyline').length > 0").await;
    browser.until(&format!("document.querySelectorAll('{ANNA} svg .no').length === 1")).await;
}

async fn buttons_work(browser: &Browser, gateway: &Gateway) {
    let button = |name: &str| format!("{BEN} button[aria-label='{name} ben']");
    // With the mouse, and from the keyboard alone.
    browser.sees(&button("Disable")).await.click().await.unwrap();
    browser.sees(&format!("{BEN}[data-state=disabled]")).await;
    assert_eq!(gateway.tokens().await[1]["state"], "disabled");
    browser.sees(&button("Enable")).await.send_keys(&Key::Enter.to_string()).await.unwrap();
    browser.sees(&format!("{BEN}[data-state=ready]")).await;
    assert_eq!(gateway.tokens().await[1]["state"], "ready");
    assert_eq!(
        browser.value("document.activeElement.ariaLabel").await,
        json!("Disable ben"),
        "the focus stays"
    );
    browser.until("document.getElementById('alert').textContent === 'ben: enable: done'").await;
    browser.sees("#reload").await.click().await.unwrap();
    browser.until("document.getElementById('alert').textContent === 'Reload: done'").await;

    browser.sees("#pause").await.click().await.unwrap();
    gateway.get("/while-paused").await;
    let served = "[...document.querySelectorAll('[data-label=\"Served / refused\"] span')].map((s) => parseInt(s.textContent))";
    browser.until(&format!("{served}.reduce((sum, n) => sum + n, 0) === 4")).await;
    let list = "document.querySelector('#requests tbody').textContent";
    assert_eq!(browser.value(&format!("{list}.includes('/while-paused')")).await, json!(false));
    browser.sees("#pause").await.click().await.unwrap();
    browser.until(&format!("{list}.includes('/while-paused')")).await;
}

async fn it_can_be_read_everywhere(browser: &Browser, gateway: &Gateway) {
    let long = format!("/{}", "a-very-long-path/".repeat(30));
    gateway.get(&long).await;
    browser.until("document.querySelector('#requests tbody').textContent.includes('a-very-long-path')").await;
    for (width, theme) in [(1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")] {
        browser.look(width, theme).await;
        browser.until(&format!("window.innerWidth === {width}")).await;
        let over = browser.value("document.documentElement.scrollWidth").await;
        assert!(over.as_u64().unwrap() <= u64::from(width), "{width} {theme}: {over} pixels wide");
        browser.shoot(&format!("{width}-{theme}")).await;
    }
    browser.look(1280, "light").await;
    // What a screen reader finds: every button and every picture has a name, every table its headings.
    for (what, unnamed) in [
        (
            "button",
            "[...document.querySelectorAll('button')].filter((b) => !(b.ariaLabel || b.textContent.trim()))",
        ),
        ("picture", "[...document.querySelectorAll('svg')].filter((s) => !s.getAttribute('aria-label'))"),
        ("bar", "[...document.querySelectorAll('.bar')].filter((b) => !b.ariaLabel || !b.role)"),
        ("heading", "[...document.querySelectorAll('thead th')].filter((h) => !h.scope || !h.textContent)"),
    ] {
        assert_eq!(browser.value(&format!("{unnamed}.length")).await, json!(0), "a {what} without a name");
    }
}

#[tokio::test]
async fn operators_log_in_and_are_asked_again_when_the_gateway_has_forgotten_them() {
    let tools = ["chromedriver", "chromium"];
    let Some([driver, chromium]) = need::tools("the login in a browser", tools) else { return };
    let upstream = upstream(&Arc::default()).await;
    let mut gateway = gateway(&upstream, &[("TIDEGATE_ADMIN_KEY", "open-sesame")]).await;
    let browser = Browser::start(&driver, &chromium).await;
    log_in(&browser, gateway.admin).await;
    let page = browser.page.source().await.unwrap();
    assert!(!page.contains("open-sesame"), "the key stands in no page");

    // Another process knows nothing of this one's logins.
    let admin = gateway.admin.to_string();
    gateway.child.kill().await.unwrap();
    let again =
        self::gateway(&upstream, &[("TIDEGATE_ADMIN_KEY", "open-sesame"), ("TIDEGATE_ADMIN", &admin)]).await;
    browser.sees("form[action='/login'] input[type=password]").await;
    drop(again);
    browser.close().await;
}

async fn log_in(browser: &Browser, admin: SocketAddr) {
    browser.open(admin).await;
    let field = browser.sees("form[action='/login'] input[type=password]").await;
    field.send_keys("open-sesame").await.unwrap();
    let button = browser.page.find(Locator::Css("form button")).await.unwrap();
    button.click().await.unwrap();
    browser.sees("#link[data-state=live]").await;
    assert_eq!(browser.text("#summary").await, "2 tokens: 2 ready");
}
