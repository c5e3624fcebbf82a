import type { FormField } from "./form-field.ts";

/**
 * Words for what only its owner may know. In forms, the specification forbids servers to ask for it: answers pass through
 * the client, its logs and the context of models.
 */
const SECRET = new RegExp(
  [
    "pass[ _-]?(?:word|phrase|code|wd)",
    "secret",
    "credential",
    "api[ _-]?key",
    "(?:access|auth|bearer|refresh|session|security)[ _-]?token",
    "\\btoken\\b",
    "private[ _-]?key",
    "recovery[ _-]?(?:code|key|phrase)",
    "seed[ _-]?phrase",
    "one[ _-]?time[ _-]?(?:code|password)",
    "(?:verification|2fa|mfa|sms)[ _-]?code",
    "\\b(?:pin|otp|cvv|cvc|ssn|iban|tan)\\b",
    "(?:credit|debit)?[ _-]?card[ _-]?number",
    "social[ _-]?security",
    "passwort|kennwort|geheimnis|mot de passe|contrase[nñ]a|senha|wachtwoord",
  ].join("|"),
  "iu",
);

/** The fields of a form that seem to ask for a password or another secret; all its texts if only the message does. */
export function secretFields(message: string, fields: readonly FormField[]): FormField[] {
  const typed = fields.filter(({ kind }) => kind === "text" || kind === "number");
  const secret = typed.filter(({ name, title, description = "", schema }) => {
    return schema["format"] === "password" || [words(name), title, description].some((text) => SECRET.test(text));
  });
  return secret.length === 0 && SECRET.test(message) ? typed : secret;
}

/** `userPassword` and `api.key` as words. */
function words(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll(/[._-]+/g, " ");
}
