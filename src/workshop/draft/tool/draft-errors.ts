import type { OperationFacts } from "../../documents/api-facts.ts";
import { asSentence, asTemplate, cleanText } from "../texts.ts";
import type { YamlMap } from "../yaml/write-yaml.ts";

const MOST = 12;

/** What a caller can do about a status, in plain words. */
const TRY: Readonly<Record<number, string>> = {
  400: "Correct the arguments that the message names.",
  401: "The operator of this server has to store valid credentials.",
  402: "The account has to be paid or extended first.",
  403: "Use an account that is allowed to do this.",
  404: "Check the ids in the arguments.",
  405: "Use another tool: this resource does not allow it.",
  406: "The operator of this server has to change the content type.",
  408: "Call it again.",
  409: "Read the current state first, then call it again.",
  410: "It no longer exists; look for another one.",
  412: "Read the current state first, then call it again.",
  413: "Send less.",
  415: "The operator of this server has to change the content type.",
  422: "Correct the arguments that the message names.",
  423: "Wait until it is unlocked, then call it again.",
  429: "Wait a little, then call it again.",
  500: "Call it again later; if it stays, tell the operator of the API.",
  502: "Call it again later.",
  503: "Call it again later.",
  504: "Call it again later.",
};

/** The usual words for a status, where the document only repeats the number. */
const SAY: Readonly<Record<number, string>> = {
  400: "The request is not valid.",
  401: "The credentials are missing or wrong.",
  403: "The credentials do not allow this.",
  404: "It does not exist.",
  409: "It conflicts with the current state.",
  422: "The arguments are not accepted.",
  429: "There were too many requests.",
  500: "The API failed.",
  503: "The API is not available.",
};

/** The documented failures: those of certain answers first. The same description for several statuses is one entry. */
export function draftErrors({ responses, errors = [] }: OperationFacts): YamlMap[] {
  const certain = errors
    .filter(({ that }) => that !== undefined)
    .slice(0, MOST)
    .map(({ status = [], that, say, try: advice }) => ({
      ...(status.length === 0 ? {} : { status: status.length === 1 ? status[0] : status }),
      ...(that === undefined ? {} : { that }),
      say,
      ...(advice === undefined ? {} : { try: advice }),
    }));
  const entries = new Map<string, { statuses: number[]; say: string; try?: string }>();
  const stated = errors.flatMap(({ status = [], that, say }) =>
    (that === undefined ? status : []).map((each) => ({ status: `${each}`, description: say })),
  );
  for (const { status, description } of [...stated, ...responses]) {
    const code = /^[45]\d\d$/.test(status) ? Number(status) : undefined;
    if (code === undefined) continue;
    const text = cleanText(description ?? "", 200).replaceAll("\n", " ");
    const say = asTemplate(asSentence(isEmpty(text) ? (SAY[code] ?? `The API answered with status ${code}.`) : text));
    const advice = TRY[code];
    const key = JSON.stringify([say, advice]);
    const known = entries.get(key);
    if (known) known.statuses.push(code);
    else entries.set(key, { statuses: [code], say, ...(advice === undefined ? {} : { try: advice }) });
  }
  const byStatus = [...entries.values()].slice(0, MOST).map(({ statuses, ...entry }) => ({
    status: statuses.length === 1 ? statuses[0] : [...new Set(statuses)],
    ...entry,
  }));
  return [...certain, ...byStatus];
}

/** Whether a description says no more than its status. */
function isEmpty(text: string): boolean {
  return (
    text.length < 4 ||
    /^(?:error|bad request|unauthori[sz]ed|forbidden|not found|conflict|internal server error|too many requests|\d{3})\.?$/i.test(
      text,
    )
  );
}
