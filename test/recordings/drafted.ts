import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { sha256 } from "../../src/text/digest.ts";
import { loadDocument } from "../../src/workshop/documents/load/load-document.ts";
import { draftToolFile } from "../../src/workshop/draft/draft-tool-file.ts";
import { apiIdFrom } from "../../src/workshop/draft/import-documents.ts";
import { factsOf } from "../../src/workshop/draft/read-document.ts";
import { compileApi } from "../../src/workshop/index.ts";

/** With NEXUS_DRAFTS=FOLDER, the drafts are also written there: two versions are then compared with diff. */
const KEPT = process.env["NEXUS_DRAFTS"];

/** What `nexus api import` makes of a document, in one line: how much, the digest of the text, and what it compiles to. */
export async function drafted(path: string): Promise<string> {
  const name = basename(path);
  const document = { ...(await loadDocument(path)), name: "document" };
  const facts = await factsOf(document);
  const { text, file, tools, omitted, questions, problems } = draftToolFile(facts, {
    api: apiIdFrom(facts.title, name),
    documents: { document: { file: name, sha256: document.sha256 } },
  });
  if (KEPT !== undefined) {
    mkdirSync(KEPT, { recursive: true });
    writeFileSync(join(KEPT, `${name}.nexus.yaml`), text);
  }
  const listed = tools.filter(({ offer }) => offer === "list").length;
  const counts = [
    `${tools.length} tools (${listed} listed)`,
    `${omitted.length} left out`,
    `${questions.length} questions`,
    `${problems.length} problems`,
  ];
  const hash = file ? compileApi(file, { document: document.text }).api.hash : "it cannot be read";
  return `${name}: ${counts.join(", ")}; text ${sha256(text).slice(0, 32)}; ${hash}`;
}
