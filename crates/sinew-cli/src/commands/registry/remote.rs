//! The registry that a command speaks to, and with which token.

use sinew_engine::hub::{HubOverrides, PolicyHub, ShorthandMeaning, SkillReference};
use sinew_engine::{Engine, EngineError};
use sinew_hub::credentials::RegistryCredentials;
use sinew_hub::net::AccessToken;
use sinew_hub::publisher::RegistryPublisher;
use sinew_hub::reference::RegistryRef;
use sinew_hub::registry::QualifiedSlug;
use sinew_hub::settings::display_address;
use sinew_settings::ErrorCode;
use url::Url;

/// Where a command goes.
#[derive(Debug, clap::Args)]
pub(super) struct RegistryRemoteArgs {
    /// The registry: a URL, or a name under hub.registries
    #[arg(long, value_name = "URL")]
    registry: Option<String>,
}

/// A registry, ready to be asked.
#[derive(Debug)]
pub(super) struct RemoteRegistry<'e> {
    hub: PolicyHub<'e>,
    pub(super) base: Url,
}

impl<'e> RemoteRegistry<'e> {
    pub(super) fn open(args: &RegistryRemoteArgs, engine: &'e Engine) -> Result<Self, EngineError> {
        let hub =
            engine.hub().open(&HubOverrides { registry: args.registry.clone(), offline: false })?;
        let base = hub.default_base()?;
        Ok(Self { hub, base })
    }

    pub(super) fn display_base(&self) -> String {
        display_address(&self.base)
    }

    pub(super) fn credentials(&self) -> RegistryCredentials<'_> {
        RegistryCredentials::new(self.hub.environment())
    }

    /// A publisher with the token of this machine.
    pub(super) fn publisher(&self) -> Result<RegistryPublisher<'_>, EngineError> {
        Ok(self.hub.publisher(None)?)
    }

    /// The same with a token that is not kept yet.
    pub(super) fn publisher_with(
        &self,
        token: AccessToken,
    ) -> Result<RegistryPublisher<'_>, EngineError> {
        Ok(self.hub.publisher(Some(token))?)
    }
}

/// A skill as the user named it, which must belong to a registry.
pub(super) fn parse_skill(text: &str) -> Result<RegistryRef, EngineError> {
    let usage = |message: String| {
        EngineError::new(ErrorCode::BadReference, message).hint("write @owner/slug, or slug")
    };
    match SkillReference::parse(text, ShorthandMeaning::Registry) {
        Ok(SkillReference::Registry(skill)) => Ok(skill),
        Ok(_) => Err(usage(format!("`{text}` is not a skill of a registry"))),
        Err(error) => Err(usage(error.to_string())),
    }
}

pub(super) fn registry_name(skill: &RegistryRef) -> QualifiedSlug<'_> {
    QualifiedSlug { slug: &skill.slug, owner: skill.owner.as_deref() }
}
