import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asNexusError } from "../../../src/errors/nexus-error.ts";
import type { Host } from "../../../src/index.ts";
import type { Params } from "../../../src/protocol/json-rpc.ts";
import { modern, OpenStream } from "../../fixtures/gateway/wire.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { NexusWorld } from "../../fixtures/nexus.ts";
import {
  decideOf,
  fateOf,
  ownRules,
  policyOf,
  rules,
  SERVERS,
  USERS,
  type Fate,
  type Rules,
  type Thing,
} from "./access-model.ts";
import { cabinet, overHttp } from "./access-servers.ts";
import { AccessWorld, namesIn, type Asking } from "./access-world.ts";

/** As both servers list them; two tools are for other tests. */
const TOOLS: Omit<Thing, "server">[] = [
  { kind: "tool", name: "look", annotations: { readOnlyHint: true } },
  { kind: "tool", name: "change" },
  { kind: "tool", name: "destroy", annotations: { destructiveHint: true } },
  { kind: "tool", name: "working" },
];
const OTHERS: Omit<Thing, "server">[] = [
  { kind: "prompt", name: "greet" },
  { kind: "prompt", name: "curse" },
  { kind: "resource", name: "note://open" },
  { kind: "resource", name: "note://secret" },
  { kind: "resource", name: "note://{name}" },
];
const LISTED: Thing[] = SERVERS.flatMap((server) => [...TOOLS, ...OTHERS].map((thing) => ({ ...thing, server })));
const METHODS: Thing[] = SERVERS.map((server) => ({ server, kind: "method", name: "acme/run" }));
const LISTS = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];

const alpha = cabinet();
const beta = cabinet({ era: "legacy", capabilities: { completions: {} } });
let legacy: Awaited<ReturnType<typeof overHttp>>;
let cli: NexusWorld;

beforeAll(async () => {
  legacy = await overHttp(beta);
  cli = await NexusWorld.open();
});

afterAll(async () => {
  await cli[Symbol.asyncDispose]();
  await legacy[Symbol.asyncDispose]();
});

/** Everything that differs from what the rules say, by what and where: nothing should. */
class Differences {
  readonly found: string[] = [];

  compare(what: string, { kind, server, name }: Thing, expected: boolean, actual: boolean): void {
    if (expected !== actual) this.found.push(`${what} ${kind} ${server} ${name}: ${actual}, not ${expected}`);
  }
}

/** The request that uses a thing, in the server's own names. */
function useOf({ kind, name }: Thing): { method: string; params: Params } {
  if (kind === "tool") return { method: "tools/call", params: { name, arguments: {} } };
  if (kind === "prompt") return { method: "prompts/get", params: { name } };
  if (kind === "method") return { method: name, params: {} };
  // A template is used by completing it.
  return name.includes("{")
    ? completionOf({ type: "ref/resource", uri: name })
    : { method: "resources/read", params: { uri: name } };
}

function completionOf(ref: Params): { method: string; params: Params } {
  return { method: "completion/complete", params: { ref, argument: { name: "name", value: "" } } };
}

/** The same for `/mcp`, where names say which server is meant. */
function inFull({ server }: Thing, params: Params): Params {
  const { name, uri, ref } = params;
  return {
    ...params,
    ...(typeof name === "string" ? { name: `${server}__${name}` } : {}),
    ...(typeof uri === "string" ? { uri: `${server}+${uri}` } : {}),
    ...(ref ? { ref: inFull({ server } as Thing, ref as Params) } : {}),
  };
}

/** Every refusal of the gateway's reads like this, whatever was wanted. */
const UNKNOWN = /^(There is no |Method not found: )/;

function isUsed({ result, error }: WireMessage): boolean {
  if (result) return true;
  expect(error?.message).toMatch(UNKNOWN);
  return false;
}

type Ask = (method: string, params: Params) => Promise<WireMessage>;

