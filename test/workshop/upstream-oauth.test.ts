import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { compileApi } from "../../src/workshop/compile/compile.ts";
import { readToolFile } from "../../src/workshop/file/read-tool-file.ts";
import { ApiRunner } from "../../src/workshop/run/api-runner.ts";
import { UpstreamTokens } from "../../src/workshop/run/secrets/upstream-tokens.ts";
import { runChecks } from "../../src/workshop/run-checks.ts";
import { found, openShop, status, type Reply, type Shop } from "./shop-world.ts";

const SECRETS: Record<string, string> = {
  "shop.client": "client-of-the-shop",
  "shop.key": "key/of the+client",
  "shop.refresh": "first-refresh-token",
};
const CLIENT = "tokenUrl: https://shop.example/api/token, clientId: client, clientSecret: key";
const secrets = async (name: string) => SECRETS[name];

function withOAuth(oauth: string): (file: string) => string {
  return (file) =>
    file.replace(
      "login: { query: { user: user, password: password }, public: [user] }",
      `login: { oauth: { ${oauth} } }`,
    );
}

function token(answer: Record<string, unknown>, code = 200): Reply {
  return (_, response) =>
    response
      .writeHead(code, { "content-type": "application/json" })
      .end(JSON.stringify({ token_type: "Bearer", ...answer }));
}

const bearers = (shop: Shop) => shop.askedFor("find").map(({ headers }) => headers.authorization);
const forms = (shop: Shop) => shop.askedFor("token").map(({ body }) => Object.fromEntries(new URLSearchParams(body)));

test("a token is requested with the client's credentials and used until shortly before it expires (X8)", async () => {
  let now = Date.UTC(2026, 0, 1);
  await using shop = await openShop(
    { secrets, now: () => now },
    withOAuth(`${CLIENT}, scope: [a, b], audience: "https://shop.example/"`),
  );
  shop.replies["token"] = [token({ access_token: "token-1", expires_in: 600 }), token({ access_token: "token-2" })];
  await shop.runner.call("find_items", { text: "tea" });
  now += 530_000;
  await shop.runner.call("find_items", { text: "tea" });
  now += 20_000;
  await shop.runner.call("find_items", { text: "tea" });
  expect(bearers(shop)).toEqual(["Bearer token-1", "Bearer token-1", "Bearer token-2"]);
  const form = { grant_type: "client_credentials", scope: "a b", audience: "https://shop.example/" };
  expect(forms(shop)).toEqual([form, form]);
  const basic = Buffer.from("client-of-the-shop:key%2Fof+the%2Bclient").toString("base64");
  expect(shop.askedFor("token")[0]?.headers.authorization).toBe(`Basic ${basic}`);
});

test("the client's credentials are in the body where the file says so", async () => {
  await using shop = await openShop({ secrets }, withOAuth(`${CLIENT}, client: post`));
  shop.replies["token"] = [token({ access_token: "token-1" })];
  await shop.runner.call("find_items", { text: "tea" });
  expect(forms(shop)).toEqual([
    { grant_type: "client_credentials", client_id: "client-of-the-shop", client_secret: "key/of the+client" },
  ]);
  expect(shop.askedFor("token")[0]?.headers.authorization).toBeUndefined();
});

test("calls at the same time share one token request", async () => {
  await using shop = await openShop({ secrets }, withOAuth(CLIENT));
  shop.replies["token"] = [token({ access_token: "token-1", expires_in: 600 })];
  await Promise.all(Array.from({ length: 8 }, () => shop.runner.call("find_items", { text: "tea" })));
  expect(shop.askedFor("token")).toHaveLength(1);
  expect(shop.askedFor("find")).toHaveLength(8);
});

test("a token that the API no longer accepts is renewed once", async () => {
  await using shop = await openShop({ secrets }, withOAuth(CLIENT));
  shop.replies["token"] = [token({ access_token: "token-1" }), token({ access_token: "token-2" })];
  shop.replies["find"] = [status(401), found(["tea", 3]), status(401)];
  const first = await shop.runner.call("find_items", { text: "tea" });
  expect(first.isError).toBeUndefined();
  shop.replies["token"] = [token({ access_token: "token-3" })];
  const second = await shop.runner.call("find_items", { text: "tea" });
  expect(second.isError).toBe(true);
  expect(bearers(shop)).toEqual(["Bearer token-1", "Bearer token-2", "Bearer token-2", "Bearer token-3"]);
});

test("a call that is cancelled while its token is requested ends at once, and sends nothing", async () => {
  await using shop = await openShop({ secrets }, withOAuth(CLIENT));
  const cancelling = new AbortController();
  let release = () => {};
  shop.replies["token"] = [
    (request, response, body) => {
      release = () => token({ access_token: "token-1" })(request, response, body);
      cancelling.abort();
    },
  ];
  await expect(shop.runner.call("find_items", { text: "tea" }, { signal: cancelling.signal })).rejects.toMatchObject({
    code: "CANCELLED",
  });
  expect(shop.askedFor("find")).toEqual([]);
  release();
});

test("connections of the same program share their tokens", async () => {
  const tokens = new UpstreamTokens();
  await using shop = await openShop({ secrets, tokens }, withOAuth(CLIENT));
  shop.replies["token"] = [token({ access_token: "token-1", expires_in: 600 })];
  await using other = new ApiRunner(shop.runner.api, { secrets, tokens, upstream: shop.url });
  await shop.runner.call("find_items", { text: "tea" });
  await other.call("find_items", { text: "tea" });
  expect(shop.askedFor("token")).toHaveLength(1);
  expect(bearers(shop)).toEqual(["Bearer token-1", "Bearer token-1"]);
});

