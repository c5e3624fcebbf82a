import { choice, constant, json, list, map, record, schemaWhen, text, varying, whole } from "../../../format/form.ts";
import { standIn } from "../../../format/read-form.ts";
import { oneOf, present, type Part } from "../../../format/part.ts";
import { bytes } from "../../../format/quantities.ts";
import { expressionIn } from "../../expression/fill.ts";
import { RESERVED_WORDS } from "../../expression/parse.ts";
import {
  DEFAULT_DOWNLOAD_BYTES,
  type CheckSpec,
  type FakeFailure,
  type RequestSpec,
  type StepSpec,
  type ToolSpec,
} from "../model/tool-file.ts";
import { DURATION, EVIDENCE, FileNames, STATUS, VALUES } from "./parts.ts";
import { ERROR, PAGING, REQUEST, RESPONSE, STEPS_RESPONSE } from "./requests.ts";

const KB = 1024;
const SIZE = bytes({ least: 256, most: KB * KB })
  .says("A size from 256 bytes to `1MB`: `16kB`, or a number of bytes. A kB has 1024 bytes.")
  .example("16kB")
  .named("size");

const STEP_NAME = /^[A-Za-z][A-Za-z0-9_]{0,31}$/;
/** Names that have another meaning in the expressions of steps. */
const TAKEN = ["input", "settings", "answer", ...RESERVED_WORDS];
const MIN_EVERY_MS = 500;

/** An expression; a leading `=` may be written, as in arguments. */
const CONDITION = text().to<string>({
  read: (written) => expressionIn(written)?.trim() ?? written,
  write: (written) => written,
  fallback: "null",
});

const STEP = record({
  call: text().says("The tool; it has a request and no `confirm`."),
  arguments: VALUES.says(
    "Its arguments: values with `= expression` over `input`, `settings` and the earlier steps by name.",
  ).filled(),
  when: CONDITION.says("The step is left out if this is not true; its value is then nothing. An expression.")
    .example("customer.id == null")
    .optional(),
  each: CONDITION.says(
    "One call for each item of this list; the value of the step is the list of results. An expression.",
  )
    .example("input.lines")
    .optional(),
  as: text({ pattern: STEP_NAME, not: "cannot be a name", hint: "Letters, digits and _." })
    .check((name, part) => {
      if (TAKEN.includes(name)) part.error(`"${name}" already means something else`);
    })
    .schema({ pattern: `^(?!(${TAKEN.join("|")})$)[A-Za-z][A-Za-z0-9_]{0,31}$` })
    .says("The name of the item in the arguments.")
    .default("item"),
  max: whole({ least: 1, most: 100 }).says("The most items; a longer list is refused.").default(20),
  until: CONDITION.says(
    "The same read again until this is true. It sees the fields of the answer, `answer`, `input` and the earlier steps. An expression.",
  )
    .example("status != 'processing'")
    .optional(),
  every: DURATION.says("The time between two reads, at least 500ms.").default(2_000),
  atMost: DURATION.says("After this time the step fails; no longer than `limits.timeout` of the tool.").default(60_000),
})
  .schema({
    dependentRequired: { as: ["each"], max: ["each"], every: ["until"], atMost: ["until"] },
    not: { required: ["each", "until"] },
  })
  .to<StepSpec>({
    typeName: "StepSpec",
    read({ call, arguments: given, when, as, max, every, atMost, ...members }, part) {
      const [isRepeated, isPolled] = [part.has("each"), part.has("until")];
      if (isRepeated && isPolled)
        part.part("until").keyError("each and until cannot be in one step", "Make two steps of it.");
      for (const key of ["as", "max"]) if (!isRepeated) refuseAlone(part, key, "each");
      for (const key of ["every", "atMost"]) if (!isPolled) refuseAlone(part, key, "until");
      if (isPolled && every < MIN_EVERY_MS) part.part("every").error(`must be ${MIN_EVERY_MS}ms or more`);
      if (isPolled && every > atMost)
        part.part("every").error("is longer than atMost, so there would be one request only");
      const { each = "null", until = "true" } = members;
      return present({
        call,
        arguments: given,
        when,
        each: isRepeated ? { list: each, as, max } : undefined,
        until: isPolled && !isRepeated ? { that: until, everyMs: every, atMostMs: atMost } : undefined,
      });
    },
    write: ({ each, until, ...rest }) => ({
      ...rest,
      ...(each ? { each: each.list, as: each.as, max: each.max } : {}),
      ...(until ? { until: until.that, every: until.everyMs, atMost: until.atMostMs } : {}),
    }),
    fallback: { call: "", arguments: {} },
  })
  .says("A call of another tool of the file. Its value is the result of that tool, as its callers get it.")
  .named("step");

