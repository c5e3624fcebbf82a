import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { exitCodeOf } from "../../src/cli/output/exit-codes.ts";
import { TRAITS } from "../../src/errors/error-traits.ts";
import { NexusError, type ErrorCode } from "../../src/errors/nexus-error.ts";
import { HTTP_STATUSES } from "../../src/gateway/edge/http-statuses.ts";
import { OUTCOMES } from "../../src/gateway/operation/audit.ts";
import { isForwarded } from "../../src/protocol/methods.ts";
import { problemOf } from "../../src/rest/http/problem.ts";
import { RPC_CODES } from "../../src/server/core/rpc-error.ts";

const SOURCES = fileURLToPath(new URL("../../src", import.meta.url));

/** Everything in the sources that looks like this, once each. */
function written(pattern: RegExp): string[] {
  const found = new Set<string>();
  for (const name of readdirSync(SOURCES, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts") || name.endsWith(".test.ts")) continue;
    for (const [, text = ""] of readFileSync(join(SOURCES, name), "utf8").matchAll(pattern)) found.add(text);
  }
  return [...found].toSorted();
}

function lines(all: readonly string[]): string {
  return `${all.join("\n")}\n`;
}

test("error codes, with what each edge makes of them, are the recorded ones", async () => {
  const codes = (Object.keys(TRAITS) as ErrorCode[]).toSorted();
  const rows = codes.map((code) => {
    const error = new NexusError(code, "x", { mayHaveReached: false });
    const { status } = problemOf(error);
    const facts = { exit: exitCodeOf(error), rpc: RPC_CODES[code], http: HTTP_STATUSES[code], rest: status };
    return `${code} ${JSON.stringify({ ...facts, ...TRAITS[code] })}`;
  });
  await expect(lines(rows)).toMatchFileSnapshot("../golden/names/error-codes.txt");
});

test("keys of _meta, ours and those of the specification, are the recorded ones", async () => {
  const keys = written(/["'`]((?:io\.modelcontextprotocol|dev\.nexus)\/[^"'`]+)["'`]/g);
  await expect(lines(keys)).toMatchFileSnapshot("../golden/names/meta-keys.txt");
});

test("outcomes and methods of records of the audit are the recorded ones", async () => {
  const own = written(/["'`](nexus\/[a-z]+)["'`]/g);
  const methods = written(/"((?:tools|prompts|resources|completion|tasks|skills)\/[a-z/]+)"/gi).filter(isForwarded);
  await expect(lines([...OUTCOMES, "", ...methods, "", ...own])).toMatchFileSnapshot(
    "../golden/names/audit-methods-mcp.txt",
  );
});
