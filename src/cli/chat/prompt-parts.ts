import type { UserMessage } from "../../agent/model/model-message.ts";
import { modelResult, type ModelResult } from "../../agent/tools/model-result.ts";
import { promptLine } from "../../agent/tools/origin.ts";
import { asNexusError } from "../../errors/nexus-error.ts";
import type { ExecuteOptions, PromptCommand } from "../../host/registry.ts";
import { resultParts } from "../../host/result-parts.ts";
import type { GetPromptResult, ResourceContents } from "../../protocol/mcp.ts";

type PromptMessage = GetPromptResult["messages"][number];

/** The text of a message of a prompt, for people. */
export function promptText({ content }: PromptMessage): string {
  const parts = resultParts({ content: [content].flat() });
  return parts.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join("\n");
}

/** The messages of a server's prompt as one message of the user, who has chosen to send them. */
export function promptParts(
  { messages }: GetPromptResult,
  { name, server }: Pick<PromptCommand, "name" | "server">,
): UserMessage["content"] {
  const isOnlyUser = messages.every(({ role }) => role === "user");
  const parts = messages.flatMap((message) => {
    const { content } = modelResult({ content: [message.content].flat() }, undefined, undefined);
    return isOnlyUser ? content : [{ type: "text" as const, text: `${message.role}:` }, ...content];
  });
  const text = promptLine({ server, prompt: name.slice(server.length + 1) });
  return [{ type: "text", text }, ...parts];
}

/** A resource for the model, with its origin. */
export function resourceParts(server: string, uri: string, contents: readonly ResourceContents[]): ModelResult {
  const content = contents.map((resource) => ({ type: "resource", resource }));
  return modelResult({ content }, { server, resource: uri }, undefined);
}

/** The arguments of a prompt, for people: `<place> [style]`. */
export function promptUsage({ arguments: parameters }: Pick<PromptCommand, "arguments">): string {
  return parameters.map(({ name, required }) => (required ? `<${name}>` : `[${name}]`)).join(" ");
}

/** Gets a prompt with the values of a typed command, whose usage is part of the error about its arguments. */
export function expandPrompt(
  prompt: PromptCommand,
  words: readonly string[],
  { command, ...options }: ExecuteOptions & { command: string },
): Promise<GetPromptResult> {
  return prompt.expand(promptValues(words, prompt), options).catch((error: unknown) => {
    const failure = asNexusError(error);
    throw failure.code === "ARGUMENTS_INVALID"
      ? failure.amended({ hint: `Usage: ${command} ${promptUsage(prompt)}`.trimEnd() })
      : failure;
  });
}

/** The values of a typed command: by name if all of them are `name=value` of arguments, otherwise in their order. */
export function promptValues(
  words: readonly string[],
  { arguments: parameters }: Pick<PromptCommand, "arguments">,
): Record<string, string> | string[] {
  const pairs = words.map((word) => [word.split("=")[0] ?? "", word.slice(word.indexOf("=") + 1)] as const);
  const isNamed = pairs.every(
    ([name], at) => words[at]?.includes("=") && parameters.some((each) => each.name === name),
  );
  if (isNamed) return Object.fromEntries(pairs);
  // The last argument takes the rest of the line, so that a text needs no quotes.
  const last = parameters.length - 1;
  return last >= 0 && words.length > parameters.length
    ? [...words.slice(0, last), words.slice(last).join(" ")]
    : [...words];
}
