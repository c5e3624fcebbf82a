import fc from "fast-check";
import type { Params } from "../../../src/protocol/json-rpc.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { eventsOf, LegacyWire, send as post, type WireEvent } from "../legacy/legacy-wire.ts";
import { markOf, TENANTS } from "./marked-servers.ts";
import type { TenantWorld } from "./tenant-world.ts";

const SERVERS = ["docs", "old", ...TENANTS.map((tenant) => `${tenant}-only`)];
const TOOLS = ["look", ...TENANTS.map((tenant) => `look-${tenant}`)];
const PROMPTS = ["greet", ...TENANTS.map((tenant) => `greet-${tenant}`)];
const URIS = ["note://own", ...TENANTS.map((tenant) => `note://${tenant}`), "note://{name}"];
const LISTS = ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "server/discover"];
/** The list that the servers give out in pages. */
const PAGED = "resources/templates/list";
const TASK_METHODS = ["tasks/get", "tasks/update", "tasks/cancel"];
const PATHS = ["/metrics", "/servers/SERVER/tools", "/"];

/** What callers are given and carry; each is good for the one it was given to alone. */
type Thing = "cursor" | "state" | "task" | "session" | "sse";

interface Given {
  user: string;
  value: string;
  /** Where it was given out, and what it belongs to. */
  server: string | undefined;
  more: Params;
}

const OPERATIONS = [
  "list",
  "first page",
  "page",
  "call",
  "ask",
  "answer",
  "start task",
  "follow task",
  "read",
  "prompt",
  "complete",
  "method",
  "open session",
  "use session",
  "end session",
  "open sse",
  "post sse",
  "listen",
  "tell",
] as const;

type Operation = (typeof OPERATIONS)[number];

