//! Calls: what a program does with a value when it hands it to a library.

use std::rc::Rc;

use super::decoding::spelled_numbers;
use super::flow::ProgramFlow;
use super::library;
use super::library::LibraryRole;
use super::members::is_environment;
use super::tree::{BindMode, ELEMENT, ProgramCall, ProgramExpr};
use super::value::{FlowValue, UNKNOWN, ValueOrigin, concat};

/// A variable of the environment, or what the program takes where there is none: what it spells is
/// where an unsuspecting user's data goes.
fn or_default(mut value: FlowValue, input: &CallInput) -> FlowValue {
    if let Some(default) = input.plain.get(1) {
        value.text = value.text.or_else(|| default.text.clone());
        value.tainted_by(default);
    }
    value
}

/// The arguments of a call.
pub(super) struct CallInput {
    pub(super) receiver: FlowValue,
    pub(super) method: Option<Rc<str>>,
    pub(super) plain: Vec<FlowValue>,
    pub(super) named: Vec<(Rc<str>, FlowValue)>,
    pub(super) line: usize,
}

impl CallInput {
    pub(super) fn first(&self) -> FlowValue {
        self.plain.first().cloned().unwrap_or_default()
    }

    pub(super) fn named(&self, names: &[&str]) -> Option<&FlowValue> {
        let own = self.named.iter().find(|(name, _)| names.contains(&&**name));
        own.map(|(_, value)| value).or_else(|| {
            // JavaScript's options are an object.
            self.plain
                .iter()
                .filter_map(|value| value.fields.as_ref())
                .find_map(|fields| names.iter().find_map(|name| fields.get(*name)))
        })
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &FlowValue> {
        self.plain.iter().chain(self.named.iter().map(|(_, value)| value))
    }

    pub(super) fn origins(&self) -> ValueOrigin {
        self.all().fold(ValueOrigin::NONE, |all, one| all | one.all_origins())
    }
}

impl ProgramFlow<'_> {
    pub(crate) fn call(&mut self, call: &ProgramCall) -> FlowValue {
        let (receiver, method, function) = match &call.function {
            ProgramExpr::Member(object, method) => {
                let function = self.value(&call.function);
                let receiver = match &**object {
                    // Looked up by the member already.
                    ProgramExpr::Name(name) if matches!(&**name, "self" | "this") => {
                        FlowValue::default()
                    }
                    object => self.value(object),
                };
                (receiver, Some(method.clone()), function)
            }
            ProgramExpr::Index(object, key) => {
                let receiver = self.value(object);
                let key = self.value(key);
                let function = self.indexed(&receiver, &key);
                (receiver, key.text, function)
            }
            function => (FlowValue::default(), None, self.value(function)),
        };
        let mut input = CallInput {
            receiver,
            method,
            plain: Vec::with_capacity(call.arguments.len()),
            named: Vec::new(),
            line: self.first_line + call.line,
        };
        for argument in &call.arguments {
            let value = self.value(&argument.value);
            match &argument.name {
                Some(name) => input.named.push((name.clone(), value)),
                None => input.plain.push(value),
            }
        }
        if let Some(closure) = &function.function {
            return self.call_closure(&closure.clone(), &input.plain, &input.named);
        }
        if function.path.as_deref() == Some("class") {
            return self.construct(&function, &input);
        }
        let path = function.path.as_deref().map(str::to_ascii_lowercase);
        let role = path.as_deref().and_then(library::role);
        let result = match role {
            Some(role) => self.library_call(role, path.as_deref().unwrap_or(""), &input),
            None => self.other_call(call, &function, &input),
        };
        self.call_backs(role, &input, &result);
        result
    }

    pub(super) fn construct(&mut self, class: &FlowValue, input: &CallInput) -> FlowValue {
        let fields = class.fields.clone();
        let constructor = fields.as_ref().and_then(|fields| {
            fields.get("__init__").or_else(|| fields.get("constructor"))?.function.clone()
        });
        if let Some(constructor) = constructor {
            self.call_closure(&constructor, &input.plain, &input.named);
        }
        FlowValue { fields, ..FlowValue::default() }
    }

