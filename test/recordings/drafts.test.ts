import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { drafted } from "./drafted.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MANUALS = "test/fixtures/workshop/manuals";
const DOCUMENTS = [
  "docs/guide/lending.graphql",
  "docs/guide/lending.openapi.yaml",
  "docs/guide/lending.wsdl",
  "api/capcorn/manual.md",
  ...readdirSync(join(ROOT, MANUALS))
    .filter((name) => !name.endsWith(".expected.yaml"))
    .toSorted()
    .map((name) => `${MANUALS}/${name}`),
];

test("every description and manual of the repository becomes the recorded draft", async () => {
  const lines: string[] = [];
  for (const path of DOCUMENTS) lines.push(await drafted(join(ROOT, path)));
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("../golden/drafts/repository.txt");
});
