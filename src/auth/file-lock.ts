import { mkdir, open, readFile, rm, stat, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { messageOf, NexusError } from "../errors/nexus-error.ts";

/** A lock that nobody touched for so long belongs to a process that died, where nobody can tell whether it did. */
const STALE_MS = 5_000;
/** A process that is there may be held up; its number may also belong to another one by now. */
const HELD_UP_MS = 20_000;
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
  const token = `${process.pid} ${Math.random().toString(36).slice(2)} ${hostname()}`;
  const folder = dirname(lock);
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw unwritable(folder, cause);
  });
  let seen: SeenLock | undefined;
  for (const giveUpAt = performance.now() + GIVE_UP_MS; ;) {
    if (await isCreated(lock, token)) return token;
    seen = await lookAt(lock, seen);
    if (performance.now() > giveUpAt) throw busy(lock);
    if (seen && isAbandoned(seen)) await discard(lock, seen);
    await pause(WAIT_MS * (0.5 + Math.random()));
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

/** Somebody else's lock, as it was found. */
interface SeenLock {
  token: string;
  mtimeMs: number;
  /** On our own clock: the file's may be another machine's, or set back. */
  since: number;
}

async function lookAt(lock: string, before?: SeenLock): Promise<SeenLock | undefined> {
  const facts = await stat(lock).catch(() => undefined);
  if (facts?.isDirectory()) throw inTheWay(lock);
  const token = await holderOf(lock);
  if (!facts || token === undefined) return undefined;
  if (before?.token === token && before.mtimeMs === facts.mtimeMs) return before;
  return { token, mtimeMs: facts.mtimeMs, since: performance.now() };
}

function isAbandoned({ token, mtimeMs, since }: SeenLock): boolean {
  const isAlive = isHolderAlive(token);
  if (isAlive === false) return true;
  const untouchedMs = Math.max(Date.now() - mtimeMs, performance.now() - since);
  return untouchedMs > (isAlive ? HELD_UP_MS : STALE_MS);
}

/** Undefined where nobody can tell: the process may be one of another machine. */
function isHolderAlive(token: string): boolean | undefined {
  const [, pid, host] = /^(\d+) \w+ (.+)$/.exec(token) ?? [];
  if (pid === undefined || host !== hostname()) return undefined;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Of several who find the same dead lock one takes it away, while no other can: a live one may be there a moment later. */
async function discard(lock: string, dead: SeenLock): Promise<void> {
  const turn = `${lock}.tmp`;
  if (!(await isCreated(turn, ""))) {
    // Who took the turn may have died in it.
    const taken = await lookAt(turn);
    if (taken && Date.now() - taken.mtimeMs > STALE_MS) await rm(turn, { force: true });
    return;
  }
  try {
    if ((await lookAt(lock, dead)) === dead) await rm(lock, { force: true });
  } finally {
    await rm(turn, { force: true });
  }
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

function inTheWay(lock: string): NexusError {
  return new NexusError("PERMISSION_DENIED", `A folder is where the lock of the file has to be: ${lock}`, {
    phase: "config",
    source: { file: lock },
    hint: "Move it away, or delete it if it is empty.",
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
