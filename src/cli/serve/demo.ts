import { fileURLToPath } from "node:url";
import { connect } from "../../index.ts";
import type { Tool } from "../../protocol/mcp.ts";
import { defineCommand } from "../command/command.ts";
import type { Output } from "../output/output.ts";

/** nexus demo */
export const demo = defineCommand({
  usage: "nexus demo",
  description: `The demo server is a child process that supports every revision of MCP over stdio. This command connects to it with the
library's connect(), lists its features, calls a tool, and stops it.`,
  options: {},
  examples: [
    ["nexus demo", "connect, list, call a tool"],
    ["nexus demo --json", "the same as JSON, with everything as the server sent it"],
  ],

  async run({ out, signal }) {
    const server = fileURLToPath(new URL("../demo/main.js", import.meta.url));
    await using client = await connect({ id: "demo", command: process.execPath, args: [server] }, { signal });
    const [tools, resources, templates, prompts] = await Promise.all([
      client.listTools({ signal }),
      client.listResources({ signal }),
      client.listResourceTemplates({ signal }),
      client.listPrompts({ signal }),
    ]);
    const greeting = await client.callTool("echo", { text: "Hello from Nexus" }, { signal });

    if (out.json) {
      const { era, protocolVersion, serverInfo } = client;
      return out.value({ serverInfo, era, protocolVersion, tools, resources, templates, prompts, greeting });
    }
    out.line(
      `Connected to ${client.serverInfo?.name ?? "the demo server"}: revision ${client.protocolVersion} (${client.era})`,
    );
    section(
      out,
      "Tools",
      tools.map((tool) => [signature(tool), tool.description]),
    );
    section(
      out,
      "Resources",
      resources.map((resource) => [resource.uri, resource.description ?? resource.name]),
    );
    section(
      out,
      "Resource templates",
      templates.map((template) => [template.uriTemplate, template.description ?? template.name]),
    );
    section(
      out,
      "Prompts",
      prompts.map((prompt) => [prompt.name, prompt.description]),
    );
    out.line(`\necho(text: "Hello from Nexus") answers: ${greeting.content.map(({ text }) => text ?? "").join(" ")}`);
    out.advice(
      `\nNext, try your own server: nexus mcp connect --stdio "COMMAND …", or the library's connect() (docs/guide/client.md).`,
    );
  },
});

function section(out: Output, title: string, rows: [string, string | undefined][]): void {
  if (rows.length === 0) return;
  out.line(`\n${title}`);
  for (const [name, text] of rows) out.line(`  ${name}${text ? `  –  ${text.split("\n", 1)[0]}` : ""}`);
}

function signature({ name, inputSchema }: Tool): string {
  const properties = Object.keys((inputSchema["properties"] as object | undefined) ?? {});
  const required = (inputSchema["required"] as string[] | undefined) ?? [];
  return `${name}(${properties.map((property) => (required.includes(property) ? property : `${property}?`)).join(", ")})`;
}
