//! Skills about programs that need no account: every block of their bodies is run in `bash`, on sample
//! files, with the tools that are installed. With `SINEW_LONG=1`; a skill whose tools are not here is named
//! with `SKIPPED`.

use std::fs;
use std::process::{Command, Stdio};

use sinew_testkit::{TestMachine, report_skip};

use crate::carried_commands::{ToolShelf, is_long};
use crate::library_commands::{CheckKind, bodies};

/// What a skill's commands are run on.
struct SampleRun {
    skill: &'static str,
    /// Without these it is left out.
    tools: &'static [&'static str],
    /// Makes the files, with the tools themselves.
    samples: &'static str,
    /// What its placeholders and examples stand for.
    stands_for: &'static [(&'static str, &'static str)],
    /// Beginnings of commands that may end with another code than 0, with the reason.
    may_fail: &'static [(&'static str, &'static str)],
}

const SAMPLE_RUNS: &[SampleRun] = &[
    SampleRun {
        skill: "git-history",
        tools: &["git"],
        samples: "git init -q -b main . && git config user.name ann && git config user.email ann@example.com
            mkdir path && seq 1 80 > path/file && echo 'fn lost() {}' > path/lost.rs
            printf '#!/bin/sh\\n! grep -q broken path/file\\n' > check.sh && chmod +x check.sh
            git add . && git commit -qm 'Begin' && git tag v1.4.0
            echo 'exact text of regular ex' >> path/file && git commit -qam 'Say it' && echo broken >> path/file
            git commit -qam 'Break it' && git rm -q path/lost.rs && git commit -qm 'Lose a file'",
        stands_for: &[("<commit>", "HEAD")],
        may_fail: &[],
    },
    SampleRun {
        skill: "image-tools",
        tools: &["convert", "identify", "montage"],
        samples: "convert -size 2000x1500 plasma:red-blue photo.jpg && convert photo.jpg -resize 400x300 a.jpg
            cp a.jpg b.jpg && convert -size 300x200 xc:none -fill red -draw 'circle 90,90 90,40' picture.png
            echo '<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"64\" height=\"64\"><rect x=\"8\" y=\"8\" width=\"40\" \
             height=\"40\" fill=\"green\"/></svg>' > logo.svg",
        stands_for: &[],
        may_fail: &[("\"$IM\" photo.heic", "nothing here writes such a file")],
    },
    SampleRun {
        skill: "pdf",
        tools: &["qpdf", "pdfinfo", "gs", "ocrmypdf"],
        samples: "page='/Helvetica findfont 40 scalefont setfont 1 1 12 { 72 600 moveto (Page ) show 20 string cvs show \
            showpage } for'
            gs -q -sDEVICE=pdfwrite -o report.pdf -c \"$page\" && gs -q -sDEVICE=pdfimage24 -r72 -o scan.pdf report.pdf
            for name in one two three cover body big; do cp report.pdf $name.pdf; done
            qpdf --encrypt secret secret 256 -- report.pdf locked.pdf && echo secret > tmp/pw",
        stands_for: &[("--language deu+eng", "--language eng")],
        may_fail: &[],
    },
    SampleRun {
        skill: "session-logs",
        tools: &["jq", "rg"],
        samples: "mkdir -p home/.claude/projects/a home/.codex/sessions home/.openclaw/agents
            printf '%s\\n' '{\"timestamp\":\"t1\",\"cwd\":\"/w\",\"message\":{\"role\":\"user\",\"content\":\"the invoice bug\"}}' \
             '{\"timestamp\":\"t2\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"name\":\"Bash\",\
             \"input\":{\"command\":\"ls\"}}]}}' > home/.claude/projects/a/s.jsonl
            export LOGS=home/.claude/projects FILE=home/.claude/projects/a/s.jsonl",
        stands_for: &[],
        may_fail: &[],
    },
    SampleRun {
        skill: "spreadsheet",
        tools: &["mlr", "xlsx2csv", "file"],
        samples: "printf 'order_id,customer_id,customer,amount,date,country,status\\n1,7,Ann,1200.5,2026-11-02,NO,paid\\n\
             2,8,Bo,80,2026-11-03,SE,open\\n' > data.csv && cp data.csv orders.csv
            printf 'customer_id,city\\n7,Bergen\\n9,Oslo\\n' > customers.csv
            python3 -c 'import openpyxl; b = openpyxl.Workbook(); b.active.append([1, 2]); b.create_sheet(\"Two\"); \
             b.save(\"book.xlsx\")'",
        stands_for: &[],
        may_fail: &[],
    },
    SampleRun {
        skill: "tmux",
        tools: &["tmux"],
        // A small console that asks with `>>> `, and carries out what it is told.
        samples: "printf '#!/bin/bash\\nwhile printf \">>> \"; IFS= read -r line; do eval \"$line\"; done\\n' > console
            chmod +x console && printf '#!/bin/sh\\nsleep 60\\n' > bin/npm && chmod +x bin/npm
            echo \"set -g default-command '$PWD/console'\" > home/.tmux.conf
            trap 'tmux -S \"$S\" kill-server' EXIT",
        stands_for: &[(" 600", " 20")],
        may_fail: &[(
            "tmux -S \"$S\" capture-pane -p -J -t work | grep -qE",
            "what is waited for is not there yet",
        )],
    },
    SampleRun {
        skill: "video-frames",
        tools: &["ffmpeg", "ffprobe"],
        samples: "ffmpeg -hide_banner -loglevel error -f lavfi -i testsrc=duration=100:size=160x120:rate=5 -f lavfi \
             -i sine=duration=100 -c:v libx264 -c:a aac video.mp4",
        stands_for: &[],
        may_fail: &[],
    },
    SampleRun {
        skill: "himalaya",
        tools: &["himalaya"],
        samples: "mkdir -p home/.config/himalaya mail/{INBOX,Archive,Projects,Drafts,Trash,Sent}/{cur,new,tmp}
            printf '[accounts.work]\\ndefault = true\\nemail = \"you@example.com\"\\nmaildir.root = \"%s\"\\nmailbox.alias.inbox = \
             \"INBOX\"\\nmailbox.alias.drafts = \"Drafts\"\\nmailbox.alias.trash = \"Trash\"\\nmailbox.alias.sent = \"Sent\"\\n' \
             \"$PWD/mail\" > home/.config/himalaya/config.toml
            mail() { printf 'From: jonas@example.com\\nTo: you@example.com\\nSubject: offer %s\\nMIME-Version: 1.0\\n\
             Content-Type: multipart/mixed; boundary=b\\n\\n--b\\nContent-Type: text/plain\\n\\nHello\\n--b\\nContent-Type: \
             text/csv\\nContent-Disposition: attachment; filename=a.csv\\n\\n1,2\\n--b--\\n' \"$1\"; }
            mail 1 > 'mail/INBOX/cur/1.host:2,' && mail 3 > 'mail/INBOX/cur/3.host:2,'
            mail 3 > 'mail/Archive/cur/3.host:2,S' && echo Hello > tmp/text.txt && echo offer > offer.pdf",
        stands_for: &[("move --to Archive <id>", "move --to Archive 1.host"), ("<id>", "3.host")],
        may_fail: &[("himalaya message send", "a folder sends no mail")],
    },
];

/// Prints each command that failed, and goes on.
const WATCHED: &str = "set -E -o pipefail; shopt -s expand_aliases
failed() { printf 'FAILED %s: %s\\n' \"$1\" \"$2\" >> \"$RESULTS\"; }
cd \"$WORK\" || exit 90
";

#[test]
fn skills_without_accounts_run_on_sample_files() {
    if !is_long() {
        report_skip("the commands of carried skills are run with SINEW_LONG=1");
        return;
    }
    let mut shelf = ToolShelf::new();
    let mut faults = Vec::new();
    for body in bodies().iter().filter(|body| body.kind == CheckKind::Run) {
        let run = SAMPLE_RUNS.iter().find(|run| run.skill == body.name);
        let run = run.unwrap_or_else(|| panic!("{} has no samples", body.name));
        if let Some(tool) = run.tools.iter().find(|tool| !shelf.has(tool)) {
            report_skip(&format!("{}: {tool} is not installed", body.name));
            continue;
        }
        let machine = TestMachine::new().file("work/home/.keep", "").file("work/tmp/.keep", "");
        let machine = machine.file("work/bin/.keep", "");
        let (work, results) = (machine.path("work"), machine.path("results"));
        let temporary = work.join("tmp");
        let mut script = format!(
            "{WATCHED}{} || {{ failed 1 samples; exit 91; }}\ntrap 'failed $? \"$BASH_COMMAND\"' ERR\n",
            run.samples.trim_end()
        );
        for block in &body.blocks {
            let mut block = block.replace("/tmp/", &format!("{}/", temporary.display()));
            for (word, value) in run.stands_for {
                block = block.replace(word, value);
            }
            script.push_str(&block);
        }
        script.push_str("\nexit 0\n");
        let path = std::env::join_paths(
            std::iter::once(work.join("bin")).chain(std::env::split_paths(&shelf.path)),
        );
        let output = Command::new("bash")
            .args(["-c", &script])
            .env_clear()
            .env("PATH", path.expect("a PATH"))
            .env("HOME", work.join("home"))
            .env("TMPDIR", &temporary)
            .env("WORK", &work)
            .env("RESULTS", &results)
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm")
            .stdin(Stdio::null())
            .output()
            .expect("bash runs");
        let told = fs::read_to_string(&results).unwrap_or_default();
        let failed = told.lines().filter(|line| {
            let command = line.split_once(": ").map_or(*line, |(_, command)| command);
            !run.may_fail.iter().any(|(start, _)| command.starts_with(start))
        });
        let failed: Vec<&str> = failed.collect();
        if !failed.is_empty() || !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            faults.push(format!("{}: {failed:?}, {}\n{errors}", body.name, output.status));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
