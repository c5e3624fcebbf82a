import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { DESCRIPTION } from "../workshop/corpus/independent-reader.mjs";
import { drafted } from "./drafted.ts";

/** Documents of others, which are not in the repository. */
const CORPUS = fileURLToPath(new URL("../../../shared/corpus", import.meta.url));
const MANUAL = fileURLToPath(new URL("../../../shared/examples/capcorn/documentation.md", import.meta.url));

const found = existsSync(CORPUS) ? readdirSync(CORPUS).filter((name) => DESCRIPTION.test(name)) : [];
const paths = [...found.toSorted().map((name) => join(CORPUS, name)), ...(existsSync(MANUAL) ? [MANUAL] : [])];
const title = paths.length === 0 ? "there are none beside the repository: not tried" : `${paths.length} of them`;

test(`descriptions of others become the recorded drafts (${title})`, { timeout: 600_000 }, async () => {
  if (paths.length === 0) return;
  const lines: string[] = [];
  for (const path of paths) lines.push(await drafted(path));
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("../golden/drafts/corpus.txt");
});
