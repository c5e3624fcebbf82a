import type { Evidence, SecuritySchemeFacts } from "../../api-facts.ts";
import { isSecretName, looksSecret } from "../../text/secret-like.ts";
import type { Outline } from "../outline.ts";
import type { MessageSample } from "../samples/find-samples.ts";
import type { FieldRow } from "../tables/field-rows.ts";
import type { OperationDescription } from "./operation.ts";

const SECRET_WORDS =
  /\b(?:password|passwort|kennwort|secret|api[- ]?key|api[- ]?token|access[- ]?(?:token|key)|auth(?:entication|orization)?[- ]?(?:token|key|code)|bearer|pin\b|private key|license key|credentials?|geheim\w*|zugangsdaten|schl[üu]ssel)/i;
const SECRET_NAMES =
  /^(?:pass(?:word|wd|wort)?|pwd|pin|secret|token|key|api_?key|apikey|auth|sig(?:nature)?|hash|kennwort|passwort)$/i;
const ACCOUNT_NAMES =
  /^(?:user(?:_?(?:name|id))?|login|account(?:_?id)?|client(?:_?id)?|partner(?:_?id)?|customer_?id|merchant(?:_?id)?|system|username|benutzer(?:name)?|mandant|kunde(?:nnummer)?|app_?id|tenant(?:_?id)?)$/i;

/** FoundCredentials that requests of an endpoint carry: the schemes, and the parameters that are not arguments. */
export interface FoundCredentials {
  schemes: { name: string; facts: SecuritySchemeFacts }[];
  skip: Set<string>;
}

/** FoundCredentials in the parameters of one endpoint. */
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
      const isAccount = isAnySecret && !isHidden && place !== "cookie" && ACCOUNT_NAMES.test(node.name);
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
  if (SECRET_NAMES.test(name) || isSecretName(name)) return !/^(?:next|page|continuation)/i.test(name);
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

const HEADER_TEXT =
  /\b(X-[\w-]*(?:key|token|auth|secret)[\w-]*|[\w-]*api-?key|[\w-]*-token)\b\s*(?::|header)|header\W{0,4}(?:named |called )?`?(X-[\w-]*(?:key|token|auth|secret)[\w-]*|[\w-]*api-?key|[\w-]*-token)`?/i;
const QUERY_TEXT =
  /(?:query|url|parameter|string)\W[^.]{0,60}?`(api_?key|key|token|access_token|apikey|auth|appid|app_id)`|`(api_?key|key|token|access_token|apikey|appid)`\s+(?:query |url |request )?parameter/i;

/** FoundCredentials that sentences and samples state for the whole manual. */
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
      else if (isSecretName(name) || looksSecret(value))
        add({ name, facts: { kind: "apiKey", in: "header", name, evidence: evidenceOf(line) } });
    }
  }
  for (const { block, section } of outline.blocks) {
    if (block.kind === "code" || block.kind === "heading") continue;
    const text = block.kind === "table" ? "" : block.text.slice(0, 2_000);
    const evidence = outline.manual.evidence(block.place);
    const isAbout = /auth|credential|security|access|zugang|anmeld/i.test(section.title);
    if (/authorization\W{1,6}bearer|bearer[- ]token|`bearer\b/i.test(text) && !/\bno (?:bearer|token)/i.test(text))
      add({ name: "token", facts: { kind: "bearer", evidence } });
    else if (/\b(?:http )?basic[- ]?(?:auth|access)|authorization\W{1,6}basic/i.test(text) && !/\bno basic/i.test(text))
      add({ name: "basic", facts: { kind: "basic", evidence } });
    const header = HEADER_TEXT.exec(text);
    const name = header?.[1] ?? header?.[2];
    if (name !== undefined && (isAbout || /key|token|auth|credential/i.test(text)))
      add({ name, facts: { kind: "apiKey", in: "header", name, evidence } });
    const query = QUERY_TEXT.exec(text);
    const parameter = query?.[1] ?? query?.[2];
    if (parameter !== undefined && (isAbout || /api key|credential|authenticat/i.test(text)))
      add({ name: parameter, facts: { kind: "apiKey", in: "query", name: parameter, evidence } });
  }
  return [...found].map(([name, facts]) => ({ name, facts }));
}
