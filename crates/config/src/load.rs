//! From sources to settings.

use crate::{
    fault::Faults,
    layers::Layers,
    loaded::{Loaded, Provenance},
    read,
    reader::Reader,
    sources::Sources,
    unknown,
};

/// What the settings are loaded for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// To serve: all that is needed must be there.
    #[default]
    Serve,
    /// To look at them (`tidegate config`, `tidegate schedule`): no token, no credential, a token file that is away, a
    /// gateway open to all, or an admin listener without a key are notices and no faults.
    Inspect,
}

/// Loads settings to serve with: default < preset < TOML file < `.env` < environment.
///
/// # Errors
///
/// Every fault of every source, each with its source and a way to mend it.
///
/// ```
/// use tidegate_config::{Sources, load};
///
/// let sources = Sources::default().with_env("PIXIVFE_TOKEN", "abc").with_env("PIXIVFE_API_BASE_TIMEOUT", "1000");
/// let faults = load(&sources).unwrap_err();
/// assert_eq!(
///     faults.to_string(),
///     "PIXIVFE_API_BASE_TIMEOUT (environment): \"1000\" has no unit; write 1000ms or 1s",
/// );
/// ```
pub fn load(sources: &Sources) -> Result<Loaded, Faults> {
    load_for(sources, Purpose::Serve)
}

/// The same for a [`Purpose`].
///
/// # Errors
///
/// As [`load`].
pub fn load_for(sources: &Sources, purpose: Purpose) -> Result<Loaded, Faults> {
    let layers = Layers::new(sources);
    let mut reader = Reader::new(&layers, purpose);
    unknown::check(&mut reader);
    let settings = read::settings(&mut reader, &sources.files);
    let Reader { faults, notices, rows, .. } = reader;
    if faults.is_empty() {
        Ok(Loaded { settings, notices, provenance: Provenance(rows) })
    } else {
        Err(Faults(faults))
    }
}
