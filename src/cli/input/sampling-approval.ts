import { shownSampling, type ShownSampling } from "../../agent/questions/shown-sampling.ts";
import type { CreateMessageRequest } from "../../protocol/mcp.ts";
import { cutMiddle } from "../../agent/consent/shown-json.ts";
import { visible } from "../../text/visible.ts";
import type { Output } from "../output/output.ts";
import { questionColumns, quotedLines } from "../output/quoted-lines.ts";
import { askFor } from "../output/terminal-questions.ts";
import type { FormOptions } from "./form.ts";

const MAX_SHOWN = 4_000;

/** Shows what a server asks a model for; only "y" or "yes" allows it. */
export async function allowsSampling(
  params: CreateMessageRequest["params"],
  { out, server, signal }: FormOptions,
): Promise<boolean> {
  out.note(`\n${out.onStderr("bold", `${visible(server)} asks for an answer of the model:`)}`);
  for (const line of samplingLines(shownSampling(params), params.maxTokens, out)) out.note(line);
  const typed = await askFor(out, { text: "Allow it? y/N", signal });
  return /^y(?:es)?$/i.test(typed.trim());
}

/** A sampling request for the terminal, on stderr. */
function samplingLines(shown: ShownSampling, maxTokens: unknown, out: Output): string[] {
  const { system, messages, tools, temperature, stopSequences } = shown;
  const line = (label: string, text: string) => {
    const [first = "", ...more] = quotedLines(`${label}: ${cutMiddle(text, MAX_SHOWN)}`, questionColumns());
    return [first.replace(`${label}:`, out.onStderr("dim", `${label}:`)), ...more].join("\n");
  };
  return [
    ...(system === undefined ? [] : [line("system", system)]),
    ...messages.map(({ role, text }) => line(role, text)),
    ...(tools.length > 0 ? [line("tools", tools.join(", "))] : []),
    ...(stopSequences.length > 0 ? [line("stop at", stopSequences.join(", "))] : []),
    ...(temperature === undefined ? [] : [line("temperature", String(temperature))]),
    ...(typeof maxTokens === "number" ? [line("tokens", `at most ${maxTokens}`)] : []),
  ];
}
