import { expect, test } from "vitest";
import { atInstance } from "../open-api.ts";
import { compileApi } from "../compile/compile.ts";
import { readToolFile } from "../file/read-tool-file.ts";
import type { RunnerContext } from "../open-runner.ts";
import { atAddresses, unreplacedAddresses } from "./instance-addresses.ts";

/** A file that reaches three hosts: that of its base, one of files, and one for tokens. */
const FILE = readToolFile(
  `nexus: 1
api: shop
title: Shop
description: A shop.
version: 1.0.0
upstream:
  base: https://shop.example/v1/
  allow: ["https://shop.example/", "https://files.example/", "https://login.example/oauth/token"]
secrets:
  login: { oauth: { tokenUrl: "https://login.example/oauth/token", clientId: client, clientSecret: key } }
types:
  Query: { fields: { text: { type: string } } }
  Found: { fields: { by: { type: string } } }
tools:
  find:
    title: Find
    description: Finds.
    effect: read
    input: Query
    request: { method: GET, path: find, secrets: login, query: { text: text } }
    response: { as: json, type: Found, text: "{by}" }
  file:
    title: File
    description: A file.
    effect: read
    input: Query
    request: { method: GET, base: "https://files.example/store/", path: file, query: { text: text } }
    response: { as: json, type: Found, text: "{by}" }
  other:
    title: Other
    description: Another base of the same host.
    effect: read
    input: Query
    request: { method: GET, base: "https://shop.example/v2/", path: find, query: { text: text } }
    response: { as: json, type: Found, text: "{by}" }
`,
  "shop",
).file;
if (!FILE) throw new Error("not a tool file");
const file = FILE;

const everywhere = (upstream: string, addresses?: Record<string, string>) => {
  const moved = atAddresses(file, { upstream, ...(addresses && { addresses }) });
  const bases = Object.values(moved.tools).map(({ request }) => request?.base);
  return {
    base: moved.upstream.base,
    bases,
    token: moved.secrets["login"]?.oauth?.tokenUrl,
    allow: moved.upstream.allow,
  };
};

test("an upstream address elsewhere replaces its host, and names the addresses that it does not replace", () => {
  const left = ["https://files.example/store/", "https://login.example/oauth/token"];
  expect(unreplacedAddresses(file, { upstream: "https://test.example/v1/" })).toEqual(left);
  // With another path it is not known where other paths of the host are.
  expect(unreplacedAddresses(file, { upstream: "https://test.example/sandbox" })).toEqual([
    "https://files.example/store/",
    "https://shop.example/v2/",
    "https://login.example/oauth/token",
  ]);
});

test("one host, a fake or a replacement on this machine leaves no address of the file", () => {
  for (const upstream of ["fake", "http://127.0.0.1:8080/", "http://localhost/x/"])
    expect(unreplacedAddresses(file, { upstream })).toEqual([]);
  expect(unreplacedAddresses(file, {})).toEqual([]);
});

test("every base, the token address and all allowed prefixes are replaced", () => {
  const addresses = {
    "https://files.example": "https://files-test.example/x",
    "https://login.example/": "https://id.test/",
  };
  expect(everywhere("https://test.example/v1", addresses)).toEqual({
    base: "https://test.example/v1/",
    bases: [undefined, "https://files-test.example/x/store/", "https://test.example/v2/"],
    token: "https://id.test/oauth/token",
    allow: [
      "https://test.example/",
      "https://files-test.example/x/",
      "https://id.test/oauth/token",
      "https://test.example/v1/",
      "https://files-test.example/x/store/",
      "https://test.example/v2/",
    ],
  });
});

test("what is not replaced is not reached, even if nobody asked before", () => {
  const { bases, token, allow } = everywhere("https://test.example/v1/");
  expect(bases).toEqual([undefined, "https://nowhere.invalid/", "https://test.example/v2/"]);
  expect(token).toBe("https://nowhere.invalid/");
  expect(allow.every((prefix) => prefix.startsWith("https://test.example/"))).toBe(true);
});

test("the longest prefix decides, and a whole address can stay what it is", () => {
  const addresses = {
    "https://files.example/": "https://files.example/",
    "https://files.example/store/": "https://files-test.example/",
    "https://login.example/oauth/token": "https://login.example/oauth/token",
  };
  const { bases, token } = everywhere("https://test.example/v1/", addresses);
  expect(bases[1]).toBe("https://files-test.example/");
  expect(token).toBe("https://login.example/oauth/token");
});

test("a stored instance that would reach an address of the file is not opened", () => {
  const { api } = compileApi(file, {});
  const instance = { api: "shop", name: "test", server: "shop-test", current: "1.0.0", former: [], settings: {} };
  const open = (upstream: string) =>
    atInstance({ api, documents: {} }, { ...instance, origin: "local", upstream }, {} as RunnerContext);
  expect(() => open("https://test.example/v1/")).toThrow(
    expect.objectContaining({
      code: "CONFIG_INVALID",
      message: `Server "shop-test": its address https://test.example/v1/ does not replace https://files.example/store/, https://login.example/oauth/token of the tool file`,
    }),
  );
  expect(open("http://127.0.0.1:8080/")[1]).toMatchObject({ upstream: "http://127.0.0.1:8080/" });
});