    /// Functions among the arguments get what the call is about.
    pub(super) fn call_backs(
        &mut self,
        role: Option<LibraryRole>,
        input: &CallInput,
        result: &FlowValue,
    ) {
        let has_function = input.all().any(|value| value.function.is_some());
        if !has_function {
            return;
        }
        let mut about = match role {
            Some(_) => result.derived(),
            None => input.receiver.derived(),
        };
        about.text = input.receiver.text.clone();
        about.path = if role.is_some() { result.path.clone() } else { None };
        about.items = input.receiver.items.clone();
        for value in input.all().filter(|value| value.function.is_none()) {
            about.tainted_by(value);
        }
        // `Thread(target=f, args=(x,))`, `submit(f, x)`
        let handed = input.named(&["args"]).and_then(|value| value.items.clone());
        let is_element = matches!(
            input.method.as_deref(),
            Some("map" | "forEach" | "filter" | "flatMap" | "reduce" | "find" | "some")
        );
        for value in input.all() {
            let Some(closure) = &value.function else { continue };
            let arguments: Vec<FlowValue> = match &handed {
                Some(items) => (**items).clone(),
                None if is_element => vec![self.member(&about.clone(), ELEMENT); 3],
                None => {
                    let others: Vec<FlowValue> =
                        input.plain.iter().filter(|v| v.function.is_none()).cloned().collect();
                    let is_runner = matches!(
                        input.method.as_deref(),
                        Some("submit" | "run_in_executor" | "map" | "apply_async" | "partial")
                    );
                    if is_runner && !others.is_empty() { others } else { vec![about.clone(); 4] }
                }
            };
            self.call_closure(&closure.clone(), &arguments, &[]);
        }
    }

