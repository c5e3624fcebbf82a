import { expect, test } from "vitest";
import { failure } from "../../../test/fixtures/failure.ts";
import {
  type ScriptedAnswer,
  ScriptedTokenEndpoint,
  TOKEN,
} from "../../../test/fixtures/auth/scripted-token-endpoint.ts";
import type { DeviceCode } from "../oauth/login-handler.ts";
import { deviceCode } from "./device-code.ts";

const CODE = {
  device_code: "device-1",
  user_code: "ABCD-EFGH",
  verification_uri: "https://login.example/device",
  verification_uri_complete: "https://login.example/device?code=ABCD-EFGH",
  expires_in: 600,
  interval: 2,
};

test("a device login shows the code once, waits as the server asks, and ends with a token", async () => {
  await using login = await startLogin([
    { body: CODE },
    // Some servers answer so with status 200.
    { body: { error: "authorization_pending" } },
    refusal("slow_down"),
    refusal("authorization_pending"),
    TOKEN,
  ]);

  expect(await login.run()).toMatchObject({ accessToken: "token-1" });
  expect(login.shown).toEqual([
    {
      verificationUri: CODE.verification_uri,
      verificationUriComplete: CODE.verification_uri_complete,
      userCode: "ABCD-EFGH",
      expiresAt: 600_000,
    },
  ]);
  expect(login.pauses).toEqual([2_000, 2_000, 7_000, 7_000]);
  const [first, ...polls] = login.endpoint.received;
  expect(first).toMatchObject({
    path: "/device",
    form: { client_id: "client-1", resource: "https://mcp.example/mcp", scope: "read write" },
  });
  expect(polls[0]?.form).toEqual({
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: "device-1",
    client_id: "client-1",
    resource: "https://mcp.example/mcp",
  });
});

test("a device login survives failures of the network, with longer pauses", async () => {
  await using login = await startLogin([{ body: CODE }, "drop", { status: 503, body: "busy" }, TOKEN]);

  expect(await login.run()).toMatchObject({ accessToken: "token-1" });
  expect(login.pauses).toEqual([2_000, 4_000, 8_000]);
});

test.each([
  ["access_denied", "The login was refused"],
  ["expired_token", "The code has expired"],
])("a device login that ends with %s says so and does not ask again", async (code, hint) => {
  await using login = await startLogin([{ body: CODE }, refusal(code), TOKEN]);

  const error = await failure(login.run());
  expect(error.message).toContain(`while logging in. The authorization server answered "${code}"`);
  expect(error.hint).toContain(hint);
  expect(login.endpoint.received).toHaveLength(2);
});

test("a device login ends when the code has expired, also if the server never says so", async () => {
  const pending = Array.from({ length: 20 }, () => refusal("authorization_pending"));
  await using login = await startLogin([{ body: { ...CODE, interval: undefined, expires_in: 21 } }, ...pending]);

  expect(await failure(login.run())).toMatchObject({ code: "TIMEOUT" });
  expect(login.pauses).toEqual([5_000, 5_000, 5_000, 5_000]);
});

test.each([
  [1e-9, 1_000],
  [1e7, 3_600_000],
])("a device login waits for a sensible time where the server asks for %d seconds", async (interval, pause) => {
  await using login = await startLogin([{ body: { ...CODE, interval, expires_in: 1e9 } }, TOKEN]);

  await login.run();
  expect(login.pauses).toEqual([pause]);
});

test("a device login is cancelled while it waits", async () => {
  const controller = new AbortController();
  await using endpoint = await ScriptedTokenEndpoint.start({ body: { ...CODE, interval: 300 } });
  const handler = { showDeviceCode: () => controller.abort() };

  const error = await failure(deviceCode(endpoint.request(), handler, controller.signal));
  expect(error).toMatchObject({ code: "CANCELLED" });
});

test("a device login never shows a page that is not a web page", async () => {
  await using login = await startLogin([{ body: { ...CODE, verification_uri: "file:///etc/passwd" } }]);
  expect(await failure(login.run())).toMatchObject({ code: "ADDRESS_REFUSED" });

  await using other = await startLogin([
    { body: { ...CODE, verification_uri_complete: "javascript:alert(1)" } },
    TOKEN,
  ]);
  await other.run();
  expect(other.shown[0]?.verificationUriComplete).toBeUndefined();
});

test("a device login needs a server that offers it and a handler that shows the code", async () => {
  await using endpoint = await ScriptedTokenEndpoint.start();
  const request = endpoint.request({ server: { issuer: endpoint.issuer } });

  const error = await failure(deviceCode(request, { showDeviceCode: () => {} }));
  expect(error.message).toContain("does not offer logins with a device code");
  expect(await failure(deviceCode(endpoint.request(), {}))).toMatchObject({ code: "AUTH_REQUIRED" });
  expect(endpoint.received).toEqual([]);
});

function refusal(error: string): ScriptedAnswer {
  return { status: 400, body: { error } };
}

/** A login in which time passes only by waiting. */
async function startLogin(answers: ScriptedAnswer[]) {
  const endpoint = await ScriptedTokenEndpoint.start(...answers);
  const [shown, pauses]: [DeviceCode[], number[]] = [[], []];
  let now = 0;
  const request = endpoint.request({
    now: () => now,
    wait: (ms) => {
      pauses.push(ms);
      now += ms;
      return Promise.resolve();
    },
  });
  return {
    endpoint,
    shown,
    pauses,
    run: () => deviceCode(request, { showDeviceCode: (code) => shown.push(code) }),
    [Symbol.asyncDispose]: () => endpoint[Symbol.asyncDispose](),
  };
}
