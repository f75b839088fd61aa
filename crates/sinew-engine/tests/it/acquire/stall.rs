//! A market in memory that installs into a real workspace.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use sinew_engine::EngineError;
use sinew_engine::acquire::{
    AcquireTarget, FetchedCandidate, InstallOrder, MarketInstall, MarketListing, MarketQuery,
    MarketSearchResult, SkillMarket,
};
use sinew_engine::approval::{ApprovalContent, ApprovalScan};
use sinew_guard::scan::{Scanner, SkillBundle};
use sinew_settings::ErrorCode;

use crate::cortex::support::World;

/// What the market offers, and what it was asked.
pub(super) struct Stall {
    pub(super) goods: RefCell<BTreeMap<String, Goods>>,
    pub(super) calls: RefCell<Vec<String>>,
    /// Texts that can be read before anything is fetched.
    pub(super) texts: RefCell<BTreeMap<String, String>>,
    skills: PathBuf,
    books: PathBuf,
}

#[derive(Clone)]
pub(super) struct Goods {
    pub(super) version: String,
    pub(super) description: String,
    pub(super) body: String,
    pub(super) reviewed: bool,
    /// Why it cannot be had.
    pub(super) fetch_fails: Option<String>,
    pub(super) install_fails: Option<String>,
}

impl Goods {
    pub(super) fn new(description: &str) -> Self {
        Self {
            version: "1.0.0".to_owned(),
            description: description.to_owned(),
            body: "1. List the open tasks\n2. Tell the person".to_owned(),
            reviewed: true,
            fetch_fails: None,
            install_fails: None,
        }
    }

    fn skill_md(&self, slug: &str) -> String {
        format!("---\nname: {slug}\ndescription: {}\n---\n{}\n", self.description, self.body)
    }
}

impl Stall {
    /// A market with two skills about tasks and one about nothing of the kind.
    pub(super) fn new(world: &World) -> Self {
        let stall = Self {
            goods: RefCell::default(),
            calls: RefCell::default(),
            texts: RefCell::default(),
            skills: world.path("work/skills"),
            books: world.path("home/books"),
        };
        fs::create_dir_all(&stall.books).expect("a folder");
        stall.offer("todoist-cli", Goods::new("Manage todo lists, tasks and reminders"));
        stall.offer("task-keeper", Goods::new("Keep a todo list and manage your tasks"));
        stall.offer("tide-tables", Goods::new("High and low water for harbours of the world"));
        stall
    }

    pub(super) fn offer(&self, slug: &str, goods: Goods) {
        self.goods.borrow_mut().insert(slug.to_owned(), goods);
    }

    pub(super) fn change(&self, slug: &str, change: impl FnOnce(&mut Goods)) {
        change(self.goods.borrow_mut().get_mut(slug).expect("goods"));
    }

    /// How often it was asked something.
    pub(super) fn asked(&self, what: &str) -> usize {
        self.calls.borrow().iter().filter(|call| call.starts_with(what)).count()
    }

    /// What is on disk and in the books.
    pub(super) fn left(&self) -> Vec<String> {
        let names = |folder: &PathBuf| -> Vec<String> {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
        };
        let mut left = names(&self.skills);
        left.extend(names(&self.books));
        left.sort();
        left
    }

    fn call(&self, call: String) {
        self.calls.borrow_mut().push(call);
    }

    fn listings(&self, reviewed: bool) -> Vec<MarketListing> {
        let goods = self.goods.borrow();
        let rows = goods.iter().filter(|(_, goods)| goods.reviewed == reviewed);
        rows.map(|(slug, goods)| MarketListing {
            slug: slug.clone(),
            reference: format!("@ada/{slug}"),
            source: if reviewed { "clawhub" } else { "github" }.to_owned(),
            reviewed,
            name: None,
            description: goods.description.clone(),
            stars: Some(12),
            downloads: Some(340),
            version: None,
        })
        .collect()
    }
}

fn failed(message: &str) -> EngineError {
    EngineError::new(ErrorCode::Network, message)
}

