/// Takes a text apart into `[simulate]` with what is below it, and all else. Each half keeps the other's lines as
/// empty ones, so that a fault in it is told with its line in the file.
pub(super) fn split(text: &str) -> (String, String) {
    let (mut world, mut settings) = (String::new(), String::new());
    let mut is_world = false;
    for line in text.lines() {
        if let Some(heading) = line.trim_start().strip_prefix('[') {
            let name = heading.trim_start_matches('[').trim_start();
            let rest = name.strip_prefix("simulate").map(str::trim_start);
            is_world = rest.is_some_and(|rest| rest.starts_with([']', '.']));
        }
        let (own, other) = if is_world { (&mut world, &mut settings) } else { (&mut settings, &mut world) };
        own.push_str(line);
        own.push('\n');
        other.push('\n');
    }
    (world, settings)
}
