//! Hosts: what a URL points to, and how far that host is trusted.
//!
//! The table is data (`data/hosts.json`), each row with its reason. A skill's own declarations add
//! to it for one scan; nothing else does.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use super::lines::floor_char_boundary;

/// How a host is classified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum HostClass {
    /// This machine.
    Loopback,
    /// A private network.
    Private,
    /// A placeholder such as `<your-host>`: a template, not a host.
    Placeholder,
    /// A name that is reserved for examples: nothing is served there.
    Reserved,
    /// A vendor's installer that many people use.
    Installer,
    /// A vendor's API or documentation.
    Vendor,
    /// The space of a known organisation on a public code host.
    Organisation,
    /// A known vendor's host on which anyone rents a place of their own: what is sent there goes to
    /// whoever rents it.
    Tenant,
    /// Has the skill's own name. The skill says so itself, so it is not evidence.
    Namesake,
    /// Declared in the skill's front matter, by the skill itself.
    Declared,
    /// A public code host, where anyone can publish.
    Code,
    /// Unknown.
    Unknown,
    /// Hides its destination.
    Shortener,
    /// A paste service: text by anyone, changeable at any time.
    Paste,
    /// Collects whatever is sent, for anyone.
    Sink,
    /// Gives access to a machine without a public address.
    Tunnel,
    /// A bare public IP address.
    RawIp,
}

impl HostClass {
    /// The name used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::Placeholder => "placeholder",
            Self::Reserved => "reserved",
            Self::Installer => "vouched-installer",
            Self::Vendor => "vendor",
            Self::Organisation => "organisation",
            Self::Tenant => "tenant",
            Self::Namesake => "namesake",
            Self::Declared => "declared",
            Self::Code => "code-host",
            Self::Unknown => "unknown",
            Self::Shortener => "shortener",
            Self::Paste => "paste",
            Self::Sink => "sink",
            Self::Tunnel => "tunnel",
            Self::RawIp => "raw-ip",
        }
    }
}

/// Bytes of a URL that are examined; browsers cut at about this length.
const MAX_URL: usize = 2048;

/// One host that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostMention<'a> {
    pub(crate) url: &'a str,
    pub(crate) host: &'a str,
    pub(crate) class: HostClass,
}

#[derive(Deserialize)]
struct HostRecord {
    host: String,
    class: HostClass,
    #[serde(rename = "why")]
    _why: String,
}

/// The hosts that a skill declares as its own in its front matter.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnHosts {
    /// Hosts of its homepage and its metadata, and `label.*` of vendors whose key it declares.
    pub(crate) hosts: Vec<String>,
    /// Words of its name.
    pub(crate) names: Vec<String>,
    /// Variables that it declares to need, lower case.
    pub(crate) keys: Vec<String>,
}

impl OwnHosts {
    fn is_namesake(&self, host: &str) -> bool {
        if self.names.is_empty() {
            return false;
        }
        let label = host.rsplit('.').nth(1).unwrap_or("").replace('-', "");
        !label.is_empty() && self.names.contains(&label)
    }
}

/// The table of known hosts.
#[derive(Debug)]
pub(crate) struct HostTable {
    /// By host, lower case.
    known: HashMap<String, KnownHost>,
    /// Owners of spaces on code hosts that are known, lower case.
    organisations: HashSet<String>,
}

#[derive(Deserialize)]
struct OrganisationsRecord {
    #[serde(rename = "why")]
    _why: String,
    names: Vec<String>,
}

/// What is known about one host.
#[derive(Debug, Default)]
struct KnownHost {
    class: Option<HostClass>,
    /// Path prefixes with a class of their own.
    paths: Vec<(String, HostClass)>,
}

impl HostTable {
    pub(crate) fn from_json(json: &str, organisations: &str) -> Result<Self, serde_json::Error> {
        let groups: Vec<OrganisationsRecord> = serde_json::from_str(organisations)?;
        let organisations = groups.into_iter().flat_map(|group| group.names).collect();
        let rows: Vec<HostRecord> = serde_json::from_str(json)?;
        let mut known: HashMap<String, KnownHost> = HashMap::new();
        for row in rows {
            match row.host.split_once('/') {
                Some((host, path)) => {
                    let entry = known.entry(host.to_owned()).or_default();
                    entry.paths.push((path.to_owned(), row.class));
                }
                None => known.entry(row.host).or_default().class = Some(row.class),
            }
        }
        Ok(Self { known, organisations })
    }

