//! The README's table is the catalogue's.

use tidegate_config::settings_table;

#[test]
fn the_readme_holds_the_table_of_settings() {
    let readme = include_str!("../../README.md");
    assert!(readme.contains(&settings_table()), "the table in README.md should be:\n\n{}", settings_table());
}
