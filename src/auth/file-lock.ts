import { mkdir, open, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { messageOf, NexusError } from "../errors/nexus-error.ts";

/** A lock that nobody touched for so long belongs to a process that died. */
const STALE_MS = 5_000;
const TOUCH_MS = 1_000;
const WAIT_MS = 15;
const GIVE_UP_MS = 30_000;

/**
 * Reads and changes a file as the only one, among all processes: a lock file beside it, which only its owner can read, is
 * there for as long as `work` takes.
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  const token = await acquire(lock);
  const touching = setInterval(() => void utimes(lock, new Date(), new Date()).catch(() => {}), TOUCH_MS);
  touching.unref();
  try {
    return await work();
  } finally {
    clearInterval(touching);
    // A process that was stopped for long may have lost it to another.
    if ((await holderOf(lock)) === token) await rm(lock, { force: true });
  }
}

async function acquire(lock: string): Promise<string> {
  const token = `${process.pid} ${Math.random().toString(36).slice(2)}`;
  const folder = dirname(lock);
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw unwritable(folder, cause);
  });
  for (const giveUpAt = Date.now() + GIVE_UP_MS; ;) {
    if (await isCreated(lock, token)) return token;
    if (await isStale(lock)) await discard(lock);
    else if (Date.now() > giveUpAt) throw busy(lock);
    else await pause(WAIT_MS * (0.5 + Math.random()));
  }
}

async function isCreated(lock: string, token: string): Promise<boolean> {
  try {
    await using file = await open(lock, "wx", 0o600);
    await file.writeFile(token);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Windows refuses a name whose file is being removed.
    if (code === "EEXIST" || (code === "EPERM" && (await holderOf(lock)) !== undefined)) return false;
    throw unwritable(dirname(lock), error);
  }
}

async function isStale(lock: string): Promise<boolean> {
  const facts = await stat(lock).catch(() => undefined);
  return facts !== undefined && Date.now() - facts.mtimeMs > STALE_MS;
}

/** Of several who find the same dead lock, one moves it away; who moved a live one instead gives it back. */
async function discard(lock: string): Promise<void> {
  const away = `${lock}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`;
  try {
    await rename(lock, away);
  } catch {
    return;
  }
  if (await isStale(away)) await rm(away, { force: true });
  else await rename(away, lock);
}

async function holderOf(lock: string): Promise<string | undefined> {
  return readFile(lock, "utf8").catch(() => undefined);
}

function busy(lock: string): NexusError {
  return new NexusError("TIMEOUT", "Another process is changing the same file, and does not come to an end", {
    phase: "config",
    source: { file: lock },
    hint: `Try again. If no other Nexus is running, delete ${lock}.`,
    mayHaveReached: false,
  });
}

function unwritable(folder: string, cause: unknown): NexusError {
  return new NexusError("PERMISSION_DENIED", `Nothing can be written into the folder: ${messageOf(cause)}`, {
    phase: "config",
    source: { file: folder },
    hint: "Make it writable for you, or use a file elsewhere.",
    cause,
    mayHaveReached: false,
  });
}
