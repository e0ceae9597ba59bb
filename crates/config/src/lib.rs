#![doc = include_str!("../README.md")]

mod catalogue;
mod decode;
mod dotenv;
mod duration;
mod fault;
mod layers;
mod load;
mod loaded;
mod parse;
mod preset;
mod problem;
mod program;
mod read;
mod reader;
mod secret;
mod settings;
mod size;
mod sources;
mod tokens;
mod toml_source;
mod unknown;

pub use catalogue::table::settings_table;
pub use duration::{DurationError, parse_duration, show_duration};
pub use fault::{Fault, Faults, Notice, Source};
pub use load::{Purpose, load, load_for};
pub use loaded::{Loaded, Provenance, Row};
pub use preset::Preset;
pub use secret::Secret;
pub use settings::*;
pub use sources::{Files, SourceFile, Sources};
pub use tokens::{TokenEntry, TokenFileFault, parse_token_file};
