import { originIn } from "./address-parts.ts";
import type { Mention } from "./mentions.ts";
import type { ChosenAction } from "./actions.ts";
import { looseName, singularWords } from "../words.ts";

/** A request that the manual describes, with all places that name it. */
export interface Endpoint {
  method: string;
  /** With `{name}` for parameters. */
  path: string;
  /** `/orders/17`, if nothing else shows that it has a parameter. */
  shown?: string;
  /** No place says the method. */
  isOpen?: true;
  /** The method is that of an address alone. */
  isAssumed?: true;
  /** Undefined: relative to the base address of the manual. */
  origin?: string;
  mentions: Mention[];
  /** What the manual calls it. */
  names: string[];
  purpose?: string;
  /** Where a parameter chooses what the request does. */
  action?: ChosenAction;
}

/** What tells an endpoint from all others: `GET /orders/{id}`, `POST /api.php?action=createOrder`. */
export function endpointKey({ method, path, action }: Pick<Endpoint, "method" | "path" | "action">): string {
  if (!action) return `${method} ${path}`;
  return `${method} ${path}${action.sentIn === "query" ? "?" : " "}${action.name}=${action.value}`;
}

/** Endpoints of the mentions: concrete addresses such as `/orders/17` belong to `/orders/{id}`. */
export function endpointsOf(
  mentions: readonly Mention[],
  base: string | undefined,
  usualMethod: string | undefined,
): Endpoint[] {
  const known = new Map<string, Endpoint>();
  const relative = mentions.map((mention) => ({ mention, ...belowBase(mention, base) }));
  const templates = relative.filter(({ path }) => path.includes("{") || !hasId(path));
  const index = new Map<string, string[]>();
  for (const { path } of templates) {
    const parts = path.split("/");
    const key = `${parts.length}`;
    const list = index.get(key) ?? [];
    index.set(key, list);
    if (path.includes("{") && !list.includes(path) && list.length < 2_000) list.push(path);
  }
  const wholes = relative.map(({ mention, path, origin }) => {
    const template = templateFor(path, index.get(`${path.split("/").length}`) ?? [], mention.kind);
    return { mention, path, origin, template, whole: template ?? withIds(path) };
  });
  const methods = new Map(
    wholes
      .toSorted((one, other) => Number(other.mention.isAssumed ?? false) - Number(one.mention.isAssumed ?? false))
      .flatMap(({ mention, whole }) => (mention.method === undefined ? [] : [[shape(whole), mention.method] as const])),
  );
  for (const { mention, path, origin, template, whole } of wholes) {
    // The same address with a method elsewhere; otherwise the usual one. None is taken by default.
    const stated = mention.method ?? methods.get(shape(whole)) ?? usualMethod;
    const method = stated ?? "ANY";
    const { action } = mention;
    const key = endpointKey({ method, path: shape(whole), ...(action ? { action } : {}) });
    const endpoint = known.get(key);
    if (endpoint) {
      endpoint.mentions.push(mention);
      if (mention.method !== undefined && !mention.isAssumed) delete endpoint.isAssumed;
      if (origin !== undefined) endpoint.origin ??= origin;
    } else
      known.set(key, {
        method,
        path: whole,
        ...(stated === undefined ? { isOpen: true } : {}),
        ...(mention.isAssumed ? { isAssumed: true } : {}),
        ...(template === undefined && whole !== path ? { shown: path } : {}),
        ...(origin === undefined ? {} : { origin }),
        ...(action ? { action } : {}),
        mentions: [mention],
        names: [],
      });
  }
  const found = joinPrefixed([...known.values()]);
  for (const endpoint of found) nameIt(endpoint);
  return found;
}

function belowBase({ origin, path }: Mention, base: string | undefined): { path: string; origin?: string } {
  const host = base === undefined ? undefined : originIn(base);
  if (base === undefined || host === undefined) return { path, ...(origin === undefined ? {} : { origin }) };
  const prefix = base
    .slice(host.length)
    .replace(/[?#].*$/s, "")
    .replace(/\/+$/, "");
  const isBelow = path === prefix || path.startsWith(`${prefix}/`);
  if (origin === undefined) return { path: prefix !== "" && isBelow ? path.slice(prefix.length) || "/" : path };
  return origin.toLowerCase() === host && isBelow ? { path: path.slice(prefix.length) || "/" } : { path, origin };
}

function hasId(path: string): boolean {
  return path.split("/").some(isId);
}

function isId(part: string): boolean {
  return (
    /^\d+$|^[0-9a-f]{8}-[0-9a-f-]{27}$|^[0-9a-f]{12,}$|^(?=\w*\d)[a-z]{1,6}_\w{6,}$|^[A-Z]{1,6}-?\d{2,}$/i.test(part) &&
    !/^v\d+$/i.test(part)
  );
}

/** `/orders/17` as `/orders/{orderId}`. */
function withIds(path: string): string {
  const parts = path.split("/");
  return parts
    .map((part, index) => (isId(part) && index > 1 ? `{${camel(singularWords(parts[index - 1] ?? ""))}Id}` : part))
    .join("/");
}

function camel(words: readonly string[]): string {
  return words.map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join("");
}

function templateFor(path: string, templates: readonly string[], kind: Mention["kind"]): string | undefined {
  // A sample may have any value with a digit: `/accounts/acc_19fk2`.
  const isValue = (part: string) => isId(part) || (kind === "code" && /\d/.test(part) && !/^v\d+$/i.test(part));
  if (path.includes("{") || !path.split("/").some(isValue)) return undefined;
  const parts = path.split("/");
  return templates.find((template) =>
    template
      .split("/")
      .every((part, index) => part === parts[index] || (part.startsWith("{") && isValue(parts[index] ?? ""))),
  );
}

/** A whole address that ends like a relative one of the manual is the same request. */
function joinPrefixed(all: readonly Endpoint[]): Endpoint[] {
  const relative = new Map(
    all
      .filter(({ origin, path, action }) => origin === undefined && path !== "/" && !action)
      .map((each) => [`${each.method} ${shape(each.path)}`, each]),
  );
  const kept: Endpoint[] = [];
  for (const endpoint of all) {
    const steps = shape(endpoint.path).split("/").slice(1);
    const endings =
      endpoint.origin === undefined ? [] : steps.map((_, at) => `${endpoint.method} /${steps.slice(at).join("/")}`);
    const shorter = endings.map((ending) => relative.get(ending)).find((each) => each !== undefined);
    if (shorter) {
      shorter.mentions.push(...endpoint.mentions);
      shorter.names.push(...endpoint.names);
    } else kept.push(endpoint);
  }
  for (const endpoint of kept) endpoint.mentions.sort((a, b) => a.index - b.index || a.place.from - b.place.from);
  return kept;
}

function shape(path: string): string {
  return path.replaceAll(/\{[^{}]*\}/g, "{}");
}

function nameIt(endpoint: Endpoint): void {
  const { mentions, path } = endpoint;
  endpoint.names.push(...mentions.flatMap(({ name }) => name ?? []));
  if (endpoint.action) endpoint.names.push(endpoint.action.value);
  const last = endpoint.action ? undefined : path.split("/").findLast((part) => part !== "" && !part.startsWith("{"));
  if (last !== undefined) endpoint.names.push(last.replace(/\.\w{2,5}$/, ""));
  endpoint.names = [...new Map(endpoint.names.map((name) => [looseName(name), name])).values()].filter(
    (name) => looseName(name).length > 2,
  );
  const purpose = mentions.find((mention) => mention.purpose !== undefined)?.purpose;
  if (purpose !== undefined) endpoint.purpose = purpose;
}
