import { nearestName } from "../../text/nearest-name.ts";
import { joinFirst } from "../../text/shorten.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { visible } from "../../text/visible.ts";
import type { CompiledApi } from "../../workshop/compile/compile.ts";
import { servedTool } from "../../workshop/check/served-tool.ts";
import type { StepSpec, RequestSpec, ToolFile, ToolSpec } from "../../workshop/file/model/tool-file.ts";
import { approvalText } from "./approval-text.ts";
import { loadSound, ownLock } from "./loaded.ts";
import { quotedEvidence } from "./quoted-evidence.ts";
import { neededSecrets } from "../../workshop/file/model/secret-names.ts";
import { trustFor } from "../../host/servers/load-options.ts";
import { defineCommand } from "../command/command.ts";
import { toolDetails } from "../look/tool-details.ts";
import { signatureLines, toolSignature } from "../look/tool-signature.ts";
import type { Output } from "../output/output.ts";
import { factLines, type Fact } from "../output/facts.ts";

/** nexus api show capcorn */
export const apiShow = defineCommand({
  usage: "nexus api show <api> [--tool NAME]",
  description: `
Shows the tools of a tool file as clients see them, the addresses they call, the secrets they use, and whether the file is
approved. --tool shows one tool in full, with what the documents say about it; --json prints the complete compiled file, which is what an approval covers.`,
  options: { tool: { type: "string", value: "NAME", help: "show this tool in full" } },
  examples: [
    ["nexus api show capcorn", "tools, addresses and secrets"],
    ["nexus api show capcorn --tool availability_search", "one tool with its schemas"],
  ],

  async run({ words: [given = ""], options, out, surroundings, stateFolder, flags }) {
    const loaded = await loadSound(given, out, surroundings.home);
    const { api, lock, shown, again } = loaded;
    if (options.tool !== undefined) return showTool(out, loaded, options.tool);
    if (out.json) return out.value(api);
    const { file } = api;
    for (const line of factLines(out, `${file.title} ${file.version}`, [
      ["file", [shown]],
      ["about", file.description === undefined ? [] : [file.description]],
      ["reaches", file.upstream.allow],
      ["secrets", neededSecrets(file)],
      ["settings", settingLines(file)],
      ["fake", fakeLines(file)],
      [
        "documents",
        Object.values(file.documents).map(({ file: name, title }) => (title ? `${title} (${name})` : name)),
      ],
      [
        "approval",
        [
          out.typed(
            approvalText(api, lock, {
              name: again,
              isMine:
                (await ownLock(loaded, trustFor({ surroundings, stateFolder, trust: flags.trust }))) !== undefined,
            }),
          ),
        ],
      ],
    ])) {
      out.line(line);
    }
    for (const [name, spec] of Object.entries(file.tools)) {
      out.line();
      const tool = api.tools[name];
      if (tool) for (const line of signatureLines(toolSignature(tool), out.columns)) out.line(line);
      for (const line of factLines(out, spec.title, factsOf(spec))) out.line(`  ${line}`);
    }
  },
});

function settingLines({ settings = {} }: ToolFile): string[] {
  return Object.entries(settings).map(([name, { description, default: standard }]) => {
    const value = standard === undefined ? "" : ` (default: ${JSON.stringify(standard)})`;
    return `${name}${value}${description === undefined ? "" : `: ${description}`}`;
  });
}

/** What models see instead of the real answers, where it is served with its fake. */
function fakeLines({ fake: { tools, tables } }: ToolFile): string[] {
  const given = Object.entries(tools).filter(
    ([, { answers, refused, invalid }]) => answers.length > 0 || refused || invalid,
  );
  return [
    ...(given.length === 0 ? [] : [`has answers for ${given.map(([name]) => name).join(", ")}`]),
    ...(Object.keys(tables).length === 0 ? [] : [`has the tables ${Object.keys(tables).join(", ")}`]),
  ];
}

const OFFERED = { search: "found with search_tools, not in the list", none: "only as a step of other tools" };

function factsOf(spec: ToolSpec): Fact[] {
  const { timeoutMs, retries, resultBytes } = spec.limits;
  const tries = spec.effect === "read" ? `${retries} retries` : "no retries";
  return [
    ["effect", [spec.effect]],
    ["offered", spec.offer === undefined ? [] : [OFFERED[spec.offer]]],
    spec.request ? ["request", [requestText(spec.request)]] : ["steps", stepLines(spec.steps)],
    ["limits", [`${timeoutMs / 1_000} s, ${tries}, results of ${limitText(resultBytes)}`]],
    ["checked", spec.confirm ? [`${spec.confirm.field} against a fresh ${spec.confirm.call}`] : []],
  ];
}

function requestText({ method, base = "", path, body }: RequestSpec): string {
  return `${method} ${base}${path}${body ? ` (${body})` : ""}`;
}

/** `lines: add_line, for each of input.lines (at most 50)`. */
function stepLines(steps: Readonly<Record<string, StepSpec>>): string[] {
  return Object.entries(steps).map(([name, { call, when, each, until }]) => {
    const parts = [
      ...(each ? [`for each of ${each.list} (at most ${each.max})`] : []),
      ...(until ? [`until ${until.that} (at most ${until.atMostMs / 1_000} s)`] : []),
      ...(when === undefined ? [] : [`when ${when}`]),
    ];
    return [`${name}: ${call}`, ...parts].join(", ");
  });
}

/** In the form of tool files: 16kB are 16 times 1024. */
function limitText(bytes: number): string {
  return bytes % 1024 === 0 ? `${bytes / 1024} kB` : `${bytes} bytes`;
}

function showTool(
  out: Output,
  { api, documents }: { api: CompiledApi; documents: Readonly<Record<string, string>> },
  name: string,
): void {
  const { file } = api;
  if (!Object.hasOwn(file.tools, name)) {
    const near = nearestName(name, Object.keys(file.tools));
    throw new NexusError("NAME_UNKNOWN", `${file.title} has no tool "${name}"`, {
      hint: `${near === undefined ? "" : `Did you mean "${near}"? `}It has: ${joinFirst(Object.keys(file.tools), 20)}.`,
      mayHaveReached: false,
    });
  }
  const tool = servedTool(api, name);
  if (out.json) return out.value(tool);
  const title = `${file.api}.${name}`;
  const call = out.typed(`nexus mcp call ${title}`);
  for (const line of toolDetails(tool, { title: visible(title), call }, out)) out.line(line);
  const quotes = quotedEvidence(file.tools[name]?.evidence ?? [], documents);
  if (quotes.length === 0) return;
  out.line();
  for (const line of factLines(out, "Documents say", [["evidence", quotes]])) out.line(line);
}
