//! Loads the settings of the folder and environment it runs in, and prints them or every fault:
//!
//! ```text
//! PIXIVFE_TOKEN=abc cargo run -p tidegate-config --example settings
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example prints")]

use std::process::ExitCode;

use tidegate_config::{Sources, load};

fn main() -> ExitCode {
    let sources = Sources::from_process(std::env::args_os().nth(1).map(Into::into));
    match load(&sources) {
        Ok(loaded) => {
            for notice in &loaded.notices {
                eprintln!("note: {notice}");
            }
            println!("{}", loaded.provenance);
            ExitCode::SUCCESS
        }
        Err(faults) => {
            eprintln!("{faults}");
            ExitCode::from(2)
        }
    }
}
