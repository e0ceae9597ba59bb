//! The one function that reads the process, run in a process of its own.

use std::{fs, path::Path, process::Command};

use tidegate_config::Sources;

/// Set in the child: it then gathers its sources and prints where they come from.
const CHILD: &str = "CONFIG_TEST_CHILD";

fn child(folder: &Path, variables: &[(&str, &str)]) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "process::a_process_is_read_from_its_folder_and_environment", "--nocapture"])
        .current_dir(folder)
        .env_clear()
        .env(CHILD, "1")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.split_once("child: ")).map(|(_, said)| said.to_owned()).collect()
}

#[test]
fn a_process_is_read_from_its_folder_and_environment() {
    if Sources::from_process(None).variable(CHILD).is_some() {
        let sources = Sources::from_process(None);
        let file = |file: &Option<tidegate_config::SourceFile>| {
            file.as_ref()
                .map_or("none".to_owned(), |file| format!("{} {}", file.path.display(), file.content.is_ok()))
        };
        println!(
            "child: {}, {}, {:?}",
            file(&sources.dotenv),
            file(&sources.file),
            sources.variable("PIXIVFE_PORT")
        );
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    assert_eq!(child(folder.path(), &[]), "none, none, None");
    write("tidegate.toml", "");
    write("other.toml", "");
    write("named.toml", "");
    write(".env", "# nothing\n");
    assert_eq!(child(folder.path(), &[("PIXIVFE_PORT", "1")]), ".env true, tidegate.toml true, Some(\"1\")");
    write(".env", "TIDEGATE_CONFIG=other.toml\n");
    for unset in ["", "  "] {
        let found = child(folder.path(), &[("TIDEGATE_CONFIG", unset)]);
        assert_eq!(found, ".env true, other.toml true, None", "{unset:?}");
    }
    assert_eq!(
        child(folder.path(), &[("TIDEGATE_CONFIG", "named.toml")]),
        ".env true, named.toml true, None"
    );
    assert_eq!(child(folder.path(), &[("TIDEGATE_CONFIG", "away.toml")]), ".env true, away.toml false, None");
}

#[test]
fn a_named_file_that_is_away_is_a_fault() {
    let folder = tempfile::tempdir().unwrap();
    let sources = Sources {
        file: Sources::from_process(Some(folder.path().join("away.toml"))).file,
        ..Sources::default()
    };
    let told = super::faults(&sources);
    assert!(told.starts_with("the file ("), "{told}");
    assert!(told.contains("away.toml): cannot be read: No such file"), "{told}");
    assert_eq!(told.lines().count(), 1, "what may stand in it is not missed: {told}");
}
