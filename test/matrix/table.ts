import {
  allCombinations,
  CLIENTS,
  type Combination,
  ENDPOINTS,
  FEATURES,
  impossible,
  unreachable,
  UPSTREAMS,
} from "./definition.ts";

/** The page docs/compatibility.md: what the matrix proves, cell by cell. */
export function compatibilityPage(): string {
  const reasons = new Reasons();
  const reach = tableOf(["client", ...ENDPOINTS.map(code)], CLIENTS, (client) => {
    return [client.name, ...ENDPOINTS.map((endpoint) => reasons.cell(unreachable(client, endpoint)))];
  });
  const sections = [...new Set(UPSTREAMS.map(({ revision }) => revision))].flatMap((revision) => {
    const upstreams = UPSTREAMS.filter((upstream) => upstream.revision === revision);
    const table = tableOf(["", ...CLIENTS.map(({ name }) => name)], FEATURES, (feature) => [
      feature,
      ...CLIENTS.map((client) => {
        const cells = upstreams.map((upstream) => impossible({ client, upstream, endpoint: "--stdio" }, feature));
        return reasons.cell(cells[0]);
      }),
    ]);
    const names = upstreams.map(({ name }) => name).join(", ");
    return [`## Servers of ${revision} (${names})`, "", ...table, ""];
  });
  return [
    "# Compatibility of the gateway",
    "",
    "Written by `npm run matrix`, which tries every cell below with real clients and a real server, and counts it only when the",
    "server's own transcript shows that it happened. Clients are bare messages of each revision, the official TypeScript SDK's",
    "clients, and ours.",
    "",
    `${countCells()} cells: every client, on every endpoint it can use, with every kind of server behind, for every feature.`,
    "At `/search/mcp` tools are called with `call_tool`; its list stays the same when tools of servers change.",
    "",
    "## Clients and endpoints",
    "",
    ...reach,
    "",
    ...sections,
    "## Why not",
    "",
    ...reasons.lines(),
    "",
    ...RUNTIMES,
    "",
  ].join("\n");
}

/** What `test/runtimes` tries. */
const RUNTIMES = [
  "## Runtimes",
  "",
  "CI runs the same program (`node test/runtimes/run.mjs`) in each of these, on Linux, and the client for browsers in a Chromium:",
  "",
  "|                                                             | Node 20, 24 | Bun 1.4   | Deno 2.9  | browser |",
  "| ----------------------------------------------------------- | ----------- | --------- | --------- | ------- |",
  "| `nexus-mcp/client` over HTTP and HTTP+SSE, both eras        | yes         | yes       | yes       | yes     |",
  "| its OAuth                                                   | not tried   | not tried | not tried | yes     |",
  "| `nexus-mcp`: client over stdio and HTTP, own certificates   | yes         | yes       | yes       | –       |",
  "| host with stdio and HTTP servers, ending of their processes | yes         | yes       | yes       | –       |",
  "| a server over HTTP and stdio                                | yes         | yes       | yes       | –       |",
  "| command line                                                | yes         | yes       | yes       | –       |",
  "| workshop: import of a manual, calls of a fake               | yes         | yes       | yes       | –       |",
  "| gateway with API keys and audit in SQLite                   | yes         | yes       | yes       | –       |",
  "",
  "`nexus-mcp` imports modules of Node and needs a runtime that has them; `nexus-mcp/client` does not, so it is what a page can use.",
  "Deno runs all of it with `--allow-all`. PostgreSQL, the chat, the keychain, Windows and macOS are tried on Node alone, and the",
  "numbers in the documents are those of Node.",
];

function countCells(): number {
  const possible = (combination: Combination) => FEATURES.filter((feature) => !impossible(combination, feature)).length;
  return allCombinations().reduce((sum, combination) => sum + possible(combination), 0);
}

function tableOf<T>(headings: string[], items: readonly T[], row: (item: T) => string[]): string[] {
  const rows = [headings, ...items.map(row)];
  const widths = headings.map((_, column) => Math.max(3, ...rows.map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  return [line(headings), line(widths.map((width) => "-".repeat(width))), ...rows.slice(1).map(line)];
}

function code(text: string): string {
  return `\`${text}\``;
}

/** Reasons by number, in the order they are met. */
class Reasons {
  readonly #met: string[] = [];

  cell(reason: string | undefined): string {
    if (reason === undefined) return "yes";
    if (!this.#met.includes(reason)) this.#met.push(reason);
    return `– (${this.#met.indexOf(reason) + 1})`;
  }

  lines(): string[] {
    return this.#met.map((reason, index) => `${index + 1}. ${reason[0]?.toUpperCase() ?? ""}${reason.slice(1)}.`);
  }
}
