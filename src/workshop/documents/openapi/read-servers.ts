import { isRecord } from "../../../json/is-record.ts";
import { present } from "../../../format/part.ts";
import type { ServerFacts } from "../api-facts.ts";
import { itemsOf, memberOf, membersOf, textOf, type ApiDocument, type DocumentPart } from "./api-document.ts";

/** The servers in `servers` of the document, a path or an operation; undefined if there is no such member. */
export function readServers(document: ApiDocument, owner: DocumentPart): ServerFacts[] | undefined {
  const list = memberOf(owner, "servers");
  if (!list) return undefined;
  if (!Array.isArray(list.value)) {
    document.remark(list.pointer, "The servers are not a list; they are ignored");
    return undefined;
  }
  return itemsOf(list).flatMap((part) => readServer(document, part) ?? []);
}

function readServer(document: ApiDocument, part: DocumentPart): ServerFacts | undefined {
  const { value, pointer } = part;
  const written = isRecord(value) ? textOf(value["url"])?.trim() : undefined;
  if (!isRecord(value) || written === undefined) {
    document.remark(pointer, "This server has no address; it is ignored");
    return undefined;
  }
  const declared = new Map(membersOf(memberOf(part, "variables")));
  const variables: ServerFacts["variables"] = [];
  const open: { name: string; choices: string[] }[] = [];
  const url = written.replaceAll(/\{([^{}]*)\}/g, (whole, name: string) => {
    const variable = declared.get(name)?.value;
    const choices = (
      isRecord(variable) && Array.isArray(variable["enum"]) ? (variable["enum"] as unknown[]) : []
    ).flatMap((choice) => textOf(choice) ?? []);
    const replacement = isRecord(variable) ? textOf(variable["default"])?.trim() : undefined;
    // The name of the variable is not a value of it.
    if (replacement === undefined || (replacement !== "" && looseName(replacement) === looseName(name))) {
      open.push({ name, choices });
      return whole;
    }
    variables.push({ name, value: replacement, choices });
    return replacement;
  });
  const description = textOf(value["description"]);
  return {
    url: absolute(document, url),
    ...present({ description }),
    variables,
    ...(open.length === 0 ? {} : { open }),
    evidence: document.evidence(pointer),
  };
}

function looseName(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/** Swagger 2.0 has one host and path for several schemes. Their order has no meaning: https comes first. */
export function readHost(document: ApiDocument): ServerFacts[] {
  const { host, basePath, schemes } = document.root;
  const name = textOf(host)?.trim() ?? "";
  const path = textOf(basePath)?.trim() ?? "";
  if (name === "" && path === "") return [];
  const pointer = name === "" ? "/basePath" : "/host";
  const server = (url: string): ServerFacts => ({
    url: absolute(document, url),
    variables: [],
    evidence: document.evidence(pointer),
  });
  const slashed = path === "" || path.startsWith("/") ? path : `/${path}`;
  if (name === "") return [server(slashed)];
  const given = ["https", "http"].filter((scheme) => Array.isArray(schemes) && schemes.includes(scheme));
  const known = given.length > 0 ? given : ["https"];
  // Some documents write the scheme into the host.
  if (/^https?:\/\//i.test(name)) return [server(name.replace(/\/$/, "") + slashed)];
  return known.map((scheme) => server(`${scheme}://${name.replace(/\/$/, "")}${slashed}`));
}

/** Relative addresses begin at that of the document, if it has one. */
function absolute(document: ApiDocument, url: string): string {
  if (document.address === undefined || /^[a-z][\w+.-]*:/i.test(url) || /[{}]/.test(url)) return url;
  return URL.canParse(url, document.address) ? new URL(url, document.address).href : url;
}
