import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomic } from "../../files/atomic-write.ts";
import { visible } from "../../text/visible.ts";
import { learnedChanges, withLearned, type LearnedChange } from "../../workshop/learn/learned-changes.ts";
import { deviationsFolder, readSeen, writeSeen, type SeenDeviations } from "../../workshop/learn/seen-deviations.ts";
import { defineCommand } from "../command/command.ts";
import { pluralize } from "../output/amounts.ts";
import type { Output } from "../output/output.ts";
import { loadSound, type NamedApi } from "./loaded.ts";

const MOST = 60;

/** nexus api learn capcorn */
export const apiLearn = defineCommand({
  usage: "nexus api learn <api> [--server ID] [--apply] [--forget]",
  description: `
While servers of a tool file run, Nexus remembers how answers of the API differ from the file: missing and unknown fields, other
types, unknown codes. Of values only short codes and numbers are kept, and nothing that looks like a credential. This command lists what was seen on this machine, and
proposes a change to the file for each where that is clear. --apply makes these changes in the file: it is then a draft that
has to be reviewed and approved like any other. What was applied is forgotten; --forget forgets everything instead.`,
  options: {
    server: { type: "string", value: "ID", help: "only what this server has seen; default: all servers of the API" },
    apply: { type: "boolean", help: "write the proposed changes into the file" },
    forget: { type: "boolean", help: "forget what was seen, and change nothing" },
  },
  examples: [
    ["nexus api learn capcorn", "what was seen, and what could be changed"],
    ["nexus api learn capcorn --apply", "change the file; then: nexus api diff capcorn"],
  ],

  async run({ words: [given = ""], options, out, surroundings, stateFolder }) {
    const loaded = await loadSound(given, out, surroundings.home);
    const { api, text, path } = loaded;
    const logs = logsOf(stateFolder, api.file.api, options.server);
    const seen = logs.flatMap(({ content }) => content.seen).toSorted((a, b) => b.count - a.count);
    if (options.forget) {
      for (const { file } of logs) await rm(file, { force: true });
      if (out.json) out.value({ file: path, forgotten: seen.length });
      else out.line(`Forgot ${pluralize(seen.length, "deviation")}.`);
      return 0;
    }
    const learned = learnedChanges(text, api.file, seen.slice(0, MOST));
    const proposed = learned.filter(({ edit }) => edit !== undefined);
    const isApplied = options.apply === true && proposed.length > 0;
    if (isApplied) {
      await writeAtomic(path, withLearned(text, proposed), 0o644);
      forget(logs, proposed);
    }
    if (out.json) {
      const items = learned.map(({ seen: each, about, words, edit }) => ({ ...each, about, proposal: words, edit }));
      out.value({ file: path, items, applied: isApplied ? proposed.length : 0 });
      return 0;
    }
    show(out, loaded, { learned, proposed: proposed.length, isApplied });
    return 0;
  },
});

interface Log {
  file: string;
  content: SeenDeviations;
}

function logsOf(stateFolder: string, api: string, server: string | undefined): Log[] {
  const folder = deviationsFolder(stateFolder);
  return names(folder).flatMap((name) => {
    const file = join(folder, name);
    const content = name.endsWith(".json") ? readSeen(file) : undefined;
    if (content?.api !== api || (server !== undefined && content.server !== server)) return [];
    return [{ file, content }];
  });
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    // Nothing was seen yet.
    return [];
  }
}

function forget(logs: readonly Log[], applied: readonly LearnedChange[]): void {
  const done = new Set(applied.map(({ seen }) => seen));
  for (const { file, content } of logs) {
    writeSeen(file, { ...content, seen: content.seen.filter((each) => !done.has(each)) });
  }
}

function show(
  out: Output,
  { shown, again }: NamedApi,
  { learned, proposed, isApplied }: { learned: readonly LearnedChange[]; proposed: number; isApplied: boolean },
): void {
  for (const { seen, about, words, edit } of learned) {
    const { tool, path, problem, kinds, values, count, last } = seen;
    const came = [...(values.length > 0 ? values : kinds)].join(", ");
    out.line(
      visible(`${tool}: ${path === "" ? "the answer" : path}: ${problem}${came === "" ? "" : `; came: ${came}`}`),
    );
    out.line(
      out.style(
        "dim",
        visible(`    seen ${pluralize(count, "time")}, last ${last.slice(0, 16).replace("T", " ")} UTC`),
      ),
    );
    out.line(visible(`    ${edit ? "proposal" : "to decide"}: ${words}${about === undefined ? "" : ` (${about})`}`));
  }
  if (learned.length === 0) out.line("All answers that were seen on this machine are as the file says.");
  else if (isApplied) {
    out.line();
    out.advice(`Changed ${pluralize(proposed, "place")} of ${shown}. Review and approve: nexus api diff ${again}`);
  } else if (proposed > 0) {
    out.line();
    out.advice(`To make the proposed changes in ${shown}: nexus api learn ${again} --apply`);
  }
}
