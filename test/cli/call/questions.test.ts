import { once } from "node:events";
import { readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HAS_TERMINAL, NexusWorld } from "../../fixtures/nexus.ts";
import { startHttpFixture, type HttpFixture } from "../../fixtures/servers/http-fixture.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";
import { quickFixture, type BothEras } from "../../fixtures/servers/quick-fixture.ts";

let world: NexusWorld;
let eras: BothEras;
/** One that lives on between two commands. */
let web: HttpFixture;

beforeAll(async () => {
  world = await NexusWorld.open();
  eras = await quickFixture();
  web = await startHttpFixture({ revision: "2026-07-28" });
  await world.configure({
    modern: eras.modern,
    legacy: eras.legacy,
    forgetful: stdioFixture(["--revision", "2026-07-28"]),
    web: { url: web.url },
  });
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await eras[Symbol.asyncDispose]();
  await web.close();
});

const call = (tool: string, ...args: string[]) => world.run(["mcp", "call", tool, ...args]);

/** Types an answer as soon as its question stands on the screen. */
async function converse(args: string[], dialogue: [seen: string, typed: string][]) {
  const { child, output } = world.inTerminal(["mcp", "call", ...args]);
  let from = 0;
  for (const [seen, typed] of dialogue) {
    await expect.poll(() => output.stdout.indexOf(seen, from)).toBeGreaterThanOrEqual(0);
    from = output.stdout.indexOf(seen, from) + seen.length;
    child.stdin?.write(typed);
  }
  const [code] = (await once(child, "close")) as [number];
  return { code, screen: output.stdout };
}

const parkedFolder = () => join(world.home, ".local", "state", "nexus", "parked");

/** The parameters of every request of a method that a server got. */
function requestsTo({ transcript }: HttpFixture, method: string): Record<string, unknown>[] {
  const requests = transcript.messages("in") as { method?: string; params?: Record<string, unknown> }[];
  return requests.filter((request) => request.method === method).map(({ params = {} }) => params);
}

/** The id of the call that the output tells how to go on with. */
function idIn(stderr: string): string {
  return /--continue (\w+)/.exec(stderr)?.[1] ?? "";
}

describe.each(["modern", "legacy"])("a %s server", (server) => {
  test("gets answers that were given beforehand, typed by its form", async () => {
    expect(
      await call(`${server}.test_elicitation_sep1034_defaults`, "--answer", "age=41", "--answer", "verified=no"),
    ).toEqual({
      code: 0,
      stdout:
        'Elicitation completed: action=accept, content={"name":"John Doe","score":95.5,"status":"active","age":41,"verified":false}\n',
      stderr: "",
    });
    const enums = await call(
      `${server}.test_elicitation_sep1330_enums`,
      ...["titledSingle=Second Option", "legacyEnum=opt3", "untitledMulti=option1", "untitledMulti=option3"].flatMap(
        (answer) => ["--answer", answer],
      ),
    );
    expect(enums.stdout).toContain(
      'content={"titledSingle":"value2","legacyEnum":"opt3","untitledMulti":["option1","option3"]}',
    );
  });

  test("is told beforehand to take a form as it is, or that it is declined", async () => {
    const accepted = await call(`${server}.test_elicitation_sep1034_defaults`, "--answer", "form=accept");
    expect(accepted).toMatchObject({ code: 0, stdout: expect.stringContaining('"age":30') as string });
    const declined = await call(`${server}.test_elicitation_sep1034_defaults`, "--answer", "form=decline");
    expect(declined).toMatchObject({ code: 0, stdout: expect.stringContaining("action=decline") as string });
  });

  test("is not answered if form= or url= is neither accept nor decline", async () => {
    const tool = `${server}.test_elicitation_sep1034_defaults`;
    const form = await call(tool, "--answer", "form=maybe", "--answer", "age=7");
    expect(form.code).toBe(9);
    expect(form.stderr).toContain(`form="maybe" is not accept or decline`);
    expect(form.stderr).toContain("--answer form=accept");
    expect(form.stderr).not.toContain("--answer form=maybe");
    const page = await call(`${server}.elicit_url`, "--arg", "url=https://example.com/a", "--answer", "url=maybe");
    expect(page).toMatchObject({ code: 9, stderr: expect.stringContaining(`url="maybe" is not accept`) as string });
  });

  test("is told beforehand that a page was visited, or will not be", async () => {
    const args = [`${server}.elicit_url`, "--arg", "url=https://example.com/consent"] as const;
    expect((await call(...args, "--answer", "url=accept")).stdout).toContain("action=accept");
    expect((await call(...args, "--answer", "url=decline")).stdout).toContain("action=decline");
  });

  test("is not asked for more than it wants: an answer that nobody asked for is named", async () => {
    const { code, stderr } = await call(`${server}.echo`, "--arg", "text=hi", "--answer", "name=Ada");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "The server did not ask for --answer name=Ada.\n" });
  });

  test("gets a model's answer only with --sample-with, from a program that reads the request as JSON", async () => {
    const program = await world.write(
      "model.mjs",
      `let text = ""; for await (const chunk of process.stdin) text += chunk;
       const { messages } = JSON.parse(text); console.log("You said " + messages[0].content.text);`,
    );
    const args = [`${server}.test_sampling`, "--arg", "prompt=hello"] as const;
    const withProgram = await call(...args, "--sample-with", `"${process.execPath}" "${program}"`);
    expect(withProgram).toEqual({ code: 0, stdout: "LLM response: You said hello\n", stderr: "" });
    const without = await call(...args);
    expect(without.code).toBe(5);
    if (server === "modern") expect(without.stderr).toContain(`--sample-with "CMD`);
  });

  test("is refused by a sampling program that fails, with what it wrote", async () => {
    const program = await world.write("refuses.mjs", `console.error("not today"); process.exit(3);`);
    const { code, stderr } = await call(
      `${server}.test_sampling`,
      "--arg",
      "prompt=x",
      "--sample-with",
      `"${process.execPath}" "${program}"`,
    );
    expect(code).toBe(server === "modern" ? 9 : 5);
    expect(stderr).toContain("The program of --sample-with exited with code 3: not today");
  });

  test("that works on a task is told that the user declines", async () => {
    const declined = await call(`${server}.confirm_delete`, "--task");
    expect(declined).toMatchObject({ code: 9, stdout: "Kept.\n" });
    expect(declined.stderr).toContain(`nexus mcp call ${server}.confirm_delete --task --answer ok=…`);
    expect(await call(`${server}.confirm_delete`, "--task", "--answer", "ok=yes")).toMatchObject({
      stdout: "Deleted.\n",
    });
  });
});

