import { expect, test } from "vitest";
import { openShop, SECRETS, type Reply } from "./shop-world.ts";

function answer(status: number, body: string, headers: Record<string, string> = {}): Reply {
  return (_, response) => response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
}

const withoutErrors = (file: string) => file.replace(/    errors:\n.*status: 401.*\n.*\n/, "");

async function textFor(reply: Reply, secrets = SECRETS): Promise<string> {
  await using shop = await openShop({ secrets: async (name) => secrets[name] }, withoutErrors);
  shop.replies["find"] = [reply];
  const result = await shop.runner.call("find_items", { text: "tea" });
  expect(result.isError).toBe(true);
  return (result.content[0] as { text: string }).text;
}

test.each([
  [400, "It cannot use these values: check the arguments."],
  [401, "has to set them again (nexus secrets set): user, password."],
  [403, "does not allow this. The operator of this server has to get the permission"],
  [404, "It has nothing of that name: check the ids and names in the arguments."],
  [409, "It conflicts with what is already there: look at the present state before you call again."],
  [418, "It rejected this request: check the arguments."],
  [422, "It cannot use these values: check the arguments."],
  [429, "Its request limit is reached: try again in 90 seconds."],
  [500, "It failed or is overloaded: try again in 90 seconds."],
  [503, "It failed or is overloaded: try again in 90 seconds."],
])("X3: HTTP %i that the file does not mention says what to do, and what the API said", async (status, hint) => {
  const text = await textFor(answer(status, `{"message": "No tea in   \\"stock\\""}`, { "retry-after": "90" }));
  expect(text).toContain(`Corner shop answered with HTTP ${status}.\nIt said: {"message":"No tea in \\"stock\\""}\n`);
  expect(text).toContain(hint);
});

test("X3: a tool without credentials is told that the file names none", async () => {
  await using shop = await openShop({}, (file) =>
    withoutErrors(file).replace("path: find, secrets: login", "path: find"),
  );
  shop.replies["find"] = [answer(401, "")];
  const { content } = await shop.runner.call("find_items", { text: "tea" });
  expect(content).toMatchObject([
    {
      text: "Corner shop answered with HTTP 401.\nIt requires credentials, but the tool file names none for this tool (request.secrets).",
    },
  ]);
});

const long = "x".repeat(400);
test.each([
  ["a long problem of JSON", `{"trace":"${long}","error":{"code":5,"message":"Out of tea"}}`, "Out of tea"],
  ["a long list of errors", `{"errors":[{"detail":"Out of tea"}],"trace":"${long}"}`, "Out of tea"],
  [
    "a page",
    `<!doctype html><html><head><title>502 Bad Gateway</title></head><body>${long}</body></html>`,
    "502 Bad Gateway",
  ],
  ["XML", `<?xml version="1.0"?><fault><code>7</code>\n<text>Out of tea</text></fault>`, "7 Out of tea"],
  ["plain text", "Out of tea", "Out of tea"],
  ["much text", `Out of tea ${long}`, `Out of tea ${"x".repeat(289)}…`],
])("X3: of %s the message is shown", async (_, body, said) => {
  expect(await textFor(answer(400, body))).toContain(`\nIt said: ${said}\n`);
});

test("X3: what is no text is not shown", async () => {
  expect(await textFor(answer(400, "\u0089PNG", { "content-type": "image/png" }))).not.toContain("It said");
});

test("X3, X9: what the API said is without secrets, also where it is cut", async () => {
  const password = "a-long-secret-of-27-letters";
  for (const before of [10, 280, 290, 299]) {
    const body = `${"y".repeat(before)} ${password} and more`;
    const text = await textFor(answer(400, body), { ...SECRETS, "shop.password": password });
    expect(text).toContain("yyy");
    expect(text).not.toContain(password.slice(0, 4));
  }
});

test("X3, X9: what the API said is without a secret that was broken over two lines", async () => {
  const password = "a-long-secret-of-27-letters";
  for (const between of ["\n", "\r\n    "]) {
    const body = `No: ${password.slice(0, 12)}${between}${password.slice(12)} is old`;
    expect(await textFor(answer(400, body), { ...SECRETS, "shop.password": password })).toContain(
      "It said: No: ••• is old\n",
    );
  }
  const words = { ...SECRETS, "shop.password": "three long words" };
  expect(await textFor(answer(400, "No: three\flong\u00a0words is old"), words)).toContain("It said: No: ••• is old\n");
});

test("X3: what the API said can be nested deeper than any stack", async () => {
  const text = await textFor(answer(400, `{"a":${"[".repeat(60_000)}${"]".repeat(60_000)}}`));
  expect(text).toMatch(/^Corner shop answered with HTTP 400\.\nIt said: \{"a":\[\[/);
});

test("X3: an answer that cannot be read is shown, too", async () => {
  expect(await textFor(answer(200, "<html><title>Please log in</title>"))).toMatch(
    /^The response of Corner shop cannot be read: .*\nIt said: Please log in\nTry again later/,
  );
});

test("X3: a time to wait that is given as a date is told in seconds", async () => {
  const text = await textFor(answer(429, "", { "retry-after": new Date(Date.now() + 3_600_000).toUTCString() }));
  expect(text).toMatch(/try again in (?:3599|3600) seconds/);
  expect(await textFor(answer(429, "", { "retry-after": "soon" }))).toContain("try again later");
});

test("X3: the time to wait is also told where the tool file describes the failure", async () => {
  await using shop = await openShop({}, (file) =>
    file.replace("status: 401, say", "status: [401, 429], say").replace(", try: Set them again.", ""),
  );
  shop.replies["find"] = [answer(429, "", { "retry-after": "90" })];
  const { content } = await shop.runner.call("find_items", { text: "tea" });
  expect(content).toMatchObject([{ text: expect.stringContaining("Try again in 90 seconds.") }]);
});

test("X3: of a problem (RFC 9457) the title, the details and the single errors are told", async () => {
  const body = {
    title: "Invalid values",
    detail: "One value is wrong",
    status: 422,
    errors: [{ pointer: "#/text", detail: "too short" }],
  };
  const text = await textFor(answer(422, JSON.stringify(body), { "content-type": "application/problem+json" }));
  expect(text).toContain("It said: Invalid values: One value is wrong (#/text: too short)\n");
});
