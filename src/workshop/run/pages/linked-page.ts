import type { ToolFile } from "../../file/model/tool-file.ts";
import type { ToolPlan } from "../tool-plan.ts";
import type { PreparedRequest } from "../upstream-call.ts";

/**
 * The request for an address from an answer: with the same headers, only at the same origin. The allowed prefixes are
 * checked again when it is sent.
 */
export function linkedRequest(
  page: PreparedRequest,
  address: string,
  { secrets }: ToolPlan,
): PreparedRequest | { why: string } {
  const before = new URL(page.request.url);
  const url = URL.canParse(address, before.href) ? new URL(address, before) : undefined;
  if (!url) return { why: "the address of the next page is not valid" };
  if (url.origin !== before.origin || url.username !== "" || url.password !== "") {
    return { why: `the next page is at another place (${url.origin}), which is not followed` };
  }
  url.hash = "";
  // Credentials are ours, whatever the address says.
  for (const name of Object.keys(secrets?.query ?? {})) {
    url.searchParams.delete(name);
    for (const value of before.searchParams.getAll(name)) url.searchParams.append(name, value);
  }
  return { ...page, request: { ...page.request, url: url.href } };
}

/** The arguments that make the same request as an address; undefined if arguments cannot say it. */
export function argumentsForLink(
  address: string,
  first: string,
  { plan, types }: { plan: ToolPlan; types: ToolFile["types"] },
): Record<string, unknown> | undefined {
  const [url, start] = [new URL(address), new URL(first)];
  if (url.pathname !== start.pathname) return undefined;
  const { input, request } = plan.spec;
  const found: Record<string, unknown> = {};
  for (const [name, text] of url.searchParams) {
    if (start.searchParams.get(name) === text) continue;
    const parameter = Object.hasOwn(request.query, name) ? request.query[name] : undefined;
    if (!parameter || !("field" in parameter)) return undefined;
    const shape = types[input]?.fields[parameter.field]?.shape;
    if (shape?.kind !== "scalar") return undefined;
    found[parameter.field] = shape.type === "integer" || shape.type === "number" ? Number(text) : text;
  }
  return found;
}
