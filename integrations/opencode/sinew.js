// sinew for opencode, written by `sinew connect opencode`.
//
// When a message is sent, `sinew hook user-prompt` is asked which skill fits, and what it says is added
// to the message as a part that the user does not see. Tool calls and the end of a turn are told to it
// too, so that it learns which skills work. The program gets one JSON object on standard input, without
// a shell.
//
// It fails open: whatever goes wrong here, or takes too long, leaves the message as it is.
// `sinew why --last` says what was added to the last message, and why.

import { execFile } from "node:child_process";

const PROGRAM = "sinew";

// sinew itself gives up after 300 ms; this is for a machine that is busy with other things.
const PATIENCE_MS = 5_000;
// An answer is at most some ten thousand characters.
const MAX_ANSWER = 1 << 20;
// Characters of one text in an event: files and pages that a tool read are told of, not sent.
const MAX_TEXT = 20_000;

export const Sinew = async ({ directory }) => {
  const said = new Map();
  return {
    "chat.message": async (input, output) => {
      const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic);
      const prompt = texts.map((part) => part.text).join("\n");
      if (!prompt.trim()) return;
      const answer = await tell("user-prompt", {
        hook_event_name: "chat.message",
        session_id: input.sessionID,
        prompt_id: output.message?.id ?? input.messageID,
        cwd: directory,
        prompt,
      });
      if (typeof answer?.context !== "string") return;
      const last = output.parts.at(-1);
      output.parts.push({
        // Parts are ordered by their ids, and this one comes last.
        id: `${last.id}s`,
        sessionID: last.sessionID ?? input.sessionID,
        messageID: last.messageID ?? output.message?.id,
        type: "text",
        text: answer.context,
        synthetic: true,
      });
    },

    "tool.execute.after": async (input, output) => {
      await tell("post-tool", {
        hook_event_name: "tool.execute.after",
        session_id: input.sessionID,
        cwd: directory,
        tool_name: input.tool,
        tool_use_id: input.callID,
        tool_input: shortened(input.args),
        tool_response: {
          output: shortened(output?.output),
          exit_code: output?.metadata?.exit,
        },
      });
    },

    event: async ({ event }) => {
      const about = event.properties ?? {};
      if (event.type === "message.part.updated" && about.part?.type === "text") {
        // What is said last before the session rests is the answer.
        said.set(about.part.sessionID, about.part.text?.slice(0, MAX_TEXT));
      }
      if (event.type === "session.compacted") {
        // Texts that came along are gone; the next message brings back those that were in use.
        await tell("compacted", {
          hook_event_name: "session.compacted",
          session_id: about.sessionID,
          cwd: directory,
        });
      }
      if (event.type === "session.idle") {
        const last = said.get(about.sessionID);
        said.delete(about.sessionID);
        await tell("stop", {
          hook_event_name: "session.idle",
          session_id: about.sessionID,
          cwd: directory,
          last_assistant_message: last,
        });
      }
    },
  };
};

/** Asks sinew, and gives its answer; nothing where it has none or something is wrong. */
function tell(word, body) {
  const options = { timeout: PATIENCE_MS, maxBuffer: MAX_ANSWER, windowsHide: true };
  return new Promise((resolve) => {
    try {
      const args = ["hook", word, "--agent", "opencode"];
      const child = execFile(PROGRAM, args, options, (error, stdout) => {
        try {
          resolve(error || !stdout.trim() ? undefined : JSON.parse(stdout));
        } catch {
          resolve(undefined);
        }
      });
      // The program may end before it has read everything.
      child.stdin?.on("error", () => {});
      child.stdin?.end(JSON.stringify(body));
    } catch {
      resolve(undefined);
    }
  });
}

/** The same value with its texts cut to what is worth sending. */
function shortened(value, depth = 0) {
  if (typeof value === "string") return value.slice(0, MAX_TEXT);
  if (value === null || typeof value !== "object") return value;
  if (depth > 6) return undefined;
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => shortened(item, depth + 1));
  const fields = Object.entries(value).slice(0, 100);
  return Object.fromEntries(fields.map(([name, field]) => [name, shortened(field, depth + 1)]));
}
