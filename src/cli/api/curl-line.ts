import type { ExampleRequest } from "../../workshop/fake/example-request.ts";

/** A line that works as it stands, in the shell of the platform. */
export function curlLine({ method, url, headers, body }: ExampleRequest, platform: NodeJS.Platform): string {
  const quoted = (text: string) =>
    platform === "win32" ? forCmd(text) : `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const words = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  // One line, whatever the document; between elements a blank means as much as a line break.
  const sent = body === undefined ? [] : [`-d ${quoted(body.replaceAll("\n", " "))}`];
  return ["curl -s", `-X ${method}`, quoted(url), ...words, ...sent].join(" ");
}

function forCmd(text: string): string {
  return `"${text.replaceAll('"', String.raw`\"`).replaceAll("%", "%%")}"`;
}
