import { isCredentialName, isAccountName } from "../../../masking/secret-names.ts";

/** Operations whose purpose is the credentials themselves. */
const ABOUT_CREDENTIALS =
  /log_?(?:in|on)|sign_?(?:in|up)|password|register|authenticat|authoriz|create_?(?:user|account|session|token)|get_?(?:session|token)|open_?session/i;
/** What a login gives and later calls need. */
const SESSION = /token|session|ticket/i;

function isOwnerName(name: string): boolean {
  return isAccountName(name) || /^company$/i.test(name);
}

/** How often members with the name of a secret are in the requests of a service. */
export class CredentialCensus {
  readonly #counts = new Map<string, number>();
  #operations = 0;
  #hasLogin = false;

  add(operation: string, members: Iterable<string>): void {
    this.#operations++;
    if (ABOUT_CREDENTIALS.test(operation)) this.#hasLogin = true;
    for (const name of members) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /**
   * What a member of a request is: a `secret` that nearly all requests have, something that may be one, or an argument.
   */
  judge(operation: string, member: string, siblings: readonly string[]): "secret" | "doubtful" | "argument" {
    const hasPassword = siblings.some((name) => isCredentialName(name) && !SESSION.test(name));
    if (!isCredentialName(member) && !(isOwnerName(member) && hasPassword)) return "argument";
    if (ABOUT_CREDENTIALS.test(operation)) return "argument";
    if (SESSION.test(member) && this.#hasLogin) return "doubtful";
    const share = (this.#counts.get(member) ?? 0) / Math.max(1, this.#operations);
    const isCommon = share >= 0.5 && (this.#counts.get(member) ?? 0) >= 2;
    if (!isCommon) return isCredentialName(member) ? "doubtful" : "argument";
    return "secret";
  }
}
