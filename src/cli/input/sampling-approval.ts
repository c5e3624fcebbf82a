import { shownSampling } from "../../agent/questions/shown-sampling.ts";
import type { CreateMessageRequest } from "../../protocol/mcp.ts";
import { visible } from "../../text/visible.ts";
import { questionColumns, quotedLines } from "../output/quoted-lines.ts";
import { askFor } from "../output/terminal-questions.ts";
import type { FormOptions } from "./form.ts";

/** Shows what a server asks a model for; only "y" or "yes" allows it. */
export async function allowsSampling(
  params: CreateMessageRequest["params"],
  { out, server, signal }: FormOptions,
): Promise<boolean> {
  const { request } = shownSampling(params);
  const quote = (text: string) => out.note(quotedLines(text, questionColumns()).join("\n"));
  out.note(`\n${out.onStderr("bold", `${visible(server)} asks for an answer of the model:`)}`);
  quote(request.text);
  if (typeof params.maxTokens === "number") quote(`tokens: at most ${params.maxTokens}`);
  const question = `Allow it? y/N${request.isShortened ? ", v to view all" : ""}`;
  for (;;) {
    const typed = (await askFor(out, { text: question, signal })).trim();
    if (!request.isShortened || !/^v(?:iew)?$/i.test(typed)) return /^y(?:es)?$/i.test(typed);
    quote(request.whole);
  }
}
