import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A server of `bench/servers` by its first name. Clients start one on stdio themselves, by its arguments for node. */
export async function startServer(name, transport, args = []) {
  const script = fileURLToPath(new URL(`../servers/${name}-${transport}.mjs`, import.meta.url));
  if (transport === "stdio") return { target: [script, ...args.map(String)], close: async () => {} };
  const child = fork(script, args.map(String), { silent: true });
  const [line] = await once(child.stdout, "data");
  return { target: /http:\S+/.exec(String(line))[0], close: () => stop(child) };
}

/** A process with one client of a kind, connected. */
export async function startClient(variant, target) {
  const { tell, close } = startWorker("process", variant, `${variant}, ${target.transport} ${target.version}`);
  try {
    await tell("open", target);
  } catch (error) {
    await close();
    throw error;
  }
  return { variant, tell, close };
}

/** A process that obeys; `label` names it in errors. */
export function startWorker(script, variant, label = variant) {
  // The SDK makes Node warn of listeners by the thousand over HTTP; printing that is no cost of a call.
  const execArgv = ["--no-warnings", "--expose-gc"];
  const child = fork(fileURLToPath(new URL(`${script}.mjs`, import.meta.url)), [variant], { execArgv });
  const tell = async (command, argument) => {
    const settled = new AbortController();
    const replied = once(child, "message", settled);
    const ended = once(child, "exit", settled).then(() => [{ error: "its process ended" }]);
    child.send({ command, argument });
    const [reply] = await Promise.race([replied, ended]);
    settled.abort();
    if (reply.error) throw new Error(`${label}: ${reply.error}`);
    return reply.value;
  };
  const close = async () => {
    if (child.connected) await tell("close").catch(() => {});
    await stop(child);
  };
  return { tell, close };
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill();
  await ended;
}
