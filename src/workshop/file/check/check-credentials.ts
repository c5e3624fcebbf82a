import { parseTemplate } from "../../expression/template.ts";
import type { Path, Problems } from "../../../format/problem.ts";
import type { HmacSignerSpec, ToolFile, UpstreamOAuthSpec } from "../model/tool-file.ts";
import { covers } from "../forms/parts.ts";
import { checkTemplate } from "./check-expressions.ts";
import { joined, SINGLE, withMembers } from "./known-value.ts";

/** Of the request that is signed. */
const OF_REQUEST = ["method", "host", "path", "query", "body", "bodyHash"];
/** Other ones for each request: the receiver knows them only from a header. */
const OF_MOMENT = ["timestamp", "date", "nonce"];

/** Token endpoints that may not be reached, and signers whose templates are wrong. */
export function checkCredentials(file: ToolFile, problems: Problems): void {
  for (const [name, { oauth, sign }] of Object.entries(file.secrets)) {
    if (oauth) checkTokenUrl(file, oauth, ["secrets", name, "oauth", "tokenUrl"], problems);
    if (typeof sign === "object" && sign.kind === "hmac") {
      checkHmac(file, sign, ["secrets", name, "sign", "hmac"], problems);
    }
  }
}

function checkTokenUrl({ upstream }: ToolFile, { tokenUrl }: UpstreamOAuthSpec, path: Path, problems: Problems): void {
  if (tokenUrl === "" || upstream.allow.some((address) => covers(address, tokenUrl))) return;
  const hint = `Add it: upstream.allow: [${[...upstream.allow, tokenUrl].join(", ")}]`;
  problems.error(path, `"${tokenUrl}" is not within upstream.allow, so it is never reached`, hint);
}

function checkHmac(file: ToolFile, sign: HmacSignerSpec, path: Path, problems: Problems): void {
  const settings = Object.keys(file.settings ?? {});
  const names = [...OF_REQUEST, ...OF_MOMENT, ...(sign.id === undefined ? [] : ["id"])];
  const scope = joined(
    withMembers(Object.fromEntries(names.map((name) => [name, SINGLE]))),
    withMembers(
      settings.length === 0
        ? {}
        : { settings: withMembers(Object.fromEntries(settings.map((each) => [each, SINGLE]))) },
    ),
  );
  checkTemplate(sign.text, { scope }, [...path, "text"], problems);
  const withSignature = joined(scope, withMembers({ signature: SINGLE }));
  for (const [header, text] of Object.entries(sign.headers)) {
    checkTemplate(text, { scope: withSignature }, [...path, "headers", header], problems);
  }
  const sent = new Set(Object.values(sign.headers).flatMap(namesIn));
  if (!sent.has("signature")) problems.error([...path, "headers"], "none of them has the {signature}");
  for (const name of namesIn(sign.text)) {
    if (!OF_MOMENT.includes(name) || sent.has(name)) continue;
    problems.error([...path, "text"], `signs the ${name}, but no header sends it`, `Send it: X-${name}: "{${name}}"`);
  }
}

/** Of a template that cannot be read: none. */
function namesIn(text: string): string[] {
  try {
    return parseTemplate(text).flatMap((part) => (typeof part !== "string" && part.kind === "name" ? [part.name] : []));
  } catch {
    return [];
  }
}
