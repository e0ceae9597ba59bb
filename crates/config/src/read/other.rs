use crate::{
    catalogue::other as entry,
    reader::{Reader, Scope},
    settings::{Log, Store, StorePlace},
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
    let place = reader.read(&entry::STORE);
    if let Some(beyond) = place.value.as_ref().filter(|place| **place != StorePlace::Memory) {
        let kind = if matches!(beyond, StorePlace::File(_)) { "file:" } else { "redis:" };
        reader.fault(
            place.name.clone(),
            place.at(),
            format!("a {kind} store is not in this version"),
            "write memory: or leave it out; tokens then start afresh with the process",
        );
    }
    Store { place: place.get(), key: reader.read(&entry::STORE_KEY).value }
}

pub(super) fn log(reader: &mut Reader<'_>) -> Log {
    Log { level: reader.read(&entry::LOG_LEVEL).get(), format: reader.read(&entry::LOG_FORMAT).get() }
}
