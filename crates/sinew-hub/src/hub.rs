//! The hub: everything that is needed to reach skills elsewhere.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::Value;
use sinew_catalog::{Config, Environment};
use sinew_exec::install::Names;
use sinew_guard::scan::Scanner;
use url::Url;

use crate::cache::Cache;
use crate::credentials::Credentials;
use crate::error::{HubError, Word};
use crate::net::{Call, Http, HttpOptions, Network, Times, Token};
use crate::publisher::Publisher;
use crate::registry::Registry;
use crate::settings::{Base, DEFAULT_NAME, Said, Settings, address, below, shown};
use crate::source::github::GitHub;

/// Everything that is needed to reach skills elsewhere.
#[derive(Debug)]
pub struct Hub {
    pub(crate) env: Environment,
    pub(crate) settings: Settings,
    pub(crate) http: Arc<Http>,
    pub(crate) cache: Cache,
    scanner: OnceLock<Scanner>,
    registries: Mutex<BTreeMap<String, Arc<Registry>>>,
}

impl Hub {
    /// The hub of this machine. Nothing is asked yet.
    pub fn open(env: Environment, config: &Config, said: &Said) -> Result<Self, HubError> {
        Self::with_times(env, config, said, Times::default())
    }

    /// The same with other time limits, for tests that cannot wait.
    pub fn with_times(
        env: Environment,
        config: &Config,
        said: &Said,
        times: Times,
    ) -> Result<Self, HubError> {
        let settings = Settings::read(config, &env, said)?;
        let options = HttpOptions {
            network: settings.network,
            trusted: settings.trusted.clone(),
            // Whoever stands behind a proxy that opens TLS has said whom to trust.
            authorities: env.var_path("SSL_CERT_FILE").and_then(|path| std::fs::read(path).ok()),
            names: Names::System,
            times,
        };
        let http = Arc::new(Http::new(options, Arc::clone(&env.clock))?);
        let cache = Cache::below(&env.sinew_home());
        let registries = Mutex::default();
        Ok(Self { env, settings, http, cache, scanner: OnceLock::new(), registries })
    }

    /// Whether the network may be used.
    pub fn network(&self) -> Network {
        self.http.network()
    }

    /// The machine.
    pub fn environment(&self) -> &Environment {
        &self.env
    }

    /// Names of the configured registries, the default one first.
    pub fn registry_names(&self) -> Vec<String> {
        let further = self.settings.registries.keys().cloned();
        std::iter::once(DEFAULT_NAME.to_owned()).chain(further).collect()
    }

    /// A registry by its configured name; the default one where absent.
    pub fn registry(&self, name: Option<&str>) -> Result<Arc<Registry>, HubError> {
        let name = name.unwrap_or(DEFAULT_NAME);
        let known = self.registries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(registry) = known.get(name) {
            return Ok(Arc::clone(registry));
        }
        drop(known);
        let is_default = name == DEFAULT_NAME;
        let base = match (is_default, self.settings.registries.get(name)) {
            (true, _) => self.default_base()?,
            (false, Some(base)) => base.clone(),
            (false, None) => {
                let message = format!("there is no registry `{name}`");
                let names = self.registry_names().join(", ");
                return Err(HubError::new(Word::BadReference, message)
                    .hint(format!("registries: {names}; add one as hub.registries.{name}")));
            }
        };
        self.remember(name, base, is_default)
    }

    /// The registry at the address that a lock names: one that is configured, or none.
    pub(crate) fn registry_at(&self, address: &str) -> Result<Arc<Registry>, HubError> {
        for name in self.registry_names() {
            let registry = self.registry(Some(&name))?;
            if registry.address() == address {
                return Ok(registry);
            }
        }
        let message = format!("it came from {address}, which is not configured here");
        Err(HubError::new(Word::NotFound, message)
            .hint("add it under hub.registries, or use --registry"))
    }

    fn remember(&self, name: &str, base: Url, is_default: bool) -> Result<Arc<Registry>, HubError> {
        let token = match self.network() {
            Network::On => Credentials::new(&self.env).find(&base, is_default)?,
            Network::Off => None,
        };
        let registry =
            Arc::new(Registry::new(name.to_owned(), base, token, Arc::clone(&self.http)));
        let mut known = self.registries.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(known.entry(name.to_owned()).or_insert(registry)))
    }

    /// Whoever changes something at the default registry: by this token, or by the one that is kept
    /// for it here.
    pub fn publisher(&self, token: Option<Token>) -> Result<Publisher<'_>, HubError> {
        let base = self.default_base()?;
        let token = match token {
            Some(token) => token,
            None => Credentials::new(&self.env).find(&base, true)?.ok_or_else(|| {
                HubError::new(Word::Auth, format!("there is no token for {}", shown(&base)))
                    .hint("log in: sinew registry login")
            })?,
        };
        Ok(Publisher::new(base, token, &self.http))
    }

    /// The default registry's address, from its site's own words where only the site is known.
    pub fn default_base(&self) -> Result<Url, HubError> {
        let site = match &self.settings.registry {
            Base::At(url) => return Ok(url.clone()),
            Base::AnnouncedBy(site) => site,
        };
        for name in ["/.well-known/clawhub.json", "/.well-known/clawdhub.json"] {
            let answer = self.http.call(&Call::get(below(site, name)), &mut |_, _| {})?;
            if !answer.is_ok() {
                continue;
            }
            let said = answer.json()?;
            let base = said.get("apiBase").or_else(|| said.get("registry")).and_then(Value::as_str);
            if let Some(base) = base {
                return address(&format!("what {site} announces"), base);
            }
        }
        Ok(site.clone())
    }

    /// The guard, made ready when something is scanned for the first time.
    pub(crate) fn scanner(&self) -> &Scanner {
        self.scanner.get_or_init(Scanner::new)
    }

    pub(crate) fn github(&self) -> GitHub<'_> {
        GitHub::new(&self.http, &self.settings.github, &self.cache)
    }
}
