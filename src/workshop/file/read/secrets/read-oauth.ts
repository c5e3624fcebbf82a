import type { UpstreamOAuthSpec } from "../../model/tool-file.ts";
import { type Part, present } from "../../../../format/part.ts";
import { readSecretName } from "../secret-name.ts";
import { readAddress } from "../read-upstream.ts";

const MEMBERS = [
  "grant",
  "tokenUrl",
  "clientId",
  "clientSecret",
  "refreshToken",
  "scope",
  "audience",
  "client",
] as const;

/** How a token is obtained. The names of the secrets are required as far as the grant needs them. */
export function readOAuth(part: Part): UpstreamOAuthSpec {
  part.members(MEMBERS, ["tokenUrl", "clientId"], {
    token_url: "Write tokenUrl.",
    client_id: "Write clientId, with the name of a secret.",
    client_secret: "Write clientSecret, with the name of a secret.",
    scopes: "Write scope, with a list of scopes.",
  });
  const grant = part.part("grant").choice(["client_credentials", "refresh_token"]) ?? "client_credentials";
  if (part.isMap && grant === "client_credentials") {
    if (!part.has("clientSecret"))
      part.error("clientSecret is missing: a client without a secret cannot use this grant");
    if (part.has("refreshToken")) {
      part.part("refreshToken").keyError("belongs to the grant refresh_token", "Write grant: refresh_token.");
    }
  }
  if (part.isMap && grant === "refresh_token" && !part.has("refreshToken")) part.error("refreshToken is missing");
  const client = part.part("client").choice(["basic", "post"]);
  return present({
    grant,
    tokenUrl: readAddress(part.part("tokenUrl")) ?? "",
    clientId: readSecretName(part.part("clientId")) ?? "",
    clientSecret: readSecretName(part.part("clientSecret")),
    refreshToken: readSecretName(part.part("refreshToken")),
    scope: readScope(part.part("scope")),
    audience: part.part("audience").text(),
    // The default is absent from the model.
    client: client === "post" ? client : undefined,
  });
}

function readScope(part: Part): string[] | undefined {
  if (!part.isThere) return undefined;
  return part.oneOrMore().flatMap((item) => {
    const scope = item.text();
    // RFC 6749, section 3.3.
    if (scope !== undefined && !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)) {
      item.error(`"${scope}" is not a scope`, "Write each scope as an item of a list.");
    }
    return scope === undefined ? [] : [scope];
  });
}
