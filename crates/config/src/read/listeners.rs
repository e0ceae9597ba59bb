use std::time::Duration;

use crate::{
    catalogue::server as entry,
    fault::Source,
    preset::Preset,
    reader::{Read, Reader},
    secret::Secret,
    settings::{Admin, Host, Listen, Route, Server},
};

/// What an admin socket gets: operators are its owner, or sit behind a proxy that is.
const ADMIN_SOCKET_MODE: u32 = 0o600;

pub(super) fn server(reader: &mut Reader<'_>) -> (Server, Read<Duration>) {
    let listen = listen(reader);
    let request_timeout = reader.read(&entry::REQUEST_TIMEOUT);
    let server = Server {
        listen,
        request_timeout: request_timeout.value.unwrap_or_default(),
        body_idle_timeout: reader.read(&entry::BODY_IDLE_TIMEOUT).get(),
        max_in_flight: count(reader.read(&entry::MAX_IN_FLIGHT)),
        max_connections: count(reader.read(&entry::MAX_CONNECTIONS)),
        max_body: reader.read(&entry::MAX_BODY).get(),
        client_keys: reader.read(&entry::CLIENT_KEYS).get(),
        open: reader.read(&entry::OPEN).get(),
        trusted_proxies: reader.read(&entry::TRUSTED_PROXIES).get(),
        drain_delay: reader.read(&entry::DRAIN_DELAY).get(),
        shutdown_grace: reader.read(&entry::SHUTDOWN_GRACE).get(),
        config_file: reader.layers.document.as_ref().map(|document| document.path.clone()),
    };
    (server, request_timeout)
}

fn count(read: Read<u32>) -> usize {
    usize::try_from(read.get()).unwrap_or(usize::MAX)
}

/// `server.listen`, else PixivFE's socket, else its host and port.
fn listen(reader: &mut Reader<'_>) -> Listen {
    let listen = reader.read(&entry::LISTEN);
    let (host, port) = (reader.read(&entry::HOST), reader.read(&entry::PORT));
    let (socket, mode) = (reader.read(&entry::SOCKET), reader.read(&entry::SOCKET_PERMISSIONS));
    let unused = |unused: &[(&str, bool)]| {
        let names: Vec<_> = unused.iter().filter(|(_, set)| *set).map(|(name, _)| *name).collect();
        names.join(", ")
    };
    let (named, beaten) = if listen.is_set() {
        let beaten =
            [(&*host.name, host.is_set()), (&*port.name, port.is_set()), (&*socket.name, socket.is_set())];
        (Some((listen.name.clone(), listen.source.clone())), unused(&beaten))
    } else if socket.is_set() {
        let beaten = [(&*host.name, host.is_set()), (&*port.name, port.is_set())];
        (Some((socket.name.clone(), socket.source.clone())), unused(&beaten))
    } else {
        (None, String::new())
    };
    if let (Some((name, source)), false) = (named, beaten.is_empty()) {
        reader.notice(format!("not used, for {name} ({source}) says where to listen: {beaten}"));
    }
    let is_listen_set = listen.is_set();
    let chosen = match (listen.value, socket.value) {
        (Some(listen), _) => listen,
        (None, Some(socket)) if !is_listen_set => socket,
        _ => {
            Listen::Tcp { host: host.value.unwrap_or(Host::Localhost), port: port.value.unwrap_or_default() }
        }
    };
    reader.amend_row(entry::LISTEN.path, chosen.to_string());
    match chosen {
        Listen::Unix { path, .. } => Listen::Unix { path, mode: mode.get() },
        tcp @ Listen::Tcp { .. } => tcp,
    }
}

pub(super) fn admin(reader: &mut Reader<'_>, gateway: &Listen) -> Option<Admin> {
    let listen = reader.read(&entry::ADMIN_LISTEN);
    let key: Option<Secret> = reader.read(&entry::ADMIN_KEY).value;
    let (name, at) = (listen.name.clone(), listen.at());
    let listen = match listen.value?? {
        Listen::Unix { path, .. } => Listen::Unix { path, mode: ADMIN_SOCKET_MODE },
        tcp @ Listen::Tcp { .. } => tcp,
    };
    if collide(&listen, gateway) {
        reader.fault(
            name.clone(),
            at.clone(),
            format!("{listen} is where the gateway itself listens ({gateway})"),
            "choose another port, or off",
        );
    }
    if !listen.is_local() && key.is_none() {
        reader.incomplete(
            name,
            at,
            format!("{listen} can be reached from elsewhere, and operators need no key there"),
            "set TIDEGATE_ADMIN_KEY (admin.key), or listen on 127.0.0.1",
        );
    }
    Some(Admin { listen, key })
}

/// Whether the second of two listeners could not be bound.
fn collide(a: &Listen, b: &Listen) -> bool {
    match (a, b) {
        (Listen::Unix { path: a, .. }, Listen::Unix { path: b, .. }) => a == b,
        (Listen::Tcp { host: a, port: one }, Listen::Tcp { host: b, port: two }) => {
            let any = |host: &Host| matches!(host, Host::Ip(ip) if ip.is_unspecified());
            let loopback = |host: &Host| match host {
                Host::Localhost => true,
                Host::Ip(ip) => *ip == std::net::Ipv4Addr::LOCALHOST || *ip == std::net::Ipv6Addr::LOCALHOST,
                Host::Name(_) => false,
            };
            let same = a == b || any(a) || any(b);
            let by_name = (*a == Host::Localhost && loopback(b)) || (*b == Host::Localhost && loopback(a));
            one == two && *one != 0 && (same || by_name)
        }
        _ => false,
    }
}

/// A gateway that lends its tokens to the whole network has to say that it means to.
pub(super) fn check_openness(reader: &mut Reader<'_>, server: &Server, routes: &[Route]) {
    let pooled = routes.iter().find(|route| route.pool.is_some());
    let pixiv = reader.preset == Some(Preset::Pixiv);
    let Some(route) = pooled.filter(|_| !pixiv && !server.open && server.client_keys.is_empty()) else {
        return;
    };
    // A faulty listener or list of keys has been told, and what stands for it says nothing.
    let told = [
        "server.listen",
        "TIDEGATE_LISTEN",
        "PIXIVFE_HOST",
        "PIXIVFE_UNIXSOCKET",
        "TIDEGATE_CLIENT_KEYS",
        "server.client_keys",
        "TIDEGATE_OPEN",
        "server.open",
    ];
    if server.listen.is_local() || reader.faults.iter().any(|fault| told.contains(&fault.name.as_str())) {
        return;
    }
    let (name, at) = whence(reader);
    reader.incomplete(
        name,
        at,
        format!(
            "{} can be reached from elsewhere, and anyone there could use the tokens of pool {:?} (route {})",
            server.listen,
            route.pool.as_deref().unwrap_or_default(),
            route.prefix
        ),
        "set TIDEGATE_CLIENT_KEYS (server.client_keys), listen on localhost, or set TIDEGATE_OPEN=true (server.open = true)",
    );
}

/// What chose the listener, for a fault about it.
fn whence(reader: &Reader<'_>) -> (String, Option<Source>) {
    let rows = [entry::LISTEN.path, entry::SOCKET.path, entry::HOST.path];
    let row = rows.iter().find_map(|path| {
        reader
            .rows
            .iter()
            .find(|row| row.path == *path && !matches!(row.source, Source::Default | Source::Preset(_)))
    });
    match row {
        Some(row) => (row.variable.map_or(row.path.clone(), str::to_owned), Some(row.source.clone())),
        None => (entry::LISTEN.path.to_owned(), Some(Source::Default)),
    }
}
