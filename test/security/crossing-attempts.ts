import type { Params } from "../../src/protocol/json-rpc.ts";
import { type Answer, type OpenStream } from "../fixtures/gateway/wire.ts";
import type { WireMessage } from "../fixtures/json-line-peer.ts";
import { eventsOf, type WireEvent } from "../gateway/legacy/legacy-wire.ts";
import { claimsOf, fullName, fullUri, pathOf, pick, type Operation, type Step } from "./crossing-step.ts";
import { differenceOfHidden } from "./hidden-or-absent.ts";
import { Oracle } from "./crossing-oracle.ts";
import { seesServer, tenantOf } from "./team-keys.ts";
import { TENANTS, type TeamTenant } from "./team-servers.ts";
import type { TeamWorld } from "./team-world.ts";

const TOOLS = ["look", "secret", "working", "none"];
const PROMPTS = ["greet", "hush", "none"];
const URIS = ["note://own", "note://secret", "note://{name}", ...TENANTS.map((tenant) => `note://${tenant}`)];
const LISTS = ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "server/discover"];
/** The list that the servers give out in pages. */
const PAGED = "resources/templates/list";
const TASK_METHODS = ["tasks/get", "tasks/update", "tasks/cancel"];
const UNKNOWN_METHODS = [
  "acme/run",
  "acme/run",
  "tasks/list",
  "tenants/list",
  "keys/list",
  "nexus/servers/add",
  "__proto__",
];
const PAGES = [
  "/metrics",
  "/servers/SERVER/tools",
  "/",
  "/healthz",
  "/readyz",
  "/sets/support/mcp",
  "/sets/finance/mcp",
  "/api/v1/servers",
];
const MOST_STREAMS = 6;

/** What callers are given and carry; each is good for the one it was given to alone. */
type Carried = "cursor" | "state" | "task" | "session" | "sse";

interface Given {
  caller: string;
  value: string;
  /** Where it was given out, and what it belongs to. */
  place: Pick<Step, "server" | "place">;
  more: Params;
}

