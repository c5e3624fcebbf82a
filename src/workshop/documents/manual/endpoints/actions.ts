import type { ServerFacts } from "../../api-facts.ts";
import { plainText, type Outline, type PlacedBlock } from "../outline.ts";
import { groupedBy } from "../../../../text/grouped-by.ts";
import { type Mention, targetOf } from "./mentions.ts";
import type { LineRange, ManualBlock } from "../blocks/manual.ts";
import { samplesIn } from "../samples/find-samples.ts";

/** A parameter that chooses what a request does, with its value: all requests of the API have the same address. */
export interface ChosenAction {
  name: string;
  value: string;
  sentIn: "query" | "body";
}

/** The requests of a manual in which a parameter chooses what a request does, and where the others are relative to. */
interface ActionMentions {
  mentions: Mention[];
  /** If the address of all requests is what the manual calls its base address. */
  servers?: ServerFacts[];
}

/**
 * Requests to one address become one for each action. Undefined if the manual is not of that kind: it has requests to
 * several addresses, and none of them is shown with several values of such a parameter.
 */
export function actionMentions(
  outline: Outline,
  mentions: readonly Mention[],
  given: { servers: readonly ServerFacts[]; usualMethod: string | undefined },
): ActionMentions | undefined {
  const uses = actionUses(outline, mentions);
  const name = selectorName(outline, uses);
  if (name === undefined) return undefined;
  const own = uses.filter((use) => use.name.toLowerCase() === name.toLowerCase());
  const address = addressOf(own, mentions, given.servers);
  if (!address) return undefined;
  const isOne = mentions.every((mention) => isAt(mention, address));
  const shown = own.filter(({ target }) => (target ? isAt(target, address) : isOne));
  const all = isOne ? [...shown, ...listed(outline, name, shown), ...headed(outline, name, shown)] : shown;
  const byValue = groupedBy<NamedUse>(
    all.toSorted((a, b) => a.index - b.index),
    ({ value }) => value,
  );
  if (byValue.size < 2) return undefined;
  const explicit = mentions.find((mention) => isAt(mention, address) && !mention.isAssumed)?.method;
  const sentIn = all.find((use) => use.sentIn !== undefined)?.sentIn;
  const wire = own[0]?.name ?? name;
  const found = [...byValue].flatMap(([value, each]) => {
    const where = each.find((use) => use.sentIn !== undefined)?.sentIn ?? sentIn ?? "query";
    const stated = each.find((use) => use.method !== undefined)?.method ?? given.usualMethod ?? explicit;
    const method = stated ?? (where === "body" ? "POST" : "GET");
    const isElsewhere = each.some(({ kind }) => kind === "heading" || kind === "table");
    return each.map(({ index, place, kind, isSubject, query, purpose }): Mention => ({
      method,
      ...(address.origin === undefined ? {} : { origin: address.origin }),
      path: address.path,
      query,
      index,
      place,
      kind,
      isSubject: isSubject && (kind !== "text" || !isElsewhere),
      ...(stated === undefined ? { isAssumed: true } : {}),
      action: { name: wire, value, sentIn: where },
      ...(purpose === undefined ? {} : { purpose }),
    }));
  });
  const others = mentions.filter((mention) => !isAt(mention, address));
  return { mentions: [...found, ...others], ...(address.servers ? { servers: address.servers } : {}) };
}

interface Address extends Pick<Mention, "origin" | "path"> {
  servers?: ServerFacts[];
}

interface NamedUse extends ActionUse {
  purpose?: string;
}

/** The parameter with the most values; otherwise the one that a sentence names as a parameter. */
function selectorName(outline: Outline, uses: readonly ActionUse[]): string | undefined {
  const names = [...groupedBy(uses, ({ name }) => name.toLowerCase())]
    .map(([name, each]) => ({ name, count: new Set(each.map(({ value }) => value)).size }))
    .toSorted((a, b) => b.count - a.count);
  const [first] = names;
  if (first && first.count > 1) return first.name;
  for (const { block } of outline.blocks) {
    if (block.kind !== "paragraph" && block.kind !== "item") continue;
    const text = block.text.slice(0, 2_000);
    for (const pattern of [BEFORE, AFTER]) {
      const name = pattern.exec(text)?.[1];
      if (name !== undefined && isSelector(name)) return name;
    }
  }
  return undefined;
}

const KIND = "(?:parameter|argument|member|field|variable|property|key|feld|attribut)";
const BEFORE = new RegExp(String.raw`\b${KIND}\s+["'\x60]+(\w+)["'\x60]+`, "i");
const AFTER = new RegExp(String.raw`["'\x60]+(\w+)["'\x60]+[- ]${KIND}\b`, "i");

