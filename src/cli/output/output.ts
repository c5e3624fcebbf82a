import type { NexusError } from "../../errors/nexus-error.ts";
import { renderForPrograms, renderForPeople } from "../../errors/render.ts";
import { withTypedName } from "./typed-name.ts";
import { questionColumns, terminalStream } from "./quoted-lines.ts";
import { visible, visibleJson, visibleLines } from "../../text/visible.ts";
import { broken, fitted, hanging } from "./text-width.ts";

const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

/** The form of the log on stderr. */
export type LogForm = "json" | "text";

export type Style = keyof typeof STYLES;

/** The escape sequences of `style`. */
const STYLED = new RegExp(`(\u001b\\[(?:${Object.values(STYLES).flat().join("|")})m)`);

function withoutStyle(text: string): string {
  return text
    .split(STYLED)
    .filter((_part, index) => index % 2 === 0)
    .join("");
}

interface OutputOptions {
  json: boolean;
  colours: boolean;
  /** The terminal supports only plain lines. */
  isDumb?: boolean;
  /** What a person types to run this program. */
  name?: string;
}

/** Writes to the terminal or to files. Results go to stdout, everything else to stderr. */
export class Output {
  readonly json: boolean;
  readonly #colours: boolean;
  readonly #isDumb: boolean;
  readonly #name: string;
  /** The form of the log; undefined: as the results. */
  #logForm: LogForm | undefined;
  /** Notes are part of a talk with the user. */
  #isTalk = false;

  constructor({ json, colours, isDumb = false, name = "nexus" }: OutputOptions) {
    this.json = json;
    this.#name = name;
    this.#isDumb = isDumb;
    this.#colours = colours;
    endQuietlyOnClosedPipe();
  }

  /** Whether the user can be asked. */
  get isInteractive(): boolean {
    return this.isAtTerminal && !this.json;
  }

  /** Whether there is a user at the terminal, even if it is not used for questions. */
  get isAtTerminal(): boolean {
    return process.stdin.isTTY && this.people.isTTY;
  }

  /** Where notes and questions are shown. */
  get people(): NodeJS.WriteStream {
    return this.#isTalk ? terminalStream() : process.stderr;
  }

  /** Whether it can show moving progress. */
  get showsProgress(): boolean {
    return this.people.isTTY && !this.json && !this.#isDumb;
  }

  /** Characters per line; undefined if lines are not limited, as in a file. */
  get columns(): number | undefined {
    return process.stdout.isTTY ? Math.max(process.stdout.columns, 20) : undefined;
  }

  /** Whether log lines are JSON. */
  get logsJson(): boolean {
    return this.#logForm === undefined ? this.json : this.#logForm === "json";
  }

  /** From now on the log has this form; with `json` everything on stderr is part of it. */
  logAs(form: LogForm): void {
    this.#logForm = form;
  }

  /**
   * From now on the user is asked and told at the terminal, also if stderr goes to a file: what a question is about must
   * be seen. The log and errors stay on stderr.
   */
  talkAtTerminal(): void {
    this.#isTalk = true;
  }

  /** A line of the result, for people. */
  line(text = ""): void {
    process.stdout.write(`${this.#visible(text)}\n`);
  }

  /** A line that is not data but tells people what they can do, with commands as they are typed. */
  advice(text: string): void {
    this.line(this.typed(text));
  }

