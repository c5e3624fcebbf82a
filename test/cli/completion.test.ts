import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, chmod } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listedCommands } from "../../src/cli/catalog.ts";
import { HAS_TERMINAL, NexusWorld } from "../fixtures/nexus.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";

const world = await NexusWorld.open();
const path = `${join(world.root, "bin")}:${process.env["PATH"] ?? ""}`;

beforeAll(async () => {
  const { command, args } = stdioFixture();
  await world.configure({ idle: { command: "nobody-looked", env: { X: "${NOT_SET}" } } });
  await world.run(["mcp", "add", "every", "--", command, ...args]);
  await world.write("home/work/project/nexus.yaml", "mcp:\n  servers:\n    - id: theirs\n      command: x\n");
  await world.write("home/work/project/.mcp.json", "{ broken");
  await world.run(["secrets", "set", "token"], { stdin: "hunter2" });
  const wrapper = await world.write("bin/nexus", `#!/bin/sh\nexec ${nexus()} "$@"\n`);
  await chmod(wrapper, 0o755);
});

afterAll(() => world[Symbol.asyncDispose]());

test("every command and option is offered, and what is for programs only is not", async () => {
  const groups = new Set(listedCommands().map(([name]) => name.split(" ")[0]));
  expect(await offered("")).toEqual([...groups]);
  const listed = listedCommands()
    .map(([name]) => name)
    .filter((name) => name.startsWith("mcp "));
  expect(await offered("mcp", "")).toEqual([...new Set(listed.map((name) => name.split(" ")[1]))]);
  expect(await offered("mcp", "changes", "")).toEqual(["list", "show", "accept"]);
  expect(await offered("mcp", "en")).toEqual(["enable"]);
  expect(await offered("mcp", "add", "x", "--e")).toEqual(["--env"]);
  expect(await offered("mcp", "add", "x", "--force", "--f")).toEqual(["--file"]);
  expect(await offered("mcp", "nonsense", "")).toEqual([]);
  const { stdout } = await world.run(["complete-words", "--", "secrets", "l"]);
  expect(stdout).toBe("list\tlist stored secrets and the origins they may be sent to\n");
  const help = await world.run(["--help", "--json"]);
  expect(help.stdout + (await world.run(["--help"])).stdout).not.toContain("complete-words");
});

test("servers come from all files, without trust, variables or connections; files with mistakes have none", async () => {
  expect(await offered("mcp", "ping", "")).toEqual(["every", "idle", "theirs"]);
  expect(await offered("mcp", "tools", "--server", "th")).toEqual(["theirs"]);
  expect(await offered("mcp", "tools", "--server=th")).toEqual(["--server=theirs"]);
  const config = await world.write("only.json", { mcpServers: { alone: { command: "x" } } });
  expect(await offered("--config", config, "mcp", "ping", "")).toEqual(["alone"]);
  expect(await offered("mcp", "ping", "--url", "http://127.0.0.1:9/", "")).toEqual([]);
});

test("tools and prompts that were seen are offered in the spelling that was begun", async () => {
  expect(await offered("mcp", "call", "every.ec")).toEqual(["every.echo"]);
  expect(await offered("mcp", "call", "mcp:every.ec")).toEqual(["mcp:every.echo"]);
  expect(await offered("mcp", "call", "mcp__every__ec")).toEqual(["mcp__every__echo"]);
  expect(await offered("mcp", "call", "i")).toEqual(["idle."]);
  const prompts = await offered("mcp", "prompt", "every.");
  expect(prompts.length).toBeGreaterThan(0);
  expect(await offered("mcp", "complete", "every", "--prompt", "")).toEqual(prompts.map((name) => name.slice(6)));
  expect(await offered("mcp", "tools", "--server", "every", "--name", "ec")).toEqual(["echo"]);
});

test("values of options, shells, secrets, files and folders", async () => {
  expect(await offered("mcp", "import", "--from", "cu")).toEqual(["cursor"]);
  expect(await offered("mcp", "import", "--from", "am")).toEqual(["amp"]);
  expect(await offered("mcp", "export", "--for", "c")).toEqual([
    "claude-desktop",
    "claude-code",
    "cursor",
    "codex",
    "copilot",
    "cline",
  ]);
  // Servers are imported from these, but nothing is written for them.
  expect(await offered("mcp", "install", "am")).toEqual([]);
  expect(await offered("mcp", "install", "--url", "http://127.0.0.1/mcp", "z")).toEqual(["zed"]);
  expect(await offered("mcp", "uninstall", "w")).toEqual(["windsurf"]);
  expect(await offered("completion", "")).toEqual(["bash", "zsh", "fish", "powershell"]);
  expect(await offered("secrets", "remove", "")).toEqual(["token"]);
  expect(await offered("mcp", "tools", "--config", "")).toEqual([":files"]);
  expect(await offered("mcp", "add", "x", "--cwd", "")).toEqual([":folders"]);
  expect(await offered("mcp", "trust", "")).toEqual([":folders"]);
  expect(await offered("mcp", "add", "x", "--", "no")).toEqual([":files"]);
  const next = await world.run(["complete-words", "--next", "--", "secrets", "remove"]);
  expect(next.stdout).toBe("token\n");
});

