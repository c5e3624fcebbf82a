import { isRecord } from "../../../json/is-record.ts";
import { isSecretName } from "../../../masking/secret-names.ts";
import { LEFT_OUT } from "../../../masking/clean-prose.ts";
import { maskExample, PLACEHOLDER } from "../../../masking/find-secrets.ts";
import { looksSecret } from "../../../masking/find-secrets.ts";

/** Whether a value that a document shows is probably a credential, by itself or by the name of its member. */
export function isSecretValue(value: unknown, name = ""): boolean {
  if (typeof value !== "string" || value === "" || value === PLACEHOLDER) return false;
  return value === LEFT_OUT || looksSecret(value) || isSecretName(name);
}

/** A value of any form, with placeholders for what is probably a credential. */
export function withoutSecrets(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, name));
  if (typeof value === "string") return isSecretValue(value, name) ? PLACEHOLDER : maskExample(value);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutSecrets(member, key)]));
}
