//! One TLS configuration for both transports.
