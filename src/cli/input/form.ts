import { cutMiddle } from "../../agent/consent/shown-json.ts";
import { joinFirst, shorten } from "../../text/shorten.ts";
import { visible } from "../../text/visible.ts";
import type { FormQuestion } from "../../agent/questions/elicitation-handler.ts";
import { defaultOf, fieldFacts, readField, shownDefault, type FormField } from "../../agent/questions/form-field.ts";
import { secretWord } from "../../agent/questions/secret-fields.ts";
import type { Output, Style } from "../output/output.ts";
import { questionColumns, quotedLines } from "../output/quoted-lines.ts";
import { askFor } from "../output/terminal-questions.ts";
import { cellsOf, cut } from "../output/text-width.ts";

export interface FormOptions {
  out: Output;
  /** The server that asks. */
  server: string;
  signal: AbortSignal;
}

/** A form of a server. */
type TerminalForm = Pick<FormQuestion, "message" | "fields" | "secrets">;

const DECLINE = "!";
/** Forms of good servers are short: more than this is said before the first question. */
const MANY_FIELDS = 10;
const MAX_CHOICES = 100;
const MAX_NAME = 60;
const MAX_TEXT = 4_000;
const MAX_ADDRESS = 300;
/** Cells of a name and of a default in a prompt, which must not be broken by the terminal. */
const MAX_PROMPT = 30;

/** Asks the user to fill in fields; undefined if it is declined. Secrets are asked for only after a warning. */
export async function fillForm(
  { message, fields, secrets }: TerminalForm,
  { out, server, signal }: FormOptions,
): Promise<Record<string, unknown> | undefined> {
  out.note(`\n${out.onStderr("bold", `${server} asks:`)}`);
  quote(message, out);
  if (fields.length > MANY_FIELDS) out.note(`It is a form with ${fields.length} fields.`);
  out.note(out.onStderr("dim", `Enter "${DECLINE}" to decline, press Ctrl-C to cancel the call.`));
  if (fields.length === 0) return (await confirm("Accept", { out, server, signal })) ? {} : undefined;
  if (secrets.length > 0 && !(await isWarned({ message, fields, secrets }, { out, server, signal }))) return undefined;
  const content: [string, unknown][] = [];
  for (const field of fields) {
    const answer = await askField(field, { out, signal, hidden: secrets.includes(field.name) });
    if (answer.kind === "declined") return undefined;
    if (answer.kind === "answered") content.push([field.name, answer.value]);
  }
  return Object.fromEntries(content);
}

/** Answers come into the logs of servers and the context of models, so that forms must not ask for secrets. */
async function isWarned(
  { message, fields, secrets }: TerminalForm,
  { out, server, signal }: FormOptions,
): Promise<boolean> {
  const named = fields.filter(({ name }) => secrets.includes(name));
  const shown = named.map((field) => {
    const word = secretWord(message, field);
    const name = shorten(field.name, MAX_NAME);
    return word === undefined ? name : `${name} ("${word}")`;
  });
  const [first = "", ...more] = quotedLines(
    `warning: this form seems to ask for a secret: ${visible(joinFirst(shown, MANY_FIELDS))}.\n` +
      `MCP forbids servers to ask for passwords, keys and similar data in forms. What you type is sent to ${visible(server)}.`,
    questionColumns(),
  );
  const warning = first.trimStart().replace("warning:", out.onStderr("yellow", "warning:"));
  out.note([warning, ...more].join("\n"));
  const typed = await askFor(out, { text: `Type "yes" to fill it in, anything else declines`, signal });
  return typed.trim().toLowerCase() === "yes";
}

