import { chmod, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { createServer as createSocketServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { ServerDefinition } from "../../src/config/read/server-definition.ts";
import { renderForPeople, renderForPrograms } from "../../src/errors/render.ts";
import { Client, connect, Host, type NexusError, type ConnectOptions, type ServerEntry } from "../../src/index.ts";
import { StdioTransport } from "../../src/transport/stdio.ts";
import { ConfigWorld } from "../fixtures/config-world.ts";
import { expiredCertificate } from "../fixtures/expired-certificate.ts";
import { failure } from "../fixtures/failure.ts";
import { selfSigned } from "../fixtures/self-signed.ts";
import { startHttpFixture } from "../fixtures/servers/http-fixture.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";

const PROXY_VARIABLES = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"];
const ONCE: ConnectOptions = { retry: { maxRetries: 0, backoffMs: 1 } };
const LATE: ConnectOptions = { ...ONCE, connectTimeoutMs: 500, probeTimeoutMs: 50 };

const root = fileURLToPath(new URL("../..", import.meta.url));
let folder: string;
const kept = Object.fromEntries(PROXY_VARIABLES.map((name) => [name, process.env[name]]));
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "nexus-errors-")));
  for (const name of PROXY_VARIABLES) delete process.env[name];
});

afterEach(async () => {
  for (const name of PROXY_VARIABLES) delete process.env[name];
  await Promise.all(closing.splice(0).map((close) => close()));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  for (const [name, value] of Object.entries(kept)) if (value !== undefined) process.env[name] = value;
});

/** Both forms of an error, without what differs from run to run. */
function rendered(error: NexusError, platform: NodeJS.Platform = "linux"): string {
  const both = `${renderForPeople(error, platform)}\n\n${JSON.stringify(renderForPrograms(error), undefined, 2)}\n`;
  return both
    .replaceAll(process.execPath, "<node>")
    .replaceAll(folder, "<folder>")
    .replaceAll(root, "<package>/")
    .replaceAll(/(127\.0\.0\.1|localhost|:::|port|:)(:| )?(\d{4,5})\b/gi, (_, before: string, between = "") => {
      return `${before}${between}<port>`;
    })
    .replaceAll(/after [\d.]+ s/g, "after <n> s");
}

async function script(name: string, text: string): Promise<ServerEntry> {
  const file = join(folder, name);
  await writeFile(file, text);
  return { id: "notes", command: process.execPath, args: [file] };
}

/** A program that says something on stderr and ends. */
function failing(lines: readonly string[], exitCode = 1): Promise<ServerEntry> {
  return script(
    "server.cjs",
    `process.stderr.write(${JSON.stringify(lines.join("\n") + "\n")}); process.exitCode = ${exitCode};`,
  );
}

/** A start on another system than this one, which may search one folder only. */
function startAs(platform: NodeJS.Platform, command: string, path: string, args: string[] = []): Promise<NexusError> {
  const transport = new StdioTransport({ command, args, env: { PATH: path }, maxLineBytes: 1_000, platform });
  return failure(Client.open(transport, { server: "notes" }));
}

