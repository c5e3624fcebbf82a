/** Why requests of a tool cannot carry some kinds of credentials, by their names in OpenAPI and Postman. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["digest", "each request has to answer a challenge of the server"],
  ["ntlm", "it logs in a connection with three requests"],
  ["negotiate", "it logs in a connection with a ticket of Kerberos"],
  ["hawk", "each request has to be signed with Hawk"],
  ["oauth", "each request has to be signed with OAuth 1.0"],
  ["oauth1", "each request has to be signed with OAuth 1.0"],
  ["edgegrid", "each request has to be signed with EdgeGrid"],
  ["akamaieg", "each request has to be signed with EdgeGrid"],
  ["hoba", "each request has to be signed with HOBA"],
  ["mutual", "it logs in with several requests"],
  ["mutualtls", "it needs a certificate of the client"],
  ["dpop", "each request needs a proof of its key"],
  ["vapid", "each request needs a signed token of its own"],
  ["scram-sha-1", "it logs in with several requests"],
  ["scram-sha-256", "it logs in with several requests"],
]);

/** Undefined for kinds that may be sent as a token. */
export function whyUnsendable(type: string): string | undefined {
  return REASONS.get(type.trim().toLowerCase());
}