async function throughHost(host: Host, all: Rules, agent: string, found: Differences): Promise<void> {
  const fate = (thing: Thing) => fateOf(thing, agent, all, { isGateway: false });
  const shown = new Set([
    ...host.tools({ agent }).map(({ server, tool }) => `${server} ${tool.name}`),
    ...host.prompts({ agent }).map(({ server, name }) => `${server} ${name}`),
    ...host.resources({ agent }).map(({ server, resource }) => `${server} ${resource.uri}`),
    ...host.templates({ agent }).map(({ server, template }) => `${server} ${template.uriTemplate}`),
  ]);
  const use = (thing: Thing): Promise<unknown> => {
    const { server, kind, name } = thing;
    if (kind === "tool") return host.callTool(`${server}.${name}`, {}, { agent });
    return kind === "prompt"
      ? host.getPrompt(`${server}.${name}`, {}, { agent })
      : host.readResource(server, name, { agent });
  };
  for (const thing of LISTED) {
    const { server, name } = thing;
    found.compare("host lists", thing, fate(thing).shown, shown.has(`${server} ${name}`));
    if (name.includes("{")) continue;
    const code = await use(thing).then(
      () => "used",
      (error: unknown) => asNexusError(error).code,
    );
    found.compare(`host (${code})`, thing, fate(thing).used, code !== "DENIED");
  }
}

/** What one client sees and can do, on all servers together or on one alone. */
async function throughEndpoint(
  what: string,
  server: string | undefined,
  ask: Ask,
  fate: (thing: Thing) => Fate,
  found: Differences,
): Promise<void> {
  const listed = new Set((await Promise.all(LISTS.map(async (method) => namesIn(await ask(method, {}))))).flat());
  const isHere = (thing: Thing) => server === undefined || thing.server === server;
  for (const thing of [...LISTED, ...(server === undefined ? [] : METHODS)].filter(isHere)) {
    const { kind, name } = thing;
    const { method, params } = useOf(thing);
    const mark = kind === "resource" ? "+" : "__";
    const given = server === undefined ? inFull(thing, params) : params;
    if (kind !== "method") {
      const shown = listed.has(server === undefined ? `${thing.server}${mark}${name}` : name);
      found.compare(`${what} lists`, thing, fate(thing).shown, shown);
    }
    const answer = await ask(method, given);
    found.compare(what, thing, fate(thing).used, isUsed(answer));
    if (typeof answer.result?.taskId === "string") {
      const task = await ask("tasks/get", { taskId: answer.result.taskId });
      found.compare(`${what} follows`, thing, true, task.result !== undefined);
    }
    if (kind !== "prompt") continue;
    const complete = completionOf({
      type: "ref/prompt",
      name: server === undefined ? `${thing.server}__${name}` : name,
    });
    found.compare(`${what} completes`, thing, fate(thing).used, isUsed(await ask(complete.method, complete.params)));
  }
}

async function throughGateway(world: AccessWorld, all: Rules, user: string, found: Differences): Promise<void> {
  const fate = (thing: Thing) => fateOf(thing, user, all, { isGateway: true });
  const isSeen = (server: string) => fate({ server, kind: "server", name: server }).shown;
  const session = await world.session({ user });
  const walks = [
    throughEndpoint("modern /mcp", undefined, (method, params) => world.ask(method, params, { user }), fate, found),
    throughEndpoint("older /mcp", undefined, (method, params) => session.answerTo(method, params), fate, found),
  ];
  const metrics = (await world.get("/metrics", user)).text;
  const { instructions = "" } = session.initialized.result as { instructions?: string };
  for (const server of SERVERS) {
    const thing: Thing = { server, kind: "server", name: server };
    const asking: Asking = { server, user };
    const { status } = await world.get(`/servers/${server}/tools`, user);
    found.compare("manifest", thing, isSeen(server), status === 200);
    found.compare("instructions", thing, isSeen(server), instructions.includes(server));
    found.compare("metrics", thing, isSeen(server), metrics.includes(`nexus_server_state{server="${server}"`));
    const discovered = await world.ask("server/discover", {}, asking);
    found.compare("discovery", thing, isSeen(server), discovered.result !== undefined);
    if (!isSeen(server)) continue;
    const own = await world.session(asking);
    walks.push(
      throughEndpoint("modern", server, (method, params) => world.ask(method, params, asking), fate, found),
      throughEndpoint("older", server, (method, params) => own.answerTo(method, params), fate, found),
      throughSubscriptions(world, { server, user }, fate, found),
    );
  }
  await Promise.all(walks);
}

