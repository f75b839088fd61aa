//! Which registries there are and where everything else is. The command line overrides the
//! environment, which overrides the configuration.

use std::collections::BTreeMap;

use sinew_settings::config::{CLAWHUB, HubSection, UpdatePolicy};
use sinew_settings::{Config, Environment, ErrorCode};
use url::Url;

use crate::error::HubError;
use crate::net::{AccessToken, NetworkAccess, host_and_port, origin};
use crate::reference::is_registry_name;

/// The name of the default registry.
pub const DEFAULT_NAME: &str = "clawhub";

/// What the command line may override.
#[derive(Debug, Clone, Default)]
pub struct HubOverrides {
    /// `--registry`: an address or a configured name.
    pub registry: Option<String>,
    /// `--offline`.
    pub offline: bool,
}

/// Where a registry's API is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegistryAddress {
    /// At this address.
    At(Url),
    /// Where this site's discovery document says.
    AnnouncedBy(Url),
}

/// Addresses, and what may be used.
#[derive(Debug, Clone)]
pub struct HubOptions {
    /// The registry for references that name none.
    pub registry: RegistryAddress,
    /// Other registries by name.
    pub registries: BTreeMap<String, Url>,
    /// GitHub.
    pub github: GitHubEndpoints,
    /// The search of skills.sh.
    pub skills_sh: Url,
    /// Whether the network may be used.
    pub network: NetworkAccess,
    /// Hosts that the configuration names.
    pub trusted: Vec<String>,
    /// Whether an update that changes only text is applied without asking.
    pub auto_safe: bool,
}

/// Where GitHub is, and what may be sent there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitHubEndpoints {
    /// Its API.
    pub api: Url,
    /// Its archives.
    pub codeload: Url,
    /// The token for its API.
    pub token: Option<AccessToken>,
}

impl GitHubEndpoints {
    /// The endpoints of this machine.
    pub fn read(configured: &HubSection, env: &Environment) -> Result<Self, HubError> {
        let token = first(env, &["GITHUB_TOKEN", "GH_TOKEN"]).filter(|_| configured.github_token);
        Ok(Self {
            api: place(
                env,
                &["SINEW_GITHUB_API_BASE_URL"],
                "hub.github.apiUrl",
                &configured.github_api,
            )?,
            codeload: place(
                env,
                &["SINEW_GITHUB_CODELOAD_BASE_URL", "CLAWHUB_GITHUB_CODELOAD_BASE_URL"],
                "hub.github.codeloadUrl",
                &configured.github_codeload,
            )?,
            token: token.and_then(|(_, value)| AccessToken::new(&value)),
        })
    }

    /// Hosts that the user configured; they may be in a private network.
    pub fn trusted(&self) -> impl Iterator<Item = String> {
        [&self.api, &self.codeload]
            .into_iter()
            .filter(|url| !is_default_address(url))
            .filter_map(host_and_port)
    }
}

