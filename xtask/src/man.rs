//! The manual pages: `tidegate.1`, and one for each command.

use std::fs;
use std::path::Path;

use clap::CommandFactory;

use crate::Outcome;
use crate::cli::Cli;

/// Writes them into `folder`, which is made where it is missing.
pub(crate) fn write(folder: &Path) -> Outcome {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(<Cli as CommandFactory>::command(), folder)?;
    println!("{}", folder.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_its_page() {
        let folder = std::env::temp_dir().join(format!("tidegate-man-{}", std::process::id()));
        write(&folder).unwrap();
        let pages =
            ["tidegate", "tidegate-serve", "tidegate-tokens", "tidegate-tokens-reset", "tidegate-demo"];
        for page in pages {
            let text = fs::read_to_string(folder.join(format!("{page}.1"))).unwrap();
            assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"), "{page}: {text}");
        }
        let own = fs::read_to_string(folder.join("tidegate.1")).unwrap();
        assert!(own.contains("Exit status: 0 all is well"), "{own}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
