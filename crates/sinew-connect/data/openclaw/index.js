// sinew for OpenClaw.
//
// Before a prompt is built, `sinew hook user-prompt` is asked which skill fits the message, and what it
// says is put before the message. Tool calls and the end of a run are told to it too, so that it learns
// which skills work. The program gets one JSON object on standard input, without a shell.
//
// It fails open: whatever goes wrong here, or takes too long, leaves the message as it is.
// `sinew why --last` says what was added to the last message, and why.

import { execFile } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

// sinew itself gives up after 300 ms; this is for a machine that is busy with other things.
const PATIENCE_MS = 5_000;
// An answer is at most some ten thousand characters.
const MAX_ANSWER = 1 << 20;
// Characters of one text in an event: files and pages that a tool read are told of, not sent.
const MAX_TEXT = 20_000;
// Sessions and messages that are remembered at a time.
const MAX_REMEMBERED = 200;

export default {
  id: "sinew",
  name: "sinew",
  description: "Brings the skill that fits a message, and learns from how it went",

  register(api) {
    const program = api.pluginConfig?.program || "sinew";
    const bundled = process.env.OPENCLAW_BUNDLED_SKILLS_DIR || bundledSkills();
    const env = bundled ? { ...process.env, OPENCLAW_BUNDLED_SKILLS_DIR: bundled } : process.env;
    const workspaces = new Map();
    const answers = new Map();
    let complained = false;

    const tell = (word, body) =>
      run(program, word, body, env).catch((error) => {
        if (!complained) {
          complained = true;
          api.logger?.warn?.(`sinew: ${error.message}`);
        }
        return undefined;
      });

    api.on("before_prompt_build", async (event, ctx) => {
      const prompt = event?.currentUserMessage ?? event?.prompt;
      const session = sessionOf(ctx);
      if (typeof prompt !== "string" || !prompt.trim() || !session) return undefined;
      if (ctx.workspaceDir) remember(workspaces, session, ctx.workspaceDir);
      const id = event.currentUserMessageId ?? ctx.runId;
      // A prompt that is built again for the same message gets the same answer.
      const known = id ? answers.get(`${session} ${id}`) : undefined;
      if (known && known.prompt === prompt) return known.answer;
      const answer = await tell("user-prompt", {
        hook_event_name: "before_prompt_build",
        session_id: session,
        prompt_id: id,
        cwd: ctx.workspaceDir,
        source: ctx.inputProvenance?.kind === "internal_system" ? "system" : undefined,
        prompt,
      });
      const context = answer?.prependContext;
      const result = typeof context === "string" ? { prependContext: context } : undefined;
      if (id) remember(answers, `${session} ${id}`, { prompt, answer: result });
      return result;
    });

    api.on("after_tool_call", async (event, ctx) => {
      const session = sessionOf(ctx);
      if (!session) return;
      await tell(event.error ? "tool-failure" : "post-tool", {
        hook_event_name: "after_tool_call",
        session_id: session,
        cwd: workspaces.get(session),
        tool_name: event.toolName,
        tool_use_id: event.toolCallId ?? ctx.toolCallId,
        tool_input: shortened(event.params),
        tool_response: shortened(event.result),
        error: event.error,
        duration_ms: event.durationMs,
      });
    });

    api.on("agent_end", async (event, ctx) => {
      const session = sessionOf(ctx);
      if (!session) return;
      await tell("stop", {
        hook_event_name: "agent_end",
        session_id: session,
        turn_id: event.runId ?? ctx.runId,
        cwd: ctx.workspaceDir ?? workspaces.get(session),
        last_assistant_message: lastMessage(event.messages),
      });
    });
  },
};

function sessionOf(ctx) {
  return ctx?.sessionId ?? ctx?.sessionKey ?? ctx?.runId;
}

function remember(map, key, value) {
  map.delete(key);
  map.set(key, value);
  if (map.size > MAX_REMEMBERED) map.delete(map.keys().next().value);
}

/** Asks sinew, and gives its answer; nothing where it has none. */
function run(program, word, body, env) {
  const args = ["hook", word, "--agent", "openclaw", "--profile", "openclaw"];
  const options = { env, timeout: PATIENCE_MS, maxBuffer: MAX_ANSWER, windowsHide: true };
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, options, (error, stdout) => {
      if (error) return reject(error);
      if (!stdout.trim()) return resolve(undefined);
      try {
        resolve(JSON.parse(stdout));
      } catch (unreadable) {
        reject(unreadable);
      }
    });
    // The program may end before it has read everything.
    child.stdin?.on("error", () => {});
    child.stdin?.end(JSON.stringify(body));
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

function lastMessage(messages) {
  const said = Array.isArray(messages) ? messages.filter((m) => m?.role === "assistant") : [];
  const content = said.at(-1)?.content;
  if (typeof content === "string") return content.slice(0, MAX_TEXT);
  if (!Array.isArray(content)) return undefined;
  const texts = content.filter((part) => part?.type === "text").map((part) => part.text);
  return texts.join("\n").slice(0, MAX_TEXT) || undefined;
}

/** The skills that came with the OpenClaw that runs this. */
function bundledSkills() {
  try {
    let folder = dirname(realpathSync(process.argv[1]));
    for (let level = 0; level < 6; level += 1, folder = dirname(folder)) {
      const manifest = join(folder, "package.json");
      if (!existsSync(manifest)) continue;
      const skills = join(folder, "skills");
      const { name } = JSON.parse(readFileSync(manifest, "utf8"));
      if (name === "openclaw") return existsSync(skills) ? skills : undefined;
    }
  } catch {
    // Without them sinew looks for OpenClaw on PATH.
  }
  return undefined;
}
