#!/usr/bin/env node
// Starts the program of this platform's package; everything else is the program's own.
"use strict";

const { spawnSync } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const name = `sinew-cli-${platform}`;
const program = process.platform === "win32" ? "sinew.exe" : "sinew";

let path;
try {
  path = require.resolve(`${name}/bin/${program}`);
} catch {
  console.error(`sinew: the package ${name} is not installed`);
  console.error(`  it is an optional dependency of sinew-cli: install again without --omit=optional`);
  console.error(`  where there is none for ${platform}, build from source: cargo install sinew-cli`);
  process.exit(4);
}
const done = spawnSync(path, process.argv.slice(2), { stdio: "inherit", windowsHide: false });
if (done.error) {
  console.error(`sinew: ${path} cannot be started: ${done.error.message}`);
  process.exit(4);
}
if (done.signal) {
  // Ends as the program ended, so that a shell sees the same.
  process.kill(process.pid, done.signal);
}
process.exit(done.status ?? 1);