/** Where all requests go: the address that the actions are shown with, the only one of the manual, or its base. */
function addressOf(
  uses: readonly ActionUse[],
  mentions: readonly Mention[],
  servers: readonly ServerFacts[],
): Address | undefined {
  const shown = groupedBy(
    uses.filter(({ target }) => target !== undefined),
    ({ target }) => target?.path ?? "",
  );
  const [most] = [...shown.values()].toSorted((a, b) => b.length - a.length);
  const isSeveral = new Set(most?.map(({ value }) => value)).size > 1;
  const paths = new Set(mentions.map(({ path }) => path));
  const one = paths.size === 1 ? (mentions.find(({ origin }) => origin !== undefined) ?? mentions[0]) : undefined;
  const target = isSeveral ? most?.find((use) => use.target?.origin !== undefined) : undefined;
  const found =
    target?.target ?? (isSeveral ? most?.[0]?.target : (one ?? (paths.size === 0 ? most?.[0]?.target : undefined)));
  const [server, ...more] = servers;
  if (!found && paths.size > 0) return undefined;
  if (!server || !URL.canParse(server.url)) return found;
  const { origin, pathname } = new URL(server.url);
  const isBase = !found || (found.path === pathname && (found.origin ?? origin) === origin);
  if (!isBase) return found;
  // What the manual calls the base is the whole address: the last step of it is the path of every request.
  const [, before = "", last = "/"] = /^(.*?)(\/[^/]*\/?)$/.exec(pathname) ?? [];
  return { origin, path: before + last, servers: [{ ...server, url: origin + before }, ...more] };
}

function isAt({ path, origin }: Pick<Mention, "path" | "origin">, address: Address): boolean {
  const isSame = path.replace(/\/$/, "") === address.path.replace(/\/$/, "");
  return isSame && (origin === undefined || address.origin === undefined || origin === address.origin);
}

/** The rows of a table of actions: `Action | Description`. */
function listed(outline: Outline, selector: string, shown: readonly ActionUse[]): NamedUse[] {
  const known = new Set(shown.map(({ value }) => value));
  return outline.blocks.flatMap(({ block, index }): NamedUse[] => {
    if (block.kind !== "table" || block.rows.length === 0) return [];
    const cells = block.rows.map((row) => row.map(({ text }) => plainText(text)));
    const heads = block.head.map(({ text }) => plainText(text).toLowerCase());
    const at = heads.findIndex(
      (head, column) =>
        (head.split(/\s+/).includes(selector.toLowerCase()) || isSelector(head.replace(/\s*(?:name|s)$/, ""))) &&
        cells.every((row) => isActionName(row[column] ?? "")),
    );
    const isKnown = at >= 0 && (cells.some((row) => known.has(row[at] ?? "")) || known.size === 0 || cells.length > 1);
    if (!isKnown) return [];
    const parameters = heads.findIndex((head) => /^(?:param|argument)/.test(head));
    const text = heads.findIndex((head, column) => column !== at && column !== parameters && head !== "");
    return block.rows.map((row, number) => {
      const names = (cells[number]?.[parameters] ?? "").split(/[\s,;]+/).filter((name) => /^[A-Za-z_]\w*$/.test(name));
      const purpose = text < 0 ? "" : (cells[number]?.[text] ?? "");
      return {
        name: selector,
        value: cells[number]?.[at] ?? "",
        query: names.map((name) => ({ name, value: "" })),
        index,
        place: row[at]?.place ?? block.place,
        kind: "table",
        isSubject: false,
        ...(purpose === "" ? {} : { purpose }),
      };
    });
  });
}

/** Headings that are the name of an action, or have one that is known in them. */
function headed(outline: Outline, selector: string, shown: readonly ActionUse[]): NamedUse[] {
  const known = new Set([...shown, ...listed(outline, selector, shown)].map(({ value }) => value));
  const taken = new Set(shown.filter(({ kind }) => kind === "heading").map(({ index }) => index));
  return outline.sections.slice(1).flatMap(({ title, from }): NamedUse[] => {
    if (taken.has(from)) return [];
    const words = title.split(/[\s()[\]"'–—,;]+/).map((word) => word.replace(/[.:]+$/, ""));
    const value = words.find((word) => known.has(word)) ?? (isCompound(title) ? title : undefined);
    const place = outline.blocks[from]?.block.place;
    return value === undefined || !place
      ? []
      : [{ name: selector, value, query: [], index: from, place, kind: "heading", isSubject: true }];
  });
}

/** A place that shows a value of a parameter which chooses what a request does: `api.php?action=createOrder`. */
interface ActionUse extends Pick<Mention, "index" | "place" | "kind" | "query" | "isSubject"> {
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

function isSelector(name: string): boolean {
  return SELECTOR.test(name);
}

/** Whether a text is the name of an action and nothing else. */
function isActionName(text: string): boolean {
  return VALUE.test(text) && !PLACEHOLDER.test(text);
}

/** `order.create`, `createOrder` or `create_order`: no word of a sentence. */
function isCompound(text: string): boolean {
  return isActionName(text) && /[a-z\d][A-Z]|[A-Za-z\d][._:/][A-Za-z]/.test(text);
}

function isUse(name: string, value: string): boolean {
  return isSelector(name) && isActionName(value) && (!VAGUE.test(name) || isCompound(value) || /^[A-Z_]+$/.test(value));
}

/** All places that show one, in order. */
function actionUses(outline: Outline, mentions: readonly Mention[]): ActionUse[] {
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
