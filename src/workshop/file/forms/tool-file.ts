import { boolean, constant, json, list, map, record, text } from "../../../format/form.ts";
import type { Part } from "../../../format/part.ts";
import type { UpstreamSpec } from "../model/tool-file.ts";
import {
  ADDRESS,
  baseAddress,
  covers,
  DEFAULT_TIMEOUT_MS,
  DURATION,
  EVIDENCE,
  STATUS,
  TEXT_OR_EMPTY,
  VALUES,
  WORD,
} from "./parts.ts";
import { SECRETS, SETTING } from "./secrets.ts";
import { TOOL } from "./tools.ts";
import { TYPE, TYPE_NAME } from "./types.ts";

const NAME = /^[a-z][a-z0-9_]{0,63}$/;
const TOOL_NAME = text({ empty: true })
  .check((name, part) => {
    if (NAME.test(name)) return;
    const hint = "Small letters, digits and _, at most 64, beginning with a letter.";
    const snake = snakeCase(name);
    part.keyError(`"${name}" cannot be the name of a tool`, NAME.test(snake) ? `Write ${snake}. ${hint}` : hint);
  })
  .schema({ pattern: NAME.source });

/** A document that the file was written from, beside it, and the hash of the text that was read. */
export const DOCUMENT = record({
  file: text({ empty: true })
    .check((file, part) => {
      if (file === "") part.error("is empty");
      else if (!isBeside(file)) {
        part.error(`"${file}" is not beside this file`, "Write a path that begins in the same folder.");
      }
    })
    .schema({ pattern: String.raw`^(?!/)(?!.*//)(?!(.*/)?\.\.(/|$))[^\\:]*[^\\:\s][^\\:]*$` })
    .says("Its path, beside this file.")
    .example("manual.md"),
  sha256: text()
    .check(checkSha256)
    .schema({ pattern: "^[0-9a-f]{64}$" })
    .says(
      "The SHA-256 of its text, in hexadecimal, whichever way its lines end: line numbers of evidence are those of exactly this text. `nexus api check` tells it where it is another.",
    ),
  title: text().says("What people call it.").optional(),
  source: text().says("The address that it was imported from.").example("https://api.example/openapi.json").optional(),
})
  .says("A document that the file was written from.")
  .named("document");

function isBeside(file: string): boolean {
  return !/[\\:]/.test(file) && file.trim() !== "" && file.split("/").every((name) => name !== ".." && name !== "");
}

const FIND_OUT = "Write 64 zeros if you do not know it: the next check says what it is.";

function checkSha256(hash: string, part: Part): void {
  if (/^[0-9a-f]{64}$/.test(hash)) return;
  const hint = /^(sha256[:-])?[0-9a-f]{64}$/i.test(hash) ? "Lower case, and nothing before it." : FIND_OUT;
  part.error("is not a SHA-256: 64 digits from 0 to f", hint);
}

const UPSTREAM = record({
  base: baseAddress("paths of requests are added to it")
    .says("The address that paths of requests are added to. It ends with a slash.")
    .example("https://api.example/v1/"),
  allow: list(ADDRESS)
    .says(
      "Addresses that requests may begin with; nothing else is ever reached. The base address has to be among what they cover. Left out, it is the base address alone.",
    )
    .optional(),
  timeout: DURATION.says("How long a call may take, unless its tool says otherwise.").default(DEFAULT_TIMEOUT_MS),
})
  .to<UpstreamSpec>({
    typeName: "UpstreamSpec",
    read({ base, allow, timeout }, part) {
      if (base !== "" && allow && !allow.some((address) => covers(address, base))) {
        part.part("allow").error("does not allow the base address itself", `Add ${base}`);
      }
      return { base, allow: allow ?? (base === "" ? [] : [base]), timeoutMs: timeout };
    },
    write: ({ base, allow: [first, ...more], timeoutMs }) => ({
      base,
      ...(first === base && more.length === 0 ? {} : { allow: [first, ...more] }),
      timeout: timeoutMs,
    }),
    fallback: { base: "", allow: [], timeoutMs: DEFAULT_TIMEOUT_MS },
  })
  .says("The API that is called.")
  .named("upstream");

const GIVE = json()
  .says(
    "A value of the response type. Text that begins with `=` is an expression; `{ each, as, when, times, give }` is a list with one `give` for each item.",
  )
  .to<unknown>({ read: (give) => give ?? {}, write: (give) => give, fallback: {} })
  .named("give");

/** Of several, the first counts. */
const ANSWER_STATUS = list(STATUS, { single: true })
  .to<number>({
    read: ([first]) => first,
    write: (status) => [status],
    fallback: 200,
  })
  .says("A status of HTTP.");

function fakeAnswer(status: number) {
  return { status: ANSWER_STATUS.default(status), give: GIVE.filled() };
}

/** What the fake answers to the calls of one tool. */
export const FAKE_TOOL = record({
  refused: record(fakeAnswer(401)).says("To wrong credentials; the status is 401 by default.").optional(),
  invalid: record(fakeAnswer(400))
    .says("To a request that breaks a limit or a rule; it sees `problem`. The status is 400 by default.")
    .optional(),
  answers: list(
    record({
      ...fakeAnswer(200),
      when: text()
        .says("When it is given. It sees `input`, the tables, and `seen(x)`: whether x was remembered. An expression.")
        .optional(),
      remember: text().says("A value that `seen` knows from then on. An expression.").optional(),
    }).says("One answer."),
  )
    .says("In order: the first whose `when` is true. Without any, answers are made up from the types.")
    .filled(),
})
  .says("What the fake answers to the calls of one tool.")
  .named("fakeTool");

