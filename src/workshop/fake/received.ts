import type { RuleProblem } from "../check/rules.ts";
import type { RequestBody } from "../codec/body/request-body.ts";
import type { PartsReader } from "../codec/parameter/parts-reader.ts";
import type { FakeRoute } from "./routes.ts";

/** A request as it came. */
export interface Arrival {
  /** The complete address, as its client wrote it. */
  url: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Uint8Array;
}

/** The content of a request and its problems, each with its field. */
export interface Received {
  input: Record<string, unknown>;
  problems: string[];
  /** How many parameters differ from the constants of the file. */
  wrongConstants: number;
}

/** How the requests of one tool are read. */
export interface RequestReading {
  parts: PartsReader;
  /** Undefined if it has no body. */
  body: RequestBody | undefined;
  rules: (value: Record<string, unknown>) => RuleProblem[];
}

/** Reads a request strictly: every deviation from the file is a problem. */
export function receive(route: FakeRoute, arrival: Arrival, { parts, body, rules }: RequestReading): Received {
  const { query, headers } = arrival;
  const content = bodyIn(arrival, body);
  const parameters = parts.read({ path: route.places, query: [...query], headers }, content.input);
  const input = { ...content.input, ...parameters.input };
  const problems = [...parameters.problems, ...content.problems, ...differences(content.input, parameters.input)];
  const { wrongConstants = 0 } = parameters;
  if (problems.length > 0) return { input, problems, wrongConstants };
  const broken = rules(input).map(({ path, say }) => (path === "" ? say : `${path}: ${say}`));
  return { input, problems: broken, wrongConstants };
}

function bodyIn({ headers, body }: Arrival, how: RequestBody | undefined): Omit<Received, "wrongConstants"> {
  if (how) return how.read(body, String(headers["content-type"] ?? ""));
  return { input: {}, problems: body.length === 0 ? [] : ["the request has a body, and takes none"] };
}

/** A value that occurs twice in a request must be the same. */
function differences(body: Record<string, unknown>, parameters: Record<string, unknown>): string[] {
  return Object.entries(parameters)
    .filter(([field, value]) => body[field] !== undefined && JSON.stringify(body[field]) !== JSON.stringify(value))
    .map(([field]) => `${field}: not the same in the address and in the body`);
}