test("a legacy server's question is declined without a terminal, and the command that answers it is shown", async () => {
  const { code, stdout, stderr } = await call("legacy.test_elicitation", "--arg", "message=Who are you?");
  expect({ code, stdout }).toEqual({ code: 9, stdout: 'User response: {"action":"decline"}\n' });
  expect(stderr).toBe(
    [
      `nexus: Server "legacy" asks a question, but there is no terminal`,
      "  Who are you?",
      "    username  text; required – User's response",
      "    email     text; required – User's email address",
      "  fix: The question was declined. Repeat the call with the answers:",
      "       nexus mcp call legacy.test_elicitation --arg 'message=Who are you?' --answer username=… --answer email=…",
      "",
    ].join("\n"),
  );
});

test("with --json, the declined result is on stdout and the question is one error object on stderr", async () => {
  const { code, stdout, stderr } = await call("legacy.test_elicitation", "--arg", "message=Who?", "--json");
  expect(code).toBe(9);
  expect(JSON.parse(stdout)).toMatchObject({ content: [{ text: 'User response: {"action":"decline"}' }] });
  const { error } = JSON.parse(stderr) as { error: Record<string, string> };
  expect(error).toMatchObject({ code: "INPUT_FAILED", server: "legacy" });
  expect(error["hint"]).toContain("--answer username=…");
});

test("a page that a legacy server demands with an error is not visited by itself, and the call is not repeated", async () => {
  await using old = await startHttpFixture({ revision: "2025-11-25" });
  const { code, stderr } = await call("url_required", "--url", old.url, "--arg", "url=https://example.com/x");
  expect(code).toBe(9);
  expect(requestsTo(old, "tools/call")).toHaveLength(1);
  expect(stderr).toContain("https://example.com/x");
  expect(stderr).toContain("--answer url=accept");
});

