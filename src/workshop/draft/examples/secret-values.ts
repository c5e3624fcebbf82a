import { isSecretName } from "../../../masking/secret-names.ts";
import { LEFT_OUT } from "../../../masking/clean-prose.ts";
import { PLACEHOLDER, looksSecret } from "../../../masking/find-secrets.ts";

/** Whether a value that a document shows is probably a credential, by itself or by the name of its member. */
export function isSecretValue(value: unknown, name = ""): boolean {
  if (typeof value !== "string" || value === "" || value === PLACEHOLDER) return false;
  return value === LEFT_OUT || looksSecret(value) || isSecretName(name);
}
