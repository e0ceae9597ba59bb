use super::*;
use crate::world::{Counted, Hints, Model, Rate};

const WHOLE: &str = r#"
[token]
max_wait = "2s"

[simulate]
tokens = 3
limit = "bucket 20/1s burst 40"
counted = "address"
tells = "both"
latency = "80ms"
spread = 0.3
errors = 0.01
not_found = 0.05
rate = ["10/1s", "60/1s"]
clients = [1, 1, 10]
deadline = "4s"
warm_up = "1m"
measured = "10m"
policies = ["ours", "best"]
seeds = 2

[[simulate.event]]
what = "outage"
from = "2m"
lasts = "30s"

[[simulate.event]]
what = "revoked"
token = 3
from = "5m"

[retry]
max_retries = 1
"#;

#[test]
fn a_whole_file_is_read() {
    let plan = Plan::read("plan.toml", WHOLE).unwrap();
    assert_eq!(plan.settings.max_wait(), Duration::from_secs(2));
    assert_eq!((plan.seeds, &plan.policies[..]), (2, &[Named::Ours, Named::Best][..]));
    let loads: Vec<Traffic> = plan.worlds.iter().map(|world| world.traffic).collect();
    assert_eq!(loads, [Traffic::Poisson { load: 0.5 }, Traffic::Poisson { load: 3.0 }]);
    let world = &plan.worlds[0];
    let rate = Rate { count: 20, per: Duration::from_secs(1) };
    assert_eq!(world.model, Model::Bucket { rate, burst: 40 });
    assert_eq!((world.tokens, world.counted, world.hints), (3, Counted::Address, Hints::Both));
    assert_eq!((world.errors, world.not_found, &world.clients[..]), (0.01, 0.05, &[1.0, 1.0, 10.0][..]));
    assert_eq!(
        (world.deadline, world.warm_up.as_secs(), world.measured.as_secs()),
        (Duration::from_secs(4), 60, 600)
    );
    assert_eq!(world.events[0].until(), Duration::from_secs(150));
    assert_eq!(world.events[1].what, Happening::Revoked { token: 2 });
    assert_eq!(plan.cases().len(), 4);
}

#[test]
fn a_fault_is_told_with_its_place_and_its_mend() {
    let rows = [
        "",
        "[simulate]\nlimit = \"window 60/1m\"",
        "[simulate]\ntokens = 5",
        "[simulate]\ntokens = 0\nlimit = \"window 60/1m\"",
        "[simulate]\ntokens = 5\nlimit = \"window 60\"",
        "[simulate]\ntokens = 5\nlimit = \"bucket 2/1s\"",
        "[simulate]\ntokens = 5\nlimit = \"bucket 2/1s burst 0\"",
        "[simulate]\ntokens = 5\nlimit = \"window 60/1m\"\nlatency = \"120\"",
        "[simulate]\ntokens = 5\nlimit = \"window 60/1m\"\nnot_found = 5",
        "[simulate]\ntokens = 5\nlimit = \"window 60/1m\"\nload = [0.5, 0]",
        "[simulate]\ntokens = 5\nlimit = \"window 60/1m\"\nmeasurd = \"1m\"",
        "[simulate]\ntokens = 5\nlimit = \"window 60/1m\"\nmeasured = \"0\"",
        "[simulate]\ntokens = 5\nlimit = \"window 60/1m\"\ncounted = \"caller\"",
        "[simulate]\ntokens = 5\nlimit = \"window 60/1m\"\npolicies = [\"theirs\"]",
        "[simulate]\ntokens = 5\nlimit = \"window 60/1m\"\nload = [1.0]\nrate = [\"5/1s\"]",
        "[simulate]\ntokens = 5\nlimit = \"window 60/1m\"\nthink = \"1s\"",
        "[simulate]\ntokens = 5\nlimit = \"window 60/1m\"\nusers = [5]\nload = [1.0]",
        "[simulate]\ntokens = 5\nlimit = \"window 60/1m\"\n[[simulate.event]]\nwhat = \"flood\"\nfrom = \"1m\"",
        "[simulate]\ntokens = 5\nlimit = \"window 60/1m\"\n[[simulate.event]]\nwhat = \"revoked\"\nfrom = \"1m\"\ntoken = 6",
        "[simulate]\ntokens = 5\nlimit = \"window 60/1m\"\n\n[token]\nmax_wiat = \"2s\"",
    ];
    let told: Vec<String> = rows
        .iter()
        .map(|text| format!("{}\n=> {}", text.trim(), Plan::read("plan.toml", text).unwrap_err()))
        .collect();
    insta::assert_snapshot!(told.join("\n\n"));
}

#[test]
fn the_files_in_the_documentation_are_read() {
    let page = include_str!("../../../../docs/simulation.md");
    let files: Vec<&str> =
        page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(files.len(), 2);
    for file in files {
        let plan = Plan::read("docs/simulation.md", file).unwrap();
        assert_eq!(plan.worlds[0].tokens, 5);
    }
}
