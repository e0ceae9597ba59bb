//! A real Redis on a free port of this machine, to be stopped, frozen, killed and started again.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

/// Ended when it is dropped.
pub(crate) struct RedisServer {
    child: Child,
    pub(crate) port: u16,
    arguments: Vec<String>,
    _folder: tempfile::TempDir,
}

impl RedisServer {
    /// With these settings beside a free port and no files; none where no server is installed, which is told
    /// loudly, and in CI is a failure.
    pub(crate) fn start(arguments: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut all =
            vec!["--save".to_owned(), String::new(), "--dir".into(), folder.path().display().to_string()];
        all.extend(arguments.iter().map(ToString::to_string));
        // Between its choice and its use another process may take the port.
        for _ in 0..20 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            match spawn(port, &all) {
                Started::Yes(child) => return Some(Self { child, port, arguments: all, _folder: folder }),
                Started::No => {}
                Started::NotInstalled => {
                    assert!(option_env!("CI") != Some("true"), "CI needs redis-server");
                    eprintln!("\n!!! SKIPPED: no redis-server is installed (apt-get install redis-server)\n");
                    return None;
                }
            }
        }
        panic!("redis-server does not start with {arguments:?}");
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Holds it: it keeps its connections and answers nothing.
    pub(crate) fn freeze(&self) {
        self.signal("STOP");
    }

    pub(crate) fn thaw(&self) {
        self.signal("CONT");
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Again on the same port, with nothing in it.
    pub(crate) fn start_again(&mut self) {
        self.kill();
        for _ in 0..200 {
            if let Started::Yes(child) = spawn(self.port, &self.arguments) {
                self.child = child;
                return;
            }
        }
        panic!("redis-server does not start again");
    }

    /// What the server itself says to a command.
    pub(crate) fn cli(&self, arguments: &[&str]) -> String {
        let out =
            Command::new("redis-cli").arg("-p").arg(self.port.to_string()).args(arguments).output().unwrap();
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}

enum Started {
    Yes(Child),
    No,
    NotInstalled,
}

fn spawn(port: u16, arguments: &[String]) -> Started {
    let mut command = Command::new("redis-server");
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1"]);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return Started::NotInstalled };
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    if lines.by_ref().map_while(Result::ok).any(|line| line.contains("Ready to accept connections")) {
        // Its pipe must not fill.
        std::thread::spawn(move || lines.for_each(drop));
        return Started::Yes(child);
    }
    let _ = child.kill();
    let _ = child.wait();
    Started::No
}