    pub(super) fn library_call(
        &mut self,
        role: LibraryRole,
        path: &str,
        input: &CallInput,
    ) -> FlowValue {
        match role {
            LibraryRole::Request => {
                self.sent(input, input.receiver.all_origins());
                let (class, _) = self.destination(input);
                let file = input.plain.get(1).and_then(|value| value.text.clone());
                let answer = FlowValue { class, ..FlowValue::of_origin(ValueOrigin::FETCHED) };
                if path.ends_with("urlretrieve")
                    && let Some(file) = file
                {
                    self.files.insert(file.to_ascii_lowercase(), answer.clone());
                }
                answer
            }
            LibraryRole::Channel => self.channel(path, input),
            LibraryRole::Lookup => {
                let origin = input.origins();
                let secret = ValueOrigin::SECRET | ValueOrigin::ENVIRONMENT | ValueOrigin::KEY;
                if origin.has(secret) {
                    self.fact("secret-flow", input.line, None);
                }
                FlowValue::default()
            }
            LibraryRole::Evaluate => self.evaluate(path, input),
            LibraryRole::Start => self.start(path, input),
            LibraryRole::Load => {
                let origin = input.origins();
                if origin.has(ValueOrigin::FETCHED) {
                    let class = input.all().filter_map(|value| value.class).max();
                    self.fact("fetched-run", input.line, class);
                }
                input.first().derived()
            }
            LibraryRole::Open => self.open(input),
            LibraryRole::Read => self.content(&input.first()),
            LibraryRole::Write => {
                let content = input.plain.get(1).cloned().unwrap_or_default();
                self.written(&input.first(), &content, input.line);
                FlowValue::default()
            }
            LibraryRole::Copy => {
                let from = if path.ends_with("make_archive") { 2 } else { 0 };
                let source = input.plain.get(from).cloned().unwrap_or_default();
                let target = input.plain.get(usize::from(from == 0)).cloned().unwrap_or_default();
                let target = if from == 2 { input.first() } else { target };
                let content = self.content(&source);
                self.written(&target, &content, input.line);
                FlowValue { text: target.text, ..content.derived() }
            }
            LibraryRole::List => {
                let folder = input.first();
                let text = format!("{}/{UNKNOWN}", folder.spelled().trim_end_matches('/'));
                let text = match folder.spelled().contains('*') {
                    true => folder.spelled().to_owned(),
                    false => text,
                };
                FlowValue { text: Some(Rc::from(text)), ..folder.derived() }
            }
            LibraryRole::JoinPath => {
                let mut joined = concat(&input.plain, "/");
                joined.path = None;
                joined
            }
            LibraryRole::Same => {
                let mut value = input.first();
                if let Some(text) = &value.text
                    && text.contains("$HOME")
                {
                    value.text = Some(Rc::from(text.replace("${HOME}", "~").replace("$HOME", "~")));
                }
                if value.text.is_none()
                    && let Some(items) = &value.items
                {
                    value.text = spelled_numbers(items).map(Rc::from);
                }
                value
            }
            LibraryRole::Home => FlowValue::of_text("~"),
            LibraryRole::Decode(codec) => self.decode(codec, input),
            LibraryRole::Measure => match (path, input.first().text.as_deref()) {
                ("ord", Some(text)) if text.chars().count() == 1 => FlowValue {
                    number: text.chars().next().map(|c| i64::from(u32::from(c))),
                    ..FlowValue::default()
                },
                _ => FlowValue::default(),
            },
            LibraryRole::Show => {
                if input.origins().has(ValueOrigin::DECODED) {
                    self.fact("decoder", input.line, None);
                }
                FlowValue::default()
            }
            LibraryRole::Clipboard => FlowValue::of_origin(ValueOrigin::SECRET),
            LibraryRole::Import => match input.first().text {
                Some(module) => self.imported(&module, ""),
                None => {
                    let first = input.first();
                    if first.origin.has(ValueOrigin::FETCHED) {
                        self.fact("fetched-run", input.line, first.class);
                    }
                    FlowValue::default()
                }
            },
            LibraryRole::Getattr => {
                let object = input.first();
                let name = input.plain.get(1).cloned().unwrap_or_default();
                self.indexed(&object, &name)
            }
            LibraryRole::Variable => {
                let environment = self.library_value("os.environ");
                match input.first().text {
                    Some(name) => or_default(self.variable(&environment, &name), input),
                    None => input.first().derived(),
                }
            }
        }
    }

