import {
  boolean,
  choice,
  constant,
  flag,
  json,
  kinds,
  list,
  map,
  record,
  schemaWhen,
  text,
  whole,
  type Form,
  type SchemaKeywords,
} from "../../../format/form.ts";
import { oneOf, present, type Part } from "../../../format/part.ts";
import {
  REQUEST_METHODS,
  type NextPage,
  type Parameter,
  type PagingSpec,
  type ParameterStyle,
  type StepsResponseSpec,
} from "../model/tool-file.ts";
import { baseAddress, headerNames, SINGLE, STATUS } from "./parts.ts";

/** A name, or a number from 1. */
const COUNT = whole({ least: 1 });

const STYLES = {
  query: ["repeat", "comma", "space", "pipe", "tab", "members", "pairs", "deep", "json"],
  headers: ["comma", "members", "pairs", "json"],
  cookies: ["repeat", "comma", "members", "pairs", "json"],
} as const satisfies Record<string, readonly ParameterStyle[]>;

function styles(options: readonly ParameterStyle[]): Form<ParameterStyle> {
  return choice(options).says(
    "`repeat`: the name again for each item. `comma`, `space`, `pipe`, `tab`: one text with this between the items. `members`: each member of an object is a parameter, in a header `a=1,b=2`. `pairs`: `a,1,b,2`. `deep`: `name[a]=1`. `json`: JSON text. A value that contains the sign between the items is refused.",
  );
}

/** A parameter: a field, a field with a style, a constant or a computed value. */
function parameter(place: keyof typeof STYLES): Form<Parameter> {
  const [usual] = STYLES[place];
  const long = record(
    {
      field: text().says("The field of the input.").optional(),
      style: styles(STYLES[place]).default(usual),
      const: SINGLE.says("A text that is always the same: no argument is needed for it.").optional(),
      value: text()
        .says(
          "A computed value; with null it is left out. An expression over `input` and `settings`, with `now()`, `today()` and `request_key()`.",
        )
        .example("today()")
        .optional(),
    },
    {
      needs: [
        {
          count: "one",
          of: ["field", "const", "value"],
          message: "must have one of field, const and value",
          hint: "field: an argument; const: a text; value: an expression.",
        },
      ],
    },
  ).schema({ dependentRequired: { style: ["field"] } });
  return kinds({ text: text(), map: long }).to<Parameter>({
    typeName: "Parameter",
    read(written, part) {
      if (typeof written === "string") return written;
      if (part.has("style") && !part.has("field")) part.part("style").keyError("is for fields", "Leave it out.");
      if (part.has("const")) return { const: constantText(part.part("const"), place) };
      if (part.has("value")) return { value: written.value ?? "null" };
      const { field = "", style } = written;
      // The same parameter, whether its usual style is written or not.
      return style === usual ? field : { field, style };
    },
    write: (given) => given,
    fallback: "",
  });
}

/** In a query, the style is always in the value. */
const QUERY = parameter("query").to<Exclude<Parameter, string>>({
  typeName: "Exclude<Parameter, string>",
  read: (given) => (typeof given === "string" ? { field: given, style: "repeat" } : given),
  write: (given) => ("style" in given && given.style === "repeat" ? given.field : given),
  fallback: { field: "", style: "repeat" },
});

/** Numbers and truth values are written as text. */
function constantText(part: Part, place: keyof typeof STYLES): string {
  const value = part.value();
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return "";
  const written = typeof value === "string" ? value : (part.source() ?? String(value));
  if (place === "headers" && /[^\x20-\x7e]/.test(written)) part.error("has characters that a header cannot hold");
  return written;
}

const COOKIE = text({ pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~[\]-]+$/, not: "cannot be the name of a cookie" });

const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+*-]+(?:\s*;\s*[\w-]+=(?:[\w.+:/-]+|"[\x20-\x21\x23-\x7e]*"))*$/;

function mediaType(example: string): Form<string> {
  return text({ pattern: MEDIA_TYPE, not: `is not a media type like ${example}` });
}

const PATH = text({ empty: true })
  .check(checkPath)
  .schema({ pattern: String.raw`^(?!/)(?![A-Za-z][A-Za-z0-9+.-]*:)[^?#\s\\]*$` });

