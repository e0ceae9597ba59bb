//! Two connections, one for commands and one for what others tell.

use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use redis::aio::{ConnectionLike, MultiplexedConnection, PubSubStream};
use redis::{AsyncConnectionConfig, Cmd, FromRedisValue, Pipeline, RedisError, Value};
use tidegate_token_manager::{Clock, Stamp, StoreError};
use tokio::time::{Instant, sleep_until, timeout};

use super::RedisAddress;

/// A server that has not answered by then is taken to be away.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often an idle connection is tried, and the server's clock read.
const LOOKS_EVERY: Duration = Duration::from_secs(1);
/// A key expires a day after it has ceased to matter: failures in a row are remembered so long.
const KEPT_MS: i64 = 24 * 60 * 60 * 1000;
/// A bar is kept for 30 days after a replica that has the token last told it, as each does every hour.
const BARS_KEPT_MS: i64 = 30 * KEPT_MS;
/// Longer than the hour after which every replica reads everything again.
const SIGNS_KEPT_MS: i64 = 2 * 60 * 60 * 1000;
/// As in `News::merge`.
const SLACK_MS: i64 = 50;
/// How many messages are handed on together.
const MOST_HEARD: usize = 512;

const MERGE: &str = include_str!("merge.lua");

pub(super) struct Connection {
    address: RedisAddress,
    commands: MultiplexedConnection,
    heard: PubSubStream,
    /// The script's name at the server.
    merge: String,
    clock: Clock,
    looks_at: Instant,
    /// A channel on which it hears itself.
    echo: String,
    awaits_echo: bool,
}

/// What came of a piece of news.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Published {
    Merged,
    /// The key holds something else; why.
    Unusable(String),
}

