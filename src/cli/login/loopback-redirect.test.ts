import { createServer } from "node:net";
import { get, request } from "node:http";
import { expect, test } from "vitest";
import { LoopbackRedirect, type LoopbackOptions } from "./log-in.ts";

const PAGE = new URL("https://issuer.example/authorize?state=expected&client_id=1");

function open(options: Partial<LoopbackOptions> = {}): Promise<LoopbackRedirect> {
  return LoopbackRedirect.open({ registered: [], show: async () => {}, ...options });
}

interface Answer {
  status: number | undefined;
  headers: Record<string, unknown>;
  body: string;
}

function ask(url: string, options: { method?: string; host?: string } = {}): Promise<Answer> {
  const { method = "GET", host } = options;
  return new Promise((resolve, reject) => {
    request(url, { method, agent: false, headers: host === undefined ? {} : { host } }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => (body += text));
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body }));
    })
      .on("error", reject)
      .end();
  });
}

test("only the answer with the expected state ends the wait, and the listener is gone afterwards (N3)", async () => {
  let isShown: (page: URL) => void = () => {};
  const shown = new Promise<URL>((resolve) => (isShown = resolve));
  const redirect = await open({ show: async (page) => isShown(page) });
  const { uri } = redirect;
  expect(uri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback\/[\w-]{22}$/);
  expect((await ask(`${uri}?code=early&state=expected`)).status).toBe(400);

  const visit = redirect.visit(PAGE);
  expect((await shown).href).toBe(PAGE.href);
  const origin = new URL(uri).origin;
  const refused = [
    await ask(`${origin}/favicon.ico`),
    await ask(`${origin}/callback?code=1&state=expected`),
    await ask(`${uri}?code=1&state=other`),
    await ask(`${uri}?code=1`),
    await ask(`${uri}?code=1&state=expected`, { method: "POST" }),
    await ask(`${uri}?code=1&state=expected`, { host: "attacker.example" }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([404, 404, 400, 400, 405, 404]);

  const { status, headers, body } = await ask(`${uri}?code=abc&state=expected`);
  expect(status).toBe(200);
  expect(headers).toMatchObject({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
  expect(body).toContain("You can close this window");
  expect(body).not.toMatch(/<script|abc/);
  expect((await visit).href).toBe(`${uri}?code=abc&state=expected`);
  expect((await ask(`${uri}?code=other&state=expected`)).status).toBe(400);

  await redirect[Symbol.asyncDispose]();
  await expect(ask(uri)).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

test("a cancelled login stops waiting", async () => {
  await using redirect = await open();
  const stop = new AbortController();
  const visit = redirect.visit(PAGE, stop.signal);
  stop.abort();
  await expect(visit).rejects.toMatchObject({ code: "CANCELLED" });
});

test("a refusal by the person is an answer, and the page says so", async () => {
  await using redirect = await open();
  const visit = redirect.visit(PAGE);
  const { body } = await ask(`${redirect.uri}?error=access_denied&state=expected`);
  expect(body).toContain("The login was not completed.");
  expect((await visit).searchParams.get("error")).toBe("access_denied");
});

test("an address of an earlier registration is used again if it is free, and another port if not", async () => {
  const first = await open();
  const { uri } = first;
  await using other = await open({ registered: [uri] });
  expect(other.uri).not.toBe(uri);
  await first[Symbol.asyncDispose]();
  await using again = await open({ registered: ["https://a.example/x", uri] });
  expect(again.uri).toBe(uri);
});

test("a client that was registered by hand gets the usual path, and a configured address is used as it is", async () => {
  await using known = await open({ isKnown: true });
  expect(new URL(known.uri).pathname).toBe("/callback");
  const { port } = new URL(known.uri);
  await expect(open({ callbackPort: Number(port) })).rejects.toMatchObject({
    code: "BUSY",
    message: `The port ${port}, at which the login ends, is in use by another program`,
  });
  await expect(open({ redirectUrl: "https://a.example/callback" })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  const free = await freePort();
  await using named = await open({ redirectUrl: `http://localhost:${free}/done` });
  expect(named.uri).toBe(`http://localhost:${free}/done`);
  const visit = named.visit(PAGE);
  await new Promise((resolve) => {
    const url = `http://127.0.0.1:${free}/done?code=1&state=expected`;
    get(url, { agent: false, headers: { host: `localhost:${free}` } }, (response) =>
      response.resume().on("end", resolve),
    );
  });
  expect((await visit).searchParams.get("code")).toBe("1");
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}
