//! From the texts that were given to what the server says of models.

use crate::config::{
    github_address::safe_address,
    models::{ModelApi, ModelSettings, model_list},
    server_parse::Parser,
};

impl Parser {
    /// Addresses, keys and names of models; mistakes are remembered.
    pub(crate) fn models(&mut self) -> ModelSettings {
        ModelSettings {
            anthropic: ModelApi {
                url: self.parse("ANTHROPIC_URL", safe_address),
                key: self.secret("ANTHROPIC_API_KEY"),
            },
            openai: ModelApi {
                url: self.parse("OPENAI_URL", safe_address),
                key: self.secret("OPENAI_API_KEY"),
            },
            fast: self.parse("MODEL_FAST", str::parse).unwrap_or_default(),
            strong: self.parse("MODEL_STRONG", str::parse).unwrap_or_default(),
            fallback: self.parse("MODEL_FALLBACK", str::parse).unwrap_or_default(),
            allowed: self.parse("MODELS", model_list).unwrap_or_default(),
        }
    }
}
