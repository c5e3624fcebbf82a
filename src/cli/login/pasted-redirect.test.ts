import { expect, test } from "vitest";
import { PastedRedirect, type PastedOptions } from "./log-in.ts";

const PAGE = new URL("https://issuer.example/authorize?state=s-1");

function open(lines: readonly string[], options: Partial<PastedOptions> = {}) {
  const rest = [...lines];
  const problems: string[] = [];
  const redirect = new PastedRedirect({
    registered: [],
    show: () => {},
    read: async () => rest.shift(),
    complain: (problem) => problems.push(problem),
    ...options,
  });
  return { redirect, problems };
}

test("the pasted address is taken when it is the redirect of this login (N3)", async () => {
  const uri = "http://127.0.0.1:50000/callback";
  const { redirect, problems } = open(
    ["", "hello", "https://a.example/?code=1&state=s-1", `${uri}?code=1&state=s-0`, ` ${uri}?code=2&state=s-1 `],
    { callbackPort: 50_000 },
  );
  expect((await redirect.visit(PAGE)).href).toBe(`${uri}?code=2&state=s-1`);
  expect(problems).toEqual([
    `This is not an address. It begins with ${uri}`,
    `This is another address. The one that is needed begins with ${uri}`,
    `This address is from another login: its "state" is not the expected one.`,
  ]);
});

test.each(["code=3&state=s-1", "?code=3&state=s-1"])("the query alone is enough: %s", async (line) => {
  const { redirect } = open([line]);
  expect((await redirect.visit(PAGE)).href).toBe(`${redirect.uri}?code=3&state=s-1`);
  expect(redirect.uri).toMatch(/^http:\/\/127\.0\.0\.1:\d{5}\/callback\/[\w-]{22}$/);
});

test("an input that ends without the address is an error with the last problem", async () => {
  const { redirect } = open(["code=3&state=other"]);
  await expect(redirect.visit(PAGE)).rejects.toMatchObject({
    code: "AUTH_REQUIRED",
    message: expect.stringContaining("from another login") as string,
  });
});

test("the address of an earlier registration or of the entry is used again", () => {
  const registered = ["http://127.0.0.1:50001/callback/x"];
  expect(open([], { registered }).redirect.uri).toBe(registered[0]);
  expect(open([], { registered, redirectUrl: "https://a.example/done" }).redirect.uri).toBe("https://a.example/done");
  expect(new URL(open([], { isKnown: true }).redirect.uri).pathname).toBe("/callback");
});
