// Calls made with the package that was built in one folder: node process.mjs <folder>.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { measureCalls } from "../client/measure-calls.mjs";
import { obey } from "../client/obey.mjs";
import { CASES, pathOf } from "../workshop/cases.mjs";

const built = (entry) => import(pathToFileURL(join(process.argv[2], "dist", entry)).href);
const PROJECT = fileURLToPath(new URL("../../", import.meta.url));
const TEXT = "x".repeat(64);

/** What is measured: each opens something, and gives a function that makes one call. */
const SUBJECTS = {
  async client({ entry, version }) {
    const { connect } = await built("index.js");
    const client = await connect(entry, { protocolVersion: version });
    await client.listTools();
    return { call: () => client.callTool("echo", { text: TEXT }), close: () => client.close() };
  },
  async host({ entry }) {
    const { Host } = await built("index.js");
    const stateFolder = await mkdtemp(join(tmpdir(), "nexus-bench-"));
    const host = await Host.open({ servers: { echo: entry }, stateFolder });
    await host.ready();
    const close = async () => {
      await host.close();
      await rm(stateFolder, { recursive: true });
    };
    return { call: () => host.callTool("echo.echo", { text: TEXT }), close };
  },
  async tool({ name, url }) {
    const { ApiRunner, loadApproved } = await built("workshop/index.js");
    const { tool, args } = CASES[name];
    // Its own lock: an older version does not read the locks of a newer one.
    const { api } = await loadApproved(join(process.argv[2], relative(PROJECT, pathOf(name))));
    const settings = Object.entries(api.file.settings ?? {}).map(([name, setting]) => {
      return [name, setting.example ?? setting.default];
    });
    const runner = new ApiRunner(api, {
      upstream: url,
      settings: Object.fromEntries(settings),
      secrets: async () => "bench-placeholder",
    });
    return { call: () => runner.call(tool, args), close: () => runner.close() };
  },
};

let opened;
obey({
  async open({ subject, ...target }) {
    opened = await SUBJECTS[subject](target);
  },
  measure: (settings) => measureCalls(() => opened.call(), settings),
  close: async () => opened?.close(),
});
