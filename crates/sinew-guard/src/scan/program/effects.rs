//! What a program does with a value: it is sent, run, written or shown.

use std::rc::Rc;

use super::super::hosts::HostClass;
use super::super::metadata::registrable;
use super::calls::CallInput;
use super::flow::{FlowFact, ProgramFlow};
use super::library;
use super::statement;
use super::tree::ProgramLanguage;
use super::value::{FlowValue, UNKNOWN, ValueOrigin, concat};

/// Facts and texts of one skill; more say nothing new.
const MAX_FOUND: usize = 512;

/// The name under which an address's host is registered: anyone gives any name to what is below.
fn registered_name(address: &str) -> &str {
    let host = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = host.split(['/', ':', '?', '#']).next().unwrap_or(host);
    registrable(host).split('.').next().unwrap_or(host)
}

impl ProgramFlow<'_> {
    pub(super) fn fact(&mut self, kind: &'static str, line: usize, class: Option<HostClass>) {
        let fact = FlowFact { file: self.file, line, kind, class };
        if self.facts.len() < MAX_FOUND && !self.facts.contains(&fact) {
            self.facts.push(fact);
        }
    }

    pub(super) fn reveal(&mut self, line: usize, text: &str, is_decoded: bool) {
        if self.texts.len() < MAX_FOUND && text.len() >= 6 {
            let entry = (self.file, line, text.replace(UNKNOWN, "x"), is_decoded);
            if !self.texts.contains(&entry) {
                self.texts.push(entry);
            }
        }
    }

    /// The class of the host that a text names.
    pub(super) fn class_of(&self, text: &str) -> Option<HostClass> {
        let text = text.to_ascii_lowercase().replace(UNKNOWN, "$x");
        let mut worst = None;
        for (at, _) in text.match_indices("://").take(8) {
            let place = self.table.hosts.mention_at(&text, at, self.declared);
            worst = worst.max(place.map(|place| place.class));
        }
        worst
    }

    pub(super) fn class_of_host(&self, host: &str) -> Option<HostClass> {
        if host.contains("://") {
            return self.class_of(host);
        }
        let host = host.to_ascii_lowercase();
        let (host, path) = host.split_once('/').unwrap_or((&host, ""));
        let host = host.split(':').next().unwrap_or(host);
        let is_host = host.contains('.') && !host.contains(UNKNOWN) || host == "localhost";
        is_host.then(|| self.table.hosts.classify(host, path, self.declared))
    }

    /// Where a call leads: its address, that of its options, or that of its channel.
    pub(super) fn destination(&self, input: &CallInput) -> (Option<HostClass>, String) {
        const ADDRESSES: &[&str] =
            &["url", "uri", "hostname", "host", "baseURL", "base_url", "address", "full_url"];
        let mut found: Option<(HostClass, String)> = None;
        let mut texts: Vec<&str> = Vec::new();
        texts.extend(input.named(ADDRESSES).and_then(|value| value.text.as_deref()));
        texts.extend(input.plain.iter().filter_map(|value| value.text.as_deref()));
        texts.extend(input.plain.iter().filter_map(|value| value.place.as_deref()));
        for value in input.plain.iter() {
            texts.extend(
                value.items.iter().flat_map(|i| i.iter()).filter_map(|i| i.text.as_deref()),
            );
        }
        texts.extend(input.receiver.place.as_deref());
        for text in texts {
            let class = self.class_of_host(text);
            if let Some(class) = class
                && found.as_ref().is_none_or(|(worst, _)| class > *worst)
            {
                found = Some((class, text.to_ascii_lowercase()));
            }
        }
        match found {
            Some((class, text)) => (Some(class), text),
            None => (None, String::new()),
        }
    }

    /// Says what is sent where.
    pub(super) fn sent(&mut self, input: &CallInput, receiver: ValueOrigin) {
        let (class, address) = self.destination(input);
        let headers = input
            .named(&["headers", "auth", "cookies"])
            .map_or(ValueOrigin::NONE, FlowValue::all_origins);
        // A key or a setting in a header is how an interface is used; to an address that is a setting
        // too, also one from a file.
        let body = self.body_origins(input) | receiver;
        let origin = if class.is_none() { body } else { input.origins() | receiver };
        self.leaks(origin, class, input.line);
        if body.has(ValueOrigin::DOTENV) && !headers.has(ValueOrigin::DOTENV) {
            self.fact("dotenv-flow", input.line, class);
        }
        let vendor = input.all().find_map(|value| value.vendor.clone());
        if body.has(ValueOrigin::KEY)
            && class.is_some()
            && vendor.is_some_and(|vendor| !registered_name(&address).contains(&*vendor))
        {
            self.fact("key-flow", input.line, class);
        }
    }

    /// Origins of what is sent, headers left out.
    pub(super) fn body_origins(&self, input: &CallInput) -> ValueOrigin {
        const HEADERS: &[&str] =
            &["headers", "auth", "cookies", "env", "cert", "verify", "proxies"];
        let mut origin = ValueOrigin::NONE;
        for value in &input.plain {
            match &value.fields {
                Some(fields) if fields.keys().any(|key| HEADERS.contains(&&**key)) => {
                    let rest = fields.iter().filter(|(key, _)| !HEADERS.contains(&&***key));
                    origin = rest.fold(origin, |all, (_, value)| all | value.all_origins());
                }
                _ => origin = origin | value.all_origins(),
            }
        }
        let named = input.named.iter().filter(|(name, _)| !HEADERS.contains(&&**name));
        named.fold(origin, |all, (_, value)| all | value.all_origins())
    }

    pub(super) fn leaks(&mut self, origin: ValueOrigin, class: Option<HostClass>, line: usize) {
        if origin.has(ValueOrigin::SECRET) {
            self.fact("secret-flow", line, class);
        }
        if origin.has(ValueOrigin::ENVIRONMENT) {
            self.fact("env-flow", line, class);
        }
        if origin.has(ValueOrigin::AGENT) {
            self.fact("agent-flow", line, class);
        }
    }

    pub(super) fn channel(&mut self, path: &str, input: &CallInput) -> FlowValue {
        let (class, _) = self.destination(input);
        let address = input
            .named(&["url", "uri", "hostname", "host", "address"])
            .or(input.plain.iter().find(|value| value.text.is_some()));
        let mut value = FlowValue {
            path: Some(Rc::from(format!("channel.{path}"))),
            place: address.and_then(|value| value.text.clone()),
            class,
            ..FlowValue::default()
        };
        // A request that carries its data already, and an address that does.
        for argument in input.all() {
            value.tainted_by(argument);
        }
        if path.starts_with("http") && !path.ends_with("connection") {
            // It is sent by being made.
            self.sent(input, ValueOrigin::NONE);
            value.origin = value.origin | ValueOrigin::FETCHED;
        }
        value
    }

    pub(super) fn evaluate(&mut self, path: &str, input: &CallInput) -> FlowValue {
        let code = input.plain.last().filter(|_| path.ends_with("function"));
        let code = code.cloned().unwrap_or_else(|| input.first());
        if code.all_origins().has(ValueOrigin::FETCHED) {
            self.fact("fetched-run", input.line, code.class);
        }
        if code.all_origins().has(ValueOrigin::DECODED) {
            self.fact("code-decode-exec", input.line, None);
        }
        if let Some(text) = code.text.as_deref().filter(|text| text.len() < 64 * 1024) {
            self.reveal(input.line, text, true);
            if self.calls < 4 && !text.contains(UNKNOWN) {
                let language = match path {
                    "eval" if !text.contains("__import__") => ProgramLanguage::JavaScript,
                    "function" | "vm.runinthiscontext" | "vm.runinnewcontext" => {
                        ProgramLanguage::JavaScript
                    }
                    _ => ProgramLanguage::Python,
                };
                let body = statement::parse(text, language);
                let first_line = std::mem::replace(&mut self.first_line, input.line);
                self.calls += 4;
                self.statements(&body);
                self.calls -= 4;
                self.first_line = first_line;
            }
        }
        code.derived()
    }

    /// Starts a program: its words, what it reads, sends and prints.
    pub(super) fn start(&mut self, path: &str, input: &CallInput) -> FlowValue {
        let words: Vec<FlowValue> = self.command_words(path, input);
        let command = concat(&words, " ");
        let text = command.spelled().to_ascii_lowercase();
        self.reveal(input.line, command.spelled(), false);
        let is_list = words.len() > 1;
        let program = text.split_whitespace().next().unwrap_or("");
        let program = program.rsplit('/').next().unwrap_or(program);
        let is_interpreter = matches!(
            program,
            "sh" | "bash"
                | "zsh"
                | "dash"
                | "python"
                | "python3"
                | "node"
                | "perl"
                | "ruby"
                | "osascript"
                | "powershell"
                | "pwsh"
                | "cmd"
        );
        let given =
            input.named(&["input", "stdin"]).map_or(FlowValue::default(), FlowValue::derived);
        // What runs: the whole line, the first word, the text behind `-c`, or what a shell reads.
        let mut run = FlowValue::default();
        match words.first() {
            Some(first) if first.text.is_none() || first.spelled().starts_with(UNKNOWN) => {
                run.origin = if is_list { first.all_origins() } else { first.head };
                run.class = first.class;
            }
            _ => {}
        }
        if is_interpreter {
            let operand = words.iter().skip(1).find(|word| !word.spelled().starts_with('-'));
            if let Some(operand) = operand.filter(|_| is_list) {
                run.tainted_by(&operand.derived());
            }
            run.tainted_by(&given);
            if !is_list {
                let behind = text.split_whitespace().nth(1).unwrap_or("");
                if behind == "-c" || behind.starts_with(UNKNOWN) || behind == "\"\u{1}\"" {
                    run.origin = run.origin | command.origin;
                    run.class = run.class.max(command.class);
                }
            }
        }
        // A file that was fetched or decoded before.
        for word in text.split([' ', '"', '\'', ';', '&']).filter(|word| word.len() > 2) {
            if let Some(file) = self.files.get(word) {
                let is_first = text.starts_with(word);
                let marked = text.contains("chmod");
                if is_interpreter || is_first || marked || text.contains(&format!("&& {word}")) {
                    run.tainted_by(&file.clone());
                }
            }
        }
        if run.origin.has(ValueOrigin::FETCHED) {
            self.fact("fetched-run", input.line, run.class);
        }
        if run.origin.has(ValueOrigin::DECODED) {
            self.fact("code-decode-exec", input.line, None);
        }
        let sends = [
            "curl", "wget", "nc ", "ncat", "scp ", "rsync", "http ", "ftp", "dig ", "nslookup",
            "mail", "aws s3", "gsutil", "rclone",
        ]
        .iter()
        .any(|name| text.contains(name));
        if sends {
            let mut whole = input.origins() | command.origin;
            // A child's environment is not an argument.
            if let Some(environment) = input.named(&["env"]) {
                let own = environment.all_origins();
                if !command.origin.has(own) {
                    whole = whole.without(own) | command.origin | given.origin;
                }
            }
            let class = self.class_of(&text);
            self.leaks(whole, class, input.line);
            return FlowValue { class, text: None, ..FlowValue::of_origin(ValueOrigin::FETCHED) };
        }
        FlowValue::of_origin(library::output_of(&text))
    }

    pub(super) fn command_words(&mut self, path: &str, input: &CallInput) -> Vec<FlowValue> {
        let first = input.first();
        if let Some(items) = &first.items {
            return (**items).clone();
        }
        let mut words = vec![first];
        // `spawn("bash", ["-c", x])`, `create_subprocess_exec("bash", "-c", x)`
        let takes_list = path.starts_with("child_process") || path.starts_with("deno");
        if takes_list {
            if let Some(items) = input.plain.get(1).and_then(|value| value.items.clone()) {
                words.extend(items.iter().cloned());
            }
            if let Some(items) = input.named(&["args"]).and_then(|value| value.items.clone()) {
                words.extend(items.iter().cloned());
            }
        } else if path.ends_with("_exec")
            || path.starts_with("os.exec")
            || path.starts_with("os.spawn")
        {
            words.extend(input.plain.iter().skip(1).cloned());
        }
        words
    }

    pub(super) fn open(&mut self, input: &CallInput) -> FlowValue {
        let file = input.first();
        let mode = input.plain.get(1).or(input.named(&["mode"])).and_then(|v| v.text.clone());
        let writes = mode
            .as_deref()
            .is_some_and(|mode| mode.contains(['w', 'a', 'x', '+']) && mode.len() <= 6);
        let mut value = if writes {
            self.written(&file, &FlowValue::default(), input.line);
            FlowValue::default()
        } else {
            self.content(&file)
        };
        value.file = file.text.clone();
        value
    }

    /// What a file holds.
    pub(crate) fn content(&self, file: &FlowValue) -> FlowValue {
        let path = file.spelled().to_ascii_lowercase();
        let mut content = FlowValue::of_origin(library::content_of(&path));
        if let Some(written) = self.files.get(&path) {
            content.tainted_by(written);
        }
        content.file = file.text.clone();
        content
    }

    /// Says what writing to a file means.
    pub(super) fn written(&mut self, file: &FlowValue, content: &FlowValue, line: usize) {
        let path = file.spelled().to_ascii_lowercase();
        if path == UNKNOWN {
            return;
        }
        if library::is_start_up(&path) {
            self.fact("persist", line, None);
            if let Some(text) = content.text.as_deref() {
                self.reveal(line, text, false);
            }
        }
        if library::is_agent_file(&path) {
            self.fact("agent-write", line, None);
        }
        let text = content.text.as_deref().map(str::to_ascii_lowercase).unwrap_or_default();
        if library::widens(&text) && (path.contains("settings") || path.contains("config")) {
            self.fact("settings-widen", line, None);
        }
        if self.files.len() < MAX_FOUND {
            let mut held = self.files.remove(&path).unwrap_or_default();
            held.tainted_by(content);
            self.files.insert(path, held);
        }
    }
}
