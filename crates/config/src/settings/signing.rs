/// Which requests a pool signs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signing {
    /// The methods; empty is all.
    pub methods: Vec<String>,
    /// What a path must begin with; empty is anything.
    pub allow: Vec<String>,
    /// What it must not begin with (written with `!` before it).
    pub deny: Vec<String>,
}