/// The first of these variables that is set.
fn first(env: &Environment, names: &[&'static str]) -> Option<(&'static str, String)> {
    names.iter().find_map(|name| env.var(name).map(|value| (*name, value.to_owned())))
}

/// The address from a variable, or else from the configuration.
fn place(
    env: &Environment,
    vars: &[&'static str],
    key: &str,
    configured: &str,
) -> Result<Url, HubError> {
    match first(env, vars) {
        Some((name, value)) => parse_address(name, &value),
        None => parse_address(key, configured),
    }
}

/// Whether an address is one of the defaults, which are never in a private network.
fn is_default_address(url: &Url) -> bool {
    let usual = HubSection::default();
    let address = display_address(url);
    let services = [&usual.github_api, &usual.github_codeload, &usual.skills_sh];
    address == CLAWHUB || services.contains(&&address)
}

impl HubOptions {
    /// The options of this machine.
    pub fn read(
        config: &Config,
        env: &Environment,
        overrides: &HubOverrides,
    ) -> Result<Self, HubError> {
        let hub = &config.hub;
        let mut registries = BTreeMap::new();
        for (name, url) in &hub.registries {
            if !is_registry_name(name) || name == DEFAULT_NAME {
                return Err(bad(
                    &format!("hub.registries.{name}"),
                    "the name is taken or not valid",
                ));
            }
            registries.insert(name.clone(), parse_address(&format!("hub.registries.{name}"), url)?);
        }
        let registry = default_registry(config, env, overrides, &registries)?;
        let github = GitHubEndpoints::read(hub, env)?;
        let skills_sh = place(env, &["SKILLS_API_URL"], "hub.skillsShUrl", &hub.skills_sh)?;
        let mut trusted = config.install.allow_private_hosts.clone();
        let (RegistryAddress::At(main) | RegistryAddress::AnnouncedBy(main)) = &registry;
        let named = registries.values().chain([main, &skills_sh]);
        trusted.extend(named.filter(|url| !is_default_address(url)).filter_map(host_and_port));
        trusted.extend(github.trusted());
        let offline = overrides.offline || env.var("SINEW_OFFLINE").is_some_and(is_yes);
        Ok(Self {
            registry,
            registries,
            github,
            skills_sh,
            network: if offline { NetworkAccess::Off } else { NetworkAccess::On },
            trusted,
            auto_safe: hub.updates == UpdatePolicy::AutoSafe,
        })
    }
}

fn default_registry(
    config: &Config,
    env: &Environment,
    overrides: &HubOverrides,
    registries: &BTreeMap<String, Url>,
) -> Result<RegistryAddress, HubError> {
    if let Some(given) = &overrides.registry {
        return match registries.get(given) {
            Some(url) => Ok(RegistryAddress::At(url.clone())),
            None => parse_address("--registry", given).map(RegistryAddress::At),
        };
    }
    for name in ["SINEW_REGISTRY", "CLAWHUB_REGISTRY", "CLAWDHUB_REGISTRY"] {
        if let Some(value) = env.var(name) {
            return parse_address(name, value).map(RegistryAddress::At);
        }
    }
    if let Some(site) = env.var("CLAWHUB_SITE") {
        return parse_address("CLAWHUB_SITE", site).map(RegistryAddress::AnnouncedBy);
    }
    if let Some(configured) = &config.hub.registry {
        return parse_address("hub.registry", configured).map(RegistryAddress::At);
    }
    for name in ["OPENCLAW_CLAWHUB_URL", "CLAWHUB_URL"] {
        if let Some(value) = env.var(name) {
            return parse_address(name, value).map(RegistryAddress::At);
        }
    }
    parse_address("the default registry", CLAWHUB).map(RegistryAddress::At)
}

/// Parses a configured address; it must be http or https and contain no secret.
pub fn parse_address(what: &str, text: &str) -> Result<Url, HubError> {
    let url = Url::parse(text.trim()).map_err(|error| bad(what, &error.to_string()))?;
    let usable = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
    if !usable || !url.username().is_empty() || url.password().is_some() {
        return Err(bad(what, "it must be http or https, without a user name or a password"));
    }
    Ok(url)
}

/// A path below an address; the address's own path stays as a prefix.
pub fn join_path(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.set_path(&format!("{}{path}", base.path().trim_end_matches('/')));
    url
}

/// An address as records carry it: without a trailing slash.
pub fn display_address(base: &Url) -> String {
    match base.path() {
        "" | "/" => origin(base),
        _ => base.as_str().trim_end_matches('/').to_owned(),
    }
}

fn is_yes(value: &str) -> bool {
    !matches!(value.trim().to_ascii_lowercase().as_str(), "0" | "false" | "no" | "off")
}

fn bad(what: &str, problem: &str) -> HubError {
    HubError::new(ErrorCode::BadReference, format!("{what} is not a valid address: {problem}"))
}
