import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, type Client, type InputProvider, type InputResult } from "../../src/index.ts";
import { failure } from "../fixtures/failure.ts";
import { readExamples, SPEC_IS_HERE } from "./spec.ts";
import { tripOf, type Trip } from "./trips.ts";

const SERVER = fileURLToPath(new URL("replay-server.mjs", import.meta.url));
const EVERYTHING = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };
const MODERN = "2026-07-28";
const examples = SPEC_IS_HERE ? readExamples() : [];
const trips = examples.map((example) => ({ ...example, trip: tripOf(example) }));

/** Which trips a way of speaking has: JSON bodies have no room for notifications. */
const WAYS = [
  { name: "a legacy pipe", version: "2025-11-25", path: undefined, without: [] },
  { name: "a modern pipe", version: MODERN, path: undefined, without: ["request"] },
  { name: "HTTP with JSON", version: MODERN, path: "/json", without: ["request", "notification"] },
  { name: "HTTP with events", version: MODERN, path: "/events", without: ["request"] },
];

test("the examples are all there, or not at all", () => {
  if (!SPEC_IS_HERE) console.log("The specification's examples are not here: nothing was compared.");
  expect(examples).toHaveLength(SPEC_IS_HERE ? 129 : 0);
});

describe.runIf(SPEC_IS_HERE).each(WAYS)("over $name an example keeps every byte of meaning (P1.5)", (way) => {
  let session: Session;
  beforeAll(async () => {
    session = await Session.open(way);
  });
  afterAll(() => session.close());

  const carried = trips.filter(({ trip }) => !way.without.includes(trip.kind) && !trip.kind.endsWith("capabilities"));
  test.each(carried)("$definition: $name", async ({ trip }) => {
    const { sent, came } = await session.travel(trip);
    expect(came).toStrictEqual(sent);
    // Not even the order of members changes.
    expect(JSON.stringify(came)).toBe(JSON.stringify(sent));
  });
});

describe.runIf(SPEC_IS_HERE)("capabilities arrive as they were declared (P1.2, P1.3)", () => {
  const declared = (side: string) => trips.filter(({ trip }) => trip.kind === side);

  test.each(declared("server capabilities"))("$definition: $name", async ({ value }) => {
    const options = { command: process.execPath, args: [SERVER, "--capabilities", JSON.stringify(value)] };
    for (const protocolVersion of ["2025-11-25", undefined]) {
      await using client = await connect(options, { protocolVersion });
      expect(client.serverCapabilities).toStrictEqual(value);
    }
  });

  test.each(declared("client capabilities"))("$definition: $name", async ({ value }) => {
    const entry = { command: process.execPath, args: [SERVER] };
    const input = { capabilities: value as InputProvider["capabilities"], handle: () => ({ roots: [] }) };
    await using legacy = await connect(entry, { protocolVersion: "2025-11-25", input });
    const { received } = await legacy.request("replay/introduction");
    expect(received).toMatchObject({ capabilities: value });
    await using modern = await connect(entry, { protocolVersion: MODERN, input });
    const { received: request } = await modern.request("replay/anything");
    expect(request).toMatchObject({ params: { _meta: { "io.modelcontextprotocol/clientCapabilities": value } } });
  });
});

/** Whoever answers questions: keeps what was asked last, and says what it is told to. */
class Desk {
  answer: Record<string, unknown> = {};
  asked: unknown;
  readonly handle: InputProvider["handle"] = ({ method, params }) => {
    this.asked = params === undefined ? { method } : { method, params };
    return this.answer as unknown as InputResult;
  };
}

/** A client of ours, and a server that says what it is told to. */
class Session {
  readonly #client: Client;
  readonly #desk: Desk;
  readonly #stop: () => Promise<void>;

  static async open({ path, version }: (typeof WAYS)[number]): Promise<Session> {
    const server = path === undefined ? undefined : await startHttp();
    const entry = server ? { url: server.url + path } : { command: process.execPath, args: [SERVER] };
    const desk = new Desk();
    const input = { capabilities: EVERYTHING, handle: desk.handle };
    return new Session(await connect(entry, { protocolVersion: version, input }), desk, async () => server?.stop());
  }

  private constructor(client: Client, desk: Desk, stop: () => Promise<void>) {
    this.#client = client;
    this.#desk = desk;
    this.#stop = stop;
  }

  async close(): Promise<void> {
    await this.#client.close();
    await this.#stop();
  }

  /** What left one end, and what arrived at the other. */
  async travel(trip: Trip): Promise<{ sent: unknown; came: unknown }> {
    const client = this.#client;
    switch (trip.kind) {
      case "result":
        return { sent: trip.result, came: await client.request(trip.method, { replay: { result: trip.result } }) };
      case "error": {
        const error = await failure(client.request("completion/complete", { replay: { error: trip.error } }));
        return { sent: trip.error, came: error.details.rpc };
      }
      case "notification":
        return { sent: trip.notification, came: await this.#hear(trip.notification) };
      case "request": {
        const { received } = await client.request(trip.method, trip.params);
        const { method, params } = trip;
        return { sent: params === undefined ? { method } : { method, params }, came: received };
      }
      case "question":
        return this.#ask(trip.question);
      case "reply": {
        this.#desk.answer = trip.result;
        const result = await this.#call({ question: smallest(trip.method) });
        return { sent: trip.result, came: result["received"] };
      }
      case "server capabilities":
      case "client capabilities":
        throw new Error("capabilities travel when a session opens");
    }
  }

  async #hear(notification: Record<string, unknown>): Promise<unknown> {
    let heard: unknown;
    const stop = this.#client.onNotification((one) => (heard = one));
    await this.#client.request("completion/complete", { replay: { notification } });
    stop();
    return heard;
  }

  /** What is asked is the method and its parameters; ids are the transport's. */
  async #ask(question: Record<string, unknown>): Promise<{ sent: unknown; came: unknown }> {
    const { method, params } = question;
    this.#desk.answer = method === "elicitation/create" ? { action: "decline" } : {};
    await this.#call({ question: { method, params } });
    return { sent: params === undefined ? { method } : { method, params }, came: this.#desk.asked };
  }

  async #call(replay: Record<string, unknown>): Promise<Record<string, unknown>> {
    return { ...(await this.#client.callTool("any", { replay })) };
  }
}

/** The least that can be asked. */
function smallest(method: string): Record<string, unknown> {
  if (method === "roots/list") return { method };
  const params = method === "elicitation/create" ? { mode: "form", message: "?" } : { messages: [], maxTokens: 1 };
  return { method, params };
}

async function startHttp(): Promise<{ url: string; stop: () => Promise<void> }> {
  const child = spawn(process.execPath, [SERVER, "--http"], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const stop = async () => {
    child.stdin.end();
    await exited;
  };
  return { url: String(line).trim(), stop };
}
