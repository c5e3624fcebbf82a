import { expect, test } from "vitest";
import { capabilityNames } from "./capability-names.ts";

test.each([
  [{ elicitation: {} }, "elicitation"],
  [{ elicitation: { url: {} }, sampling: {} }, "elicitation.url, sampling"],
  [{ extensions: { "example.org/x": {} } }, "extensions.example.org/x"],
  [{}, ""],
  [undefined, ""],
])("the capabilities %j are called %j in messages", (capabilities, names) => {
  expect(capabilityNames(capabilities)).toBe(names);
});
