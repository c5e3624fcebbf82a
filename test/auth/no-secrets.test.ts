import { inspect } from "node:util";
import { expect, test } from "vitest";
import { renderForPeople, renderForPrograms } from "../../src/errors/render.ts";
import { AuthWorld, echo } from "../fixtures/auth/auth-world.ts";
import type { Answer } from "../fixtures/auth/authorization-server.ts";
import { failure } from "../fixtures/failure.ts";

const SERVER_METADATA = "/.well-known/oauth-authorization-server";

/** Everything a program or a person can see of an error and of the log. */
async function everythingShown(world: AuthWorld, attempt: Promise<unknown>): Promise<string> {
  const error = await failure(attempt);
  return [
    inspect(error, { depth: 20 }),
    error.stack,
    renderForPeople(error),
    JSON.stringify(renderForPrograms(error)),
    ...world.log,
  ].join("\n");
}

/** What the authorization server saw or issued, and the state and verifier of the login. */
async function secretsOf(world: AuthWorld): Promise<string[]> {
  const { tokens, client } = (await world.stored()) ?? {};
  const states = world.pages.map((page) => page.searchParams.get("state"));
  const known = [...world.authorization.secrets, tokens?.accessToken, tokens?.refreshToken, client?.clientSecret];
  return [...known, ...states].filter((secret) => typeof secret === "string");
}

function onToken(world: AuthWorld, change: (answer: Answer) => void): void {
  world.authorization.onAnswer.set("/token", change);
}

const FAILURES: [string, (world: AuthWorld) => void][] = [
  ["a forged state", (world) => (world.onReturn = (url) => (url.searchParams.set("state", "forged"), url))],
  [
    "a forged issuer",
    (world) => (world.onReturn = (url) => (url.searchParams.set("iss", "https://evil.example"), url)),
  ],
  ["a token answer without a type", (world) => onToken(world, ({ body }) => delete body["token_type"])],
  ["a token of an unknown type", (world) => onToken(world, ({ body }) => void (body["token_type"] = "MAC"))],
  ["a token answer with a wrong lifetime", (world) => onToken(world, ({ body }) => void (body["expires_in"] = "soon"))],
  ["a refused code", (world) => onToken(world, (answer) => refuse(answer, "invalid_grant"))],
  ["a refused client", (world) => onToken(world, (answer) => refuse(answer, "invalid_client", 401))],
  [
    "a refusal that repeats what was sent",
    (world) =>
      onToken(world, (answer) => {
        const description = `cannot use ${answer.form.get("code")} with ${answer.form.get("code_verifier")}`;
        refuse(answer, "invalid_grant");
        answer.body["error_description"] = description;
      }),
  ],
  ["a broken connection", (world) => world.authorization.onAnswer.set("/token", () => "drop")],
  ["a refused consent", (world) => (world.authorization.consent = "refused")],
  ["an endpoint that is missing", (world) => onMetadata(world, ({ body }) => delete body["token_endpoint"])],
];

function refuse(answer: Answer, error: string, status = 400): void {
  answer.status = status;
  answer.body = { error };
}

function onMetadata(world: AuthWorld, change: (answer: Answer) => void): void {
  world.authorization.onAnswer.set(SERVER_METADATA, change);
}

test.each(FAILURES)("security.md: a login that fails by %s shows no secret", async (_, arrange) => {
  await using world = await AuthWorld.open();
  arrange(world);

  const shown = await everythingShown(world, world.connect());

  const secrets = await secretsOf(world);
  expect(secrets.length).toBeGreaterThan(0);
  expect(secrets.filter((secret) => shown.includes(secret))).toEqual([]);
});

test.each(FAILURES.filter(([title]) => /token|refused code|refused client/.test(title)))(
  "security.md: a refresh that fails by %s shows no secret",
  async (_, arrange) => {
    await using world = await AuthWorld.open();
    const client = await world.connect();
    arrange(world);
    world.authorization.consent = "refused";
    world.server.refused.add((await world.stored())?.tokens?.accessToken ?? "");
    const before = await secretsOf(world);

    const shown = await everythingShown(world, echo(client, "hello"));

    expect([...before, ...(await secretsOf(world))].filter((secret) => shown.includes(secret))).toEqual([]);
  },
);

test("security.md: credentials, their source and the client show no secret when they are printed", async () => {
  await using world = await AuthWorld.open();
  const auth = world.credentials();
  const client = await world.connect(auth);

  const shown = [auth, client, world.log].map((value) => inspect(value, { depth: 20 })).join("\n");

  expect(auth.name).not.toBe("");
  for (const secret of await secretsOf(world)) expect(`${shown}\n${auth.name}`).not.toContain(secret);
});

test("security.md: a server that repeats the token in its error does not get it shown", async () => {
  await using world = await AuthWorld.open();
  const client = await world.connect({ storage: world.storage, login: world.login });
  const { accessToken = "" } = (await world.stored())?.tokens ?? {};
  world.server.instead = (req, res) =>
    Boolean(res.writeHead(500, { "content-type": "text/plain" }).end(`Bad header: ${req.headers.authorization}`));

  const shown = await everythingShown(world, echo(client, "hello"));

  expect(shown).not.toContain(accessToken);
});
