import type { ToolFileDetails, ToolFileView } from "../../operations/tool-files.ts";
import { TOOL_FILES } from "../../operations/tool-files.ts";
import { visible } from "../../text/visible.ts";
import { defineCommand, SERVED } from "../command/command.ts";
import { factLines } from "../output/facts.ts";
import type { Output, Style } from "../output/output.ts";
import { tableLines } from "../output/table.ts";
import { openTenant } from "../store/open-operations.ts";

/** nexus api files hotel */
export const apiFiles = defineCommand({
  usage: "nexus api files [server]",
  description: `
Lists the tool files that configured servers are made of, and whether each is approved: only what is approved is served. With a
server: its addresses, secrets, documents, tools and approvals. With --gateway, those of the servers of a gateway.`,
  words: { min: 0, max: 1 },
  options: SERVED,
  examples: [
    ["nexus api files", "one file per line, with its state"],
    ["nexus api files hotel", "what this file reaches and needs, and who approved it"],
    ["nexus api files --gateway https://gateway.example", "at this gateway, with the key of an operator in NEXUS_KEY"],
    ["nexus api files --json", `{"items":[{"server":"hotel","file":"hotel.nexus.yaml","state":"approved",…}]}`],
  ],

  async run(context) {
    const { out, words } = context;
    const [server] = words;
    await using opened = await openTenant(context);
    const { client, tenant } = opened;
    if (server !== undefined) {
      const file = await client.call(TOOL_FILES.getToolFile, { tenant, id: server });
      if (out.json) return out.value(file);
      for (const line of linesOf(out, file)) out.line(line);
      return;
    }
    const items = await client.list(TOOL_FILES.listToolFiles, { tenant });
    if (out.json) return out.value({ items });
    for (const line of tableLines(out, items.map(rowOf))) out.line(line);
    for (const { server: id, problem } of items) if (problem !== null) out.note(visible(`${id}: ${problem}`));
    if (items.length === 0) out.note("No server is made of a tool file. Add one: nexus mcp add NAME --api FILE");
  },
});

const STYLES: Readonly<Record<ToolFileView["state"], Style>> = {
  approved: "green",
  changed: "yellow",
  "not approved": "yellow",
  invalid: "red",
};

function rowOf({ server, file, state, version, upstream }: ToolFileView) {
  return [
    { text: server },
    { text: visible(file) },
    { text: state, style: STYLES[state] },
    { text: visible(version ?? "-") },
    { text: visible(upstream ?? "-") },
  ];
}

function linesOf(out: Output, file: ToolFileDetails): string[] {
  const { title, state, problem, version, hash, upstream, reaches, secrets, documents, definitions, approvals } = file;
  return factLines(out, `${file.server}: ${file.file}${title === null ? "" : `, ${title}`}`, [
    ["state", [state, ...(problem === null ? [] : [problem])]],
    ["version", version === null ? [] : [version]],
    ["hash", hash === null ? [] : [hash]],
    ["calls", upstream === null ? [] : [upstream === "fake" ? "the fake of its file" : upstream]],
    ["reaches", reaches],
    ["secrets", secrets],
    ["documents", documents.map((each) => each.file)],
    ["tools", definitions.map(({ name }) => String(name))],
    ["approvals", approvals.map(({ by, at, hash: approved }) => `by ${by} at ${at}: ${approved}`)],
  ]);
}
