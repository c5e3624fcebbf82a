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
  [{ integer: { type: "integer", title: "Integer", description: INTEGER } }, []],
  [{ note: { type: "string", description: "Don't enter a password here." } }, []],
  [{ secret: { type: "boolean" } }, []],
])("names and titles count, descriptions where they ask for it, with the word: %j (R8)", (properties, found) => {
  expect(asked("Please fill this in", properties)).toEqual(found);
});

test("a message that asks for a secret makes all typed fields suspicious, one that warns does not (R8)", () => {
  const fields = { a: { type: "string" }, b: { type: "boolean" } };
  expect(asked("We need your password", fields)).toEqual(["a: password"]);
  expect(asked("Do not enter your password.", fields)).toEqual([]);
});