  /** A text for people with the commands of this program as they are typed here. */
  typed(text: string): string {
    return withTypedName(text, this.#name);
  }

  /** A part of a line of the result, for people. */
  part(text: string): void {
    process.stdout.write(this.#visible(text));
  }

  /** The unchanged result, for a file or a program. */
  bytes(data: Uint8Array): void {
    process.stdout.write(data);
  }

  /** The result for programs: the same value, with control and invisible characters escaped. */
  value(value: unknown): void {
    process.stdout.write(`${visibleJson(JSON.stringify(value))}\n`);
  }

  /** A message for people beside the result; programs get only results and errors. */
  note(text: string): void {
    if (this.json) return;
    if (this.#logForm === "json") return this.log("info", withoutStyle(text).trim());
    this.people.write(`${this.#visible(this.typed(text))}\n`);
  }

  /** A note about what is probably not meant. */
  warn(text: string): void {
    this.note(`${this.onStderr("yellow", "warning:")} ${text}`);
  }

  /** A log line: dim for people, a JSON object for programs. */
  log(level: string, message: string, data?: Readonly<Record<string, unknown>>): void {
    if (!this.logsJson) {
      const about = data ? ` ${JSON.stringify(data)}` : "";
      const line = this.#styledFor(process.stderr, "dim", visible(`${message}${about}`));
      return void process.stderr.write(`${this.#visible(line)}\n`);
    }
    const entry = { time: new Date().toISOString(), level, message, ...data };
    const value = this.#logForm === "json" ? entry : { log: entry };
    process.stderr.write(`${visibleJson(JSON.stringify(value))}\n`);
  }

  /** Raw text beside the result, for lines that are overwritten. */
  draw(text: string): void {
    this.people.write(text);
  }

  error(error: NexusError): void {
    const rendered = renderForPrograms(error);
    if (this.json) process.stderr.write(`${visibleJson(JSON.stringify(rendered))}\n`);
    else if (this.#logForm === "json") this.log("error", error.message, rendered);
    else {
      const text = errorLines(this.#withTypedNames(error), questionColumns(process.stderr)).join("\n");
      const label = this.#styledFor(process.stderr, "red", "nexus:");
      process.stderr.write(`${text.replace("nexus:", label)}\n`);
    }
  }

  /** Styled for stdout. */
  style(style: Style, text: string): string {
    return this.#styledFor(process.stdout, style, text);
  }

  /** Styled for notes. */
  onStderr(style: Style, text: string): string {
    return this.#styledFor(this.people, style, text);
  }

  /** The message and what a server wrote stay as they are. */
  #withTypedNames(error: NexusError): NexusError {
    const { hint } = error.details;
    return hint === undefined ? error : error.amended({ hint: this.typed(hint) });
  }

  /** Escapes invisible characters in any text, except our own colours. */
  #visible(text: string): string {
    if (!this.#colours || !text.includes("\u001b")) return visibleLines(text);
    const parts = text.split(STYLED);
    return parts.map((part, index) => (index % 2 === 1 ? part : visibleLines(part))).join("");
  }

  #styledFor(stream: NodeJS.WriteStream, style: Style, text: string): string {
    if (!this.#colours || !stream.isTTY) return text;
    const [on, off] = STYLES[style];
    return `\u001b[${on}m${text}\u001b[${off}m`;
  }
}

/** A closed pipe (`| head -1`) is not an error; a full disk is. */
function endQuietlyOnClosedPipe(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    // The terminal window was closed: the command ends as with the signal, which may come later.
    if (error.code === "EIO") return void process.emit("SIGHUP", "SIGHUP");
    process.stderr.write(`nexus: the output cannot be written: ${error.message}\n`);
    process.exit(1);
  });
  process.stderr.on("error", () => {});
}

const LABEL = "nexus: ";
const INDENT = "  ";
/** Sentences; other rows are commands, addresses and text of servers, which stay as they are to be copied. */
const SENTENCE = /^ {2}(?:likely cause|note|fix): +/;

/** An error for people, its sentences broken between words. */
export function errorLines(error: NexusError, columns: number | undefined): string[] {
  const [message = "", ...rows] = renderForPeople(error).split("\n");
  // Without the indent, a line of a server's message could look like one of this program.
  const width = columns && columns - INDENT.length;
  const [first = "", ...others] = fitted(LABEL + message, width);
  return [
    first,
    ...others.map((line) => INDENT + line),
    ...rows.flatMap((row) => {
      const [lead] = SENTENCE.exec(row) ?? [];
      if (lead === undefined) return [row];
      return hanging(lead, row.slice(lead.length), width).flatMap((line) => {
        const [begin = "", ...more] = broken(line, width);
        return [begin, ...more.map((rest) => INDENT + rest)];
      });
    }),
  ];
}