function refuseAlone(part: Part, key: string, owner: string): void {
  if (part.has(key)) part.part(key).keyError(`belongs to ${owner}, which is missing`);
}

const NO_STEP_NAME = [...TAKEN, "item"];
const STEPS = map(STEP, {
  names: text({ empty: true })
    .check((name, part) => {
      if (!STEP_NAME.test(name)) {
        const hint = "At most 32 letters, digits and _, beginning with a letter.";
        part.keyError(`"${name}" cannot be the name of a step`, hint);
      } else if (NO_STEP_NAME.includes(name)) {
        part.keyError(`"${name}" already means something else in expressions`, "Choose another name.");
      }
    })
    .schema({ pattern: `^(?!(${NO_STEP_NAME.join("|")})$)[A-Za-z][A-Za-z0-9_]{0,31}$` }),
})
  .check((steps, part) => {
    const count = Object.keys(steps).length;
    if (count === 0) part.error("has no steps", "Give at least one, as name: { call: tool }.");
    if (count > 20) part.error(`has ${count} steps, 20 are allowed`);
  })
  .schema({ minProperties: 1, maxProperties: 20 });

/** A call before a write, which confirms what the caller expects. */
export const CONFIRM = record({
  field: text().says(
    "The field of the input that says what the caller expects: a number. It is sent with what is confirmed.",
  ),
  call: text().says("A tool of this file with the effect read."),
  arguments: VALUES.says("Its arguments: values with `= expression` over `input`, and lists with `each`."),
  find: text()
    .says("What the caller chose in the answer, or nothing. It sees `answer` and `input`. An expression.")
    .otherwise("null"),
  actual: text().says("What is true now. It sees `found`, `answer` and `input`. An expression.").otherwise("null"),
  ask: text().says("The question, with `expected`, `actual`, `found` and `input`. A template."),
  gone: text().says("What is told when nothing was found. A template."),
})
  .says("Checks what the caller expects against a fresh call before anything is sent; a difference is asked about.")
  .named("confirm");

const LIMITS = record({
  timeout: DURATION.says("How long it may take. Left out, it is that of `upstream`.").optional(),
  retries: whole({ most: 5 })
    .says(
      "How often a read is tried again where the connection fails or the server answers with HTTP 429, 500, 502, 503 or 504. Others are never repeated by themselves.",
    )
    .schema({ default: 2 })
    .optional(),
  result: SIZE.says("How large a result may be; a larger one becomes an excerpt and a link.").default(16 * 1024),
  download: bytes({ least: 256, most: 16 * 1024 * 1024 })
    .says("How large a binary or text answer may be; at most 16MB.")
    .omits(DEFAULT_DOWNLOAD_BYTES),
})
  .says("What one call may use.")
  .named("limits");

const LIKE = text()
  .says(
    "The title of an example or the name of a check above, whose arguments it takes over. Its own arguments replace them member by member, and `null` removes a member.",
  )
  .optional();

const FAILURES = ["status", "delay", "cut", "broken", "offSchema"];

