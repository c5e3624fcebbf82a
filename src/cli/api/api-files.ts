import { TOOL_FILES } from "../../operations/tool-files.ts";
import { visible } from "../../text/visible.ts";
import { SERVED } from "../command/command.ts";
import { factLines } from "../output/facts.ts";
import type { Output, Style } from "../output/output.ts";
import { showTable } from "../output/table.ts";
import { tenantCommand } from "../store/operated-command.ts";

/** nexus api files hotel */
export const apiFiles = tenantCommand({
  usage: "nexus api files [server]",
  description: `
Lists the tool files that configured servers are made of, and whether each is approved: only what is approved is served. With a
server: its addresses, secrets, documents, tools and approvals. With --gateway, those of the servers of a gateway.`,
  options: SERVED,
  examples: [
    ["nexus api files", "one file per line, with its state"],
    ["nexus api files hotel", "what this file reaches and needs, and who approved it"],
    ["nexus api files --gateway https://gateway.example", "at this gateway, with the key of an operator in NEXUS_KEY"],
    ["nexus api files --json", `{"items":[{"server":"hotel","file":"hotel.nexus.yaml","state":"approved",…}]}`],
  ],

  async does({ client, tenant }, { words: [server] }) {
    if (server !== undefined) return client.call(TOOL_FILES.getToolFile, { tenant, id: server });
    return { items: await client.list(TOOL_FILES.listToolFiles, { tenant }) };
  },
  tell(found, { out }) {
    if (!("items" in found)) return linesOf(out, found).forEach((line) => out.line(line));
    showTable(out, found.items.map(rowOf), "No server is made of a tool file. Add one: nexus mcp add NAME --api FILE");
    for (const { server, problem } of found.items) if (problem !== null) out.note(visible(`${server}: ${problem}`));
  },
});

type Details = NonNullable<(typeof TOOL_FILES.getToolFile)["output"]>["type"];

const STYLES: Readonly<Record<Details["state"], Style>> = {
  approved: "green",
  changed: "yellow",
  "not approved": "yellow",
  invalid: "red",
};

function rowOf({
  server,
  file,
  state,
  version,
  upstream,
}: Pick<Details, "server" | "file" | "state" | "version" | "upstream">) {
  return [
    server,
    visible(file),
    { text: state, style: STYLES[state] },
    visible(version ?? "-"),
    visible(upstream ?? "-"),
  ];
}

function linesOf(out: Output, file: Details): string[] {
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
