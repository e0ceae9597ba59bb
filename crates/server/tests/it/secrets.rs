//! Nothing that the gateway says or writes holds a secret.

use crate::client::{get, request, send, with};
use crate::gateway::{Gateway, command};
use crate::upstream::{Reply, Upstream, reply};

const TOKENS: &str = "zqAlphaSecret11,zqBetaSecret22";
const SECRETS: [&str; 5] = ["zqAlpha", "Secret11", "zqBeta", "k-client-33", "k-admin-44"];

/// An upstream that says the token wherever it can.
fn parrot(call: &crate::upstream::Call) -> Reply {
    let token = call.token().or_else(|| call.header("x-key")).unwrap_or("none").to_owned();
    let (status, location) = match call.target.as_str() {
        "/limited" => (429, "/"),
        "/rejected" => (401, "/"),
        "/moved" => (302, "/there"),
        "/down" => (503, "/"),
        "/gone" => return Reply::Close,
        _ => (200, "/"),
    };
    let location = format!("{location}?key={token}");
    reply(
        status,
        &[
            ("set-cookie", &format!("PHPSESSID={token}; path=/")),
            ("location", &location),
            ("x-debug", &format!("signed with {token}")),
        ],
        "{}",
    )
}

#[tokio::test]
async fn no_answer_and_no_log_line_holds_a_secret() {
    for credential in ["cookie:PHPSESSID", "header:X-Key", "query:key"] {
        let upstream = Upstream::start(parrot).await;
        let gateway = Gateway::start(
            &upstream,
            &[
                ("PIXIVFE_TOKEN", TOKENS),
                ("TIDEGATE_CREDENTIAL", credential),
                ("TIDEGATE_LOG", "trace"),
                ("TIDEGATE_CLIENT_KEYS", "web=k-client-33"),
                ("TIDEGATE_ADMIN_KEY", "k-admin-44"),
                ("TIDEGATE_WHEN_EXHAUSTED", "fail"),
            ],
        )
        .await;
        let mut seen = String::new();
        for target in ["/ok", "/limited", "/rejected", "/moved", "/down", "/gone", "/a/../b", "/x?key=y"] {
            let asked = with(get(target), &[("authorization", "Bearer k-client-33")]);
            seen += &format!("{:?}", send(gateway.address, asked).await);
        }
        for target in ["/tokens", "/metrics", "/healthz", "/readyz", "/", "/nothing"] {
            for key in ["Bearer k-admin-44", "Bearer wrong"] {
                let mut asked = with(request("GET", target, ""), &[("authorization", key)]);
                asked.headers_mut().insert("host", gateway.admin.to_string().parse().unwrap());
                seen += &format!("{:?}", send(gateway.admin, asked).await);
            }
        }
        seen += &gateway.log();
        assert!(seen.contains("attempts="), "the log is looked at too: {seen}");
        for secret in SECRETS {
            assert!(!seen.contains(secret), "{secret} shows with {credential}:\n{seen}");
        }
    }
}

#[tokio::test]
async fn no_command_prints_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    let toml = "[[route]]\nprefix = \"/x/\"\nupstream = \"http://127.0.0.1:1/\"\nheaders = { x-key = \"zqAlphaHeader\" }\n";
    std::fs::write(folder.path().join("tidegate.toml"), toml).unwrap();
    for (args, more) in
        [("check", ""), ("config", ""), ("schedule", ""), ("check", "1000"), ("serve", "1000")]
    {
        let out = command(folder.path())
            .args(args.split(' '))
            .envs([("PIXIVFE_TOKEN", TOKENS), ("TIDEGATE_CLIENT_KEYS", "web=k-client-33")])
            .envs([
                ("TIDEGATE_ADMIN_KEY", "k-admin-44"),
                ("TIDEGATE_PROXY", "http://me:zqAlphaPass@127.0.0.1:1"),
            ])
            .env("PIXIVFE_BASE_TIMEOUT", more)
            .output()
            .await
            .unwrap();
        let said = String::from_utf8_lossy(&out.stdout) + String::from_utf8_lossy(&out.stderr);
        assert!(!said.is_empty(), "{args}");
        for secret in SECRETS {
            assert!(!said.contains(secret), "{secret} shows in `tidegate {args}`:\n{said}");
        }
    }
}