function checkPath(path: string, part: Part): void {
  const plain = path.replaceAll(/\{[.;]?[A-Za-z][A-Za-z0-9_]*\*?\}/g, "x");
  if (plain.startsWith("/") || /^[a-z][a-z0-9+.-]*:/i.test(plain)) {
    part.error("begins at the base address, so not with a slash or a scheme", `Write ${path.replace(/^.*?\/+/, "")}`);
  } else if (/[?#]/.test(plain)) {
    part.error("must end before ? and #", "Put parameters into query.");
  } else if (/[{}]/.test(plain)) {
    part.error(
      "has braces that name no field",
      "Write {field}, {.field}, {;field}, or with * to explode it: {;field*}.",
    );
  } else if (/(^|\/)(\.|%2e){1,2}(\/|$)|\\|%2f|%5c|\s/i.test(plain)) {
    part.error("must not hold blanks, backslashes, encoded slashes, or dots as steps");
  }
}

/** What is sent. */
export const REQUEST = record({
  method: choice(REQUEST_METHODS).says("The method of HTTP.").otherwise("POST"),
  base: baseAddress("the path is added to it")
    .says(
      "The base address of this request, in place of that of `upstream`. It ends with a slash, and must be within `upstream.allow`.",
    )
    .example("https://uploads.example/")
    .optional(),
  path: PATH.says(
    "Added to the base address. `{field}` takes a field of the input, percent-encoded: it can never add a step. As in RFC 6570, `{.field}` writes a label (`.a`), `{;field}` a matrix parameter (`;field=a`), and `*` at the end explodes lists and objects (`{;field*}`).",
  ).example("museums/{id}/hours"),
  query: map(QUERY)
    .says("By parameter: the field of the input, a constant or a computed value.")
    .example({ page: "page", tag: { field: "tags", style: "comma" } })
    .filled(),
  headers: map(parameter("headers"), { names: headerNames("Name it in secrets, as bearer, basic or headers.") })
    .says("By header: the field of the input, a constant or a computed value.")
    .filled(),
  cookies: map(parameter("cookies"), { names: COOKIE })
    .says("By cookie: the field of the input, a constant or a computed value.")
    .optional(),
  secrets: text().says("The name of the set of secrets that it carries.").optional(),
  body: choice(["xml", "json", "form", "multipart", "binary", "text"])
    .says(
      "How the other fields of the input are sent. `multipart`: bytes are files, single values texts, all others JSON. `binary` and `text`: one field with the wire path `.` is the whole body.",
    )
    .optional(),
  contentType: mediaType("application/json")
    .says("The content type, if it is not the usual one of the body.")
    .example("application/merge-patch+json")
    .optional(),
  bodyOptional: flag().says("If none of its fields is given, no body is sent."),
  parts: map(
    record({
      style: styles(STYLES.query).optional(),
      contentType: mediaType("image/png").says("Of multipart: the content type of the part.").optional(),
      fileName: text({ pattern: /^(?=.*\S)[^/\\\p{Cc}]{1,200}$/u, not: "is not a file name without folders" })
        .says("Of multipart: the file name of the part.")
        .optional(),
    }),
  )
    .says(
      "By field, for the bodies `form` and `multipart`: how it is written. A file name can also come from a data URL (`data:image/png;name=a.png;base64,…`).",
    )
    .example({ file: { contentType: "image/png", fileName: "photo.png" } })
    .optional(),
  accept: text({ pattern: /^(?=.*\S)[\x20-\x7e]+$/, not: "is not a list of media types" })
    .says("The Accept header, if it is not the usual one of the answer.")
    .example("application/vnd.api+json")
    .optional(),
})
  .check(({ method, body }, part) => {
    if (body !== undefined && method === "HEAD")
      part.part("body").error("HEAD has no body", "Put the fields into query.");
    if (body === undefined) {
      for (const key of ["contentType", "bodyOptional", "parts"]) {
        if (part.has(key)) part.part(key).keyError("is for requests with a body", "Add body, or leave it out.");
      }
    }
    if (part.has("parts")) checkParts(part.part("parts"), body);
  })
  .schema({ not: { properties: { method: { const: "HEAD" } }, required: ["method", "body"] } })
  .says("What is sent.")
  .named("request");

function checkParts(part: Part, body: string | undefined): void {
  if (body !== "form" && body !== "multipart") part.keyError("is for the bodies form and multipart", "Leave it out.");
  if (body !== "form") return;
  for (const [, each] of part.entries()) {
    for (const key of ["contentType", "fileName"]) {
      if (each.has(key)) each.part(key).keyError(`${key} is for the body multipart`, "Leave it out.");
    }
  }
}

function isAs(...ways: readonly string[]): SchemaKeywords {
  return { properties: { as: { enum: ways } }, required: ["as"] };
}

/** How the answer is read and told. */
export const RESPONSE = record({
  as: choice(["xml", "json", "text", "none", "binary", "auto"])
    .says(
      "What the answer is; `none` where nothing is read. `binary`: bytes, returned as image, audio or resource. `auto`: by its content type JSON, text or bytes.",
    )
    .otherwise("none"),
  headers: map(text())
    .says("By response header: the field of the type that it fills. Such a field is not read from the body.")
    .example({ "X-Total-Count": "total" })
    .optional(),
  type: text()
    .says("The name of the type of the answer; text, bytes and empty answers have one only for `headers`.")
    .optional(),
  text: text()
    .says(
      "The first line of the result. It sees the answer's fields, `input` and `status`; of text, `text`. `input` and `status` hide fields of these names. A template.",
    )
    .example("Found {count} options from {input.arrival}."),
  sourcePayload: boolean().says("Callers may ask for the raw answer, without secrets.").default(false),
  unknown: choice(["keep", "ignore", "report"])
    .says(
      "What happens to members of a JSON answer that its type does not name: `keep` returns them as they are, `ignore` leaves them out, `report` names each one in `deviations`. XML answers always report.",
    )
    .omits("ignore"),
})
  .check(({ as }, part) => {
    const isKnown = part.part("as").isText;
    const [type, isBodyless] = [part.part("type"), as === "text" || as === "none" || as === "binary"];
    if (type.isThere && isBodyless && isKnown && !part.has("headers")) {
      type.keyError(`an answer that is read as ${as} has no type`, "Only fields from response headers need one.");
    }
    if (!type.isThere && isKnown && (as === "xml" || as === "json"))
      part.error("type is missing", `An ${as} answer is read by a type.`);
    if (!type.isThere && part.has("headers")) part.error("type is missing", "The headers fill fields of a type.");
    if (part.has("unknown") && as !== "json" && as !== "auto")
      part.part("unknown").keyError("is for JSON answers", "Leave it out.");
  })
  .schema({
    ...schemaWhen(isAs("xml", "json"), { required: ["type"] }),
    allOf: [
      schemaWhen(isAs("json", "auto"), {}, { properties: { unknown: false } }),
      schemaWhen(
        { required: ["headers"] },
        { required: ["type"] },
        schemaWhen(isAs("text", "none", "binary"), { properties: { type: false } }),
      ),
    ],
  })
  .says("How the answer is read and told.")
  .named("response");

/** The result of steps: a value that is made of them. */
export const STEPS_RESPONSE = record(
  {
    type: text().says("The name of the type of the result.").optional(),
    give: json()
      .says("The result: values with `= expression` over `input`, `settings` and the steps by name.")
      .optional(),
    text: text().says(
      "The first line of the result. It sees the fields of the result, the steps by name, and `input`. A template.",
    ),
  },
  {
    foreign: { as: "Steps read nothing themselves: the tools that they call do. Write give: with the result." },
  },
)
  .schema({ dependentRequired: { type: ["give"], give: ["type"] } })
  .to<StepsResponseSpec>({
    typeName: "StepsResponseSpec",
    read({ type, give, text: line }, part) {
      if (part.has("type") !== part.has("give")) {
        const missing = part.has("type") ? "give is missing" : "type is missing";
        part.error(missing, "A result has a type, and give fills it.");
      }
      return present({ as: "none" as const, type, text: line, sourcePayload: false, give });
    },
    write: ({ type, give, text: line }) => present({ type, give, text: line }),
    fallback: { as: "none", text: "", sourcePayload: false },
  })
  .says("The result of a tool with steps.")
  .named("stepsResponse");

/** A failure that the file describes. */
export const ERROR = record(
  {
    status: list(STATUS, { single: true }).says("The status of HTTP, or several; any, where it is left out.").filled(),
    that: text()
      .says("What is true then. It sees the answer's fields, `status` and `input`. An expression.")
      .example("count(errors) > 0")
      .optional(),
    say: text().says("What happened. A template."),
    try: text().says("What to try. A template.").optional(),
    outcome: choice(["refused", "unknown"])
      .says(
        "Of writes: whether upstream surely did nothing, so that the same call may be made again, or it is not known. Left out, a 4xx and what `that` recognises below 500 are refusals.",
      )
      .optional(),
  },
  {
    needs: [
      { count: "some", of: ["status", "that"], message: "does not say when", hint: "Give status, that, or both." },
    ],
  },
)
  .says("One way to fail.")
  .named("error");

/** A field, or a path of fields. */
const FIELD_PATH = text({
  pattern: /^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)*$/,
  not: "is not a field of the answer",
  hint: "Write the name of a field, or a path of names with dots.",
});
const PAGE_SIZE = kinds({ number: COUNT, text: text() })
  .says("The field of the input with the number of items of a page, or that number. A shorter page is the last one.")
  .optional();

