//! A process that ends anywhere: before or after whatever it asks of the market.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use sinew_cortex::acquire::UseReport;
use sinew_engine::EngineError;
use sinew_engine::acquire::{
    AcquireRequest, AcquireTarget, FetchedCandidate, InstallOrder, MarketInstall, MarketListing,
    MarketQuery, MarketSearchResult, SkillMarket, UnattendedHost,
};
use sinew_engine::approval::ApprovalAnswer;

use super::stall::Stall;
use super::{Kim, TASK, YES};
use crate::cortex::support::World;

/// What the crash is thrown as.
struct Crash;

/// A market on whose how-manieth step the process ends. Each call has two: before and after it acts.
struct Ending<'a> {
    stall: &'a Stall,
    left: Cell<usize>,
}

impl Ending<'_> {
    fn step(&self) {
        match self.left.get() {
            0 => std::panic::resume_unwind(Box::new(Crash)),
            left => self.left.set(left - 1),
        }
    }

    fn around<T>(&self, act: impl FnOnce(&Stall) -> T) -> T {
        self.step();
        let done = act(self.stall);
        self.step();
        done
    }
}

impl SkillMarket for Ending<'_> {
    fn search(
        &self,
        query: &MarketQuery<'_>,
        relevant: &dyn Fn(&MarketListing) -> bool,
    ) -> Result<MarketSearchResult, EngineError> {
        self.around(|stall| stall.search(query, relevant))
    }

    fn lookup(&self, reference: &str, version: Option<&str>) -> Result<MarketListing, EngineError> {
        self.around(|stall| stall.lookup(reference, version))
    }

    fn fetch(&self, wanted: &AcquireTarget<'_>) -> Result<FetchedCandidate, EngineError> {
        self.around(|stall| stall.fetch(wanted))
    }

    fn install(
        &self,
        wanted: &AcquireTarget<'_>,
        order: &InstallOrder<'_>,
    ) -> Result<MarketInstall, EngineError> {
        self.around(|stall| stall.install(wanted, order))
    }

    fn installed(&self, slug: &str) -> Result<Option<MarketInstall>, EngineError> {
        self.around(|stall| stall.installed(slug))
    }

    fn uninstall(&self, slug: &str, run: &str) -> Result<bool, EngineError> {
        self.around(|stall| stall.uninstall(slug, run))
    }

    fn retain(&self, slug: &str, run: &str) -> Result<(), EngineError> {
        self.around(|stall| stall.retain(slug, run))
    }
}

/// How many steps a whole run takes at most: searching, fetching three, installing, using, releasing.
const ENOUGH: usize = 200;

/// Wherever it ended, cancelling the run takes away what it brought, and leaves no question.
#[test]
fn after_a_crash_anywhere_cancelling_leaves_nothing() {
    let mut ends = 0;
    for fails in [false, true] {
        ends += crashes_of_a_run(fails);
    }
    assert!((40..2 * ENOUGH - 1).contains(&ends), "{ends} crashes");
}

/// Ends a run at each of its steps, one after another, until one is whole; at how many it was ended.
fn crashes_of_a_run(fails: bool) -> usize {
    for at in 0..ENOUGH {
        let world = World::new();
        let stall = Stall::new(&world);
        // The first candidate cannot be installed: its half is taken back on the way to the next.
        stall.change("todoist-cli", |goods| goods.install_fails = fails.then(|| "no".into()));
        let ending = Ending { stall: &stall, left: Cell::new(at) };
        let mut kim =
            Kim::answering([YES, YES, ApprovalAnswer::No]).finishing([UseReport::success()]);
        let wish = AcquireRequest { task: TASK.to_owned(), ..AcquireRequest::default() };
        let engine = world.engine();
        let ran = catch_unwind(AssertUnwindSafe(|| {
            engine.hub().acquisition(&ending).begin(&wish, &mut kim).map(drop)
        }));
        drop(engine);
        let engine = world.engine();
        for run in engine.hub().acquisition(&stall).open_runs().expect("runs") {
            engine.hub().acquisition(&stall).cancel(&run.id, &mut UnattendedHost).expect("an end");
        }
        assert_eq!(stall.left(), [] as [&str; 0], "after {at} steps: {:?}", kim.story());
        assert_eq!(engine.approvals().list(true).expect("approvals"), [], "after {at} steps");
        match ran {
            Ok(done) => {
                done.expect("a whole run");
                return at;
            }
            Err(thrown) => {
                assert!(thrown.is::<Crash>(), "after {at} steps something else broke");
            }
        }
    }
    ENOUGH
}
