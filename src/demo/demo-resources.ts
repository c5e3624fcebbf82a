import { oneOf } from "../server/features/completion.ts";
import type { McpServer } from "../server/features/mcp-server.ts";

const COLOURS: Record<string, string> = { amber: "#ffbf00", coral: "#ff7f50", indigo: "#4b0082", teal: "#008080" };

const WELCOME = `# Welcome

This server exists to be connected to. It speaks every revision of the Model Context Protocol,
and shows one small thing of each kind: tools, resources, a template, a prompt.
`;

/** A teal square of one pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkaGj4DwADhQIBzL6tlwAAAABJRU5ErkJggg==";

export function addDemoResources(server: McpServer): void {
  server.resource(
    {
      uri: "demo://welcome",
      name: "welcome",
      title: "Welcome",
      description: "What this server is for.",
      mimeType: "text/markdown",
      annotations: { audience: ["user", "assistant"], priority: 0.9 },
    },
    () => WELCOME,
  );
  server.resource(
    { uri: "demo://pixel", name: "pixel", title: "A pixel", description: "A tiny image.", mimeType: "image/png" },
    (uri) => [{ uri, mimeType: "image/png", blob: PIXEL }],
  );
  server.template(
    {
      uriTemplate: "demo://colours/{name}",
      name: "colour",
      title: "A colour",
      description: `The hexadecimal value of a colour: ${Object.keys(COLOURS).join(", ")}.`,
      mimeType: "application/json",
    },
    (_uri, { name = "" }) => {
      const hex = Object.hasOwn(COLOURS, name) ? COLOURS[name] : undefined;
      return hex === undefined ? undefined : JSON.stringify({ name, hex });
    },
    { complete: { name: oneOf(...Object.keys(COLOURS)) } },
  );
}