/** A subscription is accepted for exactly the resources that can be read. */
async function throughSubscriptions(
  world: AccessWorld,
  { server, user }: { server: string; user: string },
  fate: (thing: Thing) => Fate,
  found: Differences,
): Promise<void> {
  const isMine = ({ kind, name, server: id }: Thing) => kind === "resource" && id === server && !name.includes("{");
  const mine = LISTED.filter(isMine);
  const notifications = { resourceSubscriptions: mine.map(({ name }) => name) };
  const stream = new OpenStream(
    world.url(server),
    modern("subscriptions/listen", { notifications }, { headers: { "x-user": user } }),
  );
  await expect.poll(() => stream.events.length).toBeGreaterThan(0);
  const agreed = stream.events[0]?.params?.notifications as Partial<typeof notifications> | undefined;
  const accepted = agreed?.resourceSubscriptions ?? [];
  stream.leave();
  for (const thing of mine) found.compare("subscribes", thing, mayHear(thing), accepted.includes(thing.name));

  /** Where consent is needed there is no call to ask it for. */
  function mayHear(thing: Thing): boolean {
    return fate(thing).used && !isAsked.has(thing.name);
  }
}

/** Resources that the rules of this run have consented to before they are read. */
let isAsked: ReadonlySet<string> = new Set();

/** A busy machine makes fewer runs; one that hangs is found by the test's own limit. */
function within<T extends unknown[]>(ms: number, run: (...given: T) => Promise<void>): (...given: T) => Promise<void> {
  const until = performance.now() + ms;
  return (...given) => (performance.now() > until ? Promise.resolve() : run(...given));
}

test("what is shown can be used and nothing else can, through the host and every endpoint, whatever the rules (R8)", async () => {
  const one = async (all: Rules, user: string) => {
    const found = new Differences();
    isAsked = new Set(all.narrow?.asks.map((text) => text.replace("resource ", "")));
    const entries = {
      alpha: { tools: all.own["alpha"] ?? {} },
      beta: { url: legacy.url, tools: all.own["beta"] ?? {} },
    };
    const options = { policy: policyOf(all), decide: decideOf(all), entries };
    await using world = await AccessWorld.open({ alpha }, options);
    await throughHost(world.host, all, user, found);
    await throughGateway(world, all, user, found);
    expect(found.found).toEqual([]);
  };
  const property = fc.asyncProperty(rules, fc.constantFrom(...USERS), within(30_000, one));
  await fc.assert(property, { seed: 20260101, numRuns: 20, endOnFailure: true });
}, 300_000);

test("the program shows and calls exactly the tools that the server's entry allows, whatever its rules (R8)", async () => {
  const one = async (own: Rules["own"]) => {
    const found = new Differences();
    const all: Rules = { ...NO_RULES, own };
    const config = await cli.write("rules.json", {
      mcpServers: { beta: { url: legacy.url, tools: own["beta"] ?? {} } },
    });
    const nexus = (...words: string[]) => cli.run([...words, "--json", "--config", config]);
    const listed = JSON.parse((await nexus("mcp", "tools")).stdout) as { items: { name: string }[] };
    const raw = JSON.parse((await nexus("mcp", "request", "beta", "tools/list")).stdout) as {
      tools: { name: string }[];
    };
    const things = [...LISTED, ...METHODS].filter(({ server }) => server === "beta");
    for (const thing of things) {
      const { kind, name } = thing;
      const { shown, used } = fateOf(thing, "", all, { isGateway: false });
      const { method, params } = useOf(thing);
      const answers = [nexus("mcp", "request", "beta", method, JSON.stringify(params))];
      if (kind === "tool") {
        answers.push(nexus("mcp", "call", `beta.${name}`));
        for (const [what, items] of [["tools", listed.items] as const, ["list", raw.tools] as const]) {
          found.compare(
            what,
            thing,
            shown,
            items.some((item) => item.name === name),
          );
        }
      }
      for (const { code } of await Promise.all(answers)) found.compare(`exit ${code}`, thing, used, code !== 8);
    }
    expect(found.found).toEqual([]);
  };
  const property = fc.asyncProperty(ownRules, within(30_000, one));
  await fc.assert(property, { seed: 20260102, numRuns: 3, endOnFailure: true });
}, 300_000);

const NO_RULES: Rules = {
  allow: undefined,
  deny: undefined,
  readOnly: false,
  seers: undefined,
  consent: undefined,
  own: {},
  narrow: undefined,
};