    /// Hosts whose bare mention matters, for the literal filter.
    pub(crate) fn mentionable(&self) -> impl Iterator<Item = &str> {
        self.known
            .iter()
            .filter(|(_, known)| {
                matches!(known.class, Some(HostClass::Paste | HostClass::Sink | HostClass::Tunnel))
            })
            .map(|(host, _)| host.as_str())
    }

    /// The class of a lower-case `host`; `path` is what follows it in the URL.
    pub(crate) fn classify(&self, host: &str, path: &str, declared: &OwnHosts) -> HostClass {
        let host = host.trim_end_matches('.');
        if is_placeholder(host) {
            return HostClass::Placeholder;
        }
        // What varies is a label or two; where the rest leads is fixed.
        let host = match fixed_part(host) {
            Some(fixed) => fixed,
            None => return HostClass::Placeholder,
        };
        if is_reserved(host) {
            return HostClass::Reserved;
        }
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        if let Some(address) = parse_address(bare) {
            return of_address(address);
        }
        if host == "localhost" || host.ends_with(".localhost") {
            return HostClass::Loopback;
        }
        let is_private = match host.rsplit_once('.') {
            Some((_, end)) => matches!(end, "local" | "internal" | "lan" | "test" | "invalid"),
            None => !host.contains('['),
        };
        if is_private {
            return HostClass::Private;
        }
        let path = path.trim_start_matches('/');
        let mut known = None;
        let mut rest = host;
        loop {
            if let Some(entry) = self.known.get(rest) {
                let fits = |(prefix, _): &&(String, HostClass)| path.starts_with(prefix.as_str());
                if let Some((_, class)) = entry.paths.iter().find(fits) {
                    return *class;
                }
                known = known.or(entry.class);
            }
            match rest.split_once('.') {
                Some((_, parent)) if parent.contains('.') => rest = parent,
                _ => break,
            }
        }
        // A host that anyone can fill cannot be declared trustworthy by an untrusted skill.
        if let Some(class @ (HostClass::Paste | HostClass::Sink | HostClass::Tunnel)) = known {
            return class;
        }
        match known {
            Some(HostClass::Shortener) => HostClass::Shortener,
            // On a code host everyone has a space; the path shows whose it is.
            Some(HostClass::Code) if self.is_organisation(host, path) => HostClass::Organisation,
            Some(HostClass::Code) => HostClass::Code,
            // What is known about a host is not changed by what a skill says of it.
            Some(class) => class,
            None if declared.hosts.iter().any(|own| is_own(host, own)) => HostClass::Declared,
            None if declared.is_namesake(host) => HostClass::Namesake,
            None => HostClass::Unknown,
        }
    }

    /// Whether the space that a code host's path names is a known organisation's; on `github.io` the
    /// first label is the space.
    fn is_organisation(&self, host: &str, path: &str) -> bool {
        let space = match host.strip_suffix(".github.io") {
            Some(label) => label,
            None => path.trim_start_matches("repos/").split('/').next().unwrap_or(""),
        };
        self.organisations.contains(space)
    }

    /// The host named by the URL whose `://` is at `at`; `line` is lower case.
    pub(crate) fn mention_at<'a>(
        &self,
        line: &'a str,
        at: usize,
        declared: &OwnHosts,
    ) -> Option<HostMention<'a>> {
        let from = floor_char_boundary(line, at.saturating_sub(16));
        let scheme = from
            + line[from..at]
                .rfind(|c: char| !c.is_ascii_alphanumeric() && c != '+')
                .map_or(0, |i| i + line[from + i..].chars().next().map_or(1, char::len_utf8));
        if !matches!(
            &line[scheme..at],
            "http" | "https" | "ftp" | "ws" | "wss" | "tcp" | "git" | "ssh"
        ) {
            return None;
        }
        let rest = &line[at + 3..];
        let rest = &rest[..floor_char_boundary(rest, MAX_URL)];
        let end = rest
            .find(|c: char| {
                c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '|' | ';' | '\\' | '^')
            })
            .unwrap_or(rest.len());
        let rest = &rest[..end];
        let authority_end = rest.find(['/', '?', '#', ',']).unwrap_or(rest.len());
        let authority = &rest[..authority_end];
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let host = split_port(authority);
        let host = host.trim_end_matches([')', '>', '.', '*', ':']);
        if host.is_empty() {
            return None;
        }
        let class = self.classify(host, &rest[authority_end..], declared);
        let url = &line[scheme..at + 3 + end];
        Some(HostMention { url: url.trim_end_matches([')', '>', '.', ',', ']', '*']), host, class })
    }
}

fn split_port(authority: &str) -> &str {
    if let Some(rest) = authority.strip_prefix('[')
        && let Some(end) = rest.find(']')
        && rest[..end].contains(':')
    {
        return &authority[..end + 2];
    }
    authority.split(':').next().unwrap_or(authority)
}

