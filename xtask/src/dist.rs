//! What is handed out: one folder, as a tarball with a checksum.

mod third_party;

use std::fs;
use std::path::Path;

use xshell::{Shell, cmd};

use crate::{Outcome, man, root};

const SHELLS: [(&str, &str); 3] =
    [("bash", "tidegate.bash"), ("zsh", "_tidegate"), ("fish", "tidegate.fish")];
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Builds the binary and everything beside it into `target/packages`.
pub(crate) fn run(shell: &Shell) -> Outcome {
    cmd!(shell, "cargo build --locked --profile dist -p tidegate-server").run()?;
    // The target folder may be elsewhere; cargo says where.
    let metadata = third_party::metadata(shell)?;
    let target = Path::new(metadata["target_directory"].as_str().ok_or("no target_directory")?).to_owned();
    let binary = target.join("dist/tidegate");
    let said = cmd!(shell, "{binary} --version").read()?;
    let version = said.split_whitespace().last().ok_or("the binary says no version")?;
    let triple = host(shell)?;
    let name = format!("tidegate-{version}-{triple}");
    let dist = target.join("packages");
    let folder = dist.join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }

    copy(&binary, &folder.join("bin/tidegate"))?;
    man::write(&folder.join("share/man/man1"))?;
    for (kind, file) in SHELLS {
        let script = cmd!(shell, "{binary} completions {kind}").output()?.stdout;
        let path = folder.join("share/completions").join(file);
        fs::create_dir_all(path.parent().unwrap_or(&folder))?;
        fs::write(path, script)?;
    }
    for document in DOCUMENTS {
        copy(&root().join(document), &folder.join(document))?;
    }
    for tree in ["deploy", "docs/guides"] {
        copy_tree(&root().join(tree), &folder.join(tree))?;
    }
    fs::write(folder.join("THIRD-PARTY.txt"), third_party::notices(shell, &metadata)?)?;
    pack(shell, &dist, &name)
}

/// The same files make the same tarball: sorted, owned by nobody, dated by the last commit.
fn pack(shell: &Shell, dist: &Path, name: &str) -> Outcome {
    let date = cmd!(shell, "git log -1 --format=%ct").read().unwrap_or_else(|_| "0".to_owned());
    let _there = shell.push_dir(dist);
    let tarball = format!("{name}.tar.gz");
    let order = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u+rw,go+r,go-w"];
    cmd!(shell, "tar {order...} --mtime=@{date} -czf {tarball} {name}").run()?;
    let sum = cmd!(shell, "sha256sum {tarball}").read()?;
    shell.write_file(dist.join(format!("{tarball}.sha256")), format!("{sum}\n"))?;
    println!("{}\n{sum}", dist.join(&tarball).display());
    Ok(())
}

fn host(shell: &Shell) -> Result<String, Box<dyn std::error::Error>> {
    let said = cmd!(shell, "rustc -vV").read()?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("rustc says no host")?.to_owned())
}

fn copy(from: &Path, to: &Path) -> Outcome {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::copy(from, to).map_err(|error| format!("{}: {error}", from.display()))?;
    Ok(())
}

fn copy_tree(from: &Path, to: &Path) -> Outcome {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() { copy_tree(&entry.path(), &to)? } else { copy(&entry.path(), &to)? }
    }
    Ok(())
}
