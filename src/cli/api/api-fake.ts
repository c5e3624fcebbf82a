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
An upstream made of the tool file, on this machine: it takes placeholder credentials, checks requests as strictly as the file
does, and answers from the file's tables, or with something made up. POST /__fake {"fail": {"status": 503}, "times": 1},
as application/json, lets it fail while it runs; GET /__fake tells which requests came. Ctrl-C ends it.`,
  words: { min: 1, max: 1 },
  options: {
    port: { type: "string", value: "N", help: "where to listen; any free port unless given" },
    fail: {
      type: "string",
      value: "HOW",
      help: "how every request fails: status=503, delay=2s, cut, broken, or off-schema",
    },
  },
  examples: [
    ["nexus api fake capcorn --port 9999", "something to try the hotel's tools with"],
    ["nexus api fake capcorn --fail status=503", "a hotel system out of reach"],
    ["nexus api fake ./shop.nexus.yaml --fail delay=2s", "answers that take their time"],
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
    if (!signal.aborted) {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    }
  },
});

type Faked = { file: ToolFile; path: string };

function tellWhere(fake: Fake, { file, path }: Faked, out: Output, platform: NodeJS.Platform): void {
  const { url, port, secrets } = fake;
  const example = exampleRequest(file, url, secrets);
  if (out.json) return out.value({ url, port, secrets, example });
  out.line(`listening on ${url}`);
  out.line("");
  out.line("For an entry of the configuration");
  out.line(visible(`  ${JSON.stringify({ [file.api]: { api: path, upstream: url, settings: settingsOf(file) } })}`));
  out.line("");
  out.line(Object.keys(secrets).length === 0 ? "It takes no credentials." : "Placeholder credentials");
  for (const [name, value] of Object.entries(secrets)) out.line(visible(`  ${file.api}.${name} = ${value}`));
  if (example) {
    out.line("");
    out.line(`To try it (${example.tool})`);
    out.line(`  ${visible(curlLine(example, platform))}`);
  }
  out.line("");
  out.line("Ctrl-C ends it.");
}

/** An entry without them is refused, where the file declares any. */
function settingsOf(file: ToolFile): Record<string, string> | undefined {
  const settings = exampleSettings(file);
  return Object.keys(settings).length === 0 ? undefined : settings;
}

function portOf(given: string | undefined): number {
  const port = Number(given ?? 0);
  if (given === undefined || (/^\d+$/.test(given) && port <= 65_535)) return port;
  throw wrongUsage(`--port ${given} is no port`, "Write a number from 0 to 65535; 0 takes any that is free.");
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
  throw wrongUsage(`--fail ${given} is no way to fail`, "Write status=503, delay=2s, cut, broken or off-schema.");
}

/** A line that works without changes in the shell of the platform. */
function curlLine({ method, url, headers, body }: ExampleRequest, platform: NodeJS.Platform): string {
  const quote = platform === "win32" ? quoteForCmd : quoteForPosix;
  const words = Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  // One line, whatever the document; between elements a space means as much as a line break.
  const sent = body === undefined ? [] : [`-d ${quote(body.replaceAll("\n", " "))}`];
  return ["curl -s", `-X ${method}`, quote(url), ...words, ...sent].join(" ");
}
