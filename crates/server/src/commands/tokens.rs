//! `tidegate tokens`: the tokens of the running gateway, and what can be done to them.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Deserialize;
use tidegate_config::show_duration;

use super::admin_client::{AdminClient, Answer};
use super::{fail, report_faults, say};
use crate::cli::TokensCommand;

/// What is shown of a token; the gateway says more.
#[derive(Debug, Deserialize)]
struct Token {
    id: String,
    pool: String,
    name: Option<String>,
    state: String,
    reason: Option<String>,
    retry_in_ms: u64,
    in_flight: u32,
    last_status: Option<u16>,
    successes: u64,
    rate_limited: u64,
    rejected: u64,
    pace_ms: Option<u64>,
}

/// 0 when it was shown or done; 1 and a line when the gateway does not answer or does not know the token; 2 for faulty
/// settings.
pub(crate) fn run(config: Option<PathBuf>, operation: Option<TokensCommand>) -> ExitCode {
    let client = match AdminClient::new(config) {
        Ok(client) => client,
        Err(faults) => return report_faults(&faults),
    };
    let operation = operation.unwrap_or(TokensCommand::List { json: false });
    match client.and_then(|client| operate(&client, &operation)) {
        Ok(said) => {
            say(&said);
            ExitCode::SUCCESS
        }
        Err(why) => fail(&why),
    }
}

fn operate(client: &AdminClient, operation: &TokensCommand) -> Result<String, String> {
    let listed = good(client.send("GET", "/tokens")?)?;
    let tokens: Vec<Token> = serde_json::from_str(&listed)
        .map_err(|error| format!("/tokens is not what it should be: {error}"))?;
    let (named, what) = match operation {
        TokensCommand::List { json: true } => return Ok(format!("{listed}\n")),
        TokensCommand::List { json: false } => return Ok(table(&tokens)),
        TokensCommand::Reset { token: None, .. } => {
            good(client.send("POST", "/tokens/reset")?)?;
            return Ok(format!("reset: all {} tokens\n", tokens.len()));
        }
        TokensCommand::Reset { token: Some(token), .. } => (token, "reset"),
        TokensCommand::Disable { token } => (token, "disable"),
        TokensCommand::Enable { token } => (token, "enable"),
    };
    let token = find(&tokens, named)?;
    good(client.send("POST", &format!("/tokens/{}/{what}", token.id))?)?;
    Ok(format!("{what}: {}\n", token.name.as_ref().unwrap_or(&token.id)))
}

/// The body of an answer that says yes.
fn good(answer: Answer) -> Result<String, String> {
    match answer.status {
        200 | 204 => Ok(answer.body),
        401 => Err("the admin listener wants another key (TIDEGATE_ADMIN_KEY, admin.key)".to_owned()),
        status => Err(format!("the admin listener answers {status}: {}", answer.body.trim_end())),
    }
}

/// By its id, or by its name where only one token has it.
fn find<'a>(tokens: &'a [Token], named: &str) -> Result<&'a Token, String> {
    let is_meant = |token: &&Token| token.id == named || token.name.as_deref() == Some(named);
    let mut ids: Vec<_> = tokens.iter().filter(is_meant).collect();
    // One token may be in two pools.
    ids.sort_by_key(|token| &token.id);
    ids.dedup_by_key(|token| &token.id);
    match ids.as_slice() {
        [token] => Ok(token),
        [] => Err(format!("no token is named {named:?}; `tidegate tokens` lists them")),
        many => Err(format!("{} tokens are named {named:?}; use the id", many.len())),
    }
}

/// A pace in uses a second, a minute or an hour, whichever makes a readable figure.
fn pace(every_ms: u64) -> String {
    let every = every_ms.max(1);
    let (unit, name) = match every {
        0..1_000 => (1_000, "s"),
        1_000..60_000 => (60_000, "min"),
        _ => (3_600_000, "h"),
    };
    let tenths = unit * 10 / every;
    format!("{}.{}/{name}", tenths / 10, tenths % 10)
}

fn table(tokens: &[Token]) -> String {
    let heading =
        ["TOKEN", "POOL", "STATE", "REST", "UNDER WAY", "LAST", "SERVED", "REFUSED", "PACE", "REASON"];
    let row = |token: &Token| {
        let rest = std::time::Duration::from_millis(token.retry_in_ms);
        let name = token.name.as_ref().map_or(token.id.clone(), |name| format!("{name} {}", token.id));
        [
            name,
            token.pool.clone(),
            token.state.clone(),
            if rest.is_zero() { "-".to_owned() } else { show_duration(rest) },
            token.in_flight.to_string(),
            token.last_status.map_or("-".to_owned(), |status| status.to_string()),
            token.successes.to_string(),
            (token.rate_limited + token.rejected).to_string(),
            token.pace_ms.map_or("-".to_owned(), pace),
            token.reason.clone().unwrap_or_default(),
        ]
    };
    let rows: Vec<_> = std::iter::once(heading.map(str::to_owned)).chain(tokens.iter().map(row)).collect();
    let mut page = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
            // Writing to a String does not fail.
            let _ = write!(line, "{cell:width$}  ");
        }
        let _ = writeln!(page, "{}", line.trim_end());
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(id: &str, name: Option<&str>, state: &str, retry_in_ms: u64) -> Token {
        Token {
            id: id.to_owned(),
            pool: "default".to_owned(),
            name: name.map(str::to_owned),
            state: state.to_owned(),
            reason: (retry_in_ms > 0).then(|| "rate_limited".to_owned()),
            retry_in_ms,
            in_flight: 1,
            last_status: (retry_in_ms > 0).then_some(429),
            successes: 15,
            rate_limited: 2,
            rejected: 1,
            pace_ms: (retry_in_ms > 0).then_some(613),
        }
    }

    #[test]
    fn tokens_are_listed_in_columns() {
        let tokens = [
            token("7f3a9c21d04be85a", Some("anna"), "cooling", 1870),
            token("1d04be85a7f3a9c2", None, "ready", 0),
        ];
        insta::assert_snapshot!(table(&tokens), @r"
        TOKEN                  POOL     STATE    REST   UNDER WAY  LAST  SERVED  REFUSED  PACE   REASON
        anna 7f3a9c21d04be85a  default  cooling  1.87s  1          429   15      3        1.6/s  rate_limited
        1d04be85a7f3a9c2       default  ready    -      1          -     15      3        -
        ");
    }

    #[test]
    fn a_pace_is_shown_in_the_unit_that_reads_best() {
        for (every, shown) in
            [(0, "1000.0/s"), (613, "1.6/s"), (1_000, "60.0/min"), (5_000, "12.0/min"), (90_000, "40.0/h")]
        {
            assert_eq!(pace(every), shown, "{every} ms");
        }
    }

    #[test]
    fn a_token_is_found_by_its_name_or_its_id() {
        let tokens = [
            token("a1", Some("anna"), "ready", 0),
            token("b2", Some("ben"), "ready", 0),
            token("c3", Some("ben"), "ready", 0),
            token("a1", Some("anna"), "ready", 0),
        ];
        for (named, want) in [
            ("c3", Ok("c3")),
            ("zoe", Err("no token is named \"zoe\"; `tidegate tokens` lists them")),
            ("ben", Err("2 tokens are named \"ben\"; use the id")),
        ] {
            assert_eq!(find(&tokens, named).map(|token| token.id.as_str()), want.map_err(str::to_owned));
        }
        assert_eq!(find(&tokens, "anna").unwrap().id, "a1", "it is in two pools");
    }
}
