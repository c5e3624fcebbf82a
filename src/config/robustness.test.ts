import fc from "fast-check";
import { expect, test } from "vitest";
import { NexusError } from "../errors/nexus-error.ts";
import { findServers } from "./read/find-servers.ts";
import { defineServers } from "./load.ts";
import { parseSource } from "./read/read-source.ts";
import { examples } from "../../test/fixtures/depth.ts";

const PIECES = [
  "{",
  "}",
  "[",
  "]",
  ":",
  ",",
  '"',
  "'",
  "\n",
  " ",
  "\t",
  "- ",
  "#",
  "=",
  "&a",
  "*a",
  "<<: ",
  "mcpServers",
  "mcp",
  "servers",
  "null",
  "1",
  "|",
  "%",
];
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((parts) => parts.join("")),
);

test.for(["a.json", "a.yaml", "a.toml"])(
  "P0: whatever stands in %s, it is read or refused with a place",
  async (file) => {
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        try {
          findServers(await parseSource(content, file), file);
        } catch (error) {
          expect(error).toBeInstanceOf(NexusError);
          expect((error as NexusError).details.source?.file).toBe(file);
        }
      }),
      { numRuns: examples(500) },
    );
  },
);

test("P0: any entry becomes a definition or its own problem", async () => {
  const keys = [
    "command",
    "args",
    "url",
    "env",
    "headers",
    "tools",
    "roots",
    "cwd",
    "enabled",
    "timeout",
    "type",
    "name",
    "bearer_token_env_var",
    "env_http_headers",
  ];
  const unprintable = fc.constant({ toString: [] });
  const entry = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(fc.constantFrom(...keys), fc.oneof(fc.jsonValue(), unprintable, fc.record({ name: unprintable }))),
  );
  const surroundings = { cwd: "/c", home: "/h", platform: "linux", variables: {} } as const;
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 3 }), async (entries) => {
      const named = entries.map((value, index) => [`s${index}`, value] as const);
      const servers = await defineServers({ ...Object.fromEntries(named), good: { command: "x" } }, surroundings);
      expect(servers).toHaveLength(entries.length + 1);
      expect(servers.at(-1)?.entry?.id).toBe("good");
      for (const { entry, problem } of servers) expect([entry, problem].filter(Boolean)).toHaveLength(1);
      for (const { problem } of servers) expect(problem?.code).not.toBe("INTERNAL");
    }),
    { numRuns: examples(500) },
  );
});
