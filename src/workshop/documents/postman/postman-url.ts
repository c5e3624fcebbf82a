import { placeholderIn } from "../../file/model/address-placeholder.ts";
import type { Evidence, ServerFacts } from "../api-facts.ts";
import type { PostmanPart } from "./postman-part.ts";
import { onlyVariable, variablesIn, type PostmanVariables } from "./postman-variables.ts";

/** The address of a request, in the parts of an operation. */
export interface PostmanUrl {
  /** Undefined if the address does not name one. */
  protocol: string | undefined;
  /** With what has no value, such as `https://{{tenant}}.example`; undefined if there is no host. */
  server: ServerFacts | undefined;
  /** With `{name}` for parameters. */
  path: string;
  pathParameters: { name: string; value: string; description: string | undefined; evidence: Evidence }[];
  query: PostmanEntry[];
}

export interface PostmanEntry {
  name: string;
  value: string;
  isOff: boolean;
  description: string | undefined;
  evidence: Evidence;
}

/** Reads a `url`, which is an object or a text. */
export function readUrl(url: PostmanPart, variables: PostmanVariables): PostmanUrl {
  const raw = url.text() ?? url.part("raw").text() ?? "";
  const [, beforeQuery = "", queryText = "", fragment = ""] = /^([^?#]*)(?:\?([^#]*))?(#.*)?/s.exec(raw) ?? [];
  const host = hostText(url) ?? hostIn(beforeQuery);
  const pathText = segments(url.part("path"))?.join("/") ?? pathIn(beforeQuery);
  const wholeHost = variables.resolve(host);
  const [, protocol] = /^([a-z][\w+.-]*):\/\//i.exec(wholeHost) ?? [];
  const { server, rest } = serverOf(wholeHost, url.evidence);
  const parameters = new Map<string, PostmanUrl["pathParameters"][number]>();
  const described = url.part("variable").items();
  const addParameter = (name: string) => {
    const variable = described.find((one) => (one.part("key").text() ?? one.part("id").text()) === name);
    parameters.set(name, {
      name,
      value: variable?.part("value").text() ?? "",
      description: variable?.description(),
      evidence: variable?.evidence ?? url.evidence,
    });
    return `{${name}}`;
  };
  const segment = (text: string) => {
    const [, colon] = /^:([^:/{}]+)$/.exec(text) ?? [];
    if (colon !== undefined) return addParameter(colon);
    const resolved = variables.resolve(text);
    const only = onlyVariable(resolved);
    if (only !== undefined) return addParameter(only);
    // A part of a segment, `report-{{day}}.csv`, and the braces of other documents: `{id}`.
    const parts = resolved.split(/(\{\{[^{}]*\}\}|\{[\w.-]+\})/);
    return parts
      .map((part) => {
        const name = onlyVariable(part) ?? /^\{([\w.-]+)\}$/.exec(part)?.[1];
        return name === undefined ? part : addParameter(name);
      })
      .join("");
  };
  const path = [...rest.split("/"), ...pathText.split("/")].filter((part) => part !== "").map(segment);
  // The last slash may matter to the API.
  const end = path.length > 0 && pathText.endsWith("/") ? "/" : "";
  return {
    protocol: protocol?.toLowerCase(),
    server,
    path: `/${path.join("/")}${end}${leftOf(url, fragment)}`,
    pathParameters: [...parameters.values()],
    query: url.part("query").isThere ? listedQuery(url) : queryIn(queryText, url.evidence),
  };
}

/** What is never sent, but may be a part of the path, as in `/orders/#{id}`. */
function leftOf(url: PostmanPart, fragment: string): string {
  const hash = url.part("hash").text() ?? "";
  return hash === "" ? fragment : `#${hash}`;
}

function listedQuery(url: PostmanPart): PostmanEntry[] {
  return url
    .part("query")
    .items()
    .flatMap((entry) => {
      const name = entry.part("key").text();
      if (name === undefined || name === "") return [];
      const value = entry.part("value").text() ?? "";
      return [{ name, value, isOff: entry.isOff, description: entry.description(), evidence: entry.evidence }];
    });
}

function queryIn(text: string, evidence: Evidence): PostmanEntry[] {
  return [...new URLSearchParams(text)]
    .filter(([name]) => name !== "")
    .map(([name, value]) => ({ name, value, isOff: false, description: undefined, evidence }));
}

function hostText(url: PostmanPart): string | undefined {
  const host = url.part("host");
  const text = segments(host, ".")?.join(".");
  if (text === undefined || text === "") return undefined;
  const protocol = url.part("protocol").text();
  const port = url.part("port").text();
  const whole = port === undefined || port === "" ? text : `${text}:${port}`;
  return protocol === undefined || protocol === "" ? whole : `${protocol.replace(/:?\/*$/, "")}://${whole}`;
}

/** A list of texts or objects with `value`, or one text. */
function segments(part: PostmanPart, separator = "/"): string[] | undefined {
  const text = part.text();
  if (text !== undefined) return text.replace(/^\//, "").split(separator);
  if (!Array.isArray(part.value)) return undefined;
  return part.items().map((item) => item.text() ?? item.part("value").text() ?? "");
}

function hostIn(address: string): string {
  const [host = ""] = /^(?:[a-z][\w+.-]*:\/\/)?[^/]*/i.exec(address) ?? [];
  return host;
}

function pathIn(address: string): string {
  return address.slice(hostIn(address).length).replace(/^\//, "");
}

/** `rest`: the path in the value of a variable for the host, where it cannot be part of the server. */
function serverOf(host: string, evidence: Evidence): { server: ServerFacts | undefined; rest: string } {
  if (host === "") return { server: undefined, rest: "" };
  const url = /^https?:\/\//i.test(host) ? host : `https://${host.replace(/^[a-z]+:\/\//i, "")}`;
  if (variablesIn(host).length > 0) {
    const [, rest = ""] = /\}\}\/?(.*)$/s.exec(host) ?? [];
    return { server: { url: url.slice(0, url.length - rest.length), variables: [], evidence }, rest };
  }
  if (placeholderIn(url) !== undefined) return { server: { url, variables: [], evidence }, rest: "" };
  if (!URL.canParse(url)) return { server: undefined, rest: "" };
  const { origin, pathname } = new URL(url);
  return { server: { url: origin + pathname.replace(/\/$/, ""), variables: [], evidence }, rest: "" };
}