const FAILURE = record(
  {
    status: STATUS.says("It answers with this status and no body.").optional(),
    delay: DURATION.says("It waits before it answers.").optional(),
    cut: constant(true, "must be true, or left out").says("It breaks off in the middle of the answer.").optional(),
    broken: constant(true, "must be true, or left out").says("Its answer cannot be read.").optional(),
    offSchema: constant(true, "must be true, or left out").says("Its answer is not what the types say.").optional(),
    tool: text()
      .says("The tool whose requests fail. Default: the tool of the check; of a tool with steps, all tools.")
      .optional(),
  },
  { needs: [{ count: "one", of: FAILURES, message: `must say one way to fail: ${oneOf(FAILURES)}` }] },
)
  .to<{ fake: FakeFailure; failing?: string }>({
    read({ status, delay, cut, broken, tool: failing }, part) {
      const fake: FakeFailure = part.has("status")
        ? { status: status ?? 500 }
        : part.has("delay")
          ? { delayMs: delay ?? 0 }
          : cut
            ? { cut }
            : broken
              ? { broken }
              : { offSchema: true };
      return present({ fake, failing });
    },
    write: ({ fake, failing }) => ({
      ...("delayMs" in fake ? { delay: fake.delayMs } : fake),
      ...(failing === undefined ? {} : { tool: failing }),
    }),
    fallback: { fake: { offSchema: true } },
  })
  .says("How the fake fails: one of these.")
  .named("failure");

const CHECK = record({
  name: text().says("What it shows."),
  like: LIKE,
  call: VALUES.says("The arguments."),
  expect: record({
    error: text().says("Text that the failure has to contain.").optional(),
    structuredContent: json().says("Compared member by member; what is not named here may be anything.").optional(),
    text: text().says("Text that the result has to contain.").optional(),
  })
    .check((_expect, part) => {
      if (part.entries().length === 0) part.error("expects nothing", "Give error, text or structuredContent.");
    })
    .schema({ minProperties: 1 })
    .says("Part of what must come."),
  fake: FAILURE.optional(),
})
  .schema({ required: ["name", "expect"], anyOf: [{ required: ["call"] }, { required: ["like"] }] })
  .to<CheckSpec>({
    typeName: "CheckSpec",
    read: ({ name, call, expect, fake }) => present({ name, call, expect, fake: fake?.fake, failing: fake?.failing }),
    write: ({ fake, failing, ...rest }) => ({ ...rest, fake: fake && present({ fake, failing }) }),
    fallback: { name: "", call: {}, expect: {} },
  })
  .says("A call that must work against the fake.")
  .named("check");

const EXAMPLE = record({
  title: text().says("What it is about.").optional(),
  like: LIKE,
  arguments: VALUES.says("What is given."),
})
  .schema({ required: undefined, anyOf: [{ required: ["arguments"] }, { required: ["like"] }] })
  .says("One call.");

/** Of all steps together. */
const DEFAULT_STEPS_TIMEOUT_MS = 120_000;
const DEFAULT_RETRIES = 2;
/** Stands for a request that is missing. */
const NO_REQUEST: RequestSpec = { method: "POST", path: "", query: {}, headers: {} };

/** Members that describe a request. */
const OF_REQUESTS = ["paging", "errors", "outcomeUnknown", "confirm"];

