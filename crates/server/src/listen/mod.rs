//! Listening: sockets, connections, and every limit on how long a peer may take.
//!
//! [`bind()`] opens the sockets, [`serve()`] accepts on them until it is told to stop. HTTP/1.1 and HTTP/2 with prior
//! knowledge (h2c) share a port. hyper sets no limit on a connection that sends nothing, so each one is driven by a
//! [`connection`] that does.

mod activity;
mod bind;
mod body;
mod connection;
mod descriptors;
mod executor;
mod io;
mod linger;
mod serve;
mod socket_file;
#[cfg(test)]
mod tests;

pub(crate) use bind::{BindError, Bound, bind};
pub(crate) use body::{RequestBody, RequestBodyError};
pub(crate) use connection::Peer;
pub(crate) use descriptors::raise_descriptor_limit;
pub(crate) use serve::{ServeParams, Served, serve};