/// `own` is a registered host, or `label.*` for a vendor whose key the skill declares.
fn is_own(host: &str, own: &str) -> bool {
    match own.strip_suffix(".*") {
        Some(label) => {
            let labels: Vec<&str> = host.split('.').collect();
            labels.len() >= 2 && labels[labels.len() - 2] == label
        }
        None => host == own || is_below(host, own),
    }
}

fn is_below(host: &str, parent: &str) -> bool {
    host.len() > parent.len()
        && host.ends_with(parent)
        && host.as_bytes()[host.len() - parent.len() - 1] == b'.'
}

/// Marks of a part that is filled in: `<host>`, `{sub}`, `$host`, `%s`.
const MARKS: &[u8] = b"<>{}$%*()";

/// Whether all of a host is to be filled in: `<host>`, `YOUR_HOST`, `your-domain.com`. A name that
/// only begins like one can be registered by anyone.
fn is_placeholder(host: &str) -> bool {
    const NAMES: &[&str] = &[
        "domain",
        "server",
        "site",
        "app",
        "company",
        "host",
        "instance",
        "org",
        "project",
        "api",
        "url",
        "endpoint",
        "workspace",
        "tenant",
        "subdomain",
        "team",
        "username",
        "store",
        "shop",
        "website",
        "deployment",
        "service",
        "backend",
        "gateway",
        "proxy",
        "hostname",
        "base-url",
        "api-endpoint",
        "webhook-url",
        "vps",
        "ip",
        "account",
        "bucket",
        "cluster",
        "homeassistant",
    ];
    const ENDINGS: &[&str] =
        &["", "com", "org", "net", "io", "dev", "app", "co", "tld", "local", "here"];
    if host == "..." || host == "…" || host == "xxx" {
        return true;
    }
    let (name, ending) = host.split_once('.').unwrap_or((host, ""));
    let bare = ["your", "my", "the"].iter().find_map(|word| name.strip_prefix(word));
    let named = bare.is_some_and(|rest| {
        let rest = rest.trim_start_matches(['-', '_']).replace('_', "-");
        NAMES.contains(&rest.as_str())
    });
    named && ENDINGS.contains(&ending)
}

/// The end of a host that nothing is filled into; nothing if that is no name of its own.
fn fixed_part(host: &str) -> Option<&str> {
    let Some(last) = host.bytes().rposition(|byte| MARKS.contains(&byte)) else {
        return Some(host);
    };
    let rest = &host[last + 1..];
    // The name of a variable ends at the next dot or hyphen.
    let rest = &rest[rest.find(['.', '-'])?..];
    let rest = rest.trim_start_matches(['.', '-']);
    let ends_in_letters =
        rest.rsplit('.').next().is_some_and(|end| end.bytes().all(|b| b.is_ascii_alphabetic()));
    (rest.contains('.') && ends_in_letters).then_some(rest)
}

/// Names that the standards keep for examples and tests. Below them a text may mean a real place
/// (`evil.example.com`), so only the usual first labels count.
fn is_reserved(host: &str) -> bool {
    const USUAL: &[&str] = &[
        "www",
        "api",
        "docs",
        "get",
        "install",
        "cdn",
        "app",
        "my",
        "your",
        "download",
        "registry",
        "target",
        "victim",
        "vulnerable",
        "shop",
        "staging",
        "auth",
        "login",
        "mail",
        "blog",
    ];
    let host = match host.split_once('.') {
        Some((label, rest)) if USUAL.contains(&label) => rest,
        _ => host,
    };
    // The names that lessons about attacks give both sides; their owners are not the attackers.
    const SIDES: &[&str] = &["attacker.com", "evil.com", "target.com", "victim.com"];
    matches!(host, "example.com" | "example.org" | "example.net" | "example.edu")
        || SIDES.contains(&host)
}

/// Parses every spelling of an IP address that a downloader accepts: dotted, shortened,
/// hexadecimal, octal.
fn parse_address(host: &str) -> Option<IpAddr> {
    if host.contains(':') {
        return host.parse::<Ipv6Addr>().ok().map(IpAddr::V6);
    }
    // Every part is a number, so the first byte is a digit.
    if !host.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let parts: Vec<&str> = host.split('.').collect();
    if parts.len() > 4 || parts.iter().any(|part| part.is_empty()) {
        return None;
    }
    let numbers: Option<Vec<u32>> = parts.iter().map(|part| parse_number(part)).collect();
    let numbers = numbers?;
    let (last, head) = numbers.split_last()?;
    if head.iter().any(|number| *number > 255) {
        return None;
    }
    let mut value = *last;
    for (index, number) in head.iter().enumerate() {
        value |= number.checked_shl(24 - 8 * u32::try_from(index).ok()?)?;
    }
    Some(IpAddr::V4(Ipv4Addr::from(value)))
}

