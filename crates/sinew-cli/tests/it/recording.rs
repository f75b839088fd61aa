//! The recording in the README: real commands in a real terminal, drawn as a picture that moves.
//!
//! What is drawn must be what is said: a picture that is older than the program fails here, and
//! `scripts/record` makes a new one.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use rustix::termios::{Winsize, tcsetwinsize};
use sinew_testkit::TestMachine;

use crate::support::{all_that_shows, command, sample_machine, terminal};

/// The commands, and for how many seconds each answer stands.
const SCENES: &[(&[&str], f64)] = &[
    (&["find", "these pictures are too heavy for an e-mail"], 3.5),
    (&["find", "what is the capital of Peru?"], 3.0),
    (&["why", "forge-deploy"], 4.0),
    (&["scan", "skills/coupon-finder"], 5.0),
    (&["workshop", "capture", "--text", "next time, check the frames before you post a GIF"], 4.0),
];

const COLUMNS: u16 = 92;
const ROWS: usize = 24;
/// Pixels of a character and of a line, for the fonts that terminals use.
const CHAR: f64 = 8.43;
const LINE: f64 = 20.0;
/// Room around the text, and above it for the bar of the window.
const SIDE: f64 = 18.0;
const TOP: f64 = 52.0;
/// Seconds for a key.
const KEY: f64 = 0.035;

/// Runs a command in a terminal of its own and gives what stands there afterwards, with its colours.
fn in_terminal(machine: &TestMachine, args: &[&str]) -> String {
    let (ours, theirs) = terminal();
    let open = theirs();
    let size = Winsize { ws_row: 60, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&open, size).expect("a size");
    let mut child = command(machine, args)
        .env("TERM", "xterm-256color")
        .env("COLORTERM", "truecolor")
        .current_dir(machine.path("project"))
        .stdout(theirs())
        .stderr(theirs())
        .stdin(Stdio::null())
        .spawn()
        .expect("sinew runs");
    let reader = all_that_shows(ours);
    child.wait().expect("its end");
    drop(open);
    let seen = String::from_utf8(reader.join().expect("the reader")).expect("text");
    let project = machine.path("project").to_string_lossy().into_owned();
    let home = machine.path("home").to_string_lossy().into_owned();
    seen.replace('\r', "").replace(&project, "~/project").replace(&home, "~")
}

