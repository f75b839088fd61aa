//! A model on loopback for real agents in tests: [`LoopbackModel`] with the script that most of them
//! want. It calls one tool where that is offered, then says that it is done, and keeps every request.

use serde_json::Value;
use sinew_loopback::{LoopbackModel, ModelScript, SchemaRule};

/// What it says at the end of a turn.
const DONE: &str = "All done.";

/// A model that agents can be pointed at.
#[derive(Debug)]
pub struct AgentModel {
    address: String,
    model: LoopbackModel,
}

impl AgentModel {
    /// A model that calls the tool whose name ends like this, with these arguments, once.
    pub fn calling_tool(tool: &str, arguments: Value) -> Self {
        Self::scripted(ModelScript::text(DONE).calling(tool, arguments), SchemaRule::Lenient)
    }

    /// A model with a script of its own.
    pub fn scripted(script: ModelScript, rule: SchemaRule) -> Self {
        let model = LoopbackModel::start(script, rule).expect("a free port");
        Self { address: model.address(), model }
    }

    /// Its address.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The bodies that came in so far.
    pub fn requests(&self) -> Vec<Value> {
        self.model.requests().into_iter().map(|request| request.body).collect()
    }

    /// The model itself.
    pub fn model(&self) -> &LoopbackModel {
        &self.model
    }
}