    /// A call of something that no table names.
    pub(super) fn other_call(
        &mut self,
        call: &ProgramCall,
        function: &FlowValue,
        input: &CallInput,
    ) -> FlowValue {
        let method = input.method.as_deref().unwrap_or("");
        let receiver = &input.receiver;
        let receiver_path = receiver.path.as_deref().unwrap_or("");
        // The environment's own methods.
        if is_environment(receiver_path) {
            return match method {
                "get" | "pop" | "setdefault" => {
                    let environment = receiver.clone();
                    let value = self.indexed(&environment, &input.first());
                    or_default(value, input)
                }
                _ => FlowValue::of_origin(ValueOrigin::ENVIRONMENT),
            };
        }
        let is_channel = receiver_path.starts_with("channel.");
        if is_channel && library::sends_over_channel(method)
            || library::sends_by_method(method) && !receiver_path.starts_with("fs")
        {
            // Objects that only collect have such names, too: what was collected counts.
            self.sent(input, if is_channel { receiver.all_origins() } else { ValueOrigin::NONE });
            let place = input.plain.iter().find_map(|value| value.text.clone());
            if is_channel
                && let (ProgramExpr::Member(object, _), Some(place)) = (&call.function, place)
                && let ProgramExpr::Name(name) = &**object
                && receiver.place.is_none()
            {
                let named = FlowValue { place: Some(place), ..receiver.clone() };
                self.bind_name(name, named, BindMode::Replace);
            }
            return FlowValue {
                class: self.destination(input).0,
                ..FlowValue::of_origin(ValueOrigin::FETCHED)
            };
        }
        if is_channel && matches!(method, "getresponse" | "recv" | "read" | "retrbinary") {
            return FlowValue {
                class: receiver.place.as_deref().and_then(|place| self.class_of_host(place)),
                ..FlowValue::of_origin(ValueOrigin::FETCHED)
            };
        }
        // Clients that are made before they are used.
        if let Some(path) = &function.path {
            let lower = path.to_ascii_lowercase();
            let made = match lower.as_str() {
                "requests.session"
                | "httpx.client"
                | "httpx.asyncclient"
                | "aiohttp.clientsession"
                | "urllib3.poolmanager"
                | "cloudscraper.create_scraper" => Some("requests"),
                "axios.create" | "got.extend" | "ky.create" => Some("axios"),
                _ => None,
            };
            if let Some(made) = made {
                let (_, address) = self.destination(input);
                return FlowValue {
                    place: (!address.is_empty()).then(|| Rc::from(address)),
                    ..FlowValue::of_path(made)
                };
            }
        }
        if library::measures(method) {
            return FlowValue::default();
        }
        if let Some(value) = self.text_method(method, input) {
            return value;
        }
        match method {
            "read_text" | "read_bytes" | "readText" => return self.content(receiver),
            "open" if receiver.text.is_some() => {
                let opened = CallInput {
                    receiver: FlowValue::default(),
                    method: None,
                    plain: std::iter::once(receiver.clone())
                        .chain(input.plain.iter().cloned())
                        .collect(),
                    named: input.named.clone(),
                    line: input.line,
                };
                return self.open(&opened);
            }
            "write_text" | "write_bytes" => {
                self.written(receiver, &input.first(), input.line);
                return FlowValue::default();
            }
            "write" | "writelines" | "writestr" | "add" | "addfile" if receiver.file.is_some() => {
                let mut content = input.first();
                if matches!(method, "add" | "write") {
                    content.tainted_by(&self.content(&input.first()));
                }
                if method == "writestr" {
                    content = input.plain.get(1).cloned().unwrap_or_default();
                }
                let file = FlowValue { text: receiver.file.clone(), ..FlowValue::default() };
                self.written(&file, &content, input.line);
                return FlowValue::default();
            }
            "glob" | "rglob" | "iterdir" if receiver.text.is_some() => {
                let mut below = concat([receiver, &FlowValue::default()], "/");
                if let Some(pattern) = input.first().text {
                    below = concat([receiver, &FlowValue::of_text(pattern)], "/");
                }
                return below;
            }
            // A stream goes into a channel.
            "pipe"
                if input
                    .plain
                    .iter()
                    .any(|v| v.path.as_deref().is_some_and(|p| p.starts_with("channel."))) =>
            {
                self.sent(input, receiver.all_origins());
            }
            _ => {}
        }
        // Something unknown: what went in may come out, and what is put into a thing is in it.
        let mut result = receiver.derived();
        result.place = receiver.place.clone();
        for value in input.all().filter(|value| value.function.is_none()) {
            result.tainted_by(value);
        }
        if let (ProgramExpr::Member(object, _), true) =
            (&call.function, input.origins() != ValueOrigin::NONE)
            && let ProgramExpr::Name(name) = &**object
            && !matches!(
                &**name,
                "self" | "this" | "json" | "JSON" | "base64" | "os" | "Object" | "Buffer"
            )
        {
            for value in input.all() {
                self.taint_name(name, value);
            }
        }
        if matches!(method, "append" | "push" | "extend" | "update") {
            return FlowValue::default();
        }
        result.file = receiver.file.clone();
        if matches!(function.path.as_deref(), Some("dict" | "list" | "tuple" | "set" | "sorted")) {
            result.items = input.first().items;
            result.fields = input.first().fields;
        }
        result
    }
}
