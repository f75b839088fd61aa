//! The registry that a command speaks to, and with which token.

use sinew_engine::hub::{Hub, Reading, Reference, Said};
use sinew_engine::{Engine, Error, ErrorKind};
use sinew_hub::credentials::Credentials;
use sinew_hub::net::Token;
use sinew_hub::publisher::Publisher;
use sinew_hub::reference::RegistryRef;
use sinew_hub::registry::Named;
use sinew_hub::settings::shown;
use url::Url;

/// Where a command goes.
#[derive(Debug, clap::Args)]
pub(super) struct RemoteArgs {
    /// The registry: an address, or a name of hub.registries
    #[arg(long, value_name = "URL")]
    registry: Option<String>,
}

/// A registry, ready to be asked.
#[derive(Debug)]
pub(super) struct Remote {
    hub: Hub,
    pub(super) base: Url,
}

impl Remote {
    pub(super) fn open(args: &RemoteArgs, engine: &Engine) -> Result<Self, Error> {
        let hub = engine.hub(&Said { registry: args.registry.clone(), offline: false })?;
        let base = hub.default_base()?;
        Ok(Self { hub, base })
    }

    pub(super) fn shown(&self) -> String {
        shown(&self.base)
    }

    pub(super) fn credentials(&self) -> Credentials<'_> {
        Credentials::new(self.hub.environment())
    }

    /// Somebody who may change things there, by the token of this machine.
    pub(super) fn publisher(&self) -> Result<Publisher<'_>, Error> {
        Ok(self.hub.publisher(None)?)
    }

    /// The same with a token that is not kept yet.
    pub(super) fn publisher_with(&self, token: Token) -> Result<Publisher<'_>, Error> {
        Ok(self.hub.publisher(Some(token))?)
    }
}

/// A skill that somebody named, which must be one of a registry.
pub(super) fn skill(text: &str) -> Result<RegistryRef, Error> {
    let usage = |message: String| {
        Error::new(ErrorKind::Usage, "bad-reference", message).hint("write @owner/slug, or slug")
    };
    match Reference::parse(text, Reading::Registry) {
        Ok(Reference::Registry(skill)) => Ok(skill),
        Ok(_) => Err(usage(format!("`{text}` is no skill of a registry"))),
        Err(error) => Err(usage(error.to_string())),
    }
}

pub(super) fn named(skill: &RegistryRef) -> Named<'_> {
    Named { slug: &skill.slug, owner: skill.owner.as_deref() }
}
