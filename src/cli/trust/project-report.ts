import { parseEnv } from "node:util";
import { isRecord } from "../../json/is-record.ts";
import { renderForPeople, renderForPrograms } from "../../errors/render.ts";
import { visible } from "../../text/visible.ts";
import { circumstancesAsWritten, reachAsWritten } from "../configure/entry-words.ts";
import type { Output } from "../output/output.ts";
import type { ProjectFile } from "./project-files.ts";

/** Exactly what a project's files would start and send, as written. */
export function showProjectFiles(out: Output, files: readonly ProjectFile[]): void {
  for (const { file, trusted, written, problem } of files) {
    const state = problem ? "cannot be used" : trusted ? "trusted" : "not trusted";
    out.line(`${visible(file)} (${out.style(trusted ? "green" : "yellow", state)})`);
    if (problem) out.line(indented(renderForPeople(problem)));
    const servers = written?.servers ?? [];
    const width = Math.max(0, ...servers.map(({ id }) => id.length));
    for (const { id, entry } of servers) {
      out.line(
        `  ${out.style("bold", id.padEnd(width))}  ${reachAsWritten(entry)}${isOff(entry) ? " (disabled)" : ""}`,
      );
      for (const line of circumstancesAsWritten(entry)) out.line(`  ${" ".repeat(width)}    ${line}`);
    }
    for (const { id, default: fallback } of written?.inputs ?? []) {
      if (fallback !== undefined) out.line(`  \${input:${visible(id)}} defaults to ${visible(fallback)}`);
    }
    for (const { path, variables } of textFacts(written)) {
      const what = variables === undefined ? "is read" : `sets ${variables.join(", ") || "nothing"}`;
      out.line(`  ${visible(`${path} ${what}`)}`);
    }
    if (written && servers.length === 0) out.line("  no servers");
    out.line();
  }
}

/** The same for programs. */
export function projectFileFacts({ file, layer, trusted, written, problem }: ProjectFile): Record<string, unknown> {
  return {
    file,
    layer,
    trusted,
    fingerprint: written?.fingerprint,
    servers: written?.servers.map(({ id, name, entry }) => ({ server: id, name, entry })) ?? [],
    files: textFacts(written),
    ...(problem ? renderForPrograms(problem) : {}),
  };
}

/** Only the names of variables: values may be secret, but a name such as NODE_OPTIONS shows that code is loaded. */
function textFacts(written: ProjectFile["written"]): { path: string; variables?: string[] }[] {
  return (written?.files ?? []).flatMap(({ path, text, isEnvironment }) => {
    if (text === null) return [];
    return [{ path, ...(isEnvironment ? { variables: Object.keys(parseEnv(text)) } : {}) }];
  });
}

function isOff(entry: unknown): boolean {
  return isRecord(entry) && (entry["enabled"] === false || entry["disabled"] === true);
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}