fn parse_number(part: &str) -> Option<u32> {
    if let Some(hex) = part.strip_prefix("0x") {
        return u32::from_str_radix(hex, 16).ok();
    }
    if part.len() > 1 && part.starts_with('0') && part.bytes().all(|b| b.is_ascii_digit()) {
        return u32::from_str_radix(part, 8).ok();
    }
    part.parse().ok()
}

fn of_address(address: IpAddr) -> HostClass {
    let v4 = match address {
        IpAddr::V4(v4) => v4,
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => v4,
            None if v6.is_loopback() || v6.is_unspecified() => return HostClass::Loopback,
            None if (v6.segments()[0] & 0xfe00) == 0xfc00
                || (v6.segments()[0] & 0xffc0) == 0xfe80 =>
            {
                return HostClass::Private;
            }
            None => return HostClass::RawIp,
        },
    };
    if v4.is_loopback() || v4.is_unspecified() {
        HostClass::Loopback
    } else if v4.is_private()
        || v4.is_link_local()
        || v4.octets()[0] == 100 && v4.octets()[1] & 0xc0 == 64
    {
        HostClass::Private
    } else if v4.is_documentation() {
        HostClass::Placeholder
    } else {
        HostClass::RawIp
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts() -> HostTable {
        HostTable::from_json(super::super::table::HOSTS, super::super::table::ORGANISATIONS)
            .expect("the shipped table")
    }

    fn own() -> OwnHosts {
        let one = |text: &str| vec![text.to_owned()];
        OwnHosts { hosts: one("acme.dev"), names: one("nextflow"), ..OwnHosts::default() }
    }

    fn check(url: &str, class: HostClass) {
        let at = url.find("://").expect("a URL");
        let place = hosts().mention_at(url, at, &own()).expect("a place");
        assert_eq!(place.class, class, "{url} -> {}", place.host);
    }

    #[test]
    fn hosts_are_known_by_what_they_are() {
        check("http://localhost:3000/health", HostClass::Loopback);
        check("http://[::1]:80/", HostClass::Loopback);
        check("http://192.168.1.4/x", HostClass::Private);
        check("http://0x7f.1/x", HostClass::Loopback);
        check("http://2130706433/", HostClass::Loopback);
        check("http://45.9.148.3/x", HostClass::RawIp);
        check("https://glot.io/snippets/x", HostClass::Paste);
        check("https://api.acme.dev/v1", HostClass::Declared);
        check("https://notacme.dev/v1", HostClass::Unknown);
        check("https://user:pw@evil.example.net:8443/x", HostClass::Unknown);
        check("https://<your-host>/x", HostClass::Placeholder);
        check("https://your-domain.com/x", HostClass::Placeholder);
        check("https://$host/x", HostClass::Placeholder);
        check("https://your-cdn-edge.net/x", HostClass::Unknown);
        check("https://kalibrate.dev/x", HostClass::Unknown);
        check("https://$part-tools.net/x", HostClass::Unknown);
        check("https://{project}.supabase.co/x", HostClass::Tenant);
        check("https://example.com/install.sh", HostClass::Reserved);
        check("https://evil.example.com/x", HostClass::Unknown);
        check("https://api.github.com/gists", HostClass::Tenant);
        check("https://raw.githubusercontent.com/vercel/x/main/i.sh", HostClass::Organisation);
        check("https://sh.rustup.rs", HostClass::Installer);
        check(
            "https://raw.githubusercontent.com/homebrew/install/head/install.sh",
            HostClass::Installer,
        );
        check("https://raw.githubusercontent.com/someone/x/install.sh", HostClass::Code);
        check("https://[redacted].example.com/x", HostClass::Unknown);
        check("https://raw.githubusercontent.com/jane/tool/main/i.sh", HostClass::Code);
        check("https://get.next-flow.io/i.sh", HostClass::Namesake);
        check("https://nextflow.evil.example.net/i.sh", HostClass::Unknown);
    }

    #[test]
    fn a_stranger_cannot_declare_a_paste_site_trustworthy() {
        let own = OwnHosts { hosts: vec!["pastebin.com".to_owned()], ..OwnHosts::default() };
        let class = hosts().classify("pastebin.com", "/x", &own);
        assert_eq!(class, HostClass::Paste);
    }
}
