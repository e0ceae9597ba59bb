//! A gateway from its start to its end.

use std::sync::Arc;
use std::time::Duration;

use tidegate_config::{Host, Listen, Loaded, Settings, show_duration};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::admin::{self, AdminParams};
use crate::app::app;
use crate::gateway::{BuildError, Gateway};
use crate::listen::{self, BindError, Bound, ServeParams, Served};
use crate::metrics::Metrics;
use crate::operator::Running;
use crate::reload::{Load, Reloader};
use crate::state::State;
use crate::store::{SharedKey, StoreStartError, Stored};

/// What operators have under way may take this long once the gateway itself has ended.
const ADMIN_GRACE: Duration = Duration::from_secs(1);

/// A store that has not been read by then is read while the gateway serves; it is ready once that is done, or
/// has failed.
const FIRST_READ: Duration = Duration::from_millis(500);
/// The latest changes may take this long to be stored at the end.
const LAST_WRITE: Duration = Duration::from_secs(2);

/// Why a gateway does not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error(transparent)]
    Bind(#[from] BindError),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Store(#[from] StoreStartError),
    #[error("the metrics cannot be set up")]
    Metrics(#[from] prometheus::Error),
    #[error("there is no randomness for the sessions of the operators' listener")]
    Sessions(#[from] getrandom::Error),
}

/// A gateway that is bound and about to serve.
pub(crate) struct Server {
    pub(crate) state: Arc<State>,
    pub(crate) reloader: Arc<Reloader>,
    bound: Bound,
    admin: Option<(Bound, axum::Router)>,
}

impl Server {
    /// Builds everything and binds its listeners. `load` gathers the settings again for a reload.
    pub(crate) async fn start(loaded: Loaded, load: Load) -> Result<Self, StartError> {
        let settings = loaded.settings;
        let bound = listen::bind(&settings.server.listen).await?;
        let admin_bound = match &settings.admin {
            Some(admin) => {
                let params = AdminParams { key: admin.key.clone(), names: names(&admin.listen) };
                Some((listen::bind(&admin.listen).await?, params))
            }
            None => None,
        };
        let metrics = Metrics::new(settings.routes.iter().map(|route| route.prefix.as_str()))?;
        let key = SharedKey::new(&settings.store)?;
        let gateway = Gateway::new(settings, key.clone())?;
        let store = Stored::start(&gateway.settings.store, &key, gateway.pools.clone())?;
        if let Some(store) = &store {
            // The first request should not meet a token that rests. A store that is slow is not waited for.
            store.link.first_read(FIRST_READ).await;
        }
        let state = Arc::new(State::new(gateway, metrics, store));
        let reloader = Arc::new(Reloader::new(state.clone(), load));
        let admin = match admin_bound {
            Some((bound, params)) => {
                let running = Running { state: state.clone(), reloader: reloader.clone() };
                Some((bound, admin::router(Arc::new(running), params)?))
            }
            None => None,
        };
        Ok(Self { state, reloader, bound, admin })
    }

    /// Where it listens, as URLs.
    pub(crate) fn addresses(&self) -> Vec<String> {
        addresses(&self.bound, &self.state.gateway().settings)
    }

    /// Where its operators find it.
    pub(crate) fn admin_addresses(&self) -> Vec<String> {
        let addresses = self.admin.iter().flat_map(|(bound, _)| bound.tcp_addresses());
        addresses.map(|address| format!("http://{address}")).collect()
    }

    /// Serves until `stop`, then drains and finishes. A second `stop` ends the draining early.
    pub(crate) async fn serve(self, mut stop: impl Stop) -> Served {
        self.tell_start();
        let Self { state, reloader, bound, admin } = self;
        let settings = state.gateway().settings.server.clone();
        let params = ServeParams {
            max_connections: settings.max_connections,
            body_idle_timeout: settings.body_idle_timeout,
            ..ServeParams::default()
        };
        let (stopped, mut stopping) = watch::channel(());
        let until = async move {
            let _ = stopping.changed().await;
        };
        let gateway =
            tokio::spawn(listen::serve(bound, app(state.clone()), params, until, settings.shutdown_grace));
        let (admin_stop, admin) = serve_admin(admin);
        let refresher = tokio::spawn(Arc::clone(&reloader).refresh_tokens());
        let watcher = tokio::spawn(async move { reloader.watch_token_files().await });

        stop.next().await;
        // Readiness goes off at once; a balancer needs a moment to see it, so new connections are still taken.
        state.set_stopping();
        let (drain, grace) = (settings.drain_delay, settings.shutdown_grace);
        tracing::info!(?drain, ?grace, "stopping");
        tokio::select! {
            () = tokio::time::sleep(drain) => {}
            () = stop.next() => {}
        }
        drop(stopped);
        let served = tokio::select! {
            served = gateway => served.unwrap_or(Served { cut: 0 }),
            () = stop.next() => Served { cut: usize::MAX },
        };
        watcher.abort();
        refresher.abort();
        state.set_ended();
        drop(admin_stop);
        if let Some(admin) = admin {
            let _ = admin.await;
        }
        if let Some(store) = &state.store {
            store.link.stop(LAST_WRITE).await;
        }
        match served.cut {
            0 => tracing::info!("stopped"),
            cut => tracing::warn!(cut, "stopped before all requests had ended"),
        }
        served
    }

    fn tell_start(&self) {
        let gateway = self.state.gateway();
        let settings = &gateway.settings;
        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            gateway = %self.addresses().join(","),
            upstream = %settings.upstream.url,
            preset = settings.preset.as_str(),
            "listening"
        );
        let server = &settings.server;
        let clients = match server.client_keys.len() {
            0 if server.listen.is_local() => "anyone on this machine".to_owned(),
            0 => "anyone who reaches it".to_owned(),
            keys => format!("holders of {keys} client keys"),
        };
        tracing::info!(
            open_to = clients,
            max_in_flight = server.max_in_flight,
            max_connections = server.max_connections,
            request_timeout = %show_duration(server.request_timeout),
            drain_delay = %show_duration(server.drain_delay),
            shutdown_grace = %show_duration(server.shutdown_grace),
            "limits"
        );
        match &settings.admin {
            None => tracing::info!("no admin listener"),
            Some(admin) => {
                let tcp = self.admin_addresses();
                let address = if tcp.is_empty() { admin.listen.to_string() } else { tcp.join(",") };
                // Without a key the settings allow no other address than a local one.
                let operators =
                    if admin.key.is_some() { "holders of the admin key" } else { "anyone on this machine" };
                tracing::info!(admin = %address, open_to = operators, "operators");
            }
        }
        if let Some(store) = &self.state.store {
            tracing::info!(place = %store.place, status = ?store.link.status(), "store");
        }
        for pool in settings.pools_in_use() {
            tracing::info!(
                pool = pool.name,
                tokens = pool.tokens.len(),
                strategy = pool.strategy.as_str(),
                max_wait = %show_duration(pool.max_wait),
                "pool"
            );
        }
    }
}

/// The wish that the gateway stops; each call waits for the next one.
pub(crate) trait Stop: Send {
    fn next(&mut self) -> impl Future<Output = ()> + Send;
}

/// The name by which a listener was asked for, if it was one.
fn names(listen: &Listen) -> Vec<String> {
    match listen {
        Listen::Tcp { host: Host::Name(name), .. } => vec![name.clone()],
        _ => Vec::new(),
    }
}

fn addresses(bound: &Bound, settings: &Settings) -> Vec<String> {
    let tcp: Vec<_> = bound.tcp_addresses().into_iter().map(|address| format!("http://{address}")).collect();
    if tcp.is_empty() { vec![settings.server.listen.to_string()] } else { tcp }
}

fn serve_admin(admin: Option<(Bound, axum::Router)>) -> (watch::Sender<()>, Option<JoinHandle<Served>>) {
    let (stop, mut stopping) = watch::channel(());
    let until = async move {
        let _ = stopping.changed().await;
    };
    let task = admin.map(|(bound, router)| {
        tokio::spawn(listen::serve(bound, router, ServeParams::default(), until, ADMIN_GRACE))
    });
    (stop, task)
}
