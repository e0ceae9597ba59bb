use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use tidegate_token_manager::{
    Ask, Exhausted, IdKey, Lease, Outcome, PoolParams, Report, TokenId, TokenManager, TokenSpec, TokenStatus,
};

pub(crate) fn specs(names: &str) -> Vec<TokenSpec> {
    names.split_whitespace().map(TokenSpec::new).collect()
}

pub(crate) fn pool(names: &str, params: PoolParams) -> TokenManager {
    TokenManager::new("tests", params, specs(names), IdKey::from_bytes(b"tests"))
}

pub(crate) fn id(name: &str) -> TokenId {
    IdKey::from_bytes(b"tests").id(&tidegate_token_manager::Token::new(name))
}

pub(crate) fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn name(lease: &Lease) -> &str {
    lease.token().expose()
}

pub(crate) fn status(pool: &TokenManager, name: &str) -> TokenStatus {
    pool.snapshot().into_iter().find(|status| status.id == id(name)).unwrap()
}

/// Takes any ready token and has it rest this long.
pub(crate) fn rest(pool: &TokenManager, seconds: u64) {
    let mut lease = pool.try_acquire(&[]).unwrap();
    lease.settle(&Report { told: Some(secs(seconds)), ..Report::new(Outcome::Limited) });
}

/// A request that is polled by hand, and that counts how often it was woken.
pub(crate) struct Request {
    future: Pin<Box<dyn Future<Output = Result<Lease, Exhausted>> + Send>>,
    wakes: Arc<Wakes>,
}

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Request {
    /// A request that has asked, and waits.
    pub(crate) fn waiting(pool: &TokenManager) -> Self {
        Self::waiting_with(pool, secs(3600), Vec::new())
    }

    /// A request of this client that has asked, and waits.
    pub(crate) fn waiting_as(pool: &TokenManager, client: &'static str) -> Self {
        Self::ask(pool, Ask { client: Some(client), ..Ask::default() })
    }

    /// A request in this scope that has asked, and waits.
    pub(crate) fn waiting_in(pool: &TokenManager, scope: &'static str) -> Self {
        Self::ask(pool, Ask { scope: Some(scope), ..Ask::default() })
    }

    /// A request that wants this token and no other, and waits.
    pub(crate) fn waiting_for(pool: &TokenManager, only: &str) -> Self {
        Self::ask(pool, Ask { only: Some(id(only)), ..Ask::default() })
    }

    pub(crate) fn waiting_with(pool: &TokenManager, max_wait: Duration, tried: Vec<TokenId>) -> Self {
        Self::ask_again(pool, tried, Ask { max_wait, ..Ask::default() })
    }

    /// A request that asks this, and waits.
    pub(crate) fn ask(pool: &TokenManager, ask: Ask<'static>) -> Self {
        Self::ask_again(pool, Vec::new(), ask)
    }

    fn ask_again(pool: &TokenManager, tried: Vec<TokenId>, ask: Ask<'static>) -> Self {
        let pool = pool.clone();
        let ask = async move { pool.acquire(Ask { tried: &tried, ..ask }).await };
        let mut request = Self { future: Box::pin(ask), wakes: Arc::default() };
        assert!(request.poll().is_none(), "nothing is ready");
        request
    }

    pub(crate) fn poll(&mut self) -> Option<Result<Lease, Exhausted>> {
        let waker = Waker::from(Arc::clone(&self.wakes));
        match self.future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(answer) => Some(answer),
            Poll::Pending => None,
        }
    }

    /// How often it was woken since the last time this was asked.
    pub(crate) fn wakes(&self) -> usize {
        self.wakes.0.swap(0, Ordering::SeqCst)
    }

    /// The lease that it was woken for.
    pub(crate) fn granted(&mut self) -> Lease {
        assert!(self.wakes() > 0, "nobody woke it");
        self.poll().expect("it has an answer").expect("the answer is a lease")
    }

    /// The refusal that it was woken for.
    pub(crate) fn refused(&mut self) -> Exhausted {
        assert!(self.wakes() > 0, "nobody woke it");
        self.poll().expect("it has an answer").expect_err("the answer is a refusal")
    }
}