describe("a modern server's call", () => {
  test("is parked without a terminal, and goes on with --continue until it is done", async () => {
    const tool = "web.test_input_required_result_multi_round";
    const first = await call(tool);
    const id = idIn(first.stderr);
    expect(first).toMatchObject({ code: 9, stdout: "" });
    expect(first.stderr).toContain(`nexus mcp call ${tool} --continue ${id} --answer name=…`);
    const file = join(parkedFolder(), `${id}.json`);
    if (process.platform !== "win32") expect((await stat(file)).mode & 0o777).toBe(0o600);

    const second = await call(tool, "--continue", id, "--answer", "name=Ada");
    expect(second).toMatchObject({ code: 9, stdout: "" });
    expect(second.stderr).toContain(`--continue ${id} --answer color=…`);
    // The first call was made once; the second request brings the answer and the state.
    const calls = requestsTo(web, "tools/call");
    expect(calls.map((params) => ["inputResponses", "requestState"].map((member) => member in params))).toEqual([
      [false, false],
      [true, true],
    ]);

    expect(await call(tool, "--continue", id, "--answer", "color=teal")).toEqual({
      code: 0,
      stdout: "Ada likes teal.\n",
      stderr: "",
    });
    expect(await readdir(parkedFolder())).not.toContain(`${id}.json`);
    expect(await call(tool, "--continue", id, "--answer", "color=teal")).toMatchObject({ code: 6 });
  });

  test("whose state a server has forgotten ends with the server's error, and says what to do", async () => {
    const tool = "forgetful.test_input_required_result_request_state";
    const id = idIn((await call(tool)).stderr);
    const { code, stderr } = await call(tool, "--continue", id, "--answer", "ok=yes");
    expect(code).toBe(5);
    expect(stderr).toContain("repeat the call with all --answer options");
    expect(await readdir(parkedFolder())).not.toContain(`${id}.json`);
  });

  test("keeps its arguments while it waits, and takes no others", async () => {
    const parked = await call("modern.elicit_url", "--arg", "url=https://example.com/a?b=1");
    const id = idIn(parked.stderr);
    expect(parked.stderr).not.toContain("--arg");
    const wrong = await call("modern.elicit_url", "--continue", id, "--arg", "url=https://elsewhere.example");
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--arg cannot be used with --continue") as string,
    });
    expect(await call("modern.elicit_url", "--continue", id, "--answer", "url=accept")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("action=accept") as string,
    });
  });

  test("is shown as one error object with --json", async () => {
    const { code, stdout, stderr } = await call("modern.test_input_required_result_elicitation", "--json");
    expect({ code, stdout }).toEqual({ code: 9, stdout: "" });
    const { error } = JSON.parse(stderr) as { error: Record<string, string> };
    expect(error["message"]).toContain("What is your name?");
    const again = /nexus (.*) --answer name=…/.exec(error["hint"] ?? "")?.[1]?.split(" ") ?? [];
    const done = await world.run([...again, "--answer", "name=Ada"]);
    expect(JSON.parse(done.stdout)).toMatchObject({ content: [{ text: "Hello, Ada!" }] });
  });

  test("that asks two questions at once names each answer's question, and remembers the answers it has", async () => {
    const first = await call("modern.ask_twice", "--answer", "first.ok=yes");
    expect(first.stderr).toContain("Second?");
    expect(first.stderr).not.toContain("First?");
    const done = await call("modern.ask_twice", "--continue", idIn(first.stderr), "--answer", "ok=no");
    expect(JSON.parse(done.stdout)).toMatchObject([{ content: { ok: true } }, { content: { ok: false } }]);
    expect((await call("modern.ask_twice")).stderr).toContain("--answer first.ok=… --answer second.ok=…");
  });

  test("with an answer that does not fit says so and waits for a better one", async () => {
    const tool = "modern.test_elicitation_sep1034_defaults";
    const { code, stderr } = await call(tool, "--answer", "age=old", "--answer", "naem=x");
    expect(code).toBe(9);
    expect(stderr).toContain(`age: "old" is not a number`);
    expect(stderr).toContain("asked for --answer naem=x. Did you mean name?");
    expect(await call(tool, "--continue", idIn(stderr), "--answer", "age=7")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"age":7') as string,
    });
  });

  test("does not become another call, and is gone after a day", async () => {
    const id = idIn((await call("modern.test_input_required_result_elicitation")).stderr);
    const other = await call("modern.echo", "--continue", id);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("is a different call") as string });
    expect(await call("modern.echo", "--continue", "../../x")).toMatchObject({ code: 6 });

    const file = join(parkedFolder(), `${id}.json`);
    const yesterday = Date.now() / 1_000 - 25 * 3_600;
    await utimes(file, yesterday, yesterday);
    expect(await call("modern.test_input_required_result_elicitation", "--continue", id)).toMatchObject({ code: 6 });
    expect(await readdir(parkedFolder())).not.toContain(`${id}.json`);
  });

  test("belongs to the server it was made to: one that is started in another way is a different call", async () => {
    const id = idIn((await call("modern.test_input_required_result_elicitation")).stderr);
    const file = join(parkedFolder(), `${id}.json`);
    const parked = JSON.parse(await readFile(file, "utf8")) as Record<string, unknown>;
    await writeFile(file, JSON.stringify({ ...parked, key: "another" }));
    const { code } = await call(
      "modern.test_input_required_result_elicitation",
      "--continue",
      id,
      "--answer",
      "name=x",
    );
    expect(code).toBe(2);
  });

  test("of a prompt is parked and goes on in the same way", async () => {
    const prompt = (...args: string[]) =>
      world.run(["mcp", "prompt", "modern.test_input_required_result_prompt", ...args]);
    const { code, stderr } = await prompt();
    expect(code).toBe(9);
    expect(stderr).toContain("nexus mcp prompt modern.test_input_required_result_prompt --continue");
    expect(await prompt("--continue", idIn(stderr), "--answer", "context=tests")).toMatchObject({
      code: 0,
      stdout: "user:\nUse this context: tests\n",
    });
  });
});

