import { appendFile, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Params } from "../../../src/protocol/json-rpc.ts";
import type { CallToolResult } from "../../../src/protocol/mcp.ts";
import { ApiWorld } from "../api-world.ts";
import type { Caller } from "../callers.ts";
import { booking, STAY } from "./capcorn-stay.ts";

const SECRETS = { user: "partner", password: "grün & spitz/7", system: "21", "pin-9100": "k-81-k" };
/** As they are, and as addresses, markup and headers write them. */
const HIDDEN = ["grün & spitz/7", "gr%C3%BCn", "grün &amp;", "Z3LDvG4gJiBzcGl0ei83", "k-81-k", "ay04MS1r"];

let world: ApiWorld;
let caller: Caller;
beforeAll(async () => {
  // A booking that nobody answers is given up soon; a search has its thirty seconds.
  const edit = (text: string) => text.replace("    confirm:", "    limits: { timeout: 700ms }\n    confirm:");
  world = await ApiWorld.open({ api: "capcorn", secrets: SECRETS, edit });
  caller = await world.caller("SDK 2.x, modern");
  await caller.tools();
});
afterAll(() => world?.[Symbol.asyncDispose]());
afterEach(() => world.fake.recover());

function textOf({ content }: CallToolResult): string {
  return content.map((block) => ("text" in block ? block["text"] : "")).join("\n");
}

describe("a search that fails", () => {
  test("X11: is made again where that helps", async () => {
    world.fake.fail({ status: 503 }, 2);
    const before = world.sent("availability_search");
    const result = await caller.call("availability_search", STAY);
    expect(result.structuredContent).toMatchObject({ count: 4 });
    expect(world.sent("availability_search")).toBe(before + 3);
  });

  test.each([
    ["a hotel system that is away", { status: 503 }, /hotel system cannot be reached[^]*Search again in a minute/],
    ["an answer that breaks off", { cut: true as const }, /closed the connection/],
    ["XML that is none", { broken: true as const }, /cannot be read/],
    ["a status nobody documented", { status: 418 }, /HTTP 418/],
  ])("X3: with %s says what happened and what to try", async (_, failure, words) => {
    world.fake.fail(failure, 9);
    const result = await caller.call("availability_search", STAY);
    expect(result).toMatchObject({ isError: true });
    expect(result).not.toHaveProperty("structuredContent");
    expect(textOf(result)).toMatch(words);
  });

  test("an answer that is not as documented is returned, and what deviates is told", async () => {
    world.fake.fail({ offSchema: true });
    const { structuredContent, isError } = await caller.call("availability_search", STAY);
    expect(isError).not.toBe(true);
    const { deviations, hotels } = structuredContent as { deviations: unknown[]; hotels: unknown[] };
    expect(hotels).toHaveLength(1);
    expect(deviations.length).toBeGreaterThan(0);
    expect(world.output.stderr).toContain("The answer is not as documented");
  });
});

