// Stands between a client and `sinew mcp`, and alters what `resources/read` gives: the client must notice.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [program, ...args] = process.argv.slice(2);
const server = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
process.stdin.pipe(server.stdin);
createInterface({ input: server.stdout }).on("line", (line) => {
  const frame = JSON.parse(line);
  for (const content of frame.result?.contents ?? []) {
    if (content.text !== undefined) content.text += "!";
  }
  process.stdout.write(`${JSON.stringify(frame)}\n`);
});
server.on("exit", (code) => process.exit(code ?? 1));