/** One thing that one caller does, with whatever was given to anybody. */
export const step = fc.record({
  operation: fc.constantFrom(...OPERATIONS),
  user: fc.constantFrom(...TENANTS.flatMap((tenant) => [`${tenant}/alice`, `${tenant}/bob`])),
  /** Which of the things that were given out, counted from the newest. */
  which: fc.nat({ max: 5 }),
  server: fc.constantFrom(...SERVERS),
  /** At the server's own endpoint, or at `/mcp`. */
  isAlone: fc.boolean(),
  choice: fc.nat({ max: 59 }),
  /** Whether such a thing is used by the one it was given to. */
  isOwner: fc.boolean(),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Runs steps of callers, and writes down whatever one of them got of another tenant. */
export class CrossingAttempts implements Disposable {
  readonly crossings: string[] = [];
  /** How often callers got what is their own. */
  readonly succeeded: Partial<Record<Operation, number>> = {};
  readonly #world: TenantWorld;
  readonly #given: Record<Thing, Given[]> = { cursor: [], state: [], task: [], session: [], sse: [] };
  readonly #left = new AbortController();
  readonly #steps: Record<Operation, (step: Step) => Promise<void>> = {
    list: async (step) => void (await this.#ask(step, pick(LISTS, step), {})),
    "first page": async (attempt) => {
      const step = { ...attempt, isAlone: true };
      const { result } = await this.#ask(step, PAGED, {});
      if (typeof result?.["nextCursor"] === "string") this.#give("cursor", step, result["nextCursor"], {});
    },
    page: (attempt) =>
      this.#use("cursor", attempt, ({ value, server = "" }, step) =>
        this.#ask({ ...step, isAlone: true, server }, PAGED, { cursor: value }),
      ),
    call: (step) => this.#try(step, "tools/call", { name: fullName(step, pick(TOOLS, step)), arguments: {} }),
    ask: async (step) => {
      const params = { name: fullName(step, "asking"), arguments: {} };
      const { result } = await this.#ask(step, "tools/call", params);
      if (typeof result?.["requestState"] !== "string") return;
      const answers = Object.keys(result["inputRequests"] as object).map((key) => [key, { action: "decline" }]);
      this.#give("state", step, result["requestState"], { ...params, inputResponses: Object.fromEntries(answers) });
    },
    answer: (attempt) =>
      this.#use("state", attempt, ({ value, server, more }, step) =>
        this.#ask({ ...step, isAlone: server !== undefined, server: server ?? "" }, "tools/call", {
          ...more,
          requestState: value,
        }),
      ),
    "start task": async (step) => {
      const params = { name: fullName(step, "working"), arguments: {} };
      const { result } = await this.#ask(step, "tools/call", params);
      if (typeof result?.["taskId"] === "string") this.#give("task", step, result["taskId"], {});
    },
    "follow task": (attempt) =>
      this.#use("task", attempt, ({ value, server }, step) =>
        this.#ask({ ...step, isAlone: server !== undefined, server: server ?? "" }, pick(TASK_METHODS, step), {
          taskId: value,
          inputResponses: {},
        }),
      ),
    read: (step) => this.#try(step, "resources/read", { uri: fullUri(step, pick(URIS, step)) }),
    prompt: (step) => this.#try(step, "prompts/get", { name: fullName(step, pick(PROMPTS, step)) }),
    complete: (step) => {
      const ref =
        step.choice % 2 === 0
          ? { type: "ref/prompt", name: fullName(step, pick(PROMPTS, step)) }
          : { type: "ref/resource", uri: fullUri(step, pick(URIS, step)) };
      return this.#try(step, "completion/complete", { ref, argument: { name: "name", value: "" } });
    },
    method: (step) => this.#try(step, "acme/run", {}),
    "open session": async (step) => {
      const { headers } = await this.#world.session(step.user, { server: serverOf(step) });
      const id = headers["mcp-session-id"] ?? "";
      if (id !== "") this.#give("session", step, id, {});
    },
    "use session": (attempt) =>
      this.#use("session", attempt, async ({ value, server }, step) => {
        const headers = { "x-user": step.user, "mcp-session-id": value };
        const wire = new LegacyWire(this.#world.endpoint(server), headers, {});
        const name = fullName({ ...step, isAlone: server !== undefined }, pick(TOOLS, step));
        return wire.answerTo("tools/call", { name, arguments: {}, _meta: tokenOf(step) });
      }),
    "end session": (attempt) =>
      this.#use("session", attempt, async ({ value, server, user }, step) => {
        // Owners keep theirs, so that there is something to steal.
        if (user === step.user) return {};
        const headers = { "x-user": step.user, "mcp-session-id": value };
        const { status } = await fetch(this.#world.endpoint(server), { method: "DELETE", headers });
        return status === 204 ? { result: {} } : {};
      }),
    "open sse": async (step) => {
      if (this.#given.sse.length >= 8) return;
      const headers = { "x-user": step.user };
      const stream = eventsOf(await fetch(this.#world.url("/sse"), { headers, signal: this.#left.signal }));
      const { data = "" } = (await stream.next()).value as WireEvent;
      this.#give("sse", { ...step, isAlone: false }, data, {});
    },
    "post sse": (attempt) =>
      this.#use("sse", attempt, async ({ value }, step) => {
        const message = { jsonrpc: "2.0", method: "notifications/initialized", params: { _meta: tokenOf(step) } };
        const { status } = await post(this.#world.url(value), message, { "x-user": step.user });
        return status === 202 ? { result: {} } : {};
      }),
    listen: async (step) => {
      const uri = fullUri(step, pick(URIS, step));
      const taskIds = this.#given.task.map(({ value }) => value);
      const wanted = { resourceSubscriptions: [uri], taskIds, toolsListChanged: true };
      const stream = await this.#world.listen(step.user, wanted, { server: serverOf(step) });
      stream.leave();
      const agreed = (stream.events[0]?.params?.["notifications"] ?? {}) as Partial<typeof wanted>;
      const isSeen = isOwn(step.user, step.server);
      if (agreed.resourceSubscriptions && !isSeen) this.crossings.push(`${step.user} subscribed to ${uri}`);
      const others = this.#given.task.filter(
        ({ user, value }) => user !== step.user && agreed.taskIds?.includes(value),
      );
      if (others.length > 0) this.crossings.push(`${step.user} follows tasks of ${others[0]?.user}`);
      if (agreed.resourceSubscriptions && isSeen) this.#succeed(step);
    },
    tell: async (step) => {
      const path = pick(PATHS, step).replace("SERVER", step.server);
      const { status, text } = await this.#world.get(step.user, path, { accept: "text/html, */*" });
      const foreign = SERVERS.filter((id) => !isOwn(step.user, id) && !path.includes(id) && text.includes(id));
      if (foreign.length > 0) this.crossings.push(`${step.user} reads of ${foreign.join()} at ${path}`);
      this.#inspect(step, text);
      if (status === 200 && path.includes(step.server) && !isOwn(step.user, step.server)) {
        this.crossings.push(`${step.user} reads ${path}`);
      }
    },
  };

  constructor(world: TenantWorld) {
    this.#world = world;
  }

  run(step: Step): Promise<void> {
    return this.#steps[step.operation](step);
  }

  [Symbol.dispose](): void {
    this.#left.abort();
  }

  /** What names a server: good for tenants that have it. */
  async #try(step: Step, method: string, params: Params): Promise<void> {
    const { result } = await this.#ask(step, method, params);
    if (!result || result["isError"] === true) return;
    if (isOwn(step.user, step.server)) this.#succeed(step);
    else this.crossings.push(`${step.user} used ${step.server} with ${method}`);
  }

  /** What was given to one caller: good for that one alone. */
  async #use(
    thing: Thing,
    { isOwner, ...attempt }: Step,
    use: (given: Given, step: Step) => Promise<WireMessage>,
  ): Promise<void> {
    const all = this.#given[thing];
    const given = all.at(-1 - (attempt.which % all.length));
    if (!given) return;
    const step = { ...attempt, isOwner, user: isOwner ? given.user : attempt.user };
    const answer = await use(given, step);
    this.#inspect(step, JSON.stringify(answer));
    if (!answer.result) return;
    if (given.user === step.user) this.#succeed(step);
    else this.crossings.push(`${step.user} used the ${thing} of ${given.user}`);
  }

  async #ask(step: Step, method: string, params: Params): Promise<WireMessage> {
    const server = serverOf(step);
    const answer = await this.#world.ask(step.user, method, { ...params, _meta: tokenOf(step) }, { server });
    this.#inspect(step, JSON.stringify(answer));
    return answer;
  }

  /** Nothing that a caller reads has the mark of another tenant. */
  #inspect({ user, operation }: Step, text: string): void {
    const foreign = TENANTS.filter((tenant) => tenant !== tenantOf(user) && text.includes(markOf(tenant)));
    if (foreign.length > 0) this.crossings.push(`${user} read of ${foreign.join()} (${operation})`);
  }

  #give(thing: Thing, step: Step, value: string, more: Params): void {
    this.#given[thing].push({ user: step.user, value, server: serverOf(step), more });
  }

  #succeed({ operation }: Step): void {
    this.succeeded[operation] = (this.succeeded[operation] ?? 0) + 1;
  }
}

function pick(all: readonly string[], { choice }: Step): string {
  return all[choice % all.length] ?? "";
}

function serverOf({ isAlone, server }: Step): string | undefined {
  return isAlone ? server : undefined;
}

function fullName({ isAlone, server }: Step, name: string): string {
  return isAlone ? name : `${server}__${name}`;
}

function fullUri({ isAlone, server }: Step, uri: string): string {
  return isAlone ? uri : `${server}+${uri}`;
}

function tenantOf(user: string): string {
  return user.split("/")[0] ?? "";
}

/** Whether the caller's tenant has a server of this id. */
function isOwn(user: string, server: string): boolean {
  return !server.endsWith("-only") || server === `${tenantOf(user)}-only`;
}

/** Travels to the server that a request reaches. */
function tokenOf({ user }: Step): Params {
  return { "example.org/token": `by ${tenantOf(user)}` };
}