async function programs(...names: string[]): Promise<string> {
  const path = join(folder, names.join("-") || "empty");
  await mkdir(path, { recursive: true });
  for (const name of names) await writeFile(join(path, name), "", { mode: 0o755 });
  return path;
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

async function site(handler: RequestListener, path = "/mcp"): Promise<ServerEntry> {
  return { id: "notes", url: `http://127.0.0.1:${await listening(createServer(handler))}${path}` };
}

/** A port where nothing listens any more. */
async function deadPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function secure(identity: { key: string; cert: string }): Promise<ServerEntry> {
  return { id: "notes", url: `https://localhost:${await listening(createSecureServer(identity))}/mcp` };
}

function answering(status: number, headers: Record<string, string>, body = ""): RequestListener {
  return (_request, response) => void response.writeHead(status, headers).end(body);
}

const page = (title: string) => `<!doctype html>\n<html><head><title>${title}</title></head><body>Hello</body></html>`;

type Produce = () => Promise<NexusError | undefined>;

const CONFIGURATION: Record<string, Produce> = {
  "both transports": () => failure(connect({ id: "notes", command: "node", url: "http://127.0.0.1/mcp" })),
  "neither transport": () => failure(connect({ id: "notes" })),
  "a list that is no list": () => failure(connect({ id: "notes", command: "node", args: 8080 } as never)),
  "no such working folder": () => failure(connect({ id: "notes", command: "node", cwd: join(folder, "absent") })),
  "not a URL": () => failure(connect({ id: "notes", url: "localhost:3000/mcp" })),
};

/** What a file of that content has wrong: the file itself, or what the host says of its server when it is used. */
async function inFile(text: string, name = "mcp.json"): Promise<NexusError> {
  await using world = await ConfigWorld.open();
  const isProject = name.startsWith(".nexus");
  const file = await world.write(isProject ? join("home/work/project", name) : name, text);
  const { servers, files } = await world.load(isProject ? {} : { explicit: file });
  const error = files[0]?.problem ?? (await used(servers, world));
  return error.amended({ source: { ...error.details.source, file: relative(world.root, file) } });
}

async function used(servers: readonly ServerDefinition[], world: ConfigWorld): Promise<NexusError> {
  await using host = await Host.open({ servers: {}, stateFolder: join(world.root, "state") });
  await host.setServers(servers);
  return await failure(host.callTool("notes.say"));
}

function fileOf(...entry: string[]): string {
  return ["{", `  "mcpServers": {`, ...entry.map((line) => `    ${line}`), "  }", "}", ""].join("\n");
}

const FILE: Record<string, Produce> = {
  "invalid JSON": () => inFile(fileOf(`"notes": { "command" "node" }`)),
  "invalid YAML": () => inFile("mcp:\n  servers:\n   - id: notes\n  command: [node\n", "mcp.yaml"),
  "wrong type": () => inFile(fileOf(`"notes": {`, `  "command": "node",`, `  "args": 8080`, "}")),
  "both transports": () => inFile(fileOf(`"notes": { "command": "node", "url": "http://127.0.0.1/mcp" }`)),
  "unset variable": () => inFile(fileOf(`"notes": {`, `  "url": "https://\${NOTES_HOST}/mcp"`, "}")),
  "untrusted folder": () => inFile(fileOf(`"notes": { "command": "node", "args": ["server.js"] }`), ".nexus/mcp.json"),
  "crash of a configured server": () => inFile(fileOf(`"notes": { "command": "sh", "args": ["-c", "exit 127"] }`)),
};

const START: Record<string, Produce> = {
  "command not found, with a near name": async () =>
    startAs("linux", "mcp-server-flies", await programs("mcp-server-files", "other"), ["--root", "."]),
  "command not found, npx": async () => startAs("linux", "npx", await programs()),
  "command not found, uvx on macOS": async () => startAs("darwin", "uvx", await programs()),
  "command not found, npx on Windows": async () => startAs("win32", "npx", await programs()),
  "command not found, python": async () => startAs("linux", "python", await programs("python3"), ["server.py"]),
  "command not found, with its arguments": async () =>
    startAs("linux", "npx -y @scope/server", await programs("npx"), ["--verbose"]),
  "nothing at the path": async () => startAs("linux", "./no-such-server", await programs()),
  "an interpreter that does not exist": async () => {
    const file = join(folder, "odd-server");
    await writeFile(file, "#!/opt/no-such-interpreter\n", { mode: 0o755 });
    return startAs("linux", file, await programs());
  },
  "permission denied": async () => {
    const file = join(folder, "plain.py");
    await writeFile(file, "print()\n");
    await chmod(file, 0o644);
    return startAs("linux", file, await programs(), ["--stdio"]);
  },
  "permission denied, a folder": async () => startAs("linux", folder, await programs()),
};

const CRASH: Record<string, Produce> = {
  "plain words": async () =>
    failure(connect(await failing(["notes: cannot open the database", "notes: \u001b[31mgiving up"], 3))),
  "missing module": async () => {
    const text = `try { require("left-pad"); } catch (error) { console.error(error.message.split("\\n")[0]); process.exit(1); }`;
    return failure(connect(await script("server.cjs", text)));
  },
  "missing file": async () => {
    const text = `try { require("./build/index.js"); } catch (error) { console.error(error.message.split("\\n")[0]); process.exit(1); }`;
    return failure(connect(await script("server.cjs", text)));
  },
  "missing variable": async () => {
    return failure(connect(await failing(["Error: NOTES_API_KEY environment variable is required"])));
  },
  "missing credentials": async () => failure(connect(await failing(["fatal: no API key given"]))),
  "port in use": async () => {
    const port = await listening(createServer());
    const text = `require("node:http").createServer().on("error", (error) => { console.error(error.message); process.exit(1); }).listen(${port}, "127.0.0.1");`;
    return failure(connect(await script("server.cjs", text)));
  },
  "dependency not running": async () => {
    const text = `require("node:net").connect(${await deadPort()}, "127.0.0.1");`;
    const error = await failure(connect(await script("server.cjs", text)));
    return error.amended({ stderr: error.details.stderr?.filter((line) => line.startsWith("Error: ")) });
  },
  "file of an installed package": async () => {
    const lines = ["Error: Cannot find module '/home/ann/.npm/_npx/1f/node_modules/mcp-notes/dist/index.js'"];
    return failure(connect(await failing(lines)));
  },
  "no such npm package": async () => {
    const lines = ["npm error code E404", "npm error 404  'mcp-no-such-thing@*' is not in this registry."];
    return failure(connect(await failing(lines)));
  },
  "Python traceback": async () => {
    const lines = [
      "Traceback (most recent call last):",
      `  File "server.py", line 3, in <module>`,
      "ValueError: bad port",
    ];
    return failure(connect(await failing(lines)));
  },
  killed: async () => failure(connect(await script("server.cjs", `process.kill(process.pid, "SIGKILL");`))),
  "end without a word": async () => failure(connect(await script("server.cjs", ""))),
};

const HANDSHAKE: Record<string, Produce> = {
  timeout: async () => failure(connect(await script("server.cjs", "process.stdin.resume();"), LATE)),
  "timeout, busy": async () => {
    const text = `console.error("Downloading the model…"); process.stdin.resume();`;
    return failure(connect(await script("server.cjs", text), { ...LATE, connectTimeoutMs: 3_000 }));
  },
  "timeout over HTTP": async () => failure(connect(await site(() => {}), { ...LATE, connectTimeoutMs: 3_000 })),
  "stdout pollution": async () => {
    const text = `console.log("Server running on stdio"); process.stdin.resume();`;
    return failure(connect(await script("server.cjs", text), { ...LATE, connectTimeoutMs: 3_000 }));
  },
  "a server for HTTP": async () => {
    const text = `console.error("Notes server listening on http://localhost:38080/mcp"); process.stdin.resume();`;
    return failure(connect(await script("server.cjs", text), { ...LATE, connectTimeoutMs: 3_000 }));
  },
  "a server for HTTP, noisy": async () => {
    const text = `console.log("Starting"); console.error("Notes server listening on port 38080"); process.stdin.resume();`;
    return failure(connect(await script("server.cjs", text), { ...LATE, connectTimeoutMs: 3_000 }));
  },
  "another protocol": async () => {
    const text = `process.stdout.write("Content-Length: 2\\r\\n\\r\\n{}\\n"); process.stdin.resume();`;
    return failure(connect(await script("server.cjs", text), { ...LATE, connectTimeoutMs: 3_000 }));
  },
  "a program that prints and ends": async () => {
    const text = `console.log("\\u001b[1musage:\\u001b[0m notes [options] " + "x".repeat(200));`;
    return failure(connect(await script("server.cjs", text)));
  },
  "a banner and a reason": async () => {
    const text = `console.log("Notes 1.0"); console.error("NOTES_KEY is not set"); process.exitCode = 1;`;
    return failure(connect(await script("server.cjs", text)));
  },
  "an echo": async () => failure(connect(await script("server.cjs", "process.stdin.pipe(process.stdout);"))),
  "unknown protocol version": () => {
    return failure(connect({ id: "notes", ...stdioFixture(["--misbehave", "unknown-version"]) }, { era: "legacy" }));
  },
};

const NETWORK: Record<string, Produce> = {
  "nothing listens": async () =>
    failure(connect({ id: "notes", url: `http://127.0.0.1:${await deadPort()}/mcp` }, ONCE)),
  "no such host": () => failure(connect({ id: "notes", url: "http://no-such-host.invalid/mcp" }, ONCE)),
  "certificate of its own": async () => {
    const identity = await selfSigned();
    return identity && failure(connect(await secure(identity), ONCE));
  },
  "certificate expired": async () => {
    const identity = await expiredCertificate();
    return identity && failure(connect(await secure(identity), { ...ONCE, ca: [identity.cert] }));
  },
  "certificate for another name": async () => {
    const identity = await selfSigned();
    if (!identity) return undefined;
    const { url } = await secure(identity);
    const other = String(url).replace("localhost", "127.0.0.1");
    return failure(connect({ id: "notes", url: other }, { ...ONCE, ca: [identity.cert] }));
  },
  "http to a server of https": async () => {
    const identity = await selfSigned();
    if (!identity) return undefined;
    const { url } = await secure(identity);
    return failure(connect({ id: "notes", url: String(url).replace("https:", "http:") }, ONCE));
  },
  "an address inside": () =>
    failure(connect({ id: "notes", url: "http://127.0.0.1/mcp" }, { ...ONCE, publicOnly: true })),
  "https to a server of http": async () => {
    const { url } = await site(answering(200, {}));
    return failure(connect({ id: "notes", url: String(url).replace("http:", "https:") }, ONCE));
  },
  "http to a server that answers in TLS": async () => {
    // What OpenSSL sends to a client that does not speak TLS: an alert.
    const server = createSocketServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.end(Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46])));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(() => new Promise((resolve) => server.close(resolve)));
    return failure(
      connect({ id: "notes", url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` }, ONCE),
    );
  },
  "proxy not listening": async () => {
    process.env["HTTP_PROXY"] = `http://ann:secret@127.0.0.1:${await deadPort()}`;
    return failure(connect({ id: "notes", url: "http://notes.example/mcp" }, ONCE));
  },
  "proxy wants credentials": async () => {
    const proxy = createServer();
    proxy.on("connect", (_request, socket) => socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"));
    process.env["HTTPS_PROXY"] = `127.0.0.1:${await listening(proxy)}`;
    return failure(connect({ id: "notes", url: "https://notes.example/mcp" }, ONCE));
  },
};

const REFUSAL: Record<string, Produce> = {
  "HTTP 401": async () => {
    const challenge = {
      "WWW-Authenticate": `Bearer resource_metadata="https://notes.example/.well-known/oauth-protected-resource"`,
    };
    const error = await failure(connect(await site(answering(401, challenge)), ONCE));
    expect(error.details.wwwAuthenticate).toBe(challenge["WWW-Authenticate"]);
    return error;
  },
  "HTTP 403": async () => failure(connect(await site(answering(403, {})), ONCE)),
  "HTTP 401 with words": async () => {
    const body = `{"error":"invalid_token","error_description":"The key nk_abcdefghijklmnop0123456789 has\\u001b[31m expired"}`;
    return failure(connect(await site(answering(401, { "Content-Type": "application/json" }, body)), ONCE));
  },
  "HTTP 403 with words": async () => {
    const body = "Your plan does not include this server.\nSee https://notes.example/plans?user=ann";
    return failure(connect(await site(answering(403, { "Content-Type": "text/plain" }, body)), ONCE));
  },
  "HTTP 404 with a page": async () => {
    const handler = answering(404, { "Content-Type": "text/html" }, page("Not here &amp; not there"));
    return failure(connect(await site(handler, "/api"), ONCE));
  },
  "HTTP 404 with an error": async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32_601, message: "Not found: /api" } });
    return failure(connect(await site(answering(404, { "Content-Type": "application/json" }, body), "/api"), ONCE));
  },
  "HTTP 405": async () => failure(connect(await site(answering(405, { Allow: "GET" }), "/"), ONCE)),
  "HTTP 503": async () => failure(connect(await site(answering(503, {})), ONCE)),
  "a page in place of MCP": async () => {
    return failure(connect(await site(answering(200, { "Content-Type": "text/html" }, page("Welcome")), "/"), ONCE));
  },
  "a redirect elsewhere": async () => {
    return failure(connect(await site(answering(307, { Location: "https://elsewhere.example/mcp" })), ONCE));
  },
};

