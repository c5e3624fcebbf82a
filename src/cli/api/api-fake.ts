import { untilAborted } from "../../async/unless-aborted.ts";
import { parseDuration } from "../../text/duration.ts";
import { quoteForCmd, quoteForPosix } from "../../text/shell-words.ts";
import { visible } from "../../text/visible.ts";
import { startFake, type Fake } from "../../workshop/fake/fake.ts";
import { exampleRequest, type ExampleRequest } from "../../workshop/fake/example-request.ts";
import type { FakeFailure, ToolFile } from "../../workshop/file/model/tool-file.ts";
import { exampleSettings } from "../../workshop/run/setting-values.ts";
import { loadSound } from "./loaded.ts";
import { wrongUsage } from "../command/command-line.ts";
import { defineCommand } from "../command/command.ts";
import type { Output } from "../output/output.ts";

/** nexus api fake capcorn --port 9999 */
export const apiFake = defineCommand({
  usage: "nexus api fake <api> [--port N] [--fail HOW]",
  description: `
Starts a fake of the API on this machine, generated from the tool file. It accepts placeholder credentials, checks requests
as strictly as the file does, and answers from the file's tables or with generated values. To make it fail while it runs:
POST /__fake {"fail": {"status": 503}, "times": 1} as application/json. GET /__fake lists the received requests. Ctrl-C stops it.`,
  options: {
    port: { type: "string", value: "N", help: "port to listen on; default: any free port" },
    fail: {
      type: "string",
      value: "HOW",
      help: "make every request fail: status=503, delay=2s, cut, broken or off-schema",
    },
  },
  examples: [
    ["nexus api fake capcorn --port 9999", "a fake to try the hotel's tools with"],
    ["nexus api fake capcorn --fail status=503", "simulate an unavailable hotel system"],
    ["nexus api fake ./shop.nexus.yaml --fail delay=2s", "simulate slow answers"],
  ],
  endsOnSignal: true,

  async run({ words: [given = ""], options, out, signal, surroundings }) {
    const failure = options.fail === undefined ? undefined : failureOf(options.fail);
    const port = portOf(options.port);
    const { file, path } = await loadSound(given, out, surroundings.home);
    if (!file) return;
    await using fake = await startFake(file, { port });
    if (failure) fake.fail(failure, Infinity);
    tellWhere(fake, { file, path }, out, surroundings.platform);
    await untilAborted(signal);
  },
});

type Faked = { file: ToolFile; path: string };

function tellWhere(fake: Fake, { file, path }: Faked, out: Output, platform: NodeJS.Platform): void {
  const { url, port, secrets } = fake;
  const example = exampleRequest(file, url, secrets);
  if (out.json) return out.value({ url, port, secrets, example });
  out.line(`listening on ${url}`);
  out.line("");
  out.line("Configuration entry");
  out.line(visible(`  ${JSON.stringify({ [file.api]: { api: path, upstream: url, settings: settingsOf(file) } })}`));
  out.line("");
  out.line(Object.keys(secrets).length === 0 ? "No credentials are needed." : "Placeholder credentials");
  for (const [name, value] of Object.entries(secrets)) out.line(visible(`  ${file.api}.${name} = ${value}`));
  if (example) {
    out.line("");
    out.line(`Example request (${example.tool})`);
    out.line(`  ${visible(curlLine(example, platform))}`);
  }
  out.line("");
  out.line("Press Ctrl-C to stop.");
}

/** Required in the entry if the file declares any. */
function settingsOf(file: ToolFile): Record<string, string> | undefined {
  const settings = exampleSettings(file);
  return Object.keys(settings).length === 0 ? undefined : settings;
}

function portOf(given: string | undefined): number {
  const port = Number(given ?? 0);
  if (given === undefined || (/^\d+$/.test(given) && port <= 65_535)) return port;
  throw wrongUsage(`--port "${given}" is not a port number`, "Use a number from 0 to 65535; 0 selects any free port.");
}

/** `--fail status=503`, `delay=2s`, `cut`, `broken`, `off-schema`. */
function failureOf(given: string): FakeFailure {
  const [kind = "", value = ""] = given.split("=", 2);
  const status = Number(value);
  const delayMs = parseDuration(value);
  if (kind === "status" && /^[2-5]\d\d$/.test(value)) return { status };
  if (kind === "delay" && delayMs !== undefined) return { delayMs };
  if (given === "cut") return { cut: true };
  if (given === "broken") return { broken: true };
  if (given === "off-schema") return { offSchema: true };
  throw wrongUsage(
    `--fail "${given}" is not a kind of failure`,
    "Use status=503, delay=2s, cut, broken or off-schema.",
  );
}

/** A line that works unchanged in the shell of the platform. */
function curlLine({ method, url, headers, body }: ExampleRequest, platform: NodeJS.Platform): string {
  const quote = platform === "win32" ? quoteForCmd : quoteForPosix;
  const words = Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  // One line for any document; between elements a space means the same as a line break.
  const sent = body === undefined ? [] : [`-d ${quote(body.replaceAll("\n", " "))}`];
  return ["curl -s", `-X ${method}`, quote(url), ...words, ...sent].join(" ");
}
