import { addAbortSignal } from "node:stream";
import { SHORT_SECRET } from "../../text/masked-secrets.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { filledPlaces } from "../../workshop/file/model/filled-template.ts";
import { defineCommand } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { destinationOf, type SecretDestination } from "./secret-destination.ts";
import type { Output } from "../output/output.ts";

/** nexus secrets set github */
export const secretsSet = defineCommand({
  usage: "nexus secrets set <name>",
  description: `
Asks for the value without showing it, or reads it from stdin where that is no terminal; one line end at its end is not
part of it. It is never an argument: those are kept in the shell's history, and everybody on the machine can see them.

Secrets are kept encrypted. Entries use them as \${secret:name}, in "env", "headers" and everywhere else; the tools of an API use
those that are called like their server: capcorn.user.

A secret is sent only where it is allowed to go. One of an API's server is recorded for the address of its tool file, any other
for the first address that it is sent to; "nexus secrets allow" adds another. A new value keeps what was recorded.`,
  words: { min: 1, max: Infinity },
  options: {},
  examples: [
    ["nexus secrets set github", "asks for it"],
    ["nexus secrets set capcorn.user", "for the tools of the server capcorn, and the address that they call"],
    ["pass show github | nexus secrets set github", "takes it from another program"],
    ["nexus secrets set github < token.txt", "takes it from a file"],
  ],

  async run(context) {
    const { words, out, signal, surroundings, stateFolder } = context;
    const [given = "", ...rest] = words;
    const [name = ""] = given.split("=", 1);
    if (rest.length > 0 || name !== given) throw valueGiven(name);
    const { checkSecretName } = await import("../../auth/secret-name.ts");
    checkSecretName(name);
    const { secretStore } = await import("../../host/servers/load-options.ts");
    const store = secretStore(surroundings, stateFolder);
    const value = process.stdin.isTTY ? await ask(out, name, signal) : await readAll(signal);
    if (value === "") throw wrongUsage(`The secret "${name}" would be empty`, "Nothing was stored. Give it a value.");
    const destination = await destinationOf(name, context);
    const { origins = [] } = await store.set(name, value, destination && [destination.origin]);
    if (value.trim().length < SHORT_SECRET) out.note(shortWarning(out, name));
    if (out.json) return out.value({ name, origins });
    const isOfTools = destination?.used.some((known) => filledPlaces(known, name) !== undefined) === true;
    const use = isOfTools ? `The tools of "${destination?.server}" use it.` : `Entries use it as \${secret:${name}}.`;
    out.line(`Stored the secret ${out.style("bold", name)}. ${use}`);
    if (destination && !isOfTools) out.note(strangeWarning(out, name, destination));
    const limit = origins.length === 0 ? "the first address that it is sent to" : origins.join(", ");
    out.line(`It may be sent to ${limit}.`);
    if (destination && !origins.includes(destination.origin)) {
      const { server, origin } = destination;
      out.note(`Server "${server}" uses ${origin}. To allow that: nexus secrets allow ${name} ${origin}`);
    }
  },
});

function shortWarning(out: Output, name: string): string {
  const where = "It is hidden only where it stands alone, and not in values that callers or tool files give";
  return `${out.onStderr("yellow", "warning:")} ${name} has fewer than ${SHORT_SECRET} characters. ${where}: use a longer one if you can.`;
}

/** Its name says that it is of an API's server, whose tools do not know it: a slip of the pen, most likely. */
function strangeWarning(out: Output, name: string, { server, used }: SecretDestination): string {
  const known = used.length === 0 ? "they use none" : `they use ${used.join(", ")}`;
  return `${out.onStderr("yellow", "warning:")} The tools of "${server}" do not use ${name}; ${known}. To remove it: nexus secrets remove ${name}`;
}

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
  const { askFor } = await import("../output/terminal-questions.ts");
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