impl SkillMarket for Stall {
    fn search(
        &self,
        query: &MarketQuery<'_>,
        relevant: &dyn Fn(&MarketListing) -> bool,
    ) -> Result<MarketSearchResult, EngineError> {
        self.call(format!("search {} | {}", query.message, query.keywords.join(" ")));
        let mut listings = self.listings(true);
        let count = listings.iter().filter(|listing| relevant(listing)).count();
        if count < 2 {
            self.call("supplement".to_owned());
            let more = self.listings(false);
            for listing in &more {
                relevant(listing);
            }
            listings.extend(more);
        }
        Ok(MarketSearchResult {
            listings,
            relevant: count,
            supplemented: count < 2,
            problems: Vec::new(),
        })
    }

    fn text(&self, listing: &MarketListing) -> Option<String> {
        self.texts.borrow().get(&listing.slug).cloned()
    }

    fn lookup(&self, reference: &str, version: Option<&str>) -> Result<MarketListing, EngineError> {
        self.call(format!("named {reference}"));
        let rows = self.listings(true).into_iter().chain(self.listings(false));
        let version = version.map(str::to_owned);
        rows.map(|row| MarketListing { version: version.clone(), ..row })
            .find(|row| row.reference == reference)
            .ok_or_else(|| EngineError::new(ErrorCode::NotFound, "it is not there"))
    }

    fn fetch(&self, wanted: &AcquireTarget<'_>) -> Result<FetchedCandidate, EngineError> {
        self.call(format!("fetch {} {}", wanted.slug, wanted.reference));
        let goods = self.goods.borrow().get(wanted.slug).cloned();
        let goods =
            goods.ok_or_else(|| EngineError::new(ErrorCode::NotFound, "it is not there"))?;
        if let Some(why) = &goods.fetch_fails {
            return Err(failed(why));
        }
        let text = goods.skill_md(wanted.slug);
        let files = [("SKILL.md".to_owned(), text.clone().into_bytes())];
        let report = Scanner::new().scan_bundle(&SkillBundle::from_files(files));
        Ok(FetchedCandidate {
            version: goods.version,
            content: ApprovalContent::from_files([("SKILL.md", text.as_bytes())]),
            scan: ApprovalScan::of(&report),
            capabilities: report.capabilities,
            skill_md: text,
            reference: format!("@ada/{}", wanted.slug),
        })
    }

    fn install(
        &self,
        wanted: &AcquireTarget<'_>,
        order: &InstallOrder<'_>,
    ) -> Result<MarketInstall, EngineError> {
        self.call(format!("install {}", wanted.slug));
        let goods = self.goods.borrow()[wanted.slug].clone();
        if let Some(why) = &goods.install_fails {
            return Err(failed(why));
        }
        let folder = self.skills.join(wanted.slug);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("SKILL.md"), goods.skill_md(wanted.slug)).expect("a file");
        fs::write(self.books.join(wanted.slug), format!("{} {}", order.digest, order.run))
            .expect("a file");
        Ok(self.installed(wanted.slug)?.expect("what was just installed"))
    }

    fn installed(&self, slug: &str) -> Result<Option<MarketInstall>, EngineError> {
        let folder = self.skills.join(slug);
        let Ok(text) = fs::read(folder.join("SKILL.md")) else { return Ok(None) };
        let book = fs::read_to_string(self.books.join(slug)).unwrap_or_default();
        let content = ApprovalContent::from_files([("SKILL.md", text.as_slice())]);
        Ok(Some(MarketInstall {
            digest: content.digest.expect("a digest"),
            folder,
            run: book.split_once(' ').map(|(_, run)| run.to_owned()),
        }))
    }

    fn uninstall(&self, slug: &str, run: &str) -> Result<bool, EngineError> {
        self.call(format!("uninstall {slug}"));
        let ours = self.installed(slug)?.is_some_and(|placed| placed.run.as_deref() == Some(run));
        if ours {
            fs::remove_dir_all(self.skills.join(slug)).expect("a folder");
            fs::remove_file(self.books.join(slug)).expect("a file");
        }
        Ok(ours)
    }

    fn retain(&self, slug: &str, _run: &str) -> Result<(), EngineError> {
        self.call(format!("retain {slug}"));
        let book = fs::read_to_string(self.books.join(slug)).expect("a book");
        let digest = book.split(' ').next().expect("a digest").to_owned();
        fs::write(self.books.join(slug), digest).expect("a file");
        Ok(())
    }
}
