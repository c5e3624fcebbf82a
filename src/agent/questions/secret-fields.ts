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

const ASK = "give|enter|type|send|share|provide|include|submit|tell|write|use|put";
/** "Do not enter your password": a text that says so does not ask for it. It ends where the text asks again. */
const FORBIDDEN = new RegExp(
  `\\b(?:do not|don['’]t|never|must not|should not)\\s+(?:${ASK})\\b(?:(?!\\b(?:${ASK}|but|instead|except)\\b)[^.;:!?)\\n])*`,
  "giu",
);

/** The fields of a form that seem to ask for a password or another secret; all its texts if only the message does. */
export function secretFields(message: string, fields: readonly FormField[]): FormField[] {
  const typed = fields.filter(({ kind }) => kind === "text" || kind === "number");
  const secret = typed.filter((field) => fieldWord(field) !== undefined);
  return secret.length === 0 && askedIn(message) !== undefined ? typed : secret;
}

/** The word because of which a field of `secretFields` seems to ask for a secret. */
export function secretWord(message: string, field: FormField): string | undefined {
  return fieldWord(field) ?? askedIn(message);
}

function fieldWord({ name, title, description = "", schema }: FormField): string | undefined {
  if (schema["format"] === "password") return "password";
  return SECRET.exec(words(name))?.[0] ?? SECRET.exec(title)?.[0] ?? askedIn(description);
}

function askedIn(text: string): string | undefined {
  return SECRET.exec(text.replaceAll(FORBIDDEN, ""))?.[0];
}

/** `userPassword` and `api.key` as words. */
function words(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll(/[._-]+/g, " ");
}
