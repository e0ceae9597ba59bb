//! What the README says of the settings is what the binary reads.

#[test]
fn the_table_of_settings_is_the_catalogues() {
    let table = tidegate_config::settings_table();
    let readme = include_str!("../../../../README.md");
    assert!(readme.contains(&table), "the table in README.md should be:\n\n{table}");
}
