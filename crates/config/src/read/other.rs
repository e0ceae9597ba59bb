use crate::{
    catalogue::other as entry,
    reader::{Reader, Scope},
    settings::{Log, Store},
};

pub(super) fn replicas(reader: &mut Reader<'_>) -> u32 {
    let replicas = reader.read(&entry::REPLICAS);
    let beside = reader.read_if_set(&entry::TOKEN_REPLICAS, Scope::Main);
    match beside {
        Some(beside) if !replicas.is_set() => {
            reader.drop_row(entry::REPLICAS.path);
            beside
        }
        _ => replicas,
    }
    .value
    .unwrap_or(1)
}

pub(super) fn store(reader: &mut Reader<'_>) -> Store {
    Store { place: reader.read(&entry::STORE).get(), key: reader.read(&entry::STORE_KEY).value }
}

pub(super) fn log(reader: &mut Reader<'_>) -> Log {
    Log { level: reader.read(&entry::LOG_LEVEL).get(), format: reader.read(&entry::LOG_FORMAT).get() }
}
