import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HAS_TERMINAL, NexusWorld } from "../../fixtures/nexus.ts";
import { askingServer } from "../../fixtures/servers/asking-server.ts";

const SAMPLING = {
  method: "sampling/createMessage",
  params: {
    systemPrompt: "Be brief\u001b[2J",
    messages: [
      { role: "user", content: { type: "text", text: "Capital of France?" } },
      { role: "user", content: { type: "image", mimeType: "text/plain", data: btoa("Text in an image") } },
    ],
    maxTokens: 50,
    tools: [{ name: "map", description: "Shows a map", inputSchema: { type: "object", title: "x".repeat(500) } }],
  },
};
const PASSWORD = {
  method: "elicitation/create",
  params: {
    message: "Please log in",
    requestedSchema: { type: "object", properties: { password: { type: "string" } }, required: ["password"] },
  },
};
const SCRIPT = {
  tools: [
    { name: "wipe", annotations: { destructiveHint: true } },
    { name: "look", annotations: { readOnlyHint: true, destructiveHint: true } },
    { name: "plain" },
    { name: "think" },
    { name: "login" },
  ],
  asks: { think: [SAMPLING], login: [PASSWORD] },
};

let world: NexusWorld;
let model: string;

beforeAll(async () => {
  world = await NexusWorld.open();
  const program = await world.write("model.mjs", `process.stdin.resume(); console.log("Paris");`);
  model = `"${process.execPath}" "${program}"`;
  await world.configure({ modern: askingServer({ ...SCRIPT, modern: true }), legacy: askingServer(SCRIPT) });
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

async function converse(
  args: string[],
  dialogue: [seen: string, typed: string][],
  options: { stderrTo?: string } = {},
) {
  const { child, output } = world.inTerminal(["mcp", "call", ...args], options);
  let from = 0;
  for (const [seen, typed] of dialogue) {
    await expect.poll(() => output.stdout.indexOf(seen, from), { timeout: 20_000 }).toBeGreaterThanOrEqual(0);
    from = output.stdout.indexOf(seen, from) + seen.length;
    child.stdin?.write(typed);
  }
  const [code] = (await once(child, "close")) as [number];
  return { code, screen: output.stdout };
}

describe.runIf(HAS_TERMINAL)("R8: a destructive tool at a terminal", () => {
  const asked = "Call it? y/N: ";

  test("is called after y, and the question shows server, tool and arguments", async () => {
    const { code, screen } = await converse(["legacy.wipe", "path=/tmp/\u202ex"], [[asked, "y\n"]]);
    expect(code).toBe(0);
    expect(screen).toMatch(/The tool .*wipe.* of server legacy is destructive/);
    expect(screen).toContain(String.raw`"path": "/tmp/\u202ex"`);
    expect(screen).toContain("answers: []");
  });

  test.each([["\n"], ["n\n"], ["no\n"], ["yep\n"]])("is not called after %j, with exit code 8", async (typed) => {
    const { code, screen } = await converse(["legacy.wipe"], [[asked, typed]]);
    expect({ code, said: screen.includes("The tool was not called.") }).toEqual({ code: 8, said: true });
    expect(screen).not.toContain("answers: []");
  });

  test("is asked about on the terminal although stderr goes to a file", async () => {
    const stderrTo = join(world.root, "stderr.txt");
    const { code, screen } = await converse(["legacy.wipe", "path=/tmp/x"], [[asked, "n\n"]], { stderrTo });
    expect(code).toBe(8);
    expect(screen).toContain('"path": "/tmp/x"');
  });

  test("is called without a question with --yes", async () => {
    const { code, screen } = await converse(["legacy.wipe", "--yes"], []);
    expect({ code, isAsked: screen.includes(asked) }).toEqual({ code: 0, isAsked: false });
  });

  test("Ctrl-C at the question ends the program, and the tool is not called", async () => {
    const { code, screen } = await converse(["legacy.wipe"], [[asked, "\u0003"]]);
    expect({ code, isCalled: screen.includes("answers: []") }).toEqual({ code: 130, isCalled: false });
  });

  test("the question about several calls says how many", async () => {
    const { code } = await converse(["legacy.wipe", "--repeat", "3"], [["Call it 3 times? y/N: ", "n\n"]]);
    expect(code).toBe(8);
  });

  test.each([["look"], ["plain"]])("%s, which is read-only or not annotated, is called at once", async (tool) => {
    const { code, screen } = await converse([`legacy.${tool}`], []);
    expect({ code, isAsked: screen.includes(asked) }).toEqual({ code: 0, isAsked: false });
  });
});

test("R8: without a terminal a destructive tool runs: the caller is a script that named it", async () => {
  expect(await world.run(["mcp", "call", "legacy.wipe"])).toMatchObject({ code: 0, stdout: "answers: []\n" });
});

describe.each(["modern", "legacy"])("R3: sampling of a %s server", (server) => {
  test.runIf(HAS_TERMINAL)("is shown before --sample-with runs, and y allows it", async () => {
    const asked = "Allow it? y/N, v to view all: ";
    const { code, screen } = await converse(
      [`${server}.think`, "--sample-with", model],
      [
        [asked, "v\n"],
        [asked, "y\n"],
      ],
    );
    expect(code).toBe(0);
    expect(screen).toContain(`${server} asks for an answer of the model:`);
    expect(screen).toContain(String.raw`Be brief\x1b[2J`);
    expect(screen).toContain("Capital of France?");
    expect(screen).toContain("Text in an image");
    expect(screen).toContain("tool map: Shows a map");
    expect(screen.match(/characters omitted/g)).toHaveLength(1);
    expect(screen).toContain("at most 50");
    expect(screen).toContain("Paris");
  });

  test.runIf(HAS_TERMINAL)("is declined by Enter, and the program does not run", async () => {
    const { code, screen } = await converse([`${server}.think`, "--sample-with", model], [["Allow it? y/N", "\n"]]);
    expect(code).toBe(server === "modern" ? 8 : 0);
    expect(screen).toContain("You did not allow server");
    expect(screen).not.toContain("Paris");
    if (server === "legacy") expect(screen).toContain(`"code":-1,"message":"User rejected sampling request"`);
  });

  test("is answered without a question where there is no terminal", async () => {
    const { code, stdout } = await world.run(["mcp", "call", `${server}.think`, "--sample-with", model]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("Paris") as string });
  });

  test.runIf(HAS_TERMINAL)("is answered without a question with --yes", async () => {
    const { code, screen } = await converse([`${server}.think`, "--sample-with", model, "--yes"], []);
    expect({ code, isAsked: screen.includes("Allow it?") }).toEqual({ code: 0, isAsked: false });
  });
});

describe.runIf(HAS_TERMINAL)("R4: a form that asks for a password at a terminal", () => {
  const asked = `Type "yes" to fill it in, anything else declines: `;

  test("warns, and anything but yes declines before the field is asked for", async () => {
    const { code, screen } = await converse(["legacy.login"], [[asked, "y\n"]]);
    expect(code).toBe(0);
    expect(screen).toContain("this form seems to ask for a secret: password");
    expect(screen).not.toContain("password: ");
    expect(screen).toContain(`[{"action":"decline"}]`);
  });

  test("is filled in after an explicit yes", async () => {
    const { screen } = await converse(
      ["legacy.login"],
      [
        [asked, "yes\n"],
        ["password: ", "fake-word\n"],
      ],
    );
    expect(screen).toContain(`{"action":"accept","content":{"password":"fake-word"}}`);
    // What was typed is not on the screen, only what the server sent back.
    expect(screen.split("fake-word")).toHaveLength(2);
  });
});

test("--timeout limits the program of --sample-with", async () => {
  const slow = `"${process.execPath}" -e "setInterval(() => {}, 1000)"`;
  const line = ["mcp", "call", "modern.think", "--sample-with", slow, "--timeout", "2s"];
  const { code, stderr } = await world.run(line);
  expect(code).toBe(7);
  expect(stderr).toContain("The program of --sample-with did not answer within 2 s");
});
