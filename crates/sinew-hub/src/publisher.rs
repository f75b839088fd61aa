//! Changes at a registry: publish, delete, undelete, star.

use serde::Deserialize;
use serde_json::{Value, json};
use sinew_settings::ErrorCode;
use url::Url;

use crate::error::HubError;
use crate::net::{
    AccessToken, HttpClient, HttpRequest, HttpResponse, HttpWrite, HttpWriteMethod, origin,
};
use crate::registry::QualifiedSlug;
use crate::settings::join_path;
use crate::tree::SkillTree;
use crate::wire::read;

/// A registry, and a token that may change something there.
#[derive(Debug)]
pub struct RegistryPublisher<'a> {
    base: Url,
    token: AccessToken,
    http: &'a HttpClient,
}

/// The account a token belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RegistryAccount {
    /// The owner's handle.
    pub handle: Option<String>,
    /// What it may do, as the registry calls it.
    pub role: Option<String>,
}

/// A version to publish.
#[derive(Debug, Clone)]
pub struct SkillPublication<'a> {
    /// The skill.
    pub slug: &'a str,
    /// Its display name.
    pub display_name: &'a str,
    /// The owner it is published under.
    pub owner: &'a str,
    /// The version.
    pub version: &'a str,
    /// The changelog.
    pub changelog: &'a str,
}

/// Called with the number of files sent so far, and the total.
pub type PublishProgress<'a> = &'a mut dyn FnMut(usize, usize);

impl<'a> RegistryPublisher<'a> {
    /// The registry at `base`.
    pub fn new(base: Url, token: AccessToken, http: &'a HttpClient) -> Self {
        Self { base, token, http }
    }

    /// The account the token belongs to.
    pub fn whoami(&self) -> Result<RegistryAccount, HubError> {
        #[derive(Deserialize)]
        struct WhoamiWire {
            user: RegistryAccount,
        }
        let call = HttpRequest::get(self.url("/whoami", &[])).with_token(Some(&self.token));
        let answer = self.checked(self.http.call(&call, &mut |_, _| {})?)?;
        let answered: WhoamiWire =
            read(answer.json()?).map_err(|problem| self.strange(&problem))?;
        Ok(answered.user)
    }

    /// Uploads every file, then publishes the version made of them.
    pub fn publish(
        &self,
        publication: &SkillPublication<'_>,
        tree: &SkillTree,
        sent: PublishProgress<'_>,
    ) -> Result<(), HubError> {
        let records = tree.records();
        let mut files = Vec::new();
        for (file, record) in tree.files().iter().zip(&records) {
            sent(files.len(), records.len());
            files.push(self.upload(&record.path, &record.sha256, &file.bytes)?);
        }
        sent(files.len(), records.len());
        let body = json!({
            "slug": publication.slug,
            "displayName": publication.display_name,
            "ownerHandle": publication.owner,
            "version": publication.version,
            "changelog": publication.changelog,
            "acceptLicenseTerms": true,
            "tags": ["latest"],
            "files": files,
        });
        self.post("/skills", &[], &body).map(drop)
    }

    fn upload(&self, path: &str, sha256: &str, bytes: &[u8]) -> Result<Value, HubError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct UploadTicketWire {
            upload_url: String,
            upload_ticket: String,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct StoredFileWire {
            storage_id: String,
        }
        const KIND: &str = "application/octet-stream";
        let size = bytes.len();
        let wanted = json!({ "path": path, "size": size, "sha256": sha256, "contentType": KIND });
        let answer = self.post("/skills/-/upload-url", &[], &wanted)?;
        let ticket: UploadTicketWire =
            read(answer.json()?).map_err(|problem| self.strange(&problem))?;
        let url = Url::parse(&ticket.upload_url);
        let url = url.map_err(|_| self.strange("an invalid upload address"))?;
        if url.origin() != self.base.origin() {
            // The token is for this origin only, and an upload without it would be refused.
            return Err(self.strange("an upload address on another server"));
        }
        let token = &self.token;
        let write =
            HttpWrite { method: HttpWriteMethod::Post, url, token, kind: KIND, body: bytes };
        let answer = self.checked(self.http.write(&write)?)?;
        let stored: StoredFileWire =
            read(answer.json()?).map_err(|problem| self.strange(&problem))?;
        Ok(json!({
            "path": path,
            "size": size,
            "sha256": sha256,
            "contentType": KIND,
            "storageId": stored.storage_id,
            "uploadTicket": ticket.upload_ticket,
        }))
    }

