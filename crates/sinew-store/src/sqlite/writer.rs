//! The only thread that writes.
//!
//! It takes all waiting requests, applies them in one transaction, and answers when that is on
//! disk. A request that fails is undone alone; the others of its group are not affected.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use rusqlite::Connection;

use super::apply;
use super::connection::{DatabaseFile, pause};
use super::fault::SqliteFault;
use crate::{StoreError, StoreOp, StoreOpResult};

/// The maximum number of requests in one group, so that others do not wait too long.
const MAX_GROUP: usize = 64;

/// The result of a request.
type StoreWriteResult = Result<Vec<StoreOpResult>, StoreError>;

#[derive(Debug)]
struct StoreWriteRequest {
    ops: Vec<StoreOp>,
    since: Instant,
    reply: SyncSender<StoreWriteResult>,
}

impl StoreWriteRequest {
    fn answer(self, answer: StoreWriteResult) {
        // The caller may be gone; the change stays.
        let _ = self.reply.send(answer);
    }
}

/// A handle of the writing thread.
#[derive(Debug)]
pub(super) struct WriterHandle {
    file: DatabaseFile,
    inbox: Option<Sender<StoreWriteRequest>>,
    thread: Option<JoinHandle<()>>,
}

impl WriterHandle {
    pub(super) fn start(file: DatabaseFile, connection: Connection) -> Result<Self, StoreError> {
        let (inbox, requests) = channel();
        let desk =
            WriterThread { file: file.clone(), connection, requests, waiting: VecDeque::new() };
        let thread = thread::Builder::new()
            .name("sinew-store".to_owned())
            .spawn(move || desk.work())
            .map_err(|error| stopped(&file, &error.to_string()))?;
        Ok(Self { file, inbox: Some(inbox), thread: Some(thread) })
    }

    pub(super) fn write(&self, ops: Vec<StoreOp>) -> StoreWriteResult {
        let (reply, answer) = sync_channel(1);
        let request = StoreWriteRequest { ops, since: Instant::now(), reply };
        let sent = self.inbox.as_ref().is_some_and(|inbox| inbox.send(request).is_ok());
        match answer.recv() {
            Ok(answer) if sent => answer,
            _ => Err(stopped(&self.file, "the writing thread ended")),
        }
    }
}

impl Drop for WriterHandle {
    /// Waits for the thread, so that the last process to close the file leaves no log behind.
    fn drop(&mut self) {
        self.inbox = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn stopped(file: &DatabaseFile, detail: &str) -> StoreError {
    StoreError::Failed { place: file.display_path(), doing: "write", detail: detail.to_owned() }
}

/// The state of the thread that processes requests.
struct WriterThread {
    file: DatabaseFile,
    connection: Connection,
    requests: Receiver<StoreWriteRequest>,
    waiting: VecDeque<StoreWriteRequest>,
}

impl WriterThread {
    fn work(mut self) {
        while self.collect() {
            match self.begin() {
                Ok(()) => self.commit_group(),
                Err(fault) if fault.is_busy() => {
                    self.give_up_on_the_impatient();
                    thread::sleep(pause());
                }
                Err(fault) => {
                    let error = self.file.explain(fault, "begin a change");
                    for request in self.waiting.drain(..) {
                        request.answer(Err(error.clone()));
                    }
                }
            }
        }
    }

    /// Collects the waiting requests, and waits for one if there is none. Returns whether to
    /// continue.
    fn collect(&mut self) -> bool {
        if self.waiting.is_empty() {
            match self.requests.recv() {
                Ok(request) => self.waiting.push_back(request),
                Err(_) => return false,
            }
        }
        loop {
            match self.requests.try_recv() {
                Ok(request) => self.waiting.push_back(request),
                // Requests sent before the end still get their answer.
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return true,
            }
        }
    }

    fn begin(&self) -> Result<(), SqliteFault> {
        self.file.check_unmoved()?;
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        Ok(())
    }

    fn give_up_on_the_impatient(&mut self) {
        while let Some(request) = self.waiting.pop_front() {
            let waited = request.since.elapsed();
            if waited < self.file.patience() {
                self.waiting.push_front(request);
                return;
            }
            let place = self.file.display_path();
            request.answer(Err(StoreError::Locked { place, waited }));
        }
    }

    /// Applies the waiting requests and answers them together.
    fn commit_group(&mut self) {
        let size = self.waiting.len().min(MAX_GROUP);
        let group: Vec<StoreWriteRequest> = self.waiting.drain(..size).collect();
        let answers: Result<Vec<StoreWriteResult>, SqliteFault> =
            group.iter().map(|request| self.apply(&request.ops)).collect();
        let committed = answers.and_then(|answers| {
            self.connection.execute_batch("COMMIT")?;
            Ok(answers)
        });
        match committed {
            Ok(answers) => {
                for (request, answer) in group.into_iter().zip(answers) {
                    request.answer(answer);
                }
            }
            Err(fault) => {
                if !self.connection.is_autocommit() {
                    let _ = self.connection.execute_batch("ROLLBACK");
                }
                let error = self.file.explain(fault, "save a change");
                for request in group {
                    request.answer(Err(error.clone()));
                }
            }
        }
    }

    /// Applies one request, or undoes it. A fault means that the whole transaction is gone, as
    /// after a full disk.
    fn apply(&self, ops: &[StoreOp]) -> Result<StoreWriteResult, SqliteFault> {
        self.connection.execute_batch("SAVEPOINT request")?;
        match apply::apply_ops(&self.connection, ops) {
            Ok(done) => {
                self.connection.execute_batch("RELEASE request")?;
                Ok(Ok(done))
            }
            Err(fault) if self.connection.is_autocommit() => Err(fault),
            Err(fault) => {
                self.connection.execute_batch("ROLLBACK TO request; RELEASE request")?;
                Ok(Err(self.file.explain(fault, "save a change")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{JsonText, NewStreamRecord, RecordSeq};

    fn append(id: u64) -> Vec<StoreOp> {
        let body = JsonText::of(&"x".repeat(3_000)).unwrap();
        let record = NewStreamRecord { id: id.to_string(), ts: 0, kind: "k".to_owned(), body };
        vec![StoreOp::append("log", [record])]
    }

    /// To SQLite, a file that may not grow is the same as a full disk.
    #[test]
    fn a_full_disk_is_said_and_what_was_saved_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sinew.db");
        let (file, connection) = DatabaseFile::open(&path, Duration::from_secs(5)).unwrap();
        connection.pragma_update(None, "max_page_count", 40).unwrap();
        let writer = WriterHandle::start(file, connection).unwrap();
        let mut saved = 0;
        let error = loop {
            match writer.write(append(saved)) {
                Ok(_) => saved += 1,
                Err(error) => break error,
            }
        };
        let place = path.display().to_string();
        assert_eq!(error, StoreError::Full { place });
        assert!(error.hint().unwrap().starts_with("free some space"));
        // A change that needs no new page still succeeds.
        assert_eq!(writer.write(append(0)).unwrap(), [StoreOpResult::Appended(vec![RecordSeq(1)])]);
        drop(writer);

        let (file, connection) = DatabaseFile::open(&path, Duration::from_secs(5)).unwrap();
        let writer = WriterHandle::start(file, connection).unwrap();
        let next = writer.write(append(saved)).unwrap();
        assert_eq!(
            next,
            [StoreOpResult::Appended(vec![RecordSeq(saved + 1)])],
            "with free space it continues"
        );
    }
}
