//! The registry that a command speaks to, and with which token.

use std::fs;

use sinew_engine::{Engine, Error, ErrorKind};
use sinew_exec::install::Names;
use sinew_hub::credentials::Credentials;
use sinew_hub::net::{Call, Http, HttpOptions, Times, Token};
use sinew_hub::publisher::Publisher;
use sinew_hub::reference::{Reading, Reference, RegistryRef};
use sinew_hub::registry::Named;
use sinew_hub::settings::{Base, Said, Settings, address, below, shown};
use sinew_hub::{Class, HubError};
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
pub(super) struct Remote<'a> {
    engine: &'a Engine,
    pub(super) base: Url,
    http: Http,
    is_default: bool,
}

impl<'a> Remote<'a> {
    pub(super) fn open(args: &RemoteArgs, engine: &'a Engine) -> Result<Self, Error> {
        let env = engine.environment();
        let said = Said { registry: args.registry.clone(), offline: false };
        let settings = Settings::read(engine.config(), env, &said).map_err(told)?;
        let options = HttpOptions {
            network: settings.network,
            trusted: settings.trusted,
            authorities: env.var_path("SSL_CERT_FILE").and_then(|path| fs::read(path).ok()),
            names: Names::System,
            times: Times::default(),
        };
        let http = Http::new(options, env.clock.clone()).map_err(told)?;
        let base = match settings.registry {
            Base::At(base) => base,
            Base::AnnouncedBy(site) => announced(&http, &site).map_err(told)?,
        };
        Ok(Self { engine, base, http, is_default: args.registry.is_none() })
    }

    pub(super) fn shown(&self) -> String {
        shown(&self.base)
    }

    pub(super) fn credentials(&self) -> Credentials<'_> {
        Credentials::new(self.engine.environment())
    }

    /// Somebody who may change things there, by the token of this machine.
    pub(super) fn publisher(&self) -> Result<Publisher<'_>, Error> {
        let token = self.credentials().find(&self.base, self.is_default).map_err(told)?;
        let token = token.ok_or_else(|| {
            let text = format!("there is no token for {}", self.shown());
            Error::new(ErrorKind::Environment, "auth", text).hint("log in: sinew registry login")
        })?;
        Ok(self.publisher_with(token))
    }

    /// The same with a token that is not kept yet.
    pub(super) fn publisher_with(&self, token: Token) -> Publisher<'_> {
        Publisher::new(self.base.clone(), token, &self.http)
    }
}

/// Where a site says that its registry is.
fn announced(http: &Http, site: &Url) -> Result<Url, HubError> {
    for path in ["/.well-known/clawhub.json", "/.well-known/clawdhub.json"] {
        let answer = http.call(&Call::get(below(site, path)), &mut |_, _| {})?;
        if !answer.is_ok() {
            continue;
        }
        let document = answer.json()?;
        let base = document["apiBase"].as_str().or(document["registry"].as_str());
        if let Some(base) = base {
            return address("apiBase", base);
        }
    }
    Ok(site.clone())
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

/// What a registry said, as surfaces say it.
pub(super) fn told(error: HubError) -> Error {
    let kind = match error.class() {
        Class::No => ErrorKind::No,
        Class::Usage => ErrorKind::Usage,
        Class::Refused => ErrorKind::Refused,
        Class::Environment => ErrorKind::Environment,
    };
    let start = Error::new(kind, error.word.as_str(), error.message);
    error.hints.into_iter().fold(start, Error::hint)
}
