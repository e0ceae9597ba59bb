use std::time::Duration;

use crate::{
    catalogue::upstream as entry,
    duration::show_duration,
    preset::Preset,
    reader::{Read, Reader, Scope},
    settings::{BaseUrl, ClientCredential, Credential, Proxy, Scheme, Upstream},
};

/// The upstream as it was read: what cross-checks need is still with its source.
pub(super) struct UpstreamRead {
    pub(super) url: BaseUrl,
    pub(super) credential: Read<Credential>,
    pub(super) client_credential: Read<ClientCredential>,
    pub(super) attempt_timeout: Read<Duration>,
    pub(super) connect_timeout: Duration,
    pub(super) idle_timeout: Duration,
    pub(super) proxy: Proxy,
    pub(super) accept_language: Option<String>,
    pub(super) user_agent: Option<String>,
}

impl UpstreamRead {
    pub(super) fn settings(&self) -> Upstream {
        let credential = self.credential.value.clone();
        Upstream {
            url: self.url.clone(),
            client_credential: client_credential(&self.client_credential, credential.as_ref()),
            credential,
            attempt_timeout: self.attempt_timeout.value.unwrap_or_default(),
            connect_timeout: self.connect_timeout,
            idle_timeout: self.idle_timeout,
            proxy: self.proxy.clone(),
        }
    }
}

pub(super) fn read(reader: &mut Reader<'_>) -> UpstreamRead {
    let preset = reader.read(&entry::PRESET);
    reader.preset = preset.value;
    let url = reader.read(&entry::URL);
    if reader.preset.is_none() {
        // A url that is faulty says nothing of the preset: pixiv's is the one that asks for least.
        let found = url.value.as_ref().map_or(Preset::Pixiv, Preset::of);
        reader.preset = Some(found);
        reader.amend_row(entry::PRESET.path, format!("{} (by the url)", found.as_str()));
    }
    let credential = reader.read_or_say(&entry::CREDENTIAL, Scope::Main, "none");
    let client = reader.read(&entry::CLIENT_CREDENTIAL);
    let by_kind = client_credential(&client, credential.value.as_ref());
    reader.amend_row(entry::CLIENT_CREDENTIAL.path, by_kind.as_str());
    UpstreamRead {
        url: url.value.unwrap_or_else(placeholder),
        credential,
        client_credential: client,
        attempt_timeout: reader.read(&entry::ATTEMPT_TIMEOUT),
        connect_timeout: reader.read(&entry::CONNECT_TIMEOUT).get(),
        idle_timeout: reader.read(&entry::IDLE_TIMEOUT).get(),
        proxy: reader.read(&entry::PROXY).get(),
        accept_language: reader.read_or_say(&entry::ACCEPT_LANGUAGE, Scope::Main, "the client's own").value,
        user_agent: reader.read_or_say(&entry::USER_AGENT, Scope::Main, "the client's own").value,
    }
}

/// What was set, or what goes with the kind of credential.
pub(super) fn client_credential(
    set: &Read<ClientCredential>,
    credential: Option<&Credential>,
) -> ClientCredential {
    let by_kind = credential.map_or(ClientCredential::Replace, ClientCredential::default_for);
    set.value.unwrap_or(by_kind)
}

/// Says when an attempt may take longer than its whole request, and somebody wrote so.
pub(super) fn check_timeouts(reader: &mut Reader<'_>, attempt: &Read<Duration>, request: &Read<Duration>) {
    let (Some(one), Some(whole)) = (attempt.value, request.value) else { return };
    if attempt.is_set() && !whole.is_zero() && (one > whole || one.is_zero()) {
        let length = if one.is_zero() { "off".to_owned() } else { show_duration(one) };
        let text = format!(
            "{} ({}) is {length}: an attempt ends with its request, after {} of {} ({})",
            attempt.name,
            attempt.source,
            show_duration(whole),
            request.name,
            request.source
        );
        reader.notice(text);
    }
}

/// Stands for an upstream that is faulty.
fn placeholder() -> BaseUrl {
    BaseUrl { scheme: Scheme::Https, host: "www.pixiv.net".to_owned(), port: None, path: "/".to_owned() }
}
