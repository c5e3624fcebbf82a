import type { Evidence, SecuritySchemeFacts } from "../../api-facts.ts";
import { isCredentialName, isAccountName } from "../../../../masking/secret-names.ts";
import { looksSecret } from "../../../../masking/find-secrets.ts";
import type { LineRange } from "../blocks/manual.ts";
import type { Outline } from "../outline.ts";
import type { MessageSample } from "../samples/find-samples.ts";
import type { FieldRow } from "../tables/field-rows.ts";
import type { OperationDescription } from "./operation.ts";

const SECRET_WORDS =
  /\b(?:password|passwort|kennwort|secret|api[- ]?key|api[- ]?token|access[- ]?(?:token|key)|auth(?:entication|orization)?[- ]?(?:token|key|code)|bearer|pin\b|private key|license key|credentials?|geheim\w*|zugangsdaten|schl[üu]ssel)/i;
const SECRET_NAMES =
  /^(?:pass(?:word|wd|wort)?|pwd|pin|secret|token|key|api_?key|apikey|auth|sig(?:nature)?|hash|kennwort|passwort)$/i;

/** Credentials that requests of an endpoint carry: the schemes, and the parameters that are not arguments. */
interface FoundCredentials {
  schemes: { name: string; facts: SecuritySchemeFacts }[];
  skip: Set<string>;
}

/** Credentials in the parameters of one endpoint. */
export function parameterCredentials({ parameters, rows }: OperationDescription): FoundCredentials {
  const found: FoundCredentials = { schemes: [], skip: new Set() };
  const places = ["query", "header", "cookie"] as const;
  const isAnySecret = places.some((place) =>
    [...parameters[place].root.children.values()].some((node) =>
      isSecret(node.name, rows.get(`${place} ${node.name}`), place),
    ),
  );
  for (const place of places) {
    for (const node of parameters[place].root.children.values()) {
      const row = rows.get(`${place} ${node.name}`);
      const evidence = node.evidence[0] ?? node.shown[0] ?? "";
      const isHidden = isSecret(node.name, row, place);
      const isAccount = isAnySecret && !isHidden && place !== "cookie" && isAccountName(node.name);
      if (!isHidden && !isAccount) continue;
      found.skip.add(`${place} ${node.name}`);
      const authorization =
        place === "header" && /^authorization$/i.test(node.name)
          ? schemeOf([node.description ?? "", ...node.samples.map(String)].join(" "), evidence)
          : undefined;
      const description = node.description === undefined ? {} : { description: node.description };
      found.schemes.push(
        authorization ?? {
          name: node.name,
          facts: {
            kind: "apiKey",
            in: place,
            name: node.name,
            ...description,
            evidence,
            ...(isAccount ? { public: true as const } : {}),
          },
        },
      );
    }
  }
  return found;
}

function isSecret(name: string, row: FieldRow | undefined, place: string): boolean {
  if (row?.secret !== undefined) return row.secret;
  if (place === "header" && /^(?:proxy-)?authorization$/i.test(name)) return true;
  if (SECRET_NAMES.test(name) || isCredentialName(name)) return !/^(?:next|page|continuation)/i.test(name);
  if (
    /^(?:your |the )?(?:\w+ ){0,2}(?:api[- ]?key|access[- ]token|password|secret key|pin)\b/i.test(
      row?.description ?? "",
    )
  )
    return true;
  return (
    row !== undefined && SECRET_WORDS.test(row.description ?? "") && /key|token|auth|sign|pin|pass|secret/i.test(name)
  );
}

/** The scheme of an Authorization header. */
function schemeOf(text: string, evidence: Evidence): { name: string; facts: SecuritySchemeFacts } {
  if (/\bbasic\b/i.test(text)) return { name: "basic", facts: { kind: "basic", evidence } };
  if (/\b(?:bearer|oauth|jwt|access token)\b/i.test(text))
    return { name: "token", facts: { kind: "bearer", evidence } };
  return { name: "authorization", facts: { kind: "apiKey", in: "header", name: "Authorization", evidence } };
}

/** Whether a text is about who may use the API. */
export function isAboutAccess(title: string, text: string): boolean {
  return (
    /auth|credential|security|access|zugang|anmeld|log ?in|api keys?/i.test(title) ||
    /\bauthenticat|\bcredential|\bapi[- ]?key|\baccess token\b|\bzugangsdaten\b/i.test(text)
  );
}

/** Names of headers: in backquotes, or with a hyphen and capitals. */
const HEADER_NAME = /`([A-Za-z][\w-]{1,60})`|\b((?:X|[A-Z][a-z]+)(?:-[A-Za-z][A-Za-z\d]*)+)\b|\b(api-?key)\b/g;
/** Headers that say something else. */
const OTHER_HEADERS =
  /^(?:content-|accept|user-agent|host$|idempotency|if-|retry-after|www-|x-(?:request|correlation|trace|rate)|cache-|location$|etag$|link$|range$|date$|proxy-|authorization$|bearer$|basic$|headers?$|http)/i;
