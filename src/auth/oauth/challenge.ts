import { processRevocationResponse, WWWAuthenticateChallengeError, type WWWAuthenticateChallenge } from "oauth4webapi";
import type { ResponseHeaders } from "../../transport/transport.ts";

/** What a server says about the credential that it requires, in `WWW-Authenticate`. */
export interface Challenge {
  /** The header as it was sent; undefined if there was none. */
  text?: string | undefined;
  /** Where the metadata of the protected resource is. */
  resourceMetadata?: string | undefined;
  scopes?: readonly string[] | undefined;
  error?: string | undefined;
  /** Whether it asks for a token that is bound to a key of the client. */
  wantsProof: boolean;
}

/** Reading takes a time that grows with the square of the length. */
const MAX_LENGTH = 4_096;

/** The challenges of an answer with 401 or 403, as one. */
export async function challengeOf(headers: ResponseHeaders): Promise<Challenge> {
  const text = [headers["www-authenticate"] ?? []].flat().join(", ");
  const challenges = text === "" || text.length > MAX_LENGTH ? [] : await parse(text);
  const find = (name: string) =>
    challenges.flatMap(({ parameters }) => Object.entries(parameters)).find(([key]) => key === name)?.[1];
  return {
    text: text === "" ? undefined : text,
    resourceMetadata: find("resource_metadata"),
    scopes: scopesIn(find("scope")),
    error: find("error"),
    wantsProof: challenges.some(({ scheme }) => scheme === "dpop"),
  };
}

/** The scopes in a text, each once; undefined if there is none. */
export function scopesIn(text: string | undefined): readonly string[] | undefined {
  const scopes = new Set((text ?? "").split(/\s+/).filter((scope) => scope !== ""));
  return scopes.size > 0 ? [...scopes] : undefined;
}

/** The library parses the header of any answer that it processes; a header that cannot be parsed says nothing. */
async function parse(text: string): Promise<readonly WWWAuthenticateChallenge[]> {
  try {
    await processRevocationResponse(new Response(null, { status: 401, headers: { "www-authenticate": text } }));
  } catch (error) {
    if (error instanceof WWWAuthenticateChallengeError) return error.cause;
  }
  return [];
}