/// The rows of a line as a terminal shows them: pieces in one style each, begun anew at its edge.
fn styled(line: &str) -> Vec<String> {
    let mut cells: Vec<(char, String)> = Vec::new();
    let mut classes: Vec<&str> = Vec::new();
    let mut rest = line;
    loop {
        let (text, after) = rest.split_once('\x1b').map_or((rest, None), |(a, b)| (a, Some(b)));
        cells.extend(text.chars().map(|c| (c, classes.join(" "))));
        let Some(after) = after else { break };
        let (code, after) = after.split_once('m').expect("a style, and nothing that moves");
        for code in code.trim_start_matches('[').split(';') {
            match code {
                "" | "0" => classes.clear(),
                "1" => classes.push("b"),
                "2" => classes.push("d"),
                "22" => classes.retain(|class| !matches!(*class, "b" | "d")),
                "31" | "91" => classes.push("r"),
                "32" | "92" => classes.push("g"),
                "33" | "93" => classes.push("y"),
                "34" | "94" | "36" | "96" => classes.push("c"),
                "39" => classes.retain(|class| matches!(*class, "b" | "d")),
                other => panic!("the picture knows no style {other}"),
            }
        }
        rest = after;
    }
    let row = |cells: &[(char, String)]| {
        let mut row = String::new();
        for piece in cells.chunk_by(|one, next| one.1 == next.1) {
            let text: String = piece.iter().map(|(c, _)| *c).collect();
            let text = escaped(&text);
            let _ = match piece[0].1.as_str() {
                "" => write!(row, "{text}"),
                classes => write!(row, "<tspan class=\"{classes}\">{text}</tspan>"),
            };
        }
        row
    };
    match cells.is_empty() {
        true => vec![String::new()],
        false => cells.chunks(usize::from(COLUMNS)).map(row).collect(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A command as it is typed.
fn typed(args: &[&str]) -> String {
    let words = args.iter().map(|arg| match arg.contains(' ') {
        true => format!("\"{arg}\""),
        false => (*arg).to_owned(),
    });
    format!("sinew {}", words.collect::<Vec<_>>().join(" "))
}

/// The scenes, one below the other; each appears when its time has come, and the page moves up where
/// it is longer than the window. The picture begins anew when it is over.
fn drawn(scenes: &[(String, Vec<String>, f64)]) -> String {
    let total: f64 = scenes.iter().map(|(typed, _, stands)| length(typed) + stands).sum();
    let (mut style, mut body, mut moves) = (String::new(), String::new(), String::new());
    let (mut now, mut line) = (0.4, 0_usize);
    let mut up = 0.0;
    let percent = |seconds: f64| format!("{:.2}%", 100.0 * seconds / total);
    for (at, (typed, answer, stands)) in scenes.iter().enumerate() {
        // A page of a new command begins where the last one ends, unless it would not fit.
        let needed = line + 1 + answer.len();
        let hidden = needed.saturating_sub(ROWS) as f64 * LINE;
        if hidden > up {
            up = hidden;
            let _ = write!(moves, "{}{{transform:translateY(-{up}px)}}", percent(now));
        }
        let y = |line: usize| format!("{}", line as f64 * LINE);
        let end = now + typed.len() as f64 * KEY;
        let _ = writeln!(
            style,
            "@keyframes t{at}{{0%,{}{{clip-path:inset(0 100% 0 0)}}{},100%{{clip-path:inset(0 -1px 0 0)}}}}\
             #t{at}{{animation:t{at} {total:.1}s steps({}) infinite}}\
             @keyframes a{at}{{0%,{}{{opacity:0}}{},100%{{opacity:1}}}}\
             #a{at}{{animation:a{at} {total:.1}s steps(1) infinite}}\
             @keyframes p{at}{{0%,{}{{opacity:0}}{},100%{{opacity:1}}}}\
             #p{at}{{animation:p{at} {total:.1}s steps(1) infinite}}",
            percent(now),
            percent(end),
            typed.len(),
            percent(end + 0.35),
            percent(end + 0.36),
            percent((now - 0.39).max(0.0)),
            percent((now - 0.38).max(0.01)),
        );
        let safe = escaped(typed);
        let _ = writeln!(
            body,
            "<text id=\"p{at}\" y=\"{0}\"><tspan class=\"g\">$</tspan></text><text id=\"t{at}\" x=\"{1:.1}\" y=\"{0}\" class=\"b\">{safe}</text>",
            y(line),
            2.0 * CHAR,
        );
        let _ = write!(body, "<g id=\"a{at}\">");
        for text in answer {
            line += 1;
            if !text.is_empty() {
                let _ = write!(body, "<text y=\"{}\">{text}</text>", y(line));
            }
        }
        body.push_str("</g>\n");
        line += 2;
        now += length(typed) + stands;
    }
    let (wide, high) = (f64::from(COLUMNS) * CHAR + 2.0 * SIDE, ROWS as f64 * LINE + TOP + 12.0);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide:.0} {high:.0}\" width=\"{wide:.0}\" height=\"{high:.0}\" role=\"img\" aria-label=\"sinew in a terminal: finding a skill, explaining one that is not ready, scanning one that is blocked, and keeping a correction\">\n\
         <style>text{{font:14px/20px ui-monospace,'SF Mono','DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#d9dee0;white-space:pre}}\
         .b{{font-weight:600;fill:#fff}}.d{{fill:#8d979b}}.r{{fill:#ff8f86}}.g{{fill:#6fd3a0}}.y{{fill:#f0bb66}}.c{{fill:#7fc4e8}}\n\
         {style}@keyframes up{{0%{{transform:none}}{moves}}}#up{{transform:translateY(-{up}px);animation:up {total:.1}s steps(1) infinite}}\n\
         @media(prefers-reduced-motion:reduce){{*{{animation:none!important}}}}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"10\" fill=\"#15191b\"/>\
         <circle cx=\"22\" cy=\"20\" r=\"6\" fill=\"#e8695f\"/><circle cx=\"42\" cy=\"20\" r=\"6\" fill=\"#e0a63f\"/><circle cx=\"62\" cy=\"20\" r=\"6\" fill=\"#4fae72\"/>\n\
         <svg x=\"0\" y=\"{:.0}\" width=\"100%\" height=\"{:.0}\"><g transform=\"translate({SIDE} 16)\"><g id=\"up\">\n{body}</g></g></svg>\n</svg>\n",
        TOP - 16.0,
        ROWS as f64 * LINE + 8.0,
    )
}

/// Seconds until an answer stands there.
fn length(typed: &str) -> f64 {
    typed.len() as f64 * KEY + 1.0
}

#[test]
fn the_recording_is_what_the_program_says() {
    let machine = sample_machine("project");
    let scenes: Vec<(String, Vec<String>, f64)> = SCENES
        .iter()
        .map(|(args, stands)| {
            let answer = in_terminal(&machine, args);
            (typed(args), answer.trim_end().lines().flat_map(styled).collect(), *stands)
        })
        .collect();
    let picture = drawn(&scenes);
    assert!(picture.len() < 30_000, "{} bytes are too many to load", picture.len());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures/terminal.svg");
    if std::env::var_os("SINEW_UPDATE").is_some() {
        fs::write(&path, &picture).expect("the picture");
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == picture,
        "docs/pictures/terminal.svg is older than the program; `scripts/record` makes it again"
    );
}
