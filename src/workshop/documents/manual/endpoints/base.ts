import type { ServerFacts } from "../../api-facts.ts";
import type { CodeBlock, LineRange } from "../blocks/manual.ts";
import { PART, withBraces } from "./address-parts.ts";
import { plainText, type Outline } from "../outline.ts";
import type { Endpoint } from "./endpoints.ts";

const URL_TEXT = new RegExp(
  String.raw`https?:\/\/:?(?:${PART}|(?!${PART})[\w.{}<>$%…-])+(?::(?:\d+|[A-Za-z_]\w*|${PART}))?(?:\/(?:${PART}|(?!${PART})[\w.~%{}<>/$…-]|(?<=\/):(?=\w))*)?`,
  "g",
);
const SAYS_BASE =
  /\b(?:base|root|basis|api|service|server|production|live|gateway|sandbox|test|staging)[- ]?(?:url|uri|address|path|endpoint|host|adresse|server|system|environment)?\b[^.\n]{0,60}$|(?:all (?:requests|calls|urls|endpoints|paths)|requests (?:are sent|go)|available (?:at|under)|relative to|reached (?:at|under)|erreichbar unter|alle (?:aufrufe|anfragen))[^.\n]{0,80}$/i;
/** With a slash at its end, a labelled address is one that others are relative to. */
const LABEL = /(?:^|[\s.])(?:address|ur[il]|endpoint|host|adresse)\s*:$/i;
const SAYS_TEST = /\b(?:sandbox|test|staging|demo|mock)\b/i;

/** The base addresses that the manual states, the one for real use first. */
export function statedServers(outline: Outline): ServerFacts[] {
  const found: (ServerFacts & { isTest: boolean })[] = [];
  let announced = "";
  for (const { block, section } of outline.blocks) {
    if (block.kind === "heading") announced = "";
    else if (block.kind === "paragraph" || block.kind === "item")
      announced = isAddressOnly(block.text) ? announced : block.text;
    const texts =
      block.kind === "table"
        ? [block.head, ...block.rows].map((row) => ({
            text: row.map(({ text }) => text).join(" : "),
            place: row[0]?.place ?? block.place,
          }))
        : block.kind === "code"
          ? codeLines(block, section.title)
          : [
              {
                text: block.kind === "heading" ? block.text : announcing(announced, block.text) + block.text,
                place: block.place,
              },
            ];
    for (const { text, place } of texts) {
      for (const match of text.slice(0, 5_000).matchAll(URL_TEXT)) {
        const before = plainText(text.slice(Math.max(0, match.index - 120), match.index)).replace(/["'`(]+$/, "");
        const line = text.slice(Math.max(0, text.lastIndexOf("\n", match.index), match.index - 120), match.index);
        const address = match[0].replace(/[.,;:]+$/, "");
        if (
          /\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|curl|namespace|xmlns|schema|see)\b/.test(line) ||
          !(SAYS_BASE.test(before) || (address.endsWith("/") && LABEL.test(before)))
        )
          continue;
        if (/[?]/.test(text.charAt(match.index + match[0].length))) continue;
        const url = completed(address);
        if (found.length < 10 && !found.some((each) => each.url === url)) {
          found.push({
            url,
            variables: [],
            evidence: outline.manual.evidence(place),
            isTest: SAYS_TEST.test(before),
          });
        }
      }
    }
  }
  return [...found.filter(({ isTest }) => !isTest), ...found.filter(({ isTest }) => isTest)].map(
    ({ isTest, ...server }) => (isTest ? { ...server, description: "for tests" } : server),
  );
}

/** With placeholders in braces. */
function completed(address: string): string {
  const [, scheme = "", host = "", path = ""] = /^(https?:\/\/)([^/]*)(.*)$/s.exec(address) ?? [];
  return scheme + withBraces(host, "host") + withBraces(path, "path");
}

/** An address alone in an item or a paragraph is what the text before it announces. */
function announcing(before: string, text: string): string {
  if (!isAddressOnly(text) || before === text) return "";
  return /\b(?:base|root) ?(?:ur[il]|address|endpoint|path)(?:e?s)?\b/i.test(before)
    ? "base url: "
    : `${before.slice(-200)} `;
}

function isAddressOnly(text: string): boolean {
  return /^[\s`*<]*https?:\/\/[^\s`*>]+[\s`*>.]*$/.test(text);
}

/** Addresses of pages for people, and names that only look like addresses. */
const NOT_THE_API =
  /\b(?:see|docs?|documentation|download|contact|support|website|portal|sign up|register|log ?in|console|dashboard|schema|namespace|xmlns|github|visit|read more|licen[cs]e|swagger|wiki)\b/i;

/** Where no words state the base address: the first address in the text that can be one. */
export function likelyServer(outline: Outline): ServerFacts | undefined {
  for (const { block } of outline.blocks) {
    if (block.kind !== "paragraph" && block.kind !== "item") continue;
    const text = block.text.slice(0, 5_000);
    for (const match of text.matchAll(URL_TEXT)) {
      const around = text.slice(Math.max(0, match.index - 80), match.index + match[0].length);
      const url = match[0].replace(/[.,;:]+$/, "");
      if (NOT_THE_API.test(around) || /[?]/.test(text.charAt(match.index + match[0].length))) continue;
      if (/\.(?:html?|pdf|xsd|json|ya?ml|png)$|^https?:\/\/www\.[^/]+\/?$/i.test(url)) continue;
      return { url: completed(url), isGuess: true, variables: [], evidence: outline.manual.evidence(block.place) };
    }
  }
  return undefined;
}

/** A block of code that is an address, or has a line such as `Base URL: https://…`. */
function codeLines({ text, textFrom, place }: CodeBlock, title: string): { text: string; place: LineRange }[] {
  if (/^\s*https?:\/\/\S+\s*$/.test(text)) return [{ text: `${title}: ${text}`, place }];
  return text
    .split("\n")
    .slice(0, 200)
    .flatMap((line, index) =>
      /^\s*(?:base|basis)[- ]?(?:url|uri|address|adresse)\b/i.test(line)
        ? [{ text: line.slice(0, 500), place: { from: textFrom + index, to: textFrom + index } }]
        : [],
    );
}

/** The longest address that all endpoints of the most used host share. */
export function sharedServer(endpoints: readonly Endpoint[], outline: Outline): ServerFacts | undefined {
  const counts = new Map<string, number>();
  for (const { origin } of endpoints) if (origin !== undefined) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  const [first] = [...counts].toSorted((a, b) => b[1] - a[1]);
  if (!first) return undefined;
  const [origin] = first;
  const own = endpoints.filter((endpoint) => endpoint.origin === origin);
  const mention = own[0]?.mentions.find((each) => each.origin === origin);
  const paths = own.map(({ path }) => path.split("/").slice(0, -1));
  let shared = own.length > 1 ? (paths[0] ?? []) : [];
  for (const path of paths) {
    const length = shared.findIndex((part, index) => part !== path[index]);
    if (length >= 0) shared = shared.slice(0, length);
  }
  const first_ = shared.findIndex((part) => part.startsWith("{"));
  const directory = (first_ < 0 ? shared : shared.slice(0, first_)).join("/");
  return {
    url: origin + directory,
    variables: [],
    evidence: outline.manual.evidence(mention?.place ?? { from: 1, to: 1 }),
  };
}
