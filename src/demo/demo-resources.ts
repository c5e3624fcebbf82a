import { oneOf } from "../server/plain/completion.ts";
import type { ResourceFeature, TemplateFeature } from "../server/plain/features.ts";

const COLOURS: Record<string, string> = { amber: "#ffbf00", coral: "#ff7f50", indigo: "#4b0082", teal: "#008080" };

const WELCOME = `# Welcome

This server exists to be connected to. It speaks every revision of the Model Context Protocol,
and shows one small thing of each kind: tools, resources, a template, a prompt.
`;

/** A teal square of one pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkaGj4DwADhQIBzL6tlwAAAABJRU5ErkJggg==";

export function demoResources(): ResourceFeature[] {
  return [
    {
      resource: {
        uri: "demo://welcome",
        name: "welcome",
        title: "Welcome",
        description: "What this server is for.",
        mimeType: "text/markdown",
        annotations: { audience: ["user", "assistant"], priority: 0.9 },
      },
      read: () => [{ uri: "demo://welcome", mimeType: "text/markdown", text: WELCOME }],
    },
    {
      resource: {
        uri: "demo://pixel",
        name: "pixel",
        title: "A pixel",
        description: "A tiny image.",
        mimeType: "image/png",
      },
      read: () => [{ uri: "demo://pixel", mimeType: "image/png", blob: PIXEL }],
    },
  ];
}

export function demoTemplates(): TemplateFeature[] {
  return [
    {
      template: {
        uriTemplate: "demo://colours/{name}",
        name: "colour",
        title: "A colour",
        description: `The hexadecimal value of a colour: ${Object.keys(COLOURS).join(", ")}.`,
        mimeType: "application/json",
      },
      read(uri, { name = "" }) {
        const hex = Object.hasOwn(COLOURS, name) ? COLOURS[name] : undefined;
        return hex === undefined
          ? undefined
          : [{ uri, mimeType: "application/json", text: JSON.stringify({ name, hex }) }];
      },
      complete: { name: oneOf(...Object.keys(COLOURS)) },
    },
  ];
}