describe.runIf(HAS_TERMINAL)("at a terminal", () => {
  test.each(["modern", "legacy"])(
    "a %s server's form is asked field by field, with types and another try",
    async (server) => {
      const { code, screen } = await converse(
        [`${server}.test_elicitation_sep1034_defaults`],
        [
          ["name [John Doe]: ", "Ada\n"],
          ["age [30]: ", "old\n"],
          [`"old" is not a number`, ""],
          ["age [30]: ", "36\n"],
          ["score [95.5]: ", "\n"],
          ["status, 1-3 [active]: ", "2\n"],
          ["verified, y/n [yes]: ", "n\n"],
        ],
      );
      expect(code).toBe(0);
      expect(screen).toContain(`${server} asks:`);
      expect(screen).toContain(`Enter "!" to decline, press Ctrl-C to cancel the call.`);
      expect(screen).toContain('{"name":"Ada","age":36,"score":95.5,"status":"inactive","verified":false}');
    },
  );

  test("several lines pasted at once answer several questions", async () => {
    const { screen } = await converse(
      ["modern.test_elicitation_sep1034_defaults"],
      [["name [John Doe]: ", "Ada\n36\n1.5\n3\ny\n"]],
    );
    expect(screen).toContain('{"name":"Ada","age":36,"score":1.5,"status":"pending","verified":true}');
  });

  test("several of many choices are chosen by number, and what is optional is left out", async () => {
    const { screen } = await converse(
      ["modern.test_elicitation_sep1330_enums"],
      [
        ["untitledSingle, 1-3: ", "\n"],
        ["2  Second Option (value2)", ""],
        ["titledSingle, 1-3: ", "2\n"],
        ["legacyEnum, 1-3: ", "9\n"],
        [`"9" is not one of`, ""],
        ["legacyEnum, 1-3: ", "Option One\n"],
        ["untitledMulti, one or more (1,2): ", "1,3\n"],
        ["titledMulti, one or more (1,2): ", "\n"],
      ],
    );
    expect(screen).toContain(
      'content={"titledSingle":"value2","legacyEnum":"opt1","untitledMulti":["option1","option3"]}',
    );
  });

  test("! declines, and answers given beforehand are not asked for", async () => {
    const { code, screen } = await converse(
      ["modern.test_elicitation", "--arg", "message=Who?", "--answer", "username=ada"],
      [["email: ", "!\n"]],
    );
    expect({ code, asked: screen.includes("username: ") }).toEqual({ code: 0, asked: false });
    expect(screen).toContain('{"action":"decline"}');
  });

  test.each(["modern", "legacy"])(
    "a page of a %s server is shown with its host, and nothing is opened",
    async (server) => {
      const { code, screen } = await converse(
        [`${server}.elicit_url`, "--arg", "url=https://user@evil.example/login?next=bank.example"],
        [
          ["host:    ", ""],
          ["Will you open it? y/n: ", "y\n"],
          ["press Enter: ", "\n"],
        ],
      );
      expect(code).toBe(0);
      expect(screen).toContain("address: https://user@evil.example/login?next=bank.example");
      // oxlint-disable-next-line no-control-regex -- colours of the terminal
      expect(screen.replaceAll(/\u001b\[\d+m/g, "")).toContain("host:    evil.example");
      expect(screen).toContain("action=accept");
    },
  );

  test("Ctrl-C at a question cancels the call with exit code 130", async () => {
    const { code } = await converse(["modern.test_elicitation", "--arg", "message=Who?"], [["username: ", "\u0003"]]);
    expect(code).toBe(130);
  });

  test("what is said after a question that was not answered begins a new line", async () => {
    const asked = ["modern.test_elicitation", "--arg", "message=Who?"];
    const { screen } = await converse(asked, [["username: ", "\u0004"]]);
    expect(screen).toMatch(/username: [^\n]*\n[^\n]*nexus:[^\n]* The question was not answered/);
  });
});
