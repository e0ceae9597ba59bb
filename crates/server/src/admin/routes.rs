use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use http::StatusCode;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY,
    SET_COOKIE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use serde_json::json;
use tokio::sync::Semaphore;

use super::access::{AdminParams, guard};
use super::events::Events;
use super::login::{Session, form_value};
use super::page;
use super::tokens::{Now, TokenView};
use super::{Operation, Operator, Readiness};
use crate::client_keys::same;
use crate::metrics;
use crate::problem::Document;

/// What the handlers share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) operator: Arc<dyn Operator>,
    pub(super) params: Arc<AdminParams>,
    pub(super) session: Session,
    places: Arc<Semaphore>,
}

/// Open dashboards at once; each costs a look at all tokens four times a second.
const DASHBOARDS: usize = 32;

/// A login form is all that is ever sent here.
const LONGEST_BODY: usize = 8 * 1024;

const POLICY: &str =
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The operators' listener as a service.
///
/// # Errors
///
/// When the system has no randomness for the sessions of the login form.
pub(crate) fn router(operator: Arc<dyn Operator>, params: AdminParams) -> Result<Router, getrandom::Error> {
    let shared = Shared {
        operator,
        params: Arc::new(params),
        session: Session::random()?,
        places: Arc::new(Semaphore::new(DASHBOARDS)),
    };
    Ok(Router::new()
        .route("/", get(dashboard))
        .route("/events", get(events))
        .route("/style.css", get(style))
        .route("/login", get(login_form).post(login))
        .route("/healthz", get("ok\n"))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics_page))
        .route("/tokens", get(tokens))
        .route("/tokens/reset", post(reset_all))
        .route("/tokens/{id}/{operation}", post(operate))
        .route("/reload", post(reload))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(middleware::from_fn_with_state(shared.clone(), guard))
        .layer(middleware::map_response(harden))
        .with_state(shared))
}

pub(super) fn problem(status: StatusCode, name: &str, title: &str, detail: &str) -> Response {
    problem_with(status, name, title, detail, &[])
}

fn problem_with(status: StatusCode, name: &str, title: &str, detail: &str, faults: &[String]) -> Response {
    let kind = format!("urn:tidegate:{name}");
    let document = Document { kind: &kind, title, status: status.as_u16(), detail, request_id: None, faults };
    document.response().map(Body::new)
}

/// Nothing here is to be kept, framed, sniffed, or to load anything from elsewhere.
async fn harden(mut response: Response) -> Response {
    let fields: [(HeaderName, &'static str); 5] = [
        (CACHE_CONTROL, "no-store"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        // With "no-referrer" browsers would send `Origin: null` with our own forms.
        (REFERRER_POLICY, "same-origin"),
    ];
    for (name, value) in fields {
        // The dashboard has a policy of its own.
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

async fn not_found() -> Response {
    problem(StatusCode::NOT_FOUND, "not-found", "No such page", "see / for what there is")
}

async fn method_not_allowed() -> Response {
    problem(
        StatusCode::METHOD_NOT_ALLOWED,
        "method-not-allowed",
        "The method is not allowed",
        "read with GET, act with POST",
    )
}

async fn style() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], page::STYLE)
}

async fn readyz(State(shared): State<Shared>) -> (StatusCode, &'static str) {
    match shared.operator.readiness() {
        Readiness::Ready => (StatusCode::OK, "ready\n"),
        Readiness::Starting => (StatusCode::SERVICE_UNAVAILABLE, "starting\n"),
        Readiness::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "stopping\n"),
    }
}

async fn metrics_page(State(shared): State<Shared>) -> impl IntoResponse {
    ([(CONTENT_TYPE, metrics::CONTENT_TYPE)], shared.operator.metrics())
}

fn views(shared: &Shared) -> Vec<TokenView> {
    let now = Now::read();
    let pools = shared.operator.tokens();
    pools
        .into_iter()
        .flat_map(|(pool, tokens)| tokens.into_iter().map(move |token| TokenView::new(&pool, token, now)))
        .collect()
}

async fn tokens(State(shared): State<Shared>) -> Json<Vec<TokenView>> {
    Json(views(&shared))
}

async fn dashboard() -> Response {
    let page::Dashboard { page, policy } = match page::dashboard() {
        Ok(dashboard) => dashboard,
        Err(error) => {
            let why = error.to_string();
            return problem(StatusCode::INTERNAL_SERVER_ERROR, "internal", "There is no randomness", &why);
        }
    };
    ([(CONTENT_SECURITY_POLICY, policy)], Html(page)).into_response()
}

async fn events(State(shared): State<Shared>) -> Response {
    let Ok(place) = shared.places.clone().try_acquire_owned() else {
        let detail = format!("{DASHBOARDS} dashboards are open; close one");
        return problem(StatusCode::SERVICE_UNAVAILABLE, "full", "Too many dashboards are open", &detail);
    };
    let events = Body::new(Events::new(shared.operator.clone(), place));
    // nginx would hold the events back.
    let unbuffered = (HeaderName::from_static("x-accel-buffering"), "no");
    ([(CONTENT_TYPE, "text/event-stream"), unbuffered], events).into_response()
}

async fn reset_all(State(shared): State<Shared>) -> StatusCode {
    shared.operator.reset_all();
    tracing::info!("an operator has reset all tokens");
    StatusCode::NO_CONTENT
}

async fn operate(State(shared): State<Shared>, Path((id, operation)): Path<(String, String)>) -> Response {
    let Some(operation) = Operation::named(&operation) else { return not_found().await };
    let done = id.parse().ok().map(|id| (id, shared.operator.operate(id, operation)));
    match done {
        Some((id, Ok(()))) => {
            tracing::info!(token = %id, ?operation, "an operator has changed a token's state");
            StatusCode::NO_CONTENT.into_response()
        }
        _ => problem(StatusCode::NOT_FOUND, "unknown-token", "No such token", "see /tokens for the ids"),
    }
}

async fn reload(State(shared): State<Shared>) -> Response {
    match shared.operator.reload().await {
        Ok(notices) => Json(json!({ "reloaded": true, "notices": notices })).into_response(),
        Err(faults) => {
            let detail = format!("{} faults; the old settings stay", faults.len());
            let title = "The settings are not valid";
            problem_with(StatusCode::UNPROCESSABLE_ENTITY, "bad-settings", title, &detail, &faults)
        }
    }
}

async fn login_form(State(shared): State<Shared>) -> Response {
    match shared.params.key {
        Some(_) => page::login("").into_response(),
        None => to_dashboard(),
    }
}

async fn login(State(shared): State<Shared>, form: Bytes) -> Response {
    let Some(key) = &shared.params.key else { return to_dashboard() };
    let sent = form_value(&form, "key").unwrap_or_default();
    if !same(key.expose().as_bytes(), &sent) {
        tracing::warn!("a login with a wrong admin key");
        return (StatusCode::UNAUTHORIZED, page::login("This is not the admin key.")).into_response();
    }
    let mut response = to_dashboard();
    if let Ok(cookie) = HeaderValue::try_from(shared.session.cookie()) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

fn to_dashboard() -> Response {
    (StatusCode::SEE_OTHER, [(LOCATION, "/")]).into_response()
}
