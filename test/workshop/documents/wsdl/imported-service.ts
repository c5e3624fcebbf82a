import { compileApi } from "../../../../src/workshop/compile/compile.ts";
import { loadDocument } from "../../../../src/workshop/documents/load/load-document.ts";
import { readWsdl } from "../../../../src/workshop/documents/wsdl/read-wsdl.ts";
import { draftToolFile } from "../../../../src/workshop/draft/draft-tool-file.ts";
import type { ToolFile } from "../../../../src/workshop/file/model/tool-file.ts";
import { ApiRunner } from "../../../../src/workshop/run/api-runner.ts";

export interface ImportedService {
  file: ToolFile;
  text: string;
  omitted: readonly unknown[];
  problems: readonly { message: string; severity: string }[];
  /** Names of tools by those of their operations. */
  tools: Map<string, string>;
  /** Its tools; secrets are `secret of <name>`, or those of the fake. */
  runner: (upstream: string, secrets?: Readonly<Record<string, string>>) => ApiRunner;
}

/** What an import makes of a description. */
export async function importedService(path: string): Promise<ImportedService> {
  const document = await loadDocument(path);
  const draft = draftToolFile(readWsdl(document), {
    api: "soap",
    documents: { [document.name]: { file: "service.wsdl", sha256: document.sha256 } },
  });
  if (!draft.file) throw new Error(`The draft cannot be read: ${JSON.stringify(draft.problems)}`);
  const { api } = compileApi(draft.file, { [document.name]: document.text });
  const tools = new Map(draft.tools.map(({ name, operation }) => [operation.replace(/^.*#/, ""), name]));
  return {
    file: draft.file,
    text: draft.text,
    omitted: draft.omitted,
    problems: draft.problems,
    tools,
    runner: (upstream, secrets) =>
      new ApiRunner(api, {
        upstream,
        secrets: async (name) => {
          const own = name.replace(/^soap\./, "");
          return secrets ? secrets[own] : `secret of ${own}`;
        },
      }),
  };
}
