import { isRecord } from "../../../json/is-record.ts";
import { isSecretName } from "../../../text/secret-names.ts";
import { LEFT_OUT } from "../../documents/cleaned/credential-text.ts";
import { looksSecret, maskedText } from "../../documents/text/secret-like.ts";

/** What stands for a credential where no type says what else would fit. */
const PLACEHOLDER = "<string>";
/** Whether a value that a document shows is probably a credential, by itself or by the name of its member. */
export function isSecretValue(value: unknown, name = ""): boolean {
  if (typeof value !== "string" || value === "" || value === PLACEHOLDER) return false;
  return value === LEFT_OUT || looksSecret(value) || isSecretName(name);
}

/** A value of any form, with placeholders for what is probably a credential. */
export function withoutSecrets(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, name));
  if (typeof value === "string") return isSecretValue(value, name) ? PLACEHOLDER : maskedText(value);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutSecrets(member, key)]));
}
