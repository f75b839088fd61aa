//! The hub: everything needed to reach skills in registries and other sources.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::Value;
use sinew_exec::install::NameResolution;
use sinew_guard::scan::Scanner;
use sinew_settings::{Config, Environment, ErrorCode};
use url::Url;

use crate::cache::HubCache;
use crate::credentials::RegistryCredentials;
use crate::error::HubError;
use crate::net::{AccessToken, HttpClient, HttpOptions, HttpRequest, NetworkAccess, RequestLimits};
use crate::permit::HubAuthority;
use crate::publisher::RegistryPublisher;
use crate::registry::RegistryClient;
use crate::settings::{
    DEFAULT_NAME, HubOptions, HubOverrides, RegistryAddress, display_address, join_path,
    parse_address,
};
use crate::signature::SignatureRules;
use crate::source::github::GitHubClient;

/// Everything needed to reach skills in registries and other sources.
#[derive(Debug)]
pub struct Hub {
    pub(crate) env: Environment,
    pub(crate) settings: HubOptions,
    pub(crate) http: Arc<HttpClient>,
    pub(crate) cache: HubCache,
    pub(crate) signatures: SignatureRules,
    scanner: OnceLock<Scanner>,
    registries: Mutex<BTreeMap<String, Arc<RegistryClient>>>,
}

impl Hub {
    /// The hub of this machine, and the authority to permit its changes. Makes no request yet.
    pub fn open(
        env: Environment,
        config: &Config,
        overrides: &HubOverrides,
    ) -> Result<(Self, HubAuthority), HubError> {
        Self::with_limits(env, config, overrides, RequestLimits::default())
    }

    /// The same with other time limits, for tests that cannot wait that long.
    pub fn with_limits(
        env: Environment,
        config: &Config,
        overrides: &HubOverrides,
        times: RequestLimits,
    ) -> Result<(Self, HubAuthority), HubError> {
        let settings = HubOptions::read(config, &env, overrides)?;
        let options = HttpOptions {
            network: settings.network,
            trusted: settings.trusted.clone(),
            // Behind a proxy that intercepts TLS, this variable names the certificates to trust.
            authorities: env.var_path("SSL_CERT_FILE").and_then(|path| std::fs::read(path).ok()),
            names: NameResolution::System,
            times,
        };
        let http = Arc::new(HttpClient::new(options, Arc::clone(&env.clock))?);
        let cache = HubCache::in_home(&env.sinew_home());
        let registries = Mutex::default();
        let signatures = SignatureRules::read(&config.signatures, &env);
        let scanner = OnceLock::new();
        let hub = Self { env, settings, http, cache, signatures, scanner, registries };
        Ok((hub, HubAuthority::new()))
    }

    /// Whether the network may be used.
    pub fn network(&self) -> NetworkAccess {
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

    /// The address of a source that a search names: people know `clawhub` as a program, and the default
    /// registry may be another one.
    pub fn source_address(&self, source: &str) -> String {
        match source {
            "github" => "github.com".to_owned(),
            "skills-sh" => "skills.sh".to_owned(),
            name => match self.registry(Some(name)) {
                Ok(registry) => registry.address(),
                Err(_) => name.to_owned(),
            },
        }
    }

    /// A registry by its configured name; the default one if absent.
    pub fn registry(&self, name: Option<&str>) -> Result<Arc<RegistryClient>, HubError> {
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
                return Err(HubError::new(ErrorCode::BadReference, message)
                    .hint(format!("registries: {names}; add one as hub.registries.{name}")));
            }
        };
        self.remember(name, base, is_default)
    }

    /// The configured registry at the address that a lock names.
    pub(crate) fn registry_at(&self, address: &str) -> Result<Arc<RegistryClient>, HubError> {
        for name in self.registry_names() {
            let registry = self.registry(Some(&name))?;
            if registry.address() == address {
                return Ok(registry);
            }
        }
        let message = format!("it came from {address}, which is not configured here");
        Err(HubError::new(ErrorCode::NotFound, message)
            .hint("add it under hub.registries, or use --registry"))
    }

    fn remember(
        &self,
        name: &str,
        base: Url,
        is_default: bool,
    ) -> Result<Arc<RegistryClient>, HubError> {
        let token = match self.network() {
            NetworkAccess::On => RegistryCredentials::new(&self.env).find(&base, is_default)?,
            NetworkAccess::Off => None,
        };
        let registry =
            Arc::new(RegistryClient::new(name.to_owned(), base, token, Arc::clone(&self.http)));
        let mut known = self.registries.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(known.entry(name.to_owned()).or_insert(registry)))
    }

    /// A publisher at the default registry, with this token or the one stored for it.
    pub fn publisher(&self, token: Option<AccessToken>) -> Result<RegistryPublisher<'_>, HubError> {
        let base = self.default_base()?;
        let token = match token {
            Some(token) => token,
            None => RegistryCredentials::new(&self.env).find(&base, true)?.ok_or_else(|| {
                HubError::new(
                    ErrorCode::Auth,
                    format!("no token is stored for {}", display_address(&base)),
                )
                .hint("log in: sinew registry login")
            })?,
        };
        Ok(RegistryPublisher::new(base, token, &self.http))
    }

    /// The default registry's address. If only its site is configured, the site's discovery
    /// document gives it.
    pub fn default_base(&self) -> Result<Url, HubError> {
        let site = match &self.settings.registry {
            RegistryAddress::At(url) => return Ok(url.clone()),
            RegistryAddress::AnnouncedBy(site) => site,
        };
        for name in ["/.well-known/clawhub.json", "/.well-known/clawdhub.json"] {
            let answer =
                self.http.call(&HttpRequest::get(join_path(site, name)), &mut |_, _| {})?;
            if !answer.is_ok() {
                continue;
            }
            let document = answer.json()?;
            let base = document
                .get("apiBase")
                .or_else(|| document.get("registry"))
                .and_then(Value::as_str);
            if let Some(base) = base {
                return parse_address(&format!("what {site} announces"), base);
            }
        }
        Ok(site.clone())
    }

    /// The guard, built when something is scanned for the first time.
    pub(crate) fn scanner(&self) -> &Scanner {
        self.scanner.get_or_init(Scanner::new)
    }

    pub(crate) fn github(&self) -> GitHubClient<'_> {
        GitHubClient::new(&self.http, &self.settings.github, &self.cache)
    }
}
