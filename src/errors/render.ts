import type { ErrorDetails, NexusError } from "./nexus-error.ts";

/** The error for people: what happened, where, the server's own words, what to do. No colours. */
export function renderForPeople(error: NexusError): string {
  const { details } = error;
  const lines = [error.message];
  if (details.command) lines.push(`  command: ${details.command}`);
  if (details.url) lines.push(`  url: ${details.url}`);
  if (details.source) lines.push(`  configured in: ${place(details.source)}`);
  if (details.rpc?.data !== undefined) lines.push(`  data: ${JSON.stringify(details.rpc.data)}`);
  if (details.stderr?.length) {
    lines.push("  the server's last lines on stderr:", ...details.stderr.slice(-10).map((line) => `    ${line}`));
  }
  if (details.hint) lines.push(`  ${details.hint}`);
  return lines.map(visible).join("\n");
}

/** The error for programs: the object that `contract` promises on stderr with `--json`. */
export function renderForPrograms(error: NexusError): { error: Record<string, unknown> } {
  const { hint, phase, server, source, command, url, exitCode, signal, stderr, status, rpc, mayHaveReached } =
    error.details;
  const body = {
    code: error.code,
    message: error.message,
    hint,
    phase,
    server,
    source,
    command,
    url,
    exitCode,
    signal,
    stderr,
    status,
    rpc,
    mayHaveReached,
  };
  return { error: Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) };
}

function place({ file, line, column }: NonNullable<ErrorDetails["source"]>): string {
  return [file, line, column].filter((part) => part !== undefined).join(":");
}

/** Control characters a server sent must not steer the terminal. */
function visible(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
}
