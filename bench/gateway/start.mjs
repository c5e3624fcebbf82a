import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { request } from "undici";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
export const USAGE = new URL("usage.mjs", import.meta.url).href;

/**
 * Programs that serve a stdio server over Streamable HTTP, the eras in which they can from end to end, and what they take
 * on their command lines. None of them serves a server that is itself reached over HTTP.
 */
const PEERS = {
  supergateway: {
    eras: ["legacy"],
    program: here("../peers/node_modules/supergateway/dist/index.js"),
    args: (port, command) => [
      "--stdio",
      command,
      "--outputTransport",
      "streamableHttp",
      "--stateful",
      "--port",
      String(port),
      "--logLevel",
      "none",
    ],
  },
  "mcp-proxy": {
    eras: ["legacy", "modern"],
    program: here("../peers/node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs"),
    args: (port, command, era) => [
      "--port",
      String(port),
      "--server",
      "stream",
      "--upstreamProtocol",
      era,
      "--",
      ...command.split(" "),
    ],
  },
};

export const installedPeers = () => Object.keys(PEERS).filter((name) => existsSync(PEERS[name].program));

/** Those that can stand where ours does. */
export function peersFor({ transport, era, upstream }) {
  if (transport !== "stdio" || era !== upstream) return [];
  return installedPeers().filter((name) => PEERS[name].eras.includes(era));
}

/** A gateway in a process of its own, in front of one server. */
export async function startGateway(variant, settings) {
  const peer = PEERS[variant];
  return peer ? startPeer(peer, settings) : startOwn(variant, settings);
}

async function startOwn(variant, settings) {
  const child = fork(here(`${variant}.mjs`), [JSON.stringify(settings)], { execArgv: ["--import", USAGE] });
  const [{ url }] = await once(child, "message");
  return {
    url,
    ...questionsTo(child),
    close: async () => {
      const ended = once(child, "exit");
      child.send("close");
      await ended;
    },
  };
}

async function startPeer({ program, args }, { target, era }) {
  const port = await freePort();
  const options = { execArgv: ["--import", USAGE], silent: true, detached: true };
  const child = fork(program, args(port, [process.execPath, ...target].join(" "), era), options);
  for (const stream of [child.stdout, child.stderr]) stream.resume();
  const url = `http://127.0.0.1:${port}/mcp`;
  for (let tries = 0; !(await isThere(url)); tries++) {
    if (tries > 100 || child.exitCode !== null) throw new Error(`${program} did not start`);
    await pause(100);
  }
  return {
    url,
    ...questionsTo(child),
    close: async () => {
      const ended = once(child, "exit");
      // Its servers stay behind otherwise: the whole group that was started for it ends.
      process.kill(-Number(child.pid), "SIGKILL");
      await ended;
    },
  };
}

/** What `usage.mjs` answers in a gateway's process. */
export function questionsTo(child) {
  const ask = async (question) => {
    const answered = once(child, "message");
    child.send(question);
    const [answer] = await answered;
    return answer;
  };
  const profile = async (work) => {
    await ask("profile");
    const done = await work();
    return { ...done, profile: await ask("profiled") };
  };
  return { usage: () => ask("usage"), profile };
}

async function isThere(url) {
  try {
    const { body } = await request(url, { method: "GET" });
    await body.dump();
    return true;
  } catch {
    return false;
  }
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
