import type { LineRange, ManualBlock } from "../blocks/manual.ts";
import { plainText, type Outline, type PlacedBlock } from "../outline.ts";
import { samplesIn } from "../samples/find-samples.ts";
import { targetOf, type Mention } from "./mentions.ts";

/** A place that shows a value of a parameter which chooses what a request does: `api.php?action=createOrder`. */
export interface ActionUse extends Pick<Mention, "index" | "place" | "kind" | "query" | "isSubject"> {
  name: string;
  value: string;
  /** Where the parameter is sent; undefined: the place does not say it. */
  sentIn?: "query" | "body";
  /** The address, if the place has one, and its method, if the place says it. */
  target?: Pick<Mention, "origin" | "path">;
  method?: string;
}

const SELECTOR = /^(?:action|act|method|method_?name|cmd|command|op|operation|do|function|func|fn|call|task|request)$/i;
/** Names that are as often those of other things: only a value with several words is one of an action. */
const VAGUE = /^(?:method|do|call|task|request|act)$/i;
const VALUE = /^[A-Za-z][\w.:/-]{1,80}$/;
const PLACEHOLDER =
  /^(?:get|post|put|patch|delete|head|string|value|text|x{2,}|y?our.*|\.+|(?:action|method|command|cmd|function|operation|call)(?:[_-]?name)?)$/i;

export function isSelector(name: string): boolean {
  return SELECTOR.test(name);
}

/** Whether a text is the name of an action and nothing else. */
export function isActionName(text: string): boolean {
  return VALUE.test(text) && !PLACEHOLDER.test(text);
}

/** `order.create`, `createOrder` or `create_order`: no word of a sentence. */
export function isCompound(text: string): boolean {
  return isActionName(text) && /[a-z\d][A-Z]|[A-Za-z\d][._:/][A-Za-z]/.test(text);
}

function isUse(name: string, value: string): boolean {
  return isSelector(name) && isActionName(value) && (!VAGUE.test(name) || isCompound(value) || /^[A-Z_]+$/.test(value));
}

/** All places that show one, in order. */
export function actionUses(outline: Outline, mentions: readonly Mention[]): ActionUse[] {
  const stated = mentions.flatMap((mention): ActionUse[] => {
    const { method, origin, path, query, isAssumed, index, place, kind, isSubject } = mention;
    const at = { index, place, kind, isSubject };
    return query.flatMap(({ name, value }) =>
      isUse(name, value)
        ? [
            {
              ...at,
              name,
              value,
              sentIn: "query",
              query: query.filter((pair) => pair.name !== name),
              target: { path, ...(origin === undefined ? {} : { origin }) },
              ...(method === undefined || isAssumed ? {} : { method }),
            },
          ]
        : [],
    );
  });
  const known = new Set(stated.map(({ index }) => index));
  const others = outline.blocks.flatMap((placed) => (known.has(placed.index) ? [] : inBlock(placed)));
  return [...stated, ...others].toSorted((a, b) => a.index - b.index);
}

function inBlock({ block, index }: PlacedBlock): ActionUse[] {
  switch (block.kind) {
    case "heading":
      return inText(block.text, { index, place: block.place, kind: "heading", isSubject: true });
    case "paragraph":
    case "item": {
      const isSubject = plainText(block.text).length < 160;
      return inText(block.text, { index, place: block.place, kind: "text", isSubject });
    }
    case "table":
      return block.rows.flatMap((row) =>
        row.flatMap(({ text, place }) => inText(text, { index, place, kind: "table", isSubject: false })),
      );
    case "code":
      return [...inCode(block, index), ...inSamples(block, index)];
  }
}

type UsePlace = Pick<ActionUse, "index" | "place" | "kind" | "isSubject">;

// Only from the first sign of an address to its first "?", so that the time stays proportional to the text.
const ADDRESS = /(?<![^\s`"'<>()|])[^\s`"'<>()|?]*\?[^\s`"'<>()|][^\s`"'<>()|=]*=[^\s`"'<>()|]*/g;
const LABELLED = /^\W*(\w+)\s*[:=]\s*["'`]*([\w.:/-]+)["'`]*\W*$/;

/** `…?action=createOrder`, or the whole text is `Action: createOrder`. */
function inText(text: string, where: UsePlace): ActionUse[] {
  const found = [...text.slice(0, 5_000).matchAll(ADDRESS)].flatMap(([address]) => inAddress(address, where));
  if (found.length > 0 || text.length > 200) return found;
  const [, name = "", value = ""] = LABELLED.exec(plainText(text)) ?? [];
  return isUse(name, value) ? [{ ...where, name: name.toLowerCase(), value, query: [] }] : [];
}

function inAddress(address: string, where: UsePlace): ActionUse[] {
  const [before = ""] = address.split("?");
  const target = targetOf(/^(?:https?:|\/)/.test(address) ? address : `/${address}`);
  return (target?.query ?? []).flatMap(({ name, value }) =>
    isUse(name, value)
      ? [
          {
            ...where,
            name,
            value,
            sentIn: "query",
            query: (target?.query ?? []).filter((pair) => pair.name !== name),
            ...(target && /^https?:/.test(before)
              ? { target: { path: target.path, ...(target.origin === undefined ? {} : { origin: target.origin }) } }
              : {}),
          },
        ]
      : [],
  );
}

type Code = Extract<ManualBlock, { kind: "code" }>;

function inCode({ text, textFrom }: Code, index: number): ActionUse[] {
  return text
    .split("\n")
    .slice(0, 400)
    .flatMap((line, at) => {
      const place: LineRange = { from: textFrom + at, to: textFrom + at };
      return [...line.slice(0, 5_000).matchAll(ADDRESS)].flatMap(([address]) =>
        inAddress(address, { index, place, kind: "code", isSubject: true }),
      );
    });
}

/** Members of JSON bodies and fields of forms. */
function inSamples(block: Code, index: number): ActionUse[] {
  return samplesIn(block).flatMap(({ side, body, target }): ActionUse[] => {
    if (side === "response" || !body?.node || body.kind === "xml" || body.kind === "text") return [];
    return body.node.children.flatMap(({ name, value, line }) =>
      typeof value === "string" && isUse(name, value)
        ? [
            {
              index,
              place: { from: line, to: line },
              kind: "code",
              isSubject: true,
              name,
              value,
              sentIn: "body",
              query: target?.query ?? [],
              ...(target ? { method: target.method } : {}),
            },
          ]
        : [],
    );
  });
}
