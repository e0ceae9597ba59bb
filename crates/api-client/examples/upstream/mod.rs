//! An upstream for the examples: a server on a free port of this machine.

use std::net::SocketAddr;

use axum::Router;

/// Serves `app` until the example ends, and returns its URL.
pub(crate) async fn serve(app: Router) -> std::io::Result<String> {
    let listener = tokio::net::TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move { axum::serve(listener, app).await });
    Ok(url)
}