const TABLE_NAME = text({ empty: true })
  .check((name, part) => {
    if (!WORD.test(name)) part.keyError(`"${name}" cannot be the name of a table`, "Letters, digits and _.");
    if (name === "input" || name === "problem") part.keyError(`"${name}" already is something else in answers`);
  })
  .schema({ pattern: WORD.source, not: { enum: ["input", "problem"] } });

/** What the fake knows in addition to the types. */
export const FAKE = record({
  secrets: map(text()).says("Credentials that it takes, by the names of the secrets: placeholders.").filled(),
  tables: map(list(VALUES), { names: TABLE_NAME })
    .says("Data that answers are made of: lists of rows, by name.")
    .filled(),
  tools: map(FAKE_TOOL).says("By tool.").filled(),
})
  .says(
    "What the fake of the upstream knows, beyond what the types say. It is for trying out. Models see its answers where the API is served with it, so it is part of what is approved.",
  )
  .named("fake");

const CHOICE = record({
  answer: text().says("The answer in words.").example("yes, always"),
  set: list(
    record({
      path: text().says("The place in this file.").example("tools.create_pod.effect"),
      value: json().says("The new value."),
    })
      .says("A change of this file that an answer makes.")
      .named("edit"),
  )
    .says("What the answer changes in this file.")
    .filled(),
  default: boolean().says("Whether an empty answer stands for it.").optional(),
})
  .says("A possible answer to a question.")
  .named("choice");

/** Something that the documents do not say, or that was decided without them. */
export const QUESTION = record({
  about: text().says("The place in this file.").example("tools.create_pod.input"),
  ask: text().says("What is not known."),
  choices: list(CHOICE).says("Answers that are known beforehand, for `nexus api questions`.").unlessEmpty(),
  evidence: EVIDENCE.filled(),
})
  .says("What a person has to decide or check. Not part of the approval.")
  .named("question");

const PREFIX = text({ empty: true })
  .check((prefix, part) => {
    if (!/^[\p{L}_][\p{L}\p{N}._-]*$/u.test(prefix) || /^xml/i.test(prefix)) {
      part.keyError(`"${prefix}" cannot be a prefix`);
    }
  })
  .schema({ pattern: String.raw`^(?![xX][mM][lL])[\p{L}_][\p{L}\p{N}._-]*$` });

/** A tool file as people write it. */
export const TOOL_FILE = record({
  nexus: constant(1, "must be 1, the version of this grammar").says("The version of this grammar."),
  api: text({
    pattern: /^[a-z][a-z0-9-]{0,31}$/,
    not: "cannot be an id",
    hint: "At most 32 small letters, digits and -, beginning with a letter.",
  })
    .says(
      "The id of the API and of the server that it becomes: at most 32 small letters, digits and `-`, beginning with a letter.",
    )
    .example("capcorn"),
  title: text().says("Its name for people.").forPeople(),
  description: text().says("What it is for.").forPeople().optional(),
  version: text().says("The version of this file, in quotes: it is text.").example("1.0.0").forPeople(),
  documents: map(DOCUMENT, {
    names: text({
      pattern: /^[A-Za-z][\w-]*$/,
      not: "is not a valid name of a document",
      hint: "Letters, digits, - and _.",
    }),
  })
    .says("Documents that the file was written from, by the name that evidence uses.")
    .forPeople()
    .filled(),
  upstream: UPSTREAM,
  namespaces: map(TEXT_OR_EMPTY, { names: PREFIX })
    .says(
      "Prefixes that wire paths may use, and their namespaces; an empty one is for elements without a namespace. `xml` and `xsi` are known.",
    )
    .example({ ota: "http://www.opentravel.org/OTA/2003/05" })
    .filled(),
  secrets: map(SECRETS).says("Sets of credentials, by name.").filled(),
  settings: map(SETTING, {
    names: text({ pattern: WORD, not: "cannot be the name of a setting", hint: "Letters, digits and _." }),
  })
    .says(
      'Texts that each user gives and that are not secret: a partner code, the name of a channel. Values stand in the server\'s entry, `"settings": { "partnerCode": "ACME" }`; giving another one needs no new approval. Computed fields of inputs see them as `settings.partnerCode`.',
    )
    .unlessEmpty(),
  types: map(TYPE, { names: TYPE_NAME }).says("Types of values, by name."),
  tools: map(TOOL, { names: TOOL_NAME }).says(
    "Tools, by name: at most 64 small letters, digits and `_`, beginning with a letter.",
  ),
  fake: FAKE.forPeople().filled(),
  questions: list(QUESTION).says("What a person has to decide or check.").unlessEmpty(),
}).says("The tools of one API: what they take, what is sent, what is answered, and where the documentation says so.");

/** getMuseumHours and get-museum-hours become get_museum_hours. */
function snakeCase(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase();
}
