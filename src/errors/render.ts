import { writeMembersForFile } from "../text/entry-notation.ts";
import { maskCommand, maskUrl } from "../masking/mask-words.ts";
import type { ErrorDetails, ErrorSource, NexusError } from "./nexus-error.ts";
import { thingsToTry } from "./things-to-try.ts";
import { visible } from "../text/visible.ts";
import { isAnswerLost } from "./error-traits.ts";

/** One fact about an error: a label, and one line or more. */
type Row = readonly [label: string, lines: readonly string[]];

const MAX_STDERR_LINES = 10;

/** The error for people: what happened, where, why, the server's own words, what to do. No colours. */
export function renderForPeople(error: NexusError, platform: NodeJS.Platform = process.platform): string {
  const rows = rowsOf(error, platform).filter(([, lines]) => lines.length > 0);
  const width = Math.max(...rows.map(([label]) => label.length)) + 1;
  const aligned = rows.flatMap(([label, lines]) => {
    return lines.map((line, index) => `  ${(index === 0 && label !== "" ? `${label}:` : "").padEnd(width)} ${line}`);
  });
  // A server's message may have many lines: indented, none of them looks like a line of ours.
  return [asLines(error.message).join("\n  "), ...aligned].flatMap(asLines).map(visible).join("\n");
}

/** The error for programs: the object that `--json` prints to stderr. */
export function renderForPrograms(error: NexusError): { error: Record<string, unknown> } {
  const { phase, server, exitCode, signal, stderr, status, answer, rpc, input, mayHaveReached } = error.details;
  const body = {
    code: error.code,
    message: error.message,
    hint: explanationOf(error.details),
    phase,
    server,
    source: placeOf(error.details.source),
    ...reachOf(error.details),
    exitCode,
    signal,
    stderr,
    status,
    answer,
    rpc,
    input,
    mayHaveReached,
  };
  return { error: present(body) };
}

function rowsOf(error: NexusError, platform: NodeJS.Platform): Row[] {
  const { details } = error;
  const { server, stderr = [], rpc } = details;
  const { command, url } = reachOf(details);
  return [
    ["server", server === undefined || error.message.includes(`"${server}"`) ? [] : [server]],
    ["file", details.source ? [sourceLine(details.source)] : []],
    ["", asLines(details.excerpt)],
    ["command", asLines(command)],
    ["url", asLines(url)],
    ["proxy", asLines(details.proxy)],
    ["code", rpc ? [String(rpc.code)] : []],
    ["response", details.answer !== undefined && error.message.endsWith(details.answer) ? [] : asLines(details.answer)],
    ["requires", asLines(details.wwwAuthenticate)],
    ["sent", details.sent?.length ? [details.sent.join(", ")] : []],
    ["received", asLines(details.received)],
    ["data", rpc?.data === undefined ? [] : [JSON.stringify(rpc.data)]],
    ["likely cause", asLines(details.likelyCause)],
    ["stderr", stderr.slice(-MAX_STDERR_LINES)],
    ["note", mayHaveActed(error) ? ["The server may have executed the call."] : []],
    ["fix", asLines(details.hint)],
    ["example", asLines(exampleOf(details))],
    ["try", thingsToTry(error, platform)],
  ];
}

/** The snippet, as it is written in the file of the entry. */
export function exampleOf({ snippet, source }: ErrorDetails): string | undefined {
  return snippet === undefined ? undefined : writeMembersForFile(snippet, source?.file);
}

/** The command and the URL of an error with secrets masked: people write passwords into both. */
export function reachOf({ command, url }: ErrorDetails): Pick<ErrorDetails, "command" | "url"> {
  return {
    command: command === undefined ? undefined : maskCommand(command),
    url: url === undefined ? undefined : maskUrl(url),
  };
}

/** Whether a lost call may have had an effect: whoever repeats it should know. */
function mayHaveActed({ code, details }: NexusError): boolean {
  return isAnswerLost(code) && details.mayHaveReached === true && details.method === "tools/call";
}

function sourceLine(source: ErrorSource): string {
  const { file, line, column, layer } = source;
  const place = [file, line, column].filter((part) => part !== undefined).join(":");
  return layer === undefined ? place : `${place} (${layer})`;
}

function placeOf(source: ErrorSource | undefined): Record<string, unknown> | undefined {
  return source && present({ file: source.file, line: source.line, column: source.column });
}

/** Programs get one field for what people read in two. */
function explanationOf({ likelyCause, hint }: ErrorDetails): string | undefined {
  const parts = [likelyCause, hint].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(" ");
}

function present(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function asLines(text: string | undefined): string[] {
  return text === undefined ? [] : text.split(/\r?\n/);
}