test("each shell has a script, others are refused with what there is", async () => {
  for (const shell of ["bash", "zsh", "fish", "powershell"]) {
    const { code, stdout } = await world.run(["completion", shell]);
    expect(code).toBe(0);
    expect(stdout).toContain("complete-words");
    expect(stdout).not.toContain("\\${");
  }
  const { code, stderr } = await world.run(["completion", "basch"]);
  expect(code).toBe(2);
  expect(stderr).toContain("Did you mean bash?");
});

test.runIf(HAS_TERMINAL)("in a real bash, words with dots, colons and equal signs are completed in place", async () => {
  await using bash = await Bash.start();
  expect(await bash.completed("nexus mcp call every.ec")).toBe("nexus mcp call every.echo ");
  expect(await bash.completed("nexus mcp call mcp:every.ec")).toBe("nexus mcp call mcp:every.echo ");
  expect(await bash.completed("nexus mcp call mcp:ev")).toMatch(/^nexus mcp call mcp:every\.$/);
  expect(await bash.completed("nexus mcp call idl")).toBe("nexus mcp call idle.");
  expect(await bash.completed("nexus mcp tools --server=th")).toBe("nexus mcp tools --server=theirs ");
  expect(await bash.completed("nexus mcp tools --config .mcp.js")).toBe("nexus mcp tools --config .mcp.json ");
  expect(await bash.completed("nexus mcp tools --config=.mcp.js")).toBe("nexus mcp tools --config=.mcp.json ");
});

test.runIf(HAS_TERMINAL)("what a server calls its tools is never run by the shell", async () => {
  const config = await world.write("hostile.json", { mcpServers: { hostile: { command: "x" } } });
  const tools = ["$(touch pwned)", "`touch pwned`", "e\u001b[2Jscape", "new\nline"];
  await world.write("home/.local/state/nexus/seen/hostile.json", { at: 1, key: "", tools });
  await using bash = await Bash.start();
  expect(await bash.completed(`nexus --config ${config} mcp call hostile.$`)).toContain(
    String.raw`hostile.\$\(touch\ pwned\) `,
  );
  await expect(access(join(world.project, "pwned"))).rejects.toThrow("ENOENT");
});

/** An interactive bash that has read the script, in a terminal of its own. */
class Bash implements AsyncDisposable {
  readonly #child;
  #output = "";

  private constructor() {
    const line = "stty cols 400 rows 30; exec bash --norc --noprofile -i";
    this.#child = spawn("sh", ["-c", `exec script --quiet --flush --return --command '${line}' /dev/null`], {
      cwd: world.project,
      env: { PATH: path, HOME: world.home, TERM: "dumb", LANG: "C.UTF-8", PS1: "$ " },
    });
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => (this.#output += text));
  }

  static async start(): Promise<Bash> {
    const bash = new Bash();
    // Ctrl-O shows the line as it is, whatever the terminal has made of it.
    bash.#type(`bind -x '"\\C-o": printf "LINE<%s>\\n" "$READLINE_LINE"'\r`);
    bash.#type(`source <(nexus completion bash); echo rea""dy\r`);
    await expect.poll(() => bash.#output).toContain("ready");
    return bash;
  }

  /** What becomes of a line when Tab is pressed at its end. */
  async completed(line: string): Promise<string> {
    this.#output = "";
    this.#type(`${line}\t\u000f`);
    await expect.poll(() => this.#output).toMatch(/LINE<.*>/);
    // Ctrl-E, Ctrl-U: an empty line for the next one.
    this.#type("\u0005\u0015");
    return /LINE<(.*)>/.exec(this.#output)?.[1] ?? "";
  }

  #type(text: string): void {
    this.#child.stdin.write(text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#child, "close");
    this.#type("\u0015exit\r");
    await closed;
  }
}

async function offered(...words: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await world.run(["complete-words", "--", ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split("\t")[0] ?? "");
}

function nexus(): string {
  return `"${process.execPath}" "${join(import.meta.dirname, "../../dist/cli/main.js")}"`;
}
