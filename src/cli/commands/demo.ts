import { fileURLToPath } from "node:url";
import { connect } from "../../index.ts";
import type { Tool } from "../../protocol/mcp.ts";
import type { Command } from "../command.ts";
import { printLine } from "../output.ts";

const HELP = `nexus demo – connect to the bundled demo server and show what it offers

Usage: nexus demo [--json]

The demo server is a child process that speaks every revision of MCP over stdio. This command connects to it the way
any program can with connect() of the library, lists what it has, calls a tool, and ends it again.
`;

/** nexus demo */
export const demo: Command = {
  help: HELP,

  async run({ json, signal }) {
    const server = fileURLToPath(new URL("../demo/main.js", import.meta.url));
    await using client = await connect({ id: "demo", command: process.execPath, args: [server] }, { signal });
    const [tools, resources, templates, prompts] = await Promise.all([
      client.listTools({ signal }),
      client.listResources({ signal }),
      client.listResourceTemplates({ signal }),
      client.listPrompts({ signal }),
    ]);
    const greeting = await client.callTool("echo", { text: "Hello from Nexus" }, { signal });

    if (json) {
      const { era, protocolVersion, serverInfo } = client;
      return printLine(
        JSON.stringify({ serverInfo, era, protocolVersion, tools, resources, templates, prompts, greeting }),
      );
    }
    printLine(
      `Connected to ${client.serverInfo?.name ?? "the demo server"}: revision ${client.protocolVersion} (${client.era})`,
    );
    section(
      "Tools",
      tools.map((tool) => [signature(tool), tool.description]),
    );
    section(
      "Resources",
      resources.map((resource) => [resource.uri, resource.description ?? resource.name]),
    );
    section(
      "Resource templates",
      templates.map((template) => [template.uriTemplate, template.description ?? template.name]),
    );
    section(
      "Prompts",
      prompts.map((prompt) => [prompt.name, prompt.description]),
    );
    printLine(`\necho(text: "Hello from Nexus") answers: ${greeting.content.map(({ text }) => text ?? "").join(" ")}`);
    printLine(
      `\nNext: import { connect } from "nexus-mcp" and give it your own server; docs/guide/client.md shows how.`,
    );
  },
};

function section(title: string, rows: [string, string | undefined][]): void {
  if (rows.length === 0) return;
  printLine(`\n${title}`);
  for (const [name, text] of rows) printLine(`  ${name}${text ? `  –  ${text.split("\n", 1)[0]}` : ""}`);
}

function signature({ name, inputSchema }: Tool): string {
  const properties = Object.keys((inputSchema["properties"] as object | undefined) ?? {});
  const required = (inputSchema["required"] as string[] | undefined) ?? [];
  return `${name}(${properties.map((property) => (required.includes(property) ? property : `${property}?`)).join(", ")})`;
}
