import { isSecretName } from "../../masking/secret-names.ts";
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

/** Letters of other alphabets that look like Latin ones. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  [
    [
      "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0456\u0458\u0455\u0501\u04bb\u051b\u051d\u043a\u0475\u0433\u043f\u0442\u043c\u0432\u043d\u04cf\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0423\u0406\u0408\u0405\u0500\u051c\u04c0",
      "aeopcxyijsdhqwkvrntmbhlABEKMHOPCTXYIJSDWI",
    ],
    [
      "\u03b1\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c3\u03c2\u03c4\u03c5\u03c7\u03b3\u03b7\u03c9\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
      "aeikvopostuxynwABEZHIKMNOPTYX",
    ],
    ["\u0131\u0251\u0261", "iag"],
  ].flatMap(([others = "", latin = ""]) => Array.from(others, (letter, at) => [letter, latin[at] ?? letter] as const)),
);

const ASK = "give|enter|type|send|share|provide|include|submit|tell|write|use|put|fill";
/** "Do not enter your password": a message that says so does not ask for it. It ends where the text may ask again. */
const FORBIDDEN = new RegExp(
  `\\b(?:do not|don['’]t|never|must not|should not)\\s+(?:${ASK})\\b(?:(?!\\b(?:${ASK}|and|but|instead|except)\\b)[^.,;:!?()–—\\n])*`,
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

/** Whatever a description says about the word: it is beside the place where a person types. */
function fieldWord({ name, title, description = "", schema }: FormField): string | undefined {
  if (schema["format"] === "password") return "password";
  const texts = [words(asRead(name)), asRead(title), asRead(description)];
  const found = texts.map((text) => SECRET.exec(text)?.[0]).find((word) => word !== undefined);
  return found ?? (isSecretName(asRead(name)) ? asRead(name) : undefined);
}

function askedIn(message: string): string | undefined {
  return SECRET.exec(asRead(message).replaceAll(FORBIDDEN, ""))?.[0];
}

/** A text as a person reads it: without what cannot be seen, and in Latin letters where it looks like them. */
function asRead(text: string): string {
  const plain = text.normalize("NFKD").replaceAll(/[\p{M}\p{DI}\p{Cf}]/gu, "");
  return Array.from(plain, (letter) => LOOKALIKES.get(letter) ?? letter).join("");
}

/** `userPassword` and `api.key` as words. */
function words(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll(/[._-]+/g, " ");
}