const QUERY_NAME = /[`"]([A-Za-z][\w.-]{1,40})[`"]|\b(api_?key|access_token|appid|app_id)\b/gi;

/** Credentials that sentences and samples state for the whole manual. */
export function statedCredentials(
  outline: Outline,
  samples: readonly MessageSample[],
  evidenceOf: (line: number) => Evidence,
): FoundCredentials["schemes"] {
  const found = new Map<string, SecuritySchemeFacts>();
  const add = ({ name, facts }: { name: string; facts: SecuritySchemeFacts }) => {
    if (!found.has(name)) found.set(name, facts);
  };
  for (const sample of samples) {
    if (sample.hasUser) add({ name: "basic", facts: { kind: "basic", evidence: evidenceOf(sample.from) } });
    for (const { name, value, line } of sample.headers) {
      if (sample.side !== "request") continue;
      if (/^authorization$/i.test(name)) add(schemeOf(value, evidenceOf(line)));
      else if (isCredentialName(name) || looksSecret(value) || isSecretPlaceholder(value))
        add({ name, facts: { kind: "apiKey", in: "header", name, evidence: evidenceOf(line) } });
    }
  }
  for (const { said, place, title } of textsOf(outline)) {
    const evidence = outline.manual.evidence(place);
    for (const text of said.slice(0, 2_000).split(/(?<=[.!?])\s+/)) {
      if (/authorization\W{1,6}bearer|bearer[- ]token|`bearer\b/i.test(text) && !/\bno (?:bearer|token)/i.test(text))
        add({ name: "token", facts: { kind: "bearer", evidence } });
      else if (
        /\bhttp basic\b|\bbasic[- ]?(?:auth|access)|authorization\W{1,6}basic/i.test(text) &&
        !/\bno (?:http )?basic/i.test(text)
      )
        add({ name: "basic", facts: { kind: "basic", evidence } });
      const isAbout = isAboutAccess(title, said);
      if (isAbout || /\b(?:key|token|secret|password)\b/i.test(text))
        for (const facts of keysIn(text, evidence, isAbout)) add({ name: facts.name, facts });
    }
  }
  return [...found].map(([name, facts]) => ({ name, facts }));
}

interface SaidText {
  said: string;
  place: LineRange;
  title: string;
}

/** Prose, and rows of tables whose first cell says that they are about access: `Authentication | header X-Key`. */
function textsOf({ blocks }: Outline): SaidText[] {
  return blocks.flatMap(({ block, section: { title } }): SaidText[] => {
    if (block.kind === "code" || block.kind === "heading") return [];
    if (block.kind !== "table") return [{ said: block.text, place: block.place, title }];
    if (block.head.length > 3) return [];
    return [block.head, ...block.rows].flatMap(([label, ...cells]) => {
      const isLabel = label && /^\W*(?:auth|api[- ]?key|credential|security|anmeld|zugang|log ?in)/i.test(label.text);
      const said = cells.map(({ text }) => text).join(" ");
      return isLabel && said.trim() !== "" ? [{ said, place: label.place, title: label.text }] : [];
    });
  });
}

/** `YOUR_API_KEY`, `<token>`. */
function isSecretPlaceholder(value: string): boolean {
  return /^[<{$["']*(?:your|my)?[-_ ]?[\w -]{0,20}(?:api[-_ ]?key|token|secret|password)[-_ ]?(?:here)?[>}\]"']*$/i.test(
    value.trim(),
  );
}

type ApiKey = Extract<SecuritySchemeFacts, { kind: "apiKey" }>;

/** The headers and query parameters that a sentence names; only those with names of secrets if it is not about access. */
function keysIn(text: string, evidence: Evidence, isAbout: boolean): ApiKey[] {
  const place = /\bheaders?\b|\bkopfzeile/i.test(text)
    ? "header"
    : /\bquery\b|\burl\b|\b(?:get|request|url) parameter|\bparameter\b/i.test(text)
      ? "query"
      : /\bcookie\b/i.test(text)
        ? "cookie"
        : undefined;
  if (place === undefined || /\b(?:respon[sd]|return|answer)\w*\b[^.]{0,40}\b(?:header|cookie)/i.test(text)) return [];
  const pattern = place === "header" ? HEADER_NAME : QUERY_NAME;
  const names = [...text.matchAll(pattern)]
    .map(([, quoted, plain, word]) => quoted ?? plain ?? word ?? "")
    .filter((name) => name !== "" && !(place === "header" && OTHER_HEADERS.test(name)));
  const isKey = (name: string) =>
    isCredentialName(name) || SECRET_NAMES.test(name) || /key|token|auth|secret|sign/i.test(name);
  const isOther = (name: string) =>
    isAccountName(name) || (place === "header" ? name.includes("-") : isNextTo(text, name));
  const keys = [...new Set(names)].filter((name) =>
    isAbout || (place === "header" && names.some(isKey))
      ? isKey(name) || isOther(name)
      : place === "header" && isKey(name),
  );
  const isAnyKey = keys.some(isKey);
  return keys.map((name) => ({
    kind: "apiKey",
    in: place,
    name,
    evidence,
    ...(isAnyKey && !isKey(name) && place !== "cookie" ? { public: true as const } : {}),
  }));
}

/** `license` query parameter, query parameter `license`. */
function isNextTo(text: string, name: string): boolean {
  const quoted = `[\`"]${name.replaceAll(/[.$]/g, String.raw`\$&`)}[\`"]`;
  return new RegExp(
    `${quoted}\\s+(?:query|url|request)|(?:query|url) (?:string )?parameter\\W{0,3}(?:named |called )?${quoted}`,
    "i",
  ).test(text);
}