const CALL: Record<string, Produce> = {
  "connection lost in a call": async () => {
    await using server = await startHttpFixture();
    await using client = await connect({ id: "notes", url: server.url }, ONCE);
    return await failure(client.callTool("misbehave", { how: "reset_mid_body" }));
  },
  "server gone in a call": async () => {
    await using client = await connect({ id: "notes", ...stdioFixture() });
    return await failure(client.callTool("misbehave", { how: "die" }));
  },
  "stdout closed": async () => {
    await using client = await connect({ id: "notes", ...stdioFixture(["--misbehave", "close-stdout"]) });
    await client.closed;
    return await failure(client.callTool("echo", { text: "hi" }));
  },
  "timeout of a call": async () => {
    await using client = await connect({ id: "notes", ...stdioFixture() });
    return await failure(client.callTool("sleep", { ms: 60_000 }, { timeoutMs: 100 }));
  },
  "error of the server": async () => {
    await using client = await connect({ id: "notes", ...stdioFixture() });
    return await failure(client.callTool("no_such_tool"));
  },
};

const GROUPS = {
  file: FILE,
  configuration: CONFIGURATION,
  start: START,
  crash: CRASH,
  handshake: HANDSHAKE,
  network: NETWORK,
  refusal: REFUSAL,
  call: CALL,
};

describe.each(Object.entries(GROUPS))("%s", (group, cases) => {
  test.each(Object.entries(cases))("says what happened and what to do: %s (P1.9)", async (name, produce) => {
    const error = await produce();
    if (!error) return console.log("not tried: there is no openssl to make a certificate with");
    await expect(rendered(error)).toMatchFileSnapshot(`../golden/errors/${goldenName(group, name)}`);
  });
});

function goldenName(group: string, name: string): string {
  return `${`${group}-${name}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}.txt`;
}

test("no golden text is left of a case that is gone (P1.9)", async () => {
  const names = Object.entries(GROUPS).flatMap(([group, cases]) =>
    Object.keys(cases).map((name) => goldenName(group, name)),
  );
  expect((await readdir(join(root, "test/golden/errors"))).toSorted()).toEqual(names.toSorted());
});
