//! Runs a program that prints tokens.

use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long it may take, and how much it may print.
const TIME: Duration = Duration::from_secs(10);
const LENGTH: u64 = 16 << 20;

/// What `command` prints: a program and its arguments, with blanks between, run without a shell. Its standard input
/// is empty, and what it prints to standard error is not shown: it may hold a secret.
pub(crate) fn output(command: &str) -> io::Result<Vec<u8>> {
    let mut words = command.split_whitespace();
    let program = words.next().ok_or_else(|| io::Error::other("no program is named"))?;
    let mut child = Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let Some(stdout) = child.stdout.take() else { return Err(io::Error::other("it has no output")) };
    // A thread reads, so that a program that prints nothing and does not end can be left.
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        let read = stdout.take(LENGTH + 1).read_to_end(&mut text).map(|_| text);
        // Who asked may have gone.
        let _ = tell.send(read);
    });
    let Ok(read) = told.recv_timeout(TIME) else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(io::Error::new(io::ErrorKind::TimedOut, format!("it has not ended after {TIME:?}")));
    };
    let text = read.and_then(|text| match text.len() as u64 {
        length if length > LENGTH => Err(io::Error::other(format!("it prints more than {LENGTH} bytes"))),
        _ => Ok(text),
    });
    if text.is_err() {
        let _ = child.kill();
    }
    let status = child.wait()?;
    if text.is_ok() && !status.success() {
        return Err(io::Error::other(format!("it failed: {status}")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_prints_is_read() {
        assert_eq!(output("printf first=abc").unwrap(), b"first=abc");
        assert_eq!(output("cat").unwrap(), b"", "its input is empty");
    }

    #[test]
    fn a_program_that_fails_is_told_without_what_it_printed() {
        let rows = [
            ("/no/such/program zq1", "No such file"),
            ("false zq1", "it failed: exit status: 1"),
            ("cat /no/such/file/zq1", "it failed: exit status: 1"),
        ];
        for (command, says) in rows {
            let error = output(command).unwrap_err().to_string();
            assert!(error.contains(says) && !error.contains("zq1"), "{command}: {error}");
        }
    }
}