    /// Deletes a skill.
    pub fn delete(&self, skill: QualifiedSlug<'_>, reason: Option<&str>) -> Result<(), HubError> {
        let body = with_owner(skill, reason.map(|reason| ("reason", reason)));
        let url = self.url(&format!("/skills/{}", skill.slug), &[]);
        self.change(HttpWriteMethod::Delete, url, &body).map(drop)
    }

    /// Restores a deleted skill.
    pub fn undelete(&self, skill: QualifiedSlug<'_>) -> Result<(), HubError> {
        let body = with_owner(skill, None);
        let url = self.url(&format!("/skills/{}/undelete", skill.slug), &[]);
        self.change(HttpWriteMethod::Post, url, &body).map(drop)
    }

    /// Adds a star; returns whether there was one already.
    pub fn star(&self, skill: QualifiedSlug<'_>) -> Result<bool, HubError> {
        let answer = self.change(HttpWriteMethod::Post, self.star_url(skill), &json!({}))?;
        Ok(answer.json()?["alreadyStarred"] == true)
    }

    /// Removes the star; returns whether there was none.
    pub fn unstar(&self, skill: QualifiedSlug<'_>) -> Result<bool, HubError> {
        let answer = self.change(HttpWriteMethod::Delete, self.star_url(skill), &json!({}))?;
        Ok(answer.json()?["alreadyUnstarred"] == true)
    }

    fn star_url(&self, skill: QualifiedSlug<'_>) -> Url {
        let owner: Vec<(&str, &str)> =
            skill.owner.map(|owner| ("ownerHandle", owner)).into_iter().collect();
        self.url(&format!("/stars/{}", skill.slug), &owner)
    }

    fn post(
        &self,
        path: &str,
        query: &[(&str, &str)],
        body: &Value,
    ) -> Result<HttpResponse, HubError> {
        self.change(HttpWriteMethod::Post, self.url(path, query), body)
    }

    fn change(
        &self,
        method: HttpWriteMethod,
        url: Url,
        body: &Value,
    ) -> Result<HttpResponse, HubError> {
        let (token, text) = (&self.token, body.to_string());
        let kind = "application/json";
        let write = HttpWrite { method, url, token, kind, body: text.as_bytes() };
        self.checked(self.http.write(&write)?)
    }

    fn url(&self, path: &str, query: &[(&str, &str)]) -> Url {
        let mut url = join_path(&self.base, &format!("/api/v1{path}"));
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    fn strange(&self, problem: &str) -> HubError {
        let problem = sinew_guard::Untrusted::new(problem).for_terminal();
        let text = format!(
            "{} sent an answer that does not follow its protocol: {problem}",
            origin(&self.base)
        );
        HubError::new(ErrorCode::Network, text)
    }

    fn checked(&self, answer: HttpResponse) -> Result<HttpResponse, HubError> {
        if answer.is_ok() {
            return Ok(answer);
        }
        let message = format!("{}: {}", origin(&answer.url), answer.server_message());
        Err(match answer.status {
            400 if answer.server_message().starts_with("Blocked") => {
                HubError::new(ErrorCode::BlockedGuard, message)
                    .hint("`sinew scan <folder>` shows each finding and what to do about it")
            }
            400 => HubError::new(ErrorCode::BadRequest, message),
            401 => HubError::new(
                ErrorCode::Auth,
                format!("{} requires a valid token", origin(&answer.url)),
            )
            .hint("log in: sinew registry login"),
            403 => HubError::new(ErrorCode::Unavailable, message),
            404 => HubError::new(ErrorCode::NotFound, message),
            409 => HubError::new(ErrorCode::Ambiguous, message).hint("name the owner: @owner/slug"),
            413 => HubError::new(ErrorCode::TooLarge, message),
            429 => HubError::new(ErrorCode::RateLimited, message).hint("try again in a minute"),
            _ => HubError::new(ErrorCode::Network, message).hint("try again later"),
        })
    }
}

fn with_owner(skill: QualifiedSlug<'_>, more: Option<(&str, &str)>) -> Value {
    let mut body = serde_json::Map::new();
    if let Some(owner) = skill.owner {
        body.insert("ownerHandle".to_owned(), json!(owner));
    }
    if let Some((key, value)) = more {
        body.insert(key.to_owned(), json!(value));
    }
    Value::Object(body)
}
