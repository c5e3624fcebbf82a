import { addAbortSignal } from "node:stream";
import { NexusError } from "../../errors/nexus-error.ts";
import { defineCommand } from "../command.ts";
import { wrongUsage } from "../command-line.ts";
import type { Output } from "../output.ts";

/** nexus secrets set github */
export const secretsSet = defineCommand({
  usage: "nexus secrets set <name>",
  description: `
Asks for the value without showing it, or reads it from stdin where that is no terminal; one line end at its end is not
part of it. It is never an argument: those are kept in the shell's history, and everybody on the machine can see them.

Secrets are kept encrypted. Entries use them as \${secret:name}, in "env", "headers" and everywhere else.`,
  words: { min: 1, max: Infinity },
  options: {},
  examples: [
    ["nexus secrets set github", "asks for it"],
    ["pass show github | nexus secrets set github", "takes it from another program"],
    ["nexus secrets set github < token.txt", "takes it from a file"],
  ],

  async run({ words, out, signal, surroundings, stateFolder }) {
    const [given = "", ...rest] = words;
    const [name = ""] = given.split("=", 1);
    if (rest.length > 0 || name !== given) throw valueGiven(name);
    const { checkSecretName } = await import("../../auth/secrets.ts");
    checkSecretName(name);
    const { secretStore } = await import("../../host/load-options.ts");
    const store = secretStore(surroundings, stateFolder);
    const value = process.stdin.isTTY ? await ask(out, name, signal) : await readAll(signal);
    if (value === "") throw wrongUsage(`The secret "${name}" would be empty`, "Nothing was stored. Give it a value.");
    await store.set(name, value);
    if (out.json) out.value({ name });
    else out.line(`Stored the secret ${out.style("bold", name)}. Entries use it as \${secret:${name}}.`);
  },
});

/** What was given may be the secret itself: it is not repeated. */
function valueGiven(name: string): NexusError {
  const isName = /^[\w.-]{1,128}$/.test(name);
  return wrongUsage(
    "The value of a secret is no argument: arguments stay in the shell's history and can be seen by others",
    `Write nexus secrets set ${isName ? name : "NAME"} and type it when asked, or pipe it in. Change a secret that was typed there.`,
  );
}

async function ask(out: Output, name: string, signal: AbortSignal): Promise<string> {
  if (!out.isInteractive) {
    throw new NexusError("INPUT_FAILED", `The value of "${name}" has to be typed, and there is nowhere to ask for it`, {
      hint: `Pipe it in: nexus secrets set ${name} --json < FILE`,
      mayHaveReached: false,
    });
  }
  const { askFor } = await import("../terminal-questions.ts");
  return askFor(out, { text: `Value of ${name} (not shown)`, hidden: true, signal });
}

async function readAll(signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of addAbortSignal(signal, process.stdin)) chunks.push(Buffer.from(chunk as Uint8Array));
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)).replace(/\r?\n$/, "");
  } catch (cause) {
    throw new NexusError("ARGUMENTS_INVALID", "What came on stdin is no UTF-8 text", {
      hint: "Encode it, for example as Base64, in a way that the server understands.",
      cause,
      mayHaveReached: false,
    });
  }
}
