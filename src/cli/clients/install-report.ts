import { clientFileText } from "../../config/import/client-file.ts";
import { CLIENTS, type ClientFacts, type ClientId } from "../../config/import/clients.ts";
import { visible } from "../../text/visible.ts";
import type { Output } from "../output/output.ts";
import { shortPath } from "../output/short-path.ts";
import type { NamedEntry } from "./client-entries.ts";

export interface Installed extends NamedEntry {
  state: "added" | "updated" | "replaced" | "unchanged";
}

interface Facts {
  client: ClientId;
  file: string;
  scope: "user" | "project";
  isNew: boolean;
  isDry: boolean;
  /** Whether the project's file now has paths of this machine. */
  isMachine: boolean;
  home: string;
}

const VERBS: Readonly<Record<Installed["state"], readonly [done: string, dry: string, where: string]>> = {
  added: ["Added", "Would add", "to"],
  updated: ["Updated", "Would update", "in"],
  replaced: ["Replaced", "Would replace", "in"],
  unchanged: ["Nothing to do:", "Nothing to do:", "is already in"],
};

/** Reports what was written into another program's file, and what to do next. */
export async function tellInstallation(out: Output, installed: readonly Installed[], facts: Facts): Promise<void> {
  const { client, file, scope, isNew, isDry, isMachine, home } = facts;
  const { title } = CLIENTS[client];
  if (out.json) {
    const entries = installed.map(({ name, state, value, way, reason, leftOut }) => {
      return { name, state, entry: value, through: way, reason, leftOut };
    });
    return out.value({ client, file, scope, isNew, dryRun: isDry, entries });
  }
  const where = `${title} (${visible(shortPath(file, home))}${isNew ? ", a new file" : ""})`;
  for (const { name, state, value, reason, leftOut } of installed) {
    const [done, dry, preposition] = VERBS[state];
    out.line(`${isDry ? dry : done} ${out.style("bold", name)} ${preposition} ${where}`);
    if (isDry) out.line(indented(await clientFileText(client, file, { [name]: value })));
    if (reason !== undefined) out.note(`${name} is connected through Nexus: ${visible(reason)}`);
    if (leftOut.length > 0) out.note(`${name}: ${leftOutText(leftOut, CLIENTS[client])}`);
  }
  if (isMachine)
    out.note("The command contains paths of this machine, so it does not work on other machines with this project.");
  const isChanged = !isDry && installed.some(({ state }) => state !== "unchanged");
  if (isChanged) out.note(`If ${title} is running, restart it.`);
}

/** Says only what is known: an entry without a setting does not mean that the program lacks the feature. */
function leftOutText(leftOut: readonly string[], { title, hasRoots }: ClientFacts): string {
  const what = `settings of Nexus that are not written for ${title}: ${leftOut.join(", ")}`;
  return hasRoots && leftOut.includes("roots") ? `${what}. ${title} sends roots of its own.` : what;
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}
