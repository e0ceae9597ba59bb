//! Where settings come from: the one place in the workspace that reads the environment.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt, fs, io,
    path::{Path, PathBuf},
};

use crate::{
    layers::{self, Layers},
    program,
    settings::ProxyVariables,
};

/// All that [`load`](crate::load) looks at. The same sources give the same settings, so tests and the demo make their
/// own, and a reload gathers them anew.
///
/// ```
/// use tidegate_config::{Sources, load};
///
/// let sources = Sources::default().with_env("PIXIVFE_TOKEN", "abc").with_env("PIXIVFE_PORT", "9000");
/// let loaded = load(&sources).unwrap();
/// assert_eq!(loaded.settings.server.listen.to_string(), "localhost:9000");
/// ```
#[derive(Clone, Default)]
pub struct Sources {
    /// The environment. Of two entries with one name the later holds.
    pub env: Vec<(OsString, OsString)>,
    /// `.env` in the working directory, if there is one.
    pub dotenv: Option<SourceFile>,
    /// The TOML file, if there is one.
    pub file: Option<SourceFile>,
    /// How the files that settings name (token files) are read.
    pub files: Files,
}

/// A file that was read, or why it could not be.
#[derive(Clone)]
pub struct SourceFile {
    /// Its path, as it was given.
    pub path: PathBuf,
    /// Its bytes, or what the system said.
    pub content: Result<Vec<u8>, String>,
}

/// How the files that settings name are read.
#[derive(Clone, Default)]
pub enum Files {
    /// From the disk, when [`load`](crate::load) runs.
    #[default]
    Disk,
    /// From here and from nowhere else; also what a program prints, by its command.
    Memory(BTreeMap<PathBuf, Vec<u8>>),
}

impl Sources {
    /// Gathers the process's environment, `.env` in the working directory, and the TOML file: `config` (the command
    /// line's `-c`), else what TIDEGATE_CONFIG names, else `./tidegate.toml` if there is one.
    ///
    /// A file that cannot be read is a fault for [`load`](crate::load) to tell, together with all others.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that the rule leaves")]
    pub fn from_process(config: Option<PathBuf>) -> Self {
        let env: Vec<_> = std::env::vars_os().collect();
        let dotenv = SourceFile::read_if_there(Path::new(".env"));
        let named = config.or_else(|| {
            layers::config_path(&env, dotenv.as_ref().and_then(|file| file.content.as_deref().ok()))
        });
        let file = match named {
            Some(path) => Some(SourceFile::read(&path)),
            None => SourceFile::read_if_there(Path::new("tidegate.toml")),
        };
        Self { env, dotenv, file, files: Files::Disk }
    }

    /// Sets a variable, in place of one of that name; an empty value unsets it.
    #[must_use = "the sources are returned, not changed in place"]
    pub fn with_env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let name = name.into();
        self.env.retain(|(known, _)| *known != name);
        self.env.push((name, value.into()));
        self
    }

    /// Uses this text as the TOML file.
    #[must_use = "the sources are returned, not changed in place"]
    pub fn with_toml(mut self, path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        self.file = Some(SourceFile { path: path.into(), content: Ok(text.into().into_bytes()) });
        self
    }

    /// Uses this text as the `.env` file.
    #[must_use = "the sources are returned, not changed in place"]
    pub fn with_dotenv(mut self, text: impl Into<String>) -> Self {
        self.dotenv = Some(SourceFile { path: ".env".into(), content: Ok(text.into().into_bytes()) });
        self
    }

    /// A variable of the environment, if it is set to something. For what belongs to the system and not to the
    /// settings, such as NOTIFY_SOCKET.
    pub fn variable(&self, name: &str) -> Option<&OsString> {
        self.env
            .iter()
            .rev()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
            .filter(|value| !value.is_empty())
    }

    /// Whether NO_COLOR asks for plain text (<https://no-color.org>).
    pub fn no_color(&self) -> bool {
        self.variable("NO_COLOR").is_some()
    }

    /// Where the service manager wants to hear of the start (sd_notify), if there is one.
    pub fn notify_socket(&self) -> Option<&OsString> {
        self.variable("NOTIFY_SOCKET")
    }
}

impl SourceFile {
    /// Reads a file that must be there.
    pub fn read(path: &Path) -> Self {
        Self { path: path.to_owned(), content: fs::read(path).map_err(|error| error.to_string()) }
    }

    fn read_if_there(path: &Path) -> Option<Self> {
        match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            read => Some(Self { path: path.to_owned(), content: read.map_err(|error| error.to_string()) }),
        }
    }
}

impl Files {
    pub(crate) fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        match self {
            Self::Disk => fs::read(path).map_err(|error| error.to_string()),
            Self::Memory(files) => files.get(path).cloned().ok_or_else(|| "there is no such file".to_owned()),
        }
    }

    /// What a program prints.
    pub(crate) fn run(&self, command: &str) -> Result<Vec<u8>, String> {
        match self {
            Self::Disk => program::output(command).map_err(|error| error.to_string()),
            Self::Memory(files) => {
                files.get(Path::new(command)).cloned().ok_or_else(|| "nothing is run here".to_owned())
            }
        }
    }
}

/// The usual proxy variables, lower case before upper case, as curl has it.
pub(crate) fn proxy_variables(layers: &Layers) -> ProxyVariables {
    let find = |names: &[&'static str]| layers.variable(names).map(|set| set.value.to_owned());
    // HTTP_PROXY is what a CGI server makes of a request's `Proxy` field: there the lower case alone is to be trusted.
    let cgi = layers.variable(&["REQUEST_METHOD"]).is_some();
    let http: &[&str] = if cgi { &["http_proxy"] } else { &["http_proxy", "HTTP_PROXY"] };
    ProxyVariables {
        http: find(http).map(Into::into),
        https: find(&["https_proxy", "HTTPS_PROXY"]).map(Into::into),
        all: find(&["all_proxy", "ALL_PROXY"]).map(Into::into),
        no: find(&["no_proxy", "NO_PROXY"]),
    }
}

/// Sources hold secrets, so nothing of a value is printed.
impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources")
            .field("dotenv", &self.dotenv)
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for SourceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceFile").field("path", &self.path).finish_non_exhaustive()
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disk => f.write_str("Disk"),
            Self::Memory(files) => f.debug_set().entries(files.keys()).finish(),
        }
    }
}
