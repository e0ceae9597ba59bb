//! Tidegate's settings.

mod preset;
mod secret;
mod settings;
mod sources;
mod tokens;

pub use preset::Preset;
pub use secret::Secret;
pub use settings::*;
pub use sources::{Files, SourceFile, Sources};
pub use tokens::TokenEntry;