/** Runs steps of callers, and writes down whatever one of them got of others. */
export class CrossingAttempts implements Disposable {
  readonly oracle = new Oracle();
  readonly #world: TeamWorld;
  readonly #given: Record<Carried, Given[]> = { cursor: [], state: [], task: [], session: [], sse: [] };
  readonly #streams: { step: Step; stream: OpenStream; asked: string }[] = [];
  readonly #left = new AbortController();
  readonly #steps: Record<Operation, (step: Step) => Promise<unknown>> = {
    list: (step) => this.#ask(step, pick(LISTS, step), {}),
    "first page": async (attempt) => {
      const step = attempt.place === "all" ? { ...attempt, place: "alone" as const } : attempt;
      const { result } = await this.#ask(step, PAGED, {});
      if (typeof result?.["nextCursor"] === "string") this.#give("cursor", step, result["nextCursor"], {});
    },
    page: (attempt) => this.#use("cursor", attempt, ({ value }, step) => this.#ask(step, PAGED, { cursor: value })),
    call: (step) => {
      const args = pick([{ who: "somebody" }, {}], step, 1);
      return this.#try(step, "tools/call", { name: fullName(step, pick(TOOLS, step)), arguments: args });
    },
    ask: async (step) => {
      const params = { name: fullName(step, "asking"), arguments: {} };
      const { result } = await this.#ask(step, "tools/call", params);
      if (typeof result?.["requestState"] !== "string") return;
      const answers = Object.keys(result["inputRequests"] as object).map((key) => [key, { action: "decline" }]);
      this.#give("state", step, result["requestState"], { ...params, inputResponses: Object.fromEntries(answers) });
    },
    answer: (attempt) =>
      this.#use("state", attempt, ({ value, more }, step) =>
        this.#ask(step, "tools/call", { ...more, requestState: value }),
      ),
    "start task": async (step) => {
      const { result } = await this.#ask(step, "tools/call", { name: fullName(step, "working"), arguments: {} });
      if (typeof result?.["taskId"] === "string") this.#give("task", step, result["taskId"], {});
    },
    "follow task": (attempt) =>
      this.#use("task", attempt, ({ value }, step) =>
        this.#ask(step, pick(TASK_METHODS, step), { taskId: value, inputResponses: {} }),
      ),
    read: (step) => this.#try(step, "resources/read", { uri: fullUri(step, pick(URIS, step)) }),
    prompt: (step) => this.#try(step, "prompts/get", { name: fullName(step, pick(PROMPTS, step)) }),
    complete: (step) => {
      const ref = pick([true, false], step, 1)
        ? { type: "ref/prompt", name: fullName(step, pick(PROMPTS, step)) }
        : { type: "ref/resource", uri: fullUri(step, pick(URIS, step)) };
      return this.#try(step, "completion/complete", { ref, argument: { name: "name", value: "" } });
    },
    "unknown method": (step) => this.#try(step, pick(UNKNOWN_METHODS, step), {}),
    "open session": async (step) => {
      const id = await this.#world.openSession(step.caller, pathOf(step));
      if (id !== undefined) this.#give("session", step, id, {});
    },
    "use session": (attempt) =>
      this.#use("session", attempt, async ({ value }, step) => {
        const { method, params } = pick(this.#older(step), step, 1);
        const message = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: tokenOf(step) } };
        const headers = { ...claimsOf(step), "mcp-session-id": value };
        return lastOf(await this.#world.postLegacy(step.caller, message, { path: pathOf(step), headers }));
      }),
    "resume session": (attempt) =>
      this.#use("session", attempt, async ({ value, caller }, step) => {
        // The stream of an owner would stay open.
        if (caller === step.caller) return {};
        const resumed = { accept: "text/event-stream", "mcp-session-id": value, "last-event-id": `${step.which}-0` };
        const headers = { ...this.#world.credentials(step.caller), ...resumed };
        const { status, body } = await fetch(this.#world.url(pathOf(step)), { headers });
        await body?.cancel();
        return status === 200 ? { result: {} } : {};
      }),
    "end session": (attempt) =>
      this.#use("session", attempt, async ({ value, caller }, step) => {
        // Owners keep theirs, so that there is something to steal.
        if (caller === step.caller) return {};
        const answer = await this.#world.get(step.caller, pathOf(step), { "mcp-session-id": value }, "DELETE");
        return answer.status === 204 ? { result: {} } : {};
      }),
    "open sse": async (step) => {
      if (this.#given.sse.length >= MOST_STREAMS) return;
      const headers = { ...this.#world.credentials(step.caller), ...claimsOf(step) };
      const response = await fetch(this.#world.url("/sse"), { headers, signal: this.#left.signal });
      if (response.status !== 200) return response.body?.cancel();
      const { data = "" } = (await eventsOf(response).next()).value as WireEvent;
      this.#give("sse", { ...step, place: "all" }, data, {});
    },
    "post sse": (attempt) =>
      this.#use("sse", attempt, async ({ value }, step) => {
        const message = { jsonrpc: "2.0", method: "notifications/initialized", params: { _meta: tokenOf(step) } };
        const { status } = await this.#world.postLegacy(step.caller, message, { path: value });
        return status === 202 ? { result: {} } : {};
      }),
    listen: (step) => this.#listen(step),
    change: async (attempt) => {
      // Of what somebody listens to, as another tenant has it.
      const { step } = this.#streams[attempt.which] ?? { step: attempt };
      const tenant = attempt.isOwner ? (tenantOf(step.caller) ?? "default") : pick(TENANTS, attempt);
      const server = this.#world.servers[tenant as TeamTenant].get(step.server);
      server?.notify("notifications/resources/updated", { uri: pick(URIS, step) });
    },
    "page of the gateway": async (step) => {
      const path = pick(PAGES, step).replace("SERVER", step.server);
      const { status, text } = await this.#world.get(step.caller, path, {
        ...claimsOf(step),
        accept: "text/html, */*",
      });
      this.oracle.inspect({ ...step, place: "all" }, { asked: path, text });
      if (status !== 200) return;
      if (path.includes(step.server) && !seesServer(step.caller, step.server, "all"))
        this.oracle.report(step, `reads ${path}`);
      else this.oracle.succeed(step);
    },
    "hidden or absent": async (step) => {
      const difference = await differenceOfHidden(this.#world, step);
      if (difference !== undefined) this.oracle.report(step, difference);
    },
  };

  constructor(world: TeamWorld) {
    this.#world = world;
  }

  async run(step: Step): Promise<void> {
    await this.#steps[step.operation](step);
  }

  /** What came on streams, and what came to servers. */
  finish(): void {
    for (const { step, stream, asked } of this.#streams) this.oracle.inspectStream(step, { asked, stream });
    for (const tenant of TENANTS) {
      for (const { server, received } of this.#world.servers[tenant].received()) {
        this.oracle.inspectServer({ tenant, server, received });
      }
      this.#world.servers[tenant].forget();
    }
  }

  [Symbol.dispose](): void {
    this.#left.abort();
    for (const { stream } of this.#streams) stream.leave();
  }

  /** What older clients ask for. */
  #older(step: Step): { method: string; params: Params }[] {
    const name = fullName(step, pick(TOOLS, step));
    const uri = fullUri(step, pick(URIS, step));
    return [
      { method: "tools/call", params: { name, arguments: {} } },
      { method: "tools/list", params: {} },
      { method: "prompts/get", params: { name: fullName(step, pick(PROMPTS, step)) } },
      { method: "resources/read", params: { uri } },
      { method: "resources/subscribe", params: { uri } },
      { method: pick(UNKNOWN_METHODS, step), params: {} },
    ];
  }

  async #listen(step: Step): Promise<void> {
    if (this.#streams.length >= MOST_STREAMS) return;
    const uri = fullUri(step, pick(URIS, step));
    const taskIds = this.#given.task.map(({ value }) => value);
    const wanted = { resourceSubscriptions: [uri], taskIds, toolsListChanged: true };
    const stream = this.#world.listen(step.caller, wanted, { path: pathOf(step), headers: claimsOf(step) });
    this.#streams.push({ step, stream, asked: JSON.stringify(wanted) + pathOf(step) });
    while (stream.events.length === 0 && !stream.ended) await new Promise((resolve) => setTimeout(resolve, 1));
    const agreed = (stream.events[0]?.params?.["notifications"] ?? {}) as Partial<typeof wanted>;
    const others = this.#given.task.filter(
      ({ caller, value }) => caller !== step.caller && agreed.taskIds?.includes(value),
    );
    if (others.length > 0) this.oracle.report(step, `follows tasks of ${others[0]?.caller}`);
    if (!agreed.resourceSubscriptions) return;
    if (seesServer(step.caller, step.server, step.place)) this.oracle.succeed(step);
    else this.oracle.report(step, `subscribed to ${uri} of ${step.server}`);
  }

  /** What names a server: good for callers that see it. */
  async #try(step: Step, method: string, params: Params): Promise<void> {
    const { result } = await this.#ask(step, method, params);
    if (!result || result["isError"] === true) return;
    if (seesServer(step.caller, step.server, step.place)) this.oracle.succeed(step);
    else this.oracle.report(step, `used ${step.server} with ${method}`);
  }

  /** What was given to one caller: good for that one alone. */
  async #use(what: Carried, attempt: Step, use: (given: Given, step: Step) => Promise<WireMessage>): Promise<void> {
    const all = this.#given[what];
    const given = all.at(-1 - (attempt.which % all.length));
    if (!given) return;
    const caller = attempt.isOwner ? given.caller : attempt.caller;
    const step = { ...attempt, ...(attempt.isElsewhere ? {} : given.place), caller };
    const answer = await use(given, step);
    this.oracle.inspect(step, { asked: JSON.stringify([step.server, given]), text: JSON.stringify(answer) });
    if (!answer.result) return;
    if (given.caller === caller) this.oracle.succeed(step);
    else this.oracle.report(step, `used the ${what} of ${given.caller}`);
  }

  async #ask(step: Step, method: string, params: Params): Promise<WireMessage> {
    const asked = { ...params, _meta: tokenOf(step) };
    const [path, headers] = [pathOf(step), claimsOf(step)];
    const answer = await this.#world.post(step.caller, method, asked, { path, headers });
    this.oracle.inspect(step, { asked: path + JSON.stringify(params), text: answer.text });
    const last = lastOf(answer);
    this.oracle.inspectList(step, last);
    return last;
  }

  #give(what: Carried, { caller, server, place }: Step, value: string, more: Params): void {
    this.#given[what].push({ caller, value, place: { server, place }, more });
  }
}

function lastOf({ events, json }: Answer): WireMessage {
  return events.at(-1) ?? json;
}

/** Travels to the server that a request reaches. */
function tokenOf({ caller }: Step): Params {
  return { "example.org/token": `sent-by:${caller}:` };
}
