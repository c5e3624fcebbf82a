import type { ToolFile, UpstreamOAuthSpec } from "../file/model/tool-file.ts";
import { placeholderSecrets } from "./credentials.ts";
import type { Arrival } from "./received.ts";
import type { FakeReply } from "./reply.ts";

const LIFETIME_S = 3600;

/** The token endpoints of a fake: they check the client, and issue the tokens that the tools need. */
export class FakeTokens {
  readonly #file: ToolFile;
  /** Tokens by the set of secrets for which they were issued. */
  readonly #issued = new Map<string, Set<string>>();

  constructor(file: ToolFile) {
    this.#file = file;
  }

  /** The answer of a token endpoint; undefined if the address is not one. */
  answer(method: string, path: string, arrival: Arrival): FakeReply | undefined {
    const sets = Object.entries(this.#file.secrets).flatMap(([set, { oauth }]) =>
      oauth && new URL(oauth.tokenUrl).pathname === path ? [{ set, oauth }] : [],
    );
    if (sets.length === 0 || method !== "POST") return undefined;
    const form = new URLSearchParams(Buffer.from(arrival.body).toString("utf8"));
    // Several sets may use one endpoint: the request tells which one.
    const problems = sets.map(({ set, oauth }) => ({ set, problem: this.#problemOf(oauth, form, arrival) }));
    const right = problems.find(({ problem }) => problem === undefined);
    return right ? this.#issue(right.set) : refused(problems[0]?.problem ?? "invalid_request");
  }

  /** Whether the header Authorization has a token that was issued for this set. */
  accepts(set: string, authorization: unknown): boolean {
    if (typeof authorization !== "string" || !authorization.startsWith("Bearer ")) return false;
    return this.#issued.get(set)?.has(authorization.slice("Bearer ".length)) === true;
  }

  #issue(set: string): FakeReply {
    const issued = this.#issued.get(set) ?? new Set();
    this.#issued.set(set, issued);
    const token = `demo-token-${set}-${issued.size + 1}`;
    issued.add(token);
    const answer = { access_token: token, token_type: "Bearer", expires_in: LIFETIME_S };
    return { status: 200, type: "application/json", body: JSON.stringify(answer) };
  }

  #problemOf(oauth: UpstreamOAuthSpec, form: URLSearchParams, { headers }: Arrival): string | undefined {
    const known = placeholderSecrets(this.#file);
    const is = (given: string | null | undefined, name: string | undefined) =>
      name === undefined ||
      (given !== undefined && given !== null && Object.hasOwn(known, name) && given === known[name]);
    const client = clientOf(oauth, form, headers["authorization"]);
    if (!is(client.id, oauth.clientId) || !is(client.secret, oauth.clientSecret)) return "invalid_client";
    if (form.get("grant_type") !== oauth.grant) return "unsupported_grant_type";
    if (!is(form.get("refresh_token"), oauth.refreshToken)) return "invalid_grant";
    if ((form.get("scope") ?? "") !== (oauth.scope ?? []).join(" ")) return "invalid_scope";
    return (form.get("audience") ?? undefined) === oauth.audience ? undefined : "invalid_target";
  }
}

function refused(error: string): FakeReply {
  const body = JSON.stringify({ error, error_description: "The fake did not expect this token request." });
  return { status: error === "invalid_client" ? 401 : 400, type: "application/json", body };
}

interface ClientPair {
  id: string | null | undefined;
  secret: string | null | undefined;
}

/** The client, where the file says that it authenticates. */
function clientOf(
  { client, clientSecret }: UpstreamOAuthSpec,
  form: URLSearchParams,
  authorization: string | string[] | undefined,
): ClientPair {
  if (client === "post" || clientSecret === undefined)
    return { id: form.get("client_id"), secret: form.get("client_secret") };
  const [, pair = ""] = /^Basic (.+)$/.exec(String(authorization ?? "")) ?? [];
  const [id = "", secret = ""] = Buffer.from(pair, "base64").toString("utf8").split(":").map(formDecoded);
  return { id, secret };
}

/** RFC 6749, section 2.3.1: both are encoded as in a form. */
function formDecoded(text: string): string {
  return new URLSearchParams(`text=${text}`).get("text") ?? "";
}
