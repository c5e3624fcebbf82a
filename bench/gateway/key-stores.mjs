// Stores for `nexus serve`: one without keys, and one with many of which callers use the first.
import { execFile } from "node:child_process";
import { createHash, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gunzipSync, gzipSync } from "node:zlib";

export const NEXUS = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
/** What a key of a team may look like; the last pattern is the one that applies. */
const GRANTS = ["--allow", "github", "--allow", "docs.search*", "--allow", "echo", "--deny", "*.delete*"];
const run = promisify(execFile);

/** Of all stores here. Backups are signed with it. */
const MASTER_KEY = randomBytes(32);

export const environmentOf = (home) => ({
  PATH: process.env.PATH,
  HOME: home,
  TERM: "dumb",
  NEXUS_MASTER_KEY: MASTER_KEY.toString("hex"),
});

/** Limits that are never reached. */
const LIMITS = ["--rate", "1000000/s", "--per-day", "100000000"];

/** Runs a command in a home folder. Returns what it prints. */
export async function nexus(home, ...args) {
  const { stdout } = await run(process.execPath, [NEXUS, ...args], { cwd: home, env: environmentOf(home) });
  return stdout.trim();
}

/** A home folder with a store of `count` keys, the first one with limits or without. Returns the text of that key. */
export async function makeStore(home, { count, isLimited = false, database }) {
  await mkdir(home);
  const where = database === undefined ? [] : ["--database", database];
  if (count === 0) {
    await nexus(home, "store", "migrate");
    return undefined;
  }
  const key = await nexus(home, "keys", "create", "bench", ...GRANTS, ...(isLimited ? LIMITS : []), ...where);
  if (count === 1) return key;
  const [one, many] = [join(home, "one.backup"), join(home, "many.backup")];
  await nexus(home, "store", "backup", one, ...where);
  await writeFile(many, withCopies(await readFile(one), count));
  await nexus(home, "store", "restore", many, "--replace", ...where);
  return key;
}

/** The only key of the backup `count` times, each with an id and a hash of its own: a restore is how many rows are written at once. */
function withCopies(backup, count) {
  const lines = gunzipSync(backup).toString().trimEnd().split("\n").slice(0, -1);
  const at = lines.findIndex((line) => line.includes(`"table":"nexus_api_keys"`));
  const { table, row } = JSON.parse(lines[at]);
  const copies = Array.from({ length: count - 1 }, () => {
    const random = { id: randomBytes(8).toString("hex"), hash: randomBytes(32).toString("hex") };
    return JSON.stringify({ table, row: { ...row, ...random } });
  });
  lines.splice(at, 0, ...copies);
  const text = `${lines.join("\n")}\n`;
  const sha256 = createHash("sha256").update(text).digest("hex");
  const end = { rows: lines.length - 1, sha256, signature: signatureOf(sha256) };
  return gzipSync(`${text}${JSON.stringify(end)}\n`, { level: 1 });
}

/** As `src/store/backup.ts` signs. */
function signatureOf(digest) {
  const key = hkdfSync("sha256", MASTER_KEY, "nexus store", "backup", 32);
  return createHmac("sha256", Buffer.from(key)).update(digest).digest("hex");
}
