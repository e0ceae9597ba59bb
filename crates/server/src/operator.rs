//! What the operators' listener sees and does of the running gateway.

use std::pin::Pin;
use std::sync::Arc;

use tidegate_store::Status;
use tidegate_token_manager::{TokenId, TokenStatus, UnknownToken};

use crate::admin::{Operation, Operator, Overview, PoolOverview, Readiness, Reloaded};
use crate::live::Live;
use crate::reload::Reloader;
use crate::state::State;

/// The gateway, as its operators have it.
pub(crate) struct Running {
    pub(crate) state: Arc<State>,
    pub(crate) reloader: Arc<Reloader>,
}

impl Operator for Running {
    fn readiness(&self) -> Readiness {
        match &self.state.store {
            _ if self.state.is_stopping() => Readiness::Stopping,
            Some(store) if store.link.status() == Status::Starting => Readiness::Starting,
            _ => Readiness::Ready,
        }
    }

    fn tokens(&self) -> Vec<(String, Vec<TokenStatus>)> {
        self.state.scrape().pools
    }

    fn reset_all(&self) {
        for pool in &self.state.gateway().pools {
            pool.reset_all();
        }
    }

    fn operate(&self, id: TokenId, operation: Operation) -> Result<(), UnknownToken> {
        let mut done = Err(UnknownToken { id });
        for pool in &self.state.gateway().pools {
            done = match operation {
                Operation::Reset => pool.reset(id),
                Operation::Disable => pool.disable(id),
                Operation::Enable => pool.enable(id),
            }
            .or(done);
        }
        done
    }

    fn reload(&self) -> Pin<Box<dyn Future<Output = Reloaded> + Send + '_>> {
        Box::pin(async { self.reloader.reload() })
    }

    fn metrics(&self) -> String {
        self.state.metrics.render(&self.state.scrape())
    }

    fn live(&self) -> &Live {
        &self.state.live
    }

    fn overview(&self) -> Overview {
        let gateway = self.state.gateway();
        let pools = gateway.pools.iter().map(|pool| PoolOverview {
            name: pool.name().to_owned(),
            waiting: pool.waiting(),
            predicted_wait: pool.predicted_wait(),
        });
        Overview {
            pools: pools.collect(),
            budgets: self.state.budgets(),
            in_flight: self.state.metrics.under_way(),
        }
    }

    fn has_ended(&self) -> bool {
        self.state.has_ended()
    }
}
