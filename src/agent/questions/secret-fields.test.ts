import { expect, test } from "vitest";
import { formFields } from "./form-field.ts";
import { secretFields, secretWord } from "./secret-fields.ts";

function asked(message: string, properties: Record<string, object>): string[] {
  const fields = formFields({ type: "object", properties });
  return secretFields(message, fields).map((field) => `${field.name}: ${secretWord(message, field)}`);
}

const INTEGER = "Your favorite integer (do not give us your phone number, pin, or other sensitive info)";

test.each([
  [{ userPassword: { type: "string" } }, ["userPassword: Password"]],
  [{ code: { type: "string", title: "API key" } }, ["code: API key"]],
  [{ code: { type: "string", description: "Enter the PIN of your card." } }, ["code: PIN"]],
  [{ code: { type: "string", description: "Never share it: enter your password" } }, ["code: password"]],
  [{ code: { type: "string", description: "Do not give us a name but your password" } }, ["code: password"]],
  [{ code: { type: "string", format: "password" } }, ["code: password"]],
  [
    { code: { type: "string", description: "Never use an old one and fill in your password here" } },
    ["code: password"],
  ],
  // Nothing shows whether a description means what it says.
  [{ integer: { type: "integer", title: "Integer", description: INTEGER } }, ["integer: pin"]],
  [{ note: { type: "string", description: "The name of a town." } }, []],
  [{ secret: { type: "boolean" } }, []],
])("names, titles and descriptions of fields count, with the word: %j (R8)", (properties, found) => {
  expect(asked("Please fill this in", properties)).toEqual(found);
});

test("a message that asks for a secret makes all typed fields suspicious, one that warns does not (R8)", () => {
  const fields = { a: { type: "string" }, b: { type: "boolean" } };
  expect(asked("We need your password", fields)).toEqual(["a: password"]);
  expect(asked("Do not enter your password.", fields)).toEqual([]);
  expect(asked("Never use an old one and fill in your password here", fields)).toEqual(["a: password"]);
  expect(asked("Do not use an old one, the new password is better", fields)).toEqual(["a: password"]);
});

test.each([
  ["Cyrillic letters", "P\u0430ssw\u043erd"],
  ["Greek letters", "Passw\u03bfrd"],
  ["full-width letters", "\uff30\uff41\uff53\uff53\uff57\uff4f\uff52\uff44"],
  ["a zero-width space", "Pass\u200bword"],
  ["a soft hyphen", "Pas\u00adsword"],
  ["an invisible letter of Hangul", "Pass\u3164word"],
  ["mathematical letters", "\u{1d40f}assword"],
  ["accents", "P\u00e1s\u0323sword"],
])("a secret that is written with %s is found in names, titles, descriptions and messages (R8)", (_what, word) => {
  const text = { type: "string" };
  expect(asked("Hi", { [word]: text })).toEqual([`${word}: Password`]);
  expect(asked("Hi", { a: { ...text, title: word } })).toEqual(["a: Password"]);
  expect(asked("Hi", { a: { ...text, description: `Your ${word}` } })).toEqual(["a: Password"]);
  expect(asked(`We need your ${word}`, { a: text })).toEqual(["a: Password"]);
});
