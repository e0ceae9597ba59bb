//! A real Chromium without a window, through chromedriver.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use url::Url;

/// What a page may take here: two cores may be busy with other tests.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Browser {
    pub(crate) page: Client,
    driver: Child,
    _profile: tempfile::TempDir,
}

impl Browser {
    pub(crate) async fn start(driver: &Path, chromium: &Path) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut driver = Command::new(driver)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut said = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port: u16 = loop {
            let line = said.next_line().await.unwrap().unwrap_or_else(|| panic!("chromedriver says no port"));
            if let Some((_, port)) = line.split_once("started successfully on port ") {
                break port.trim_end_matches('.').parse().unwrap();
            }
        };
        tokio::spawn(async move { while let Ok(Some(_)) = said.next_line().await {} });
        let data = format!("--user-data-dir={}", profile.path().display());
        let options = json!({
            "binary": chromium,
            "args": [
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--disable-dev-shm-usage", "--hide-scrollbars", data,
            ],
        });
        let capabilities = [
            ("goog:chromeOptions".to_owned(), options),
            ("goog:loggingPrefs".to_owned(), json!({ "browser": "ALL" })),
        ];
        let page = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities.into_iter().collect())
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .unwrap();
        Self { page, driver, _profile: profile }
    }

    pub(crate) async fn open(&self, address: SocketAddr) {
        self.page.goto(&format!("http://{address}/")).await.unwrap();
    }

    /// Waits until an element fits `css`.
    pub(crate) async fn sees(&self, css: &str) -> fantoccini::elements::Element {
        let found = self.page.wait().at_most(PATIENCE).for_element(Locator::Css(css)).await;
        match found {
            Ok(element) => element,
            Err(error) => panic!("{css}: {error}\n{}", self.page.source().await.unwrap_or_default()),
        }
    }

    pub(crate) async fn text(&self, css: &str) -> String {
        self.sees(css).await.text().await.unwrap()
    }

    /// What an expression comes to in the page.
    pub(crate) async fn value(&self, expression: &str) -> Value {
        self.page.execute(&format!("return {expression}"), vec![]).await.unwrap()
    }

    /// Waits until an expression is true in the page.
    pub(crate) async fn until(&self, expression: &str) {
        let is_so = async {
            while self.value(&format!("Boolean({expression})")).await != json!(true) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        if tokio::time::timeout(PATIENCE, is_so).await.is_err() {
            panic!("never: {expression}\n{}", self.page.source().await.unwrap_or_default());
        }
    }

    /// A window of this width, as a telephone or a desk has it, in a light or a dark theme. Chromium itself makes no
    /// window narrower than 500 pixels.
    pub(crate) async fn look(&self, width: u32, theme: &str) {
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.chrome("Emulation.setDeviceMetricsOverride", &metrics).await;
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
        self.chrome("Emulation.setEmulatedMedia", &features).await;
    }

    /// The whole page as it looks, kept beside the other results of the build.
    pub(crate) async fn shoot(&self, name: &str) {
        let params = json!({ "captureBeyondViewport": true });
        let shot = self.chrome("Page.captureScreenshot", &params).await;
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dashboard");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.png")), base64(shot["data"].as_str().unwrap())).unwrap();
    }

    /// What the page has written to the console since the last look, and what the browser had to complain of.
    pub(crate) async fn console(&self) -> Vec<String> {
        let lines = self.page.issue_cmd(Extra::log()).await.unwrap();
        lines.as_array().unwrap().iter().map(|line| line["message"].to_string()).collect()
    }

    async fn chrome(&self, command: &str, params: &Value) -> Value {
        self.page.issue_cmd(Extra::devtools(command, params)).await.unwrap()
    }

    pub(crate) async fn close(mut self) {
        self.page.close().await.unwrap();
        self.driver.kill().await.unwrap();
    }
}

/// What chromedriver knows beyond WebDriver.
#[derive(Debug)]
struct Extra {
    path: &'static str,
    body: Value,
}

impl Extra {
    fn log() -> Self {
        Self { path: "se/log", body: json!({ "type": "browser" }) }
    }

    fn devtools(command: &str, params: &Value) -> Self {
        Self { path: "goog/cdp/execute", body: json!({ "cmd": command, "params": params }) }
    }
}

impl WebDriverCompatibleCommand for Extra {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.to_string()))
    }
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        alphabet.iter().position(|known| *known == byte).map(|at| u32::try_from(at).unwrap())
    };
    let digits: Vec<u32> = text.bytes().filter_map(digit).collect();
    let decode = |chunk: &[u32]| {
        let bits = chunk.iter().enumerate().fold(0, |bits, (n, digit)| bits | digit << (18 - 6 * n));
        bits.to_be_bytes()[1..chunk.len()].to_vec()
    };
    digits.chunks(4).flat_map(decode).collect()
}