const WAYS = {
  cursor: record({
    from: FIELD_PATH.says("Where it is in the answer; nothing or empty text there is the end."),
    to: text().says("The optional field of the input that it is sent in."),
  })
    .says("The answer names the next page.")
    .optional(),
  page: record({
    to: text().says("The optional field of the input with the number."),
    first: whole().says("The number of the first page.").default(1),
    size: PAGE_SIZE,
  })
    .says("Pages have numbers.")
    .optional(),
  offset: record({ to: text().says("The optional field of the input with that number."), size: PAGE_SIZE })
    .says("The number of items before the page is sent.")
    .optional(),
  link: kinds({
    boolean: constant(true, "must be true for the Link header, or the field of the answer with the address"),
    text: FIELD_PATH,
  })
    .says(
      "The address of the next page: `true` if it is in the `Link` header, otherwise its field in the answer. Only addresses at the same origin and within `upstream.allow` are followed.",
    )
    .optional(),
};
const KINDS = Object.keys(WAYS);

/** Gathers the pages of a list into one result. */
export const PAGING = record(
  {
    items: FIELD_PATH.says("The list in the answer: a field, or a path of fields with dots."),
    ...WAYS,
    last: text()
      .says("True for the last page. It sees the fields of the answer, `input` and `status`. An expression.")
      .example("hasMore == false")
      .optional(),
    maxPages: whole({ least: 1, most: 100 }).says("The most pages of one call.").default(10),
    maxItems: whole({ least: 1, most: 100_000 })
      .says("No further page is requested once there are this many items.")
      .optional(),
  },
  {
    needs: [{ count: "one", of: KINDS, message: `must say how the next page is requested: ${oneOf(KINDS)}` }],
  },
)
  .to<PagingSpec>({
    typeName: "PagingSpec",
    read({ items, cursor, page, offset, link, last, maxPages, maxItems }) {
      const next: NextPage = cursor
        ? { kind: "cursor", ...cursor }
        : page
          ? { kind: "page", ...page }
          : offset
            ? { kind: "offset", ...offset }
            : present({ kind: "link" as const, from: typeof link === "string" ? link : undefined });
      return present({ items, next, last, maxPages, maxItems });
    },
    write({ next: { kind, ...next }, ...rest }) {
      return { ...rest, [kind]: kind === "link" ? ("from" in next ? next.from : true) : next };
    },
    fallback: { items: "", next: { kind: "link" }, maxPages: 10 },
  })
  .says(
    "Gathers the pages of a list into one result. One of `cursor`, `page`, `offset` and `link` says how the next page is requested. See [Pages](#pages).",
  )
  .named("paging");
