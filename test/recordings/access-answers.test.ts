import { createHash } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Params } from "../../src/protocol/json-rpc.ts";
import type { WireMessage } from "../fixtures/json-line-peer.ts";
import { decideOf, policyOf, rules, SERVERS, USERS, type Rules } from "../gateway/access/access-model.ts";
import { cabinet, overHttp } from "../gateway/access/access-servers.ts";
import { AccessWorld, namesIn, type Asking } from "../gateway/access/access-world.ts";

const WORLDS = 24;
const LISTS = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
const TOOLS = ["look", "change", "destroy", "working", "none"];
const URIS = ["note://open", "note://secret", "note://none"];

const alpha = cabinet();
const beta = cabinet({ era: "legacy", capabilities: { completions: {} } });
let legacy: Awaited<ReturnType<typeof overHttp>>;
beforeAll(async () => {
  legacy = await overHttp(beta);
});
afterAll(() => legacy[Symbol.asyncDispose]());

/** The requests of one caller at one address. `prefix` and `scheme` are what names begin with there. */
function requests(prefix: string, scheme: string): [method: string, params: Params][] {
  return [
    ...TOOLS.map((name): [string, Params] => ["tools/call", { name: `${prefix}${name}`, arguments: {} }]),
    ...["greet", "curse"].map((name): [string, Params] => ["prompts/get", { name: `${prefix}${name}` }]),
    ...URIS.map((uri): [string, Params] => ["resources/read", { uri: `${scheme}${uri}` }]),
    ["acme/run", {}],
  ];
}

function told({ result, error }: WireMessage): string {
  return error ? `refused: ${error.code} ${error.message}` : `answered: ${String(result?.["resultType"])}`;
}

async function answers(world: AccessWorld, asking: Asking): Promise<string[]> {
  const { server } = asking;
  const lines: string[] = [];
  for (const method of LISTS) {
    lines.push(
      `listed: ${namesIn(await world.ask(method, {}, asking))
        .toSorted()
        .join(" ")}`,
    );
  }
  const all = server === undefined ? SERVERS.flatMap((id) => requests(`${id}__`, `${id}+`)) : requests("", "");
  for (const [method, params] of all) {
    lines.push(`${told(await world.ask(method, params, asking))} ${method} ${JSON.stringify(params)}`);
  }
  return lines;
}

async function everyAnswer(all: Rules): Promise<string[]> {
  const entries = {
    alpha: { tools: all.own["alpha"] ?? {} },
    beta: { url: legacy.url, tools: all.own["beta"] ?? {} },
  };
  await using world = await AccessWorld.open({ alpha }, { policy: policyOf(all), decide: decideOf(all), entries });
  const lines: string[] = [];
  for (const user of USERS) {
    for (const server of [undefined, ...SERVERS]) lines.push(...(await answers(world, { server, user })));
  }
  return lines;
}

test("R8: callers get the recorded lists, answers and refusals of a gateway, whatever its rules", async () => {
  const lines: string[] = [];
  for (const [index, all] of fc.sample(rules, { seed: 20261104, numRuns: WORLDS }).entries()) {
    const found = await everyAnswer(all);
    const count = (word: string) => found.filter((line) => line.startsWith(word)).length;
    const digest = createHash("sha256").update(found.join("\n")).digest("hex");
    lines.push(`world ${index}: ${count("answered")} answered, ${count("refused")} refused; ${digest}`);
  }
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("../golden/decisions/answers.txt");
});