/** A tool as it is written: it sends a request, or calls other tools in steps. */
export const WRITTEN_TOOL = record({
  title: text().says("Its name for people.").forPeople(),
  description: text()
    .says("For models: what it does, what has to be done before, its limits, what to do next.")
    .forPeople(),
  effect: choice(["read", "write", "destructive"]).says(
    "What a call does to the world. `read` may be repeated; `write` and `destructive` are never repeated blindly, and clients ask before.",
  ),
  meta: record({
    owner: text().says("Who is responsible.").optional(),
    category: text().says("What it belongs to.").optional(),
    safety: text().says("What to be careful about.").optional(),
  })
    .says("For catalogues and reviewers; it is told to clients.")
    .forPeople()
    .filled(),
  input: text().says("The name of the type that callers give."),
  unknown: choice(["reject", "drop"]).says("What happens to arguments that the input does not know.").default("reject"),
  request: REQUEST.optional(),
  paging: PAGING.optional(),
  steps: STEPS.says(
    "Instead of a request: calls of other tools of the file, one after the other, by name. At most 20. See [Several steps](#several-steps).",
  ).optional(),
  response: varying([RESPONSE, STEPS_RESPONSE], (has) => (has("steps") ? STEPS_RESPONSE : RESPONSE)).says(
    "How the answer is read and told; of steps, how the result is made.",
  ),
  errors: list(ERROR)
    .says(
      "What goes wrong, in order: the first that fits says what happened. Other failures are told by their HTTP status, with what the API said.",
    )
    .filled(),
  outcomeUnknown: text()
    .says("Of writes: how to find out what became of a call that got no answer. A template.")
    .forPeople()
    .optional(),
  limits: LIMITS.filled(),
  confirm: CONFIRM.optional(),
  examples: list(EXAMPLE)
    .says(
      "Calls that work, for people and models: they are offered as examples of the tool's input. One that the tool refuses is not. Without any, a call is made up.",
    )
    .forPeople()
    .filled(),
  checks: list(CHECK, { keepsPlaces: true })
    .check(checkNames)
    .says("Calls that must work against the fake: `nexus api test` runs them.")
    .filled(),
  evidence: EVIDENCE.forPeople().filled(),
  offer: choice(["listed", "search", "none"])
    .says(
      "`listed`: in the list of tools. `search`: found with the search tools instead. `none`: only for steps of other tools.",
    )
    .omits("listed"),
})
  .schema(
    schemaWhen(
      { required: ["steps"] },
      {
        properties: {
          ...Object.fromEntries(["request", ...OF_REQUESTS].map((name) => [name, false])),
          response: { $ref: "#/$defs/stepsResponse" },
        },
      },
      { required: ["request"], properties: { response: { $ref: "#/$defs/response" } } },
    ),
  )
  .says("One tool of the server.");

export const TOOL = WRITTEN_TOOL.to<ToolSpec>({
  typeName: "ToolSpec",
  read(members, part) {
    const isSteps = part.has("steps");
    if (isSteps) refuseWithSteps(part);
    else if (!part.has("request")) part.error("request is missing");
    const { timeout, retries, result, download } = members.limits;
    const isRead = members.effect === "read";
    if (retries !== undefined && retries > 0 && !isRead) {
      const message = `a ${members.effect} call is never repeated by itself`;
      part.part("limits").part("retries").warning(message, "Write 0, or leave it out.");
    }
    const limits = present({
      timeoutMs: timeout ?? (isSteps ? DEFAULT_STEPS_TIMEOUT_MS : FileNames.of(part).timeoutMs),
      retries: isRead ? (retries ?? DEFAULT_RETRIES) : 0,
      resultBytes: result,
      downloadBytes: download,
    });
    const { request = NO_REQUEST, paging, steps = {} } = members;
    const way = isSteps ? { request: undefined, paging: undefined, steps } : { request, paging, steps: undefined };
    // A tool with steps has the response of one, and no request.
    return present({ ...members, ...way, limits }) as ToolSpec;
  },
  write: ({ limits: { timeoutMs, retries, resultBytes, downloadBytes }, ...tool }) => ({
    ...tool,
    limits: present({
      timeout: timeoutMs,
      retries: tool.effect === "read" ? retries : undefined,
      result: resultBytes,
      download: downloadBytes,
    }),
  }),
  fallback: {
    ...standIn(WRITTEN_TOOL),
    request: NO_REQUEST,
    limits: { timeoutMs: 0, retries: 0, resultBytes: 0 },
    // Nothing in it can be read, so it is not known whether it has steps.
  } as ToolSpec,
}).named("tool");

function refuseWithSteps(part: Part): void {
  if (part.has("request")) part.part("request").keyError("a tool has a request or steps, not both");
  for (const key of OF_REQUESTS) {
    if (part.has(key))
      part.part(key).keyError("belongs to a tool with a request", "Write it at the tool that the step calls.");
  }
}

function checkNames(checks: readonly CheckSpec[], part: Part): void {
  const names = new Set<string>();
  checks.forEach(({ name }, index) => {
    if (names.has(name)) part.part(index).part("name").error(`another check is called "${name}"`);
    names.add(name);
  });
}
