import { mkdir, open, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { messageOf, NexusError } from "../errors/nexus-error.ts";
import { findRegularText } from "./regular-file.ts";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { shortName } from "../text/digest.ts";
import { identifyNow } from "./process-identity.ts";

/** Without a sign of life for this long, a holder on another machine counts as dead. */
const STALE_MS = 5_000;
/** The same for a pid that is in use on this machine if it is unknown whether it is still the holder's. */
const HELD_UP_MS = 20_000;
const TOUCH_MS = 1_000;
const WAIT_MS = 15;
/** The longest time between two looks that counts: a process that was suspended did not watch the lock. */
const MAX_STEP_MS = 1_000;
const GIVE_UP_MS = 30_000;
const MAX_TOKEN_BYTES = 4_096;

/** The lock while the work under it runs. */
export interface HeldLock {
  /**
   * Throws if another process has taken the lock over. To be called right before something is written: what was read
   * under the lock may then be out of date.
   */
  check: () => Promise<void>;
}

/**
 * Runs `work` while no other process does the same for this path. A lock file beside it, readable by its owner only,
 * names the holder. A holder on this machine keeps it for as long as it lives, also while it is stopped. Whether another
 * machine's holder lives can only be seen by its touching the file, so `work` checks the lock before it writes.
 */
export async function withLock<T>(path: string, work: (held: HeldLock) => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  const token = await acquire(lock);
  const isOurs = async () => (await holderOf(lock)) === token;
  const check = async () => {
    if (!(await isOurs())) throw lost(lock);
  };
  const touch = async () => {
    if (await isOurs()) await utimes(lock, new Date(), new Date());
  };
  const touching = setInterval(() => void touch().catch(() => {}), TOUCH_MS);
  touching.unref();
  try {
    return await work({ check });
  } finally {
    clearInterval(touching);
    if (await isOurs()) await rm(lock, { force: true });
  }
}

async function acquire(lock: string): Promise<string> {
  const token = newToken();
  const folder = dirname(lock);
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw unwritable(folder, cause);
  });
  let seen: SeenLock | undefined;
  let turn: SeenLock | undefined;
  for (const giveUpAt = performance.now() + GIVE_UP_MS; ;) {
    if (await isCreated(lock, token)) return token;
    seen = await lookAt(lock, seen);
    if (performance.now() > giveUpAt) throw busy(lock, seen);
    if (seen && isAbandoned(seen)) turn = await discard(lock, { dead: seen, token, turn });
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

/** Another holder's lock, as it was found. */
interface SeenLock {
  token: string;
  mtimeMs: number;
  /**
   * How long we have watched it without a change. Clocks are not compared: the file may be from another machine, and
   * ours may be changed.
   */
  untouchedMs: number;
  lookedAt: number;
}

async function lookAt(lock: string, before?: SeenLock): Promise<SeenLock | undefined> {
  const facts = await stat(lock).catch(() => undefined);
  if (facts && !facts.isFile()) throw inTheWay(lock);
  const token = await holderOf(lock);
  if (!facts || token === undefined) return undefined;
  const { mtimeMs } = facts;
  const lookedAt = performance.now();
  if (!before || !isSame(before, { token, mtimeMs })) return { token, mtimeMs, untouchedMs: 0, lookedAt };
  const untouchedMs = before.untouchedMs + Math.min(lookedAt - before.lookedAt, MAX_STEP_MS);
  return { token, mtimeMs, untouchedMs, lookedAt };
}

type Sign = Pick<SeenLock, "token" | "mtimeMs">;

function isSame(one: Sign, other: Sign): boolean {
  return one.token === other.token && one.mtimeMs === other.mtimeMs;
}

function isAbandoned({ token, untouchedMs }: SeenLock): boolean {
  switch (holderState(token)) {
    case "alive":
      return false;
    case "dead":
      return true;
    case "number in use":
      return untouchedMs > HELD_UP_MS;
    case "unknown":
      return untouchedMs > STALE_MS;
  }
}

interface Discarding {
  dead: SeenLock;
  token: string;
  /** The lock of another process that is removing it. */
  turn: SeenLock | undefined;
}

/** If several processes find the same dead lock, one removes it: a moment later a new one may be there. */
async function discard(lock: string, { dead, token, turn: before }: Discarding): Promise<SeenLock | undefined> {
  const turn = `${lock}.tmp`;
  if (!(await isCreated(turn, token))) {
    const taken = await lookAt(turn, before);
    if (taken && isAbandoned(taken)) await rm(turn, { force: true });
    return taken;
  }
  try {
    const now = await lookAt(lock, dead);
    if (now && isSame(now, dead)) await rm(lock, { force: true });
  } finally {
    await rm(turn, { force: true });
  }
  return undefined;
}

async function holderOf(lock: string): Promise<string | undefined> {
  return findRegularText(lock, MAX_TOKEN_BYTES);
}

function busy(lock: string, seen: SeenLock | undefined): NexusError {
  const pid = seen && processIn(seen.token);
  const who = pid === undefined ? "Another process" : `Process ${pid}`;
  return new NexusError("TIMEOUT", `${who} has been changing the same file for ${GIVE_UP_MS / 1000} s`, {
    phase: "config",
    source: { file: lock },
    hint: `Try again. If that process hangs, stop it. If no other Nexus is running, delete ${lock}.`,
    mayHaveReached: false,
  });
}

function lost(lock: string): NexusError {
  return new NexusError("TIMEOUT", "Another process took the lock of the file. Nothing was written", {
    phase: "config",
    source: { file: lock },
    hint: "This process or its machine was suspended for too long. Try again.",
    mayHaveReached: false,
  });
}

function inTheWay(lock: string): NexusError {
  return new NexusError(
    "PERMISSION_DENIED",
    `The lock of the file cannot be created because a folder, a pipe or a device has its name: ${lock}`,
    {
      phase: "config",
      source: { file: lock },
      hint: "Move it, or delete it if it is empty.",
      mayHaveReached: false,
    },
  );
}

function unwritable(folder: string, cause: unknown): NexusError {
  return new NexusError("PERMISSION_DENIED", `Nexus cannot write to the folder: ${messageOf(cause)}`, {
    phase: "config",
    source: { file: folder },
    hint: "Make the folder writable, or use a file in another folder.",
    cause,
    mayHaveReached: false,
  });
}

/**
 * What is known about a lock's holder. `number in use`: a process has its pid, but the platform cannot say at once
 * whether it is the same process. `unknown`: it runs on another machine or in another container.
 */
type HolderState = "alive" | "dead" | "number in use" | "unknown";

const NO_START = "-";

/** Identifies this process and one lock of it: pid, a random part, the machine, and its start time. */
function newToken(): string {
  const { pid, platform } = process;
  const startedAt = identifyNow(pid, platform)?.startedAt ?? NO_START;
  return `${pid} ${Math.random().toString(36).slice(2)} ${machine()} ${startedAt}`;
}

function holderState(token: string): HolderState {
  const [, pid, where, startedAt] = parsed(token);
  if (pid === undefined || where !== machine()) return "unknown";
  const presence = presenceOf(Number(pid));
  if (presence !== "ours" || startedAt === NO_START) return presence === "none" ? "dead" : "number in use";
  return identifyNow(Number(pid), process.platform)?.startedAt === startedAt ? "alive" : "dead";
}

/** The process that a token names, if it runs on this machine. */
function processIn(token: string): number | undefined {
  const [, pid, where] = parsed(token);
  return pid !== undefined && where === machine() ? Number(pid) : undefined;
}

function parsed(token: string): readonly (string | undefined)[] {
  return /^(\d+) \w+ (\S+) (\S+)$/.exec(token) ?? [];
}

function presenceOf(pid: number): "ours" | "another user's" | "none" {
  try {
    process.kill(pid, 0);
    return "ours";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH" ? "none" : "another user's";
  }
}

/**
 * The same for all processes that share pids. Host names do not suffice: cloned machines keep theirs, and containers
 * that share a folder may have the same one.
 */
function machine(): string {
  const read = (get: () => string) => {
    try {
      return get();
    } catch {
      return "";
    }
  };
  const boot = read(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8"));
  const processes = read(() => readlinkSync("/proc/self/ns/pid"));
  return shortName([hostname(), boot, processes].join("\n"));
}