impl Connection {
    pub(super) async fn open(address: &RedisAddress, origin: &str) -> Result<Self, StoreError> {
        // redis' TLS asks for the process' provider. Where there is one already, it is kept.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let away = |error: Box<dyn std::error::Error + Send + Sync>| failed(address, error);
        let client = address.client().map_err(away)?;
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE));
        let echo = format!("{}:echo:{origin}", address.prefix());
        let connecting = async {
            // First the ears, so that nothing is missed that happens after the first read.
            let mut heard = client.get_async_pubsub().await?;
            heard.subscribe(&[&address.channel(), &echo]).await?;
            let commands = client.get_multiplexed_async_connection_with_config(&config).await?;
            Ok::<_, RedisError>((heard.into_on_message(), commands))
        };
        let (heard, commands) = timeout(2 * PATIENCE, connecting)
            .await
            .map_err(|_| StoreError::new(format!("{address} does not answer")))?
            .map_err(|error| failed(address, error))?;
        let mut connection = Self {
            address: address.clone(),
            commands,
            heard,
            merge: String::new(),
            clock: Clock::wall(),
            looks_at: Instant::now(),
            echo,
            awaits_echo: false,
        };
        connection.look().await?;
        connection.merge = connection.ask(redis::cmd("SCRIPT").arg("LOAD").arg(MERGE)).await?;
        Ok(connection)
    }

    /// The present by the server's clock.
    pub(super) fn clock(&self) -> Clock {
        self.clock.now()
    }

    /// What `key` holds; `value`, from now on, if it held nothing.
    pub(super) async fn get_or_set(&mut self, key: &str, value: &str) -> Result<String, StoreError> {
        let _: bool = self.ask(redis::cmd("SETNX").arg(key).arg(value)).await?;
        self.ask(redis::cmd("GET").arg(key)).await
    }

    /// Leaves a sign of life, and so finds out whether anything can be written at all.
    pub(super) async fn sign(&mut self, key: &str, text: &str) -> Result<(), StoreError> {
        self.ask(redis::cmd("SET").arg(key).arg(text).arg("PX").arg(SIGNS_KEPT_MS)).await
    }

    /// What each key holds that is text.
    pub(super) async fn get_all(&mut self, keys: &[String]) -> Result<Vec<Option<String>>, StoreError> {
        let values: Vec<Option<Vec<u8>>> = self.ask(redis::cmd("MGET").arg(keys)).await?;
        Ok(values
            .into_iter()
            .map(|value| value.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
            .collect())
    }

    /// Merges news into their keys: each a key, a value and what follows that in a message.
    pub(super) async fn merge(
        &mut self,
        news: &[(String, String, String)],
    ) -> Result<Vec<Published>, StoreError> {
        let channel = self.address.channel();
        let mut pipeline = Pipeline::with_capacity(news.len());
        for (key, value, tail) in news {
            let mut command = redis::cmd("EVALSHA");
            command.arg(&self.merge).arg(1).arg(key).arg(value).arg(&channel).arg(tail);
            command.arg(KEPT_MS).arg(BARS_KEPT_MS).arg(SLACK_MS);
            pipeline.add_command(command);
        }
        let answers = self.commands.req_packed_commands(&pipeline, 0, news.len()).await;
        let answers = answers.map_err(|error| failed(&self.address, error))?;
        answers.into_iter().map(|answer| published(&self.address, answer)).collect()
    }

    /// Waits for messages. Meanwhile sees to it that a server that has gone is noticed.
    pub(super) async fn hear(&mut self) -> Result<Vec<String>, StoreError> {
        loop {
            tokio::select! {
                // What has arrived comes first: an echo among it is heard before it is missed.
                biased;
                message = self.heard.next() => {
                    let gone = || StoreError::new(format!("{} has closed the connection", self.address));
                    let mut texts = vec![message.ok_or_else(gone)?];
                    while texts.len() < MOST_HEARD {
                        let Some(Some(message)) = self.heard.next().now_or_never() else { break };
                        texts.push(message);
                    }
                    let before = texts.len();
                    texts.retain(|text| text.get_channel_name() != self.echo);
                    self.awaits_echo &= texts.len() == before;
                    if !texts.is_empty() {
                        return Ok(texts.iter().filter_map(|text| text.get_payload().ok()).collect());
                    }
                }
                () = sleep_until(self.looks_at) => self.look().await?,
            }
        }
    }

    /// Reads the server's clock, which takes part of the time that the answer does: the reading is good to
    /// half of that. And sees to it that the other connection is alive too, on which there may be nothing to
    /// hear for hours: something on the way may have dropped it without a word.
    async fn look(&mut self) -> Result<(), StoreError> {
        if self.awaits_echo {
            return Err(StoreError::new(format!("{} does not tell any more what it is told", self.address)));
        }
        let before = Instant::now();
        let (seconds, micros): (i64, i64) = self.ask(&redis::cmd("TIME")).await?;
        let took = before.elapsed();
        let _: i64 = self.ask(redis::cmd("PUBLISH").arg(&self.echo).arg("")).await?;
        let millis = seconds.saturating_mul(1000).saturating_add(micros / 1000);
        self.clock = Clock { instant: before + took / 2, stamp: Stamp(millis) };
        // Only now: this may be dropped at any await.
        self.awaits_echo = true;
        self.looks_at = Instant::now() + LOOKS_EVERY;
        Ok(())
    }

    async fn ask<T: FromRedisValue>(&mut self, command: &Cmd) -> Result<T, StoreError> {
        command.query_async(&mut self.commands).await.map_err(|error| failed(&self.address, error))
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("address", &self.address).finish_non_exhaustive()
    }
}

fn published(address: &RedisAddress, answer: Value) -> Result<Published, StoreError> {
    let Value::ServerError(error) = answer else { return Ok(Published::Merged) };
    match error.code() {
        "TIDEGATENEWER" | "TIDEGATEFOREIGN" => {
            Ok(Published::Unusable(error.details().unwrap_or_default().to_owned()))
        }
        _ => Err(failed(address, RedisError::from(error))),
    }
}

/// The address and the server's own word for it.
fn failed(address: &RedisAddress, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::new(format!("{address} cannot be used")).because(error)
}