describe("a booking that fails", () => {
  test("X15: with a 200 that has errors in it is a failure, and may be made again", async () => {
    const taken = booking({ reference: "taken", adults: 2, children: [], expectedTotal: 544, extras: [] });
    const answers = world.file.fake.tools["create_reservation"]?.answers ?? [];
    const [first] = answers;
    if (!first) throw new Error("the fake has no answers");
    answers.unshift({ ...first, when: "input.categoryCode == 'DZ'" });
    const refused = await caller.call("create_reservation", taken);
    answers.shift();
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toMatch(/^CapCorn refused the booking: Booking id was used before\. Nothing was booked\./);
    expect(await caller.call("create_reservation", taken)).toMatchObject({ structuredContent: { roomTotal: 544 } });
  });

  test.each([
    ["in time", { delayMs: 600_000 }],
    ["completely", { cut: true as const }],
    ["readably", { broken: true as const }],
    ["with a status that says nothing", { status: 502 }],
  ])(
    "X11, X15: that is not answered %s may have been made: it says so, and is not made again",
    async (how, failure) => {
      world.fake.fail(failure, 1, "create_reservation");
      const mine = booking({ reference: how });
      const before = world.sent("create_reservation");
      const unknown = await caller.call("create_reservation", mine);
      expect(unknown.isError).toBe(true);
      expect(textOf(unknown)).toMatch(/Do not book again; ask the hotel\s+whether a booking with the id \w+ arrived/);
      const [, id = ""] = /with the id (\w+) arrived/.exec(textOf(unknown)) ?? [];
      expect(textOf(unknown)).toContain(`nexus api settle ${id} --happened yes|no`);
      expect(world.sent("create_reservation")).toBe(before + 1);

      const again = await caller.call("create_reservation", mine);
      expect(again.isError).toBe(true);
      expect(textOf(again)).toMatch(
        /^The same call was made at .*, and its outcome is not known\. It is not sent again\.[^]*ask the hotel/,
      );
      expect(world.sent("create_reservation")).toBe(before + 1);
    },
  );

  describe("X15: whose outcome a person has found out", () => {
    const unknownId = async (mine: Params): Promise<string> => {
      world.fake.fail({ status: 502 }, 1, "create_reservation");
      const [, id = ""] = /with the id (\w+) arrived/.exec(textOf(await caller.call("create_reservation", mine))) ?? [];
      return id;
    };
    const settle = (...args: string[]) => world.world.run(["api", "settle", ...args]);

    test("is listed, and may be made again once the hotel says that it has no such booking", async () => {
      const mine = booking({ reference: "settled no" });
      const id = await unknownId(mine);
      const listed = await world.world.run(["api", "writes", "--json"]);
      const item = {
        id,
        server: "capcorn",
        tool: "create_reservation",
        at: expect.any(String),
        upstream: world.fake.url,
      };
      expect(JSON.parse(listed.stdout)).toEqual({ items: expect.arrayContaining([item]), errors: [] });
      expect((await world.world.run(["api", "writes", "capcorn"])).stdout).toContain(
        `${id}  capcorn.create_reservation`,
      );
      expect(textOf(await caller.call("create_reservation", mine))).toContain(
        `nexus api settle ${id} --happened yes|no`,
      );

      const settled = await settle(id.toLowerCase(), "--happened", "no");
      expect([settled.code, settled.stdout]).toEqual([
        0,
        `Recorded that ${id} of "capcorn" was not executed. The same call can be made again.\n`,
      ]);
      expect(await caller.call("create_reservation", mine)).toMatchObject({ structuredContent: { reservationId: id } });
      expect((await world.world.run(["api", "writes"])).stdout).not.toContain(id);
      expect(await settle(id, "--happened", "no")).toMatchObject({ code: 2 });
    });

    test("is not made again once the hotel says that it has the booking", async () => {
      const mine = booking({ reference: "settled yes" });
      const id = await unknownId(mine);
      const settled = await settle(id, "--happened", "yes", "--json");
      expect([settled.code, JSON.parse(settled.stdout)]).toEqual([0, { id, server: "capcorn", happened: true }]);
      const before = world.sent("create_reservation");
      const repeat = textOf(await caller.call("create_reservation", mine));
      expect(repeat).toMatch(/^This was already done at [^]*a person confirmed that it was executed/);
      expect(world.sent("create_reservation")).toBe(before);
    });

    test("is asked for in words that say what is missing", async () => {
      expect(await settle("XXXX", "--happened", "no")).toMatchObject({
        code: 6,
        stderr: expect.stringContaining("api writes"),
      });
      expect(await settle("XXXX")).toMatchObject({ code: 2, stderr: expect.stringContaining("yes or no") });
    });
  });

  test("where the price cannot be looked at, nothing is booked", async () => {
    world.fake.fail({ status: 503 }, 9, "availability_search");
    const before = world.sent("create_reservation");
    const result = await caller.call("create_reservation", booking({ reference: "blind" }));
    expect(textOf(result)).toMatch(/nothing was changed/i);
    expect(world.sent("create_reservation")).toBe(before);
  });
});