test("a refresh token that was replaced is stored and used from then on", async () => {
  const stored = { ...SECRETS };
  const find = async (name: string) => stored[name];
  const saveSecret = async (name: string, value: string) => void (stored[name] = value);
  await using shop = await openShop(
    { secrets: find, saveSecret },
    withOAuth(`${CLIENT}, grant: refresh_token, refreshToken: refresh`),
  );
  shop.replies["token"] = [
    token({ access_token: "token-1", refresh_token: "second-refresh-token", id_token: "of.another.issuer" }),
    token({ access_token: "token-2" }),
  ];
  shop.replies["find"] = [found(["tea", 3]), status(401), found(["tea", 3])];
  await shop.runner.call("find_items", { text: "tea" });
  expect(stored["shop.refresh"]).toBe("second-refresh-token");
  await shop.runner.call("find_items", { text: "tea" });
  expect(forms(shop).map((form) => form["refresh_token"])).toEqual(["first-refresh-token", "second-refresh-token"]);
  expect(bearers(shop)).toEqual(["Bearer token-1", "Bearer token-1", "Bearer token-2"]);
});

test("a replaced refresh token that cannot be stored is used while the server runs, and the log says so", async () => {
  await using shop = await openShop({ secrets }, withOAuth(`${CLIENT}, grant: refresh_token, refreshToken: refresh`));
  shop.replies["token"] = [token({ access_token: "token-1", expires_in: 1, refresh_token: "second-refresh-token" })];
  shop.replies["find"] = [status(401), found(["tea", 3])];
  await shop.runner.call("find_items", { text: "tea" });
  expect(forms(shop).map((form) => form["refresh_token"])).toEqual(["first-refresh-token", "second-refresh-token"]);
  expect(shop.logged).toContainEqual(
    expect.objectContaining({ level: "warn", message: expect.stringContaining("nexus secrets set shop.refresh") }),
  );
  expect(JSON.stringify(shop.logged)).not.toContain("refresh-token");
});

test("a refresh token that another process replaced is read again", async () => {
  const stored = { ...SECRETS };
  await using shop = await openShop(
    { secrets: async (name) => stored[name] },
    withOAuth(`${CLIENT}, grant: refresh_token, refreshToken: refresh`),
  );
  shop.replies["token"] = [
    (asked, response, request) => {
      stored["shop.refresh"] = "second-refresh-token";
      token({ error: "invalid_grant" }, 400)(asked, response, request);
    },
    token({ access_token: "token-1" }),
  ];
  expect((await shop.runner.call("find_items", { text: "tea" })).isError).toBeUndefined();
  expect((await shop.runner.call("find_items", { text: "tea" })).isError).toBeUndefined();
  expect(forms(shop).map((form) => form["refresh_token"])).toEqual(["first-refresh-token", "second-refresh-token"]);
});

test("a refused client is reported with the secrets to set, and no credential is in the result or the log (X9)", async () => {
  await using shop = await openShop({ secrets }, withOAuth(CLIENT));
  const echo = `key/of the+client of client-of-the-shop`;
  shop.replies["token"] = [token({ error: "invalid_client", error_description: echo }, 401)];
  const result = await shop.runner.call("find_items", { text: "tea" });
  expect(result.isError).toBe(true);
  expect(JSON.stringify(result)).toContain("No access token for Corner shop");
  expect(JSON.stringify(result)).toContain("nexus secrets set shop.client, nexus secrets set shop.key");
  expect(JSON.stringify([result, shop.logged])).not.toMatch(/key\/of|client-of-the-shop/);
  expect(shop.askedFor("find")).toEqual([]);
});

test("a token is never shown, not even if the API repeats it (X9)", async () => {
  await using shop = await openShop({ secrets }, withOAuth(CLIENT));
  shop.replies["token"] = [token({ access_token: "secret-access-token" })];
  shop.replies["find"] = [
    (_, response) => response.writeHead(500, { "content-type": "text/plain" }).end("no: secret-access-token"),
  ];
  const result = await shop.runner.call("find_items", { text: "tea" });
  expect(result.isError).toBe(true);
  expect(JSON.stringify([result, shop.logged])).not.toContain("secret-access-token");
});

test("an authorization server that cannot be understood is reported, and nothing is sent to the API", async () => {
  await using shop = await openShop({ secrets }, withOAuth(CLIENT));
  shop.replies["token"] = [(_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>")];
  const result = await shop.runner.call("find_items", { text: "tea" });
  expect(result.isError).toBe(true);
  expect(JSON.stringify(result)).toContain("so nothing was sent");
  expect(shop.askedFor("find")).toEqual([]);
});

test("the example with OAuth passes its checks against its fake, which issues and checks tokens", async () => {
  const { file } = readToolFile(await readFile("examples/workshop/oauth.nexus.yaml", "utf8"), "oauth.nexus.yaml");
  if (!file) throw new Error("the example cannot be read");
  const { api } = compileApi(file, {});
  const outcomes = [];
  for await (const outcome of runChecks({ api, file })) outcomes.push(outcome);
  expect(outcomes.map(({ problems }) => problems)).toEqual([[], []]);
});
