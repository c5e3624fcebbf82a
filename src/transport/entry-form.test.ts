import { expect, test } from "vitest";
import { valuesToHide } from "./values-to-hide.ts";
import { resolveEntry, type HttpReach } from "./server-entry.ts";

const url = "https://example.com/mcp";

function oauthOf(oauth: unknown): HttpReach["oauth"] {
  const { reach } = resolveEntry({ url, oauth } as Parameters<typeof resolveEntry>[0]);
  return (reach as HttpReach).oauth;
}

test.each<[written: unknown, read: unknown]>([
  [undefined, undefined],
  [null, undefined],
  [true, {}],
  [false, false],
  [{ enabled: false, clientId: "a" }, false],
  [{ enabled: true, clientId: "a" }, { clientId: "a" }],
  [
    { client_id: "a", client_secret: "b", scope: "read  write", redirectUri: "http://127.0.0.1:1/" },
    { clientId: "a", clientSecret: "b", scopes: ["read", "write"], redirectUrl: "http://127.0.0.1:1/" },
  ],
  [
    { CLIENT_ID: "a", scopes: ["read"], callbackPort: "3118" },
    { clientId: "a", scopes: ["read"], callbackPort: 3118 },
  ],
  [
    { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertionFile: "a" },
    { grant: "jwt_bearer", assertionFile: "a" },
  ],
  [{ clientId: "a", tokenUrl: "https://as.example/token", audiences: ["x"] }, { clientId: "a" }],
  [
    { grant: "enterprise", identityProvider: { issuer: "https://idp.example", client_id: "a", id_token: "b" } },
    { grant: "enterprise", identityProvider: { issuer: "https://idp.example", clientId: "a", idToken: "b" } },
  ],
])("the key oauth: %j is read as %j", (written, read) => {
  expect(oauthOf(written)).toEqual(read);
});

test.each<[written: unknown, problem: string, hint: string | undefined]>([
  ["yes", `"oauth" must be true, false or an object, not text`, "leave"],
  [{ clientID: "a" }, `oauth.clientID: "clientID" is not known here`, `"clientId"`],
  [{ clientId: 5 }, `"oauth.clientId" must be text, not a number`, "quotes"],
  [{ clientId: "" }, `"oauth.clientId" is empty`, "delete"],
  [{ clientId: "a", client_id: "b" }, `"oauth.client_id" and "clientId" are synonyms`, "Delete"],
  [{ scopes: [1] }, `"oauth.scopes[0]" must be text, not a number`, "read write"],
  [{ callbackPort: 70_000 }, `"oauth.callbackPort" is not a port`, "65535"],
  [
    { grant: "password" },
    `"oauth.grant" must be authorization_code, device_code, client_credentials, jwt_bearer or enterprise, not "password"`,
    undefined,
  ],
  [{ dpop: "yes" }, `"oauth.dpop" must be true or false, not text`, "without quotes"],
  [{ privateKey: "a", privateKeyFile: "b" }, `"oauth" has both "privateKey" and "privateKeyFile"`, "Delete"],
  [{ identityProvider: { issuer: "a" } }, `oauth.identityProvider: clientId is missing`, "idTokenFile"],
])("the key oauth: %j is refused with what is wrong", (written, problem, hint) => {
  expect(() => oauthOf(written)).toThrow(
    expect.objectContaining({
      code: "CONFIG_INVALID",
      message: `Server "server": ${problem}`,
      details: expect.objectContaining({ hint: hint && (expect.stringContaining(hint) as string) }) as unknown,
    }),
  );
});

test("P1.9: what is secret in oauth is masked", () => {
  const oauth = {
    clientId: "not-secret",
    clientSecret: "first-secret",
    privateKey: "second-secret",
    identityProvider: { issuer: "https://idp.example", clientId: "c", idToken: "third-secret" },
  };
  const surroundings = { variables: {}, platform: process.platform, home: "/", proxy: {}, extraCertificates: [] };
  const hidden = valuesToHide(resolveEntry({ url, oauth }), surroundings);
  expect(hidden).toEqual(expect.arrayContaining(["first-secret", "second-secret", "third-secret"]));
  expect(hidden).not.toContain("not-secret");
});