/** Shows a URL that the server wants the user to visit; opens nothing. True when the user says that it is done. */
export async function visitPage(message: string, url: string, { out, server, signal }: FormOptions): Promise<boolean> {
  const page = URL.canParse(url) ? new URL(url) : undefined;
  out.note(`\n${out.onStderr("bold", `${server} asks you to open a web page:`)}`);
  quote(message, out);
  if (page?.protocol !== "https:" && page?.protocol !== "http:") {
    quote(url, out);
    out.note(`  This is not the address of a web page, so the request is declined.`);
    return false;
  }
  // As the browser will read it, which reveals a host that only looks like another one.
  quote(`address: ${cutMiddle(page.href, MAX_ADDRESS)}`, out);
  const [first = "", ...more] = quotedLines(`host:    ${page.host}`, questionColumns());
  out.note([first.replace(page.host, () => out.onStderr("bold", page.host)), ...more].join("\n"));
  if (page.protocol === "http:")
    out.note(`  ${out.onStderr("yellow", "The connection to this page is not encrypted.")}`);
  out.note(
    out.onStderr(
      "dim",
      `You open the page yourself, in a browser. Enter "${DECLINE}" to decline, press Ctrl-C to cancel the call.`,
    ),
  );
  if (!(await confirm("Will you open it", { out, server, signal }))) return false;
  // On one line, to be copied: an address has no spaces, and its letters are encoded.
  if (cellsOf(page.href) > MAX_PROMPT) out.note(`  ${visible(page.href)}`);
  const done = await askFor(out, { text: "Open it in a browser, then press Enter", signal });
  return done !== DECLINE;
}

type FieldAnswer = { kind: "answered"; value: unknown } | { kind: "empty" } | { kind: "declined" };

async function askField(
  field: FormField,
  { out, signal, hidden }: Pick<FormOptions, "out" | "signal"> & { hidden: boolean },
): Promise<FieldAnswer> {
  describe(field, out);
  const value = defaultOf(field);
  const fallback = value === undefined ? undefined : shownDefault(value);
  const isLong = fallback !== undefined && cellsOf(visible(fallback)) > MAX_PROMPT;
  if (isLong) quote(`default: ${visible(fallback)}`, out);
  for (;;) {
    const answer = await askFor(out, {
      text: promptOf(field),
      hidden,
      fallback: isLong ? undefined : fallback,
      signal,
    });
    const typed = answer === "" && isLong ? fallback : answer;
    if (typed === DECLINE) return { kind: "declined" };
    if (typed === "" && !field.required) return { kind: "empty" };
    if (typed === "" && field.kind !== "text") {
      out.note(out.onStderr("yellow", `  An answer is required. Enter "${DECLINE}" to decline.`));
      continue;
    }
    const reading = await readField(field, [typed], { numbered: true });
    if ("value" in reading) return { kind: "answered", value: reading.value };
    quote(visible(reading.problem), out, "yellow");
  }
}

function describe(field: FormField, out: Output): void {
  const { title, description, kind, choices, required } = field;
  const facts = kind === "choice" || kind === "choices" ? (required ? "" : "optional") : fieldFacts(field);
  const about = facts === "" ? "" : ` (${visible(shorten(facts, MAX_NAME))})`;
  const head = visible(shorten(title, MAX_NAME));
  const [first = "", ...more] = quotedLines(head + about, questionColumns());
  out.note(`\n${[first.replace(head, () => out.onStderr("bold", head)), ...more].join("\n")}`);
  if (description !== undefined) quote(visible(description), out);
  const width = String(choices.length).length;
  for (const [index, { value, title: shown }] of choices.slice(0, MAX_CHOICES).entries()) {
    const both = shown === value ? value : `${shown} (${value})`;
    quote(`${String(index + 1).padStart(width)}  ${visible(shorten(both, MAX_NAME))}`, out);
  }
  if (choices.length > MAX_CHOICES) out.note(`  and ${choices.length - MAX_CHOICES} more`);
}

/** Words of the server: not too many, and never at the beginning of a row. */
function quote(text: string, out: Output, style?: Style): void {
  if (text === "") return;
  const rows = quotedLines(cutMiddle(text, MAX_TEXT), questionColumns()).join("\n");
  out.note(style === undefined ? rows : out.onStderr(style, rows));
}

function promptOf({ name: whole, kind, choices }: FormField): string {
  // With the indent of everything that the server says.
  const name = `  ${cut(visible(whole), MAX_PROMPT)}`;
  if (kind === "choice") return `${name}, 1-${choices.length}`;
  if (kind === "choices") return `${name}, one or more (1,2)`;
  return kind === "boolean" ? `${name}, y/n` : name;
}

async function confirm(what: string, { out, signal }: FormOptions): Promise<boolean> {
  for (;;) {
    const typed = (await askFor(out, { text: `${what}? y/n`, signal })).trim().toLowerCase();
    if (typed === "y" || typed === "yes") return true;
    if (typed === "n" || typed === "no" || typed === DECLINE) return false;
  }
}
