//! The commands that hand the work to cargo.

use xshell::{Shell, cmd};

use crate::Outcome;

/// Plain `cargo test`: it runs the examples in the docs too, which nextest does not.
pub(crate) fn test(shell: &Shell) -> Outcome {
    cmd!(shell, "cargo test --workspace --all-features").run()?;
    examples(shell)
}

/// Each crate's examples, which `cargo test` has built: they bring all that they need, and end by themselves.
fn examples(shell: &Shell) -> Outcome {
    let target = shell.var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let built = shell.current_dir().join(target).join("debug/examples");
    for krate in shell.read_dir("crates")? {
        for example in shell.read_dir(krate.join("examples")).unwrap_or_default() {
            // A folder is what examples share.
            if example.extension().is_some_and(|extension| extension == "rs") {
                let program = built.join(example.file_stem().unwrap_or_default());
                // That of the settings reads some.
                cmd!(shell, "{program}").env("PIXIVFE_TOKEN", "example").ignore_stdout().run()?;
            }
        }
    }
    Ok(())
}

pub(crate) fn lint(shell: &Shell) -> Outcome {
    cmd!(shell, "cargo fmt --all --check").run()?;
    cmd!(shell, "cargo clippy --workspace --all-targets --all-features -- -D warnings").run()?;
    features(shell)?;
    oldest(shell)?;
    let _denied = shell.push_env("RUSTDOCFLAGS", "-D warnings");
    cmd!(shell, "cargo doc --workspace --all-features --no-deps").run()?;
    deny(shell)
}

/// A crate that is used alone has fewer features on than the workspace: each transport must build without the other.
fn features(shell: &Shell) -> Outcome {
    for features in ["", "hyper", "reqwest"] {
        cmd!(shell, "cargo clippy -p tidegate-api-client --lib --no-default-features --features")
            .arg(features)
            .args(["--", "-D", "warnings"])
            .run()?;
    }
    // In the workspace one crate's features of a dependency are there for all; alone each must name its own.
    for name in ["backoff-core", "config", "token-manager", "store"] {
        cmd!(shell, "cargo check --quiet -p tidegate-{name} --lib").run()?;
    }
    Ok(())
}

/// Builds all with the oldest toolchain that the crates promise (`rust-version`), where it is installed. Clippy's lint
/// for what is newer than that (`incompatible_msrv`) has looked in any case; it knows the standard library alone.
fn oldest(shell: &Shell) -> Outcome {
    let manifest = shell.read_file("Cargo.toml")?;
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \"")?.strip_suffix('"'));
    let version = version.ok_or("Cargo.toml names no rust-version")?;
    if cmd!(shell, "rustup run {version} cargo --version")
        .quiet()
        .ignore_stdout()
        .ignore_stderr()
        .run()
        .is_err()
    {
        eprintln!(
            "NOT BUILT with Rust {version}, which is not installed; `rustup toolchain install {version}` adds it. Clippy's \
             lint for newer features of the standard library found none"
        );
        return Ok(());
    }
    let _folder = shell.push_env("CARGO_TARGET_DIR", "target/oldest");
    cmd!(shell, "rustup run {version} cargo check --workspace --all-features").run()?;
    Ok(())
}

fn deny(shell: &Shell) -> Outcome {
    if cmd!(shell, "cargo deny --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
        eprintln!(
            "NOT CHECKED: licences, bans and sources. cargo-deny is missing; `cargo install cargo-deny` adds it"
        );
        return Ok(());
    }
    cmd!(shell, "cargo deny --all-features check licenses bans sources").run()?;
    Ok(())
}

/// Every interleaving of the token pool's threads. A build of its own, in a folder of its own: the flag would otherwise
/// have everything built anew, twice.
pub(crate) fn loom(shell: &Shell) -> Outcome {
    let _flag = shell.push_env("RUSTFLAGS", "--cfg loom");
    let _folder = shell.push_env("CARGO_TARGET_DIR", "target/loom");
    cmd!(shell, "cargo test -p tidegate-token-manager --release --lib loom_tests").run()?;
    Ok(())
}

/// The simulated grid, optimised: the same test is left out of `test`, where it would take minutes.
pub(crate) fn bounds(shell: &Shell) -> Outcome {
    cmd!(shell, "cargo test --profile simulate -p tidegate-simulate --test it grid").run()?;
    Ok(())
}

/// The bench targets alone: `cargo bench` without a target builds every unit test in the release profile first.
pub(crate) fn bench(shell: &Shell, only: Option<&str>) -> Outcome {
    let targets = only.unwrap_or("*");
    cmd!(shell, "cargo bench --workspace --bench {targets}").run()?;
    Ok(())
}

/// Beside other crates. It has a lock file and a target folder of its own, so that what it compares with is no part of
/// this workspace.
pub(crate) fn bench_retry(shell: &Shell) -> Outcome {
    let _folder = shell.push_dir("benches/retry");
    cmd!(shell, "cargo test --release --quiet --test rows").run()?;
    cmd!(shell, "cargo run --release --quiet").run()?;
    Ok(())
}