test("X8, X9: secrets are in no result, log, error, resource, payload, metric or file", async () => {
  const told: unknown[] = [];
  const failures = [undefined, { status: 503 }, { cut: true }, { broken: true }, { offSchema: true }] as const;
  for (const kind of ["SDK 1.x, legacy", "ours, modern"] as const) {
    const one = await world.caller(kind, "/servers/<id>/mcp");
    told.push(await one.tools(), await one.resources());
    for (const failure of failures) {
      if (failure) world.fake.fail(failure, 3);
      told.push(await one.call("availability_search", { ...STAY, includeSourcePayload: true }));
      world.fake.recover();
      if (failure) world.fake.fail(failure, 1, "create_reservation");
      const reference = `${kind} ${JSON.stringify(failure)}`;
      told.push(await one.call("create_reservation", booking({ reference, includeSourcePayload: true })));
    }
    world.fake.recover();
    await whileRefused(async () => {
      told.push(await one.call("availability_search", { ...STAY, includeSourcePayload: true }));
    });
    // One that is missing is named.
    told.push(await one.call("create_reservation", booking({ hotelId: 9101 })));
    for (const { uri } of await one.resources()) told.push(await one.read(uri));
  }
  const text = JSON.stringify(told);
  expect(text).toContain("CapCorn refused the user name, password or system.");
  expect(text).toContain("The secret capcorn.pin-9101 is not set");
  expect(text).toMatch(/Passwort \S+ ungültig/);

  const metrics = await (await fetch(new URL("/metrics", world.url))).text();
  expect(metrics).toContain("nexus_");
  const { stdout, stderr } = world.output;
  const [, correlation = ""] = /"dev\.nexus\/correlationId":"([\w-]+)"/.exec(text) ?? [];
  const traced = stderr.split("\n").filter((line) => line.includes(correlation));
  expect(traced.join("\n")).toMatch(
    /Sending a request .*"path":"RoomAvailability"[^]*The request was answered .*"status":200/,
  );
  const files = await filesBelow(join(world.world.home, ".local"));
  expect(Object.keys(files).join()).toMatch(/capcorn-[0-9a-f]{16}\.jsonl/);
  const everything = { told: text, metrics, stdout, stderr, ...files };
  for (const [where, content] of Object.entries(everything)) {
    for (const secret of HIDDEN) expect(content.includes(secret), `${secret} in ${where}`).toBe(false);
  }
});

describe("a tool file that nobody approved", () => {
  const FILE = "home/work/project/api/capcorn/capcorn.nexus.yaml";

  /** What a gateway says of its servers: in its greeting, or later where one takes its time. */
  async function whatServeSays(): Promise<string> {
    const { child, output } = world.world.start(["serve", "--port", "0"]);
    await expect.poll(() => output.stdout).toContain("Ctrl-C");
    const [url = ""] = /http:\S+/.exec(output.stdout) ?? [];
    await expect.poll(async () => (await fetch(new URL("/readyz", url))).status).toBe(200);
    const { tools } = (await (await fetch(new URL("/servers/capcorn/tools", url))).json()) as { tools?: unknown[] };
    child.kill();
    return `${tools?.length ?? "no"} tools\n${output.stderr}`;
  }

  test("X12: as changed since, is not served, and what to do is said", async () => {
    const text = await world.world.read(FILE);
    await appendFile(join(world.world.root, FILE), "\n# a comment changes nothing\n");
    expect(await whatServeSays()).toMatch(/^[1-9]\d* tools/);
    await world.world.write(FILE, text.replace("effect: destructive", "effect: write"));
    expect(await whatServeSays()).toMatch(/^no tools[^]*capcorn: failed: .*has changed since it was approved/);
    const called = await world.world.run([
      "mcp",
      "call",
      "capcorn.availability_search",
      "--args",
      JSON.stringify(STAY),
    ]);
    expect(called.code).toBe(8);
    expect(called.stderr).toMatch(/has changed since it was approved[^]*nexus api diff .*, then nexus api approve /);
    await world.world.write(FILE, text);
  });

  test("X12: at any time, or that has mistakes, is not served either", async () => {
    const lock = join(world.world.root, FILE.replace(".yaml", ".lock"));
    await rename(lock, `${lock}.away`);
    expect(await whatServeSays()).toMatch(/^no tools[^]*capcorn: failed: .*was never approved/);
    await rename(`${lock}.away`, lock);
    const text = await world.world.read(FILE);
    await world.world.write(FILE, text.replace("effect: destructive", "effect: destructiv"));
    expect(await whatServeSays()).toMatch(/^no tools[^]*capcorn: failed: .*has mistakes: /);
    await world.world.write(FILE, text);
  });
});

/** The upstream takes the credentials no more, and repeats what it got. */
async function whileRefused(act: () => Promise<void>): Promise<void> {
  const { fake } = world.file;
  const { secrets } = fake;
  const search = fake.tools["availability_search"];
  const refused = search?.refused;
  if (!search || !refused) throw new Error("the fake refuses nothing");
  fake.secrets = { ...secrets, password: "another", "pin-9100": "another" };
  search.refused = { ...refused, give: { errors: [{ text: `Passwort ${SECRETS.password} ungültig` }] } };
  await act();
  fake.secrets = secrets;
  search.refused = refused;
}

async function filesBelow(folder: string): Promise<Record<string, string>> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = paths.map(async (path) => [path, await readFile(path, "latin1")] as const);
  return Object.fromEntries(await Promise.all(read));
}
