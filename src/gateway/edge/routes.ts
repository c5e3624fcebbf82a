import { majorServer } from "../../host/directory/major-server.ts";
import { EVERYTHING, type View } from "../names/view.ts";

/** What a path stands for. */
export type Route =
  | { kind: "mcp"; view: View }
  | { kind: "tools"; view: View }
  | { kind: "home" | "sse" | "messages" | "healthz" | "readyz" | "metrics" | "operations" | "unknown" };

const PLAIN: Readonly<Record<string, Route>> = {
  "/": { kind: "home" },
  "/mcp": { kind: "mcp", view: EVERYTHING },
  "/sse": { kind: "sse" },
  "/messages": { kind: "messages" },
  "/healthz": { kind: "healthz" },
  "/readyz": { kind: "readyz" },
  "/metrics": { kind: "metrics" },
};

const UNKNOWN: Route = { kind: "unknown" };
const OPERATIONS: Route = { kind: "operations" };
const OF_OPERATORS = /^\/(?:api\/v1|console)(?:\/|$)/;
const OF_VIEW = /^\/(servers|sets)\/([a-z][a-z0-9-]{0,31})\/(mcp|tools)$/;
const OF_MAJOR = /^\/servers\/([a-z][a-z0-9-]{0,31})\/v(0|[1-9]\d{0,8})\/(mcp|tools)$/;

/** `url` as in the request line. */
export function routeOf(url: string): Route {
  const end = url.indexOf("?");
  const written = end === -1 ? url : url.slice(0, end);
  // Some clients add a slash to every URL.
  const path = written.length > 1 && written.endsWith("/") ? written.slice(0, -1) : written;
  const plain = Object.hasOwn(PLAIN, path) ? PLAIN[path] : undefined;
  if (plain) return plain;
  const [, of, name, what] = OF_VIEW.exec(path) ?? [];
  if (name === undefined) return OF_OPERATORS.test(path) ? OPERATIONS : majorRoute(path);
  const view: View = of === "sets" ? { kind: "set", name } : { kind: "one", server: name };
  return { kind: what === "mcp" ? "mcp" : "tools", view };
}

/** A major version of a published server. */
function majorRoute(path: string): Route {
  const [, server, major, what] = OF_MAJOR.exec(path) ?? [];
  if (server === undefined || major === undefined) return UNKNOWN;
  return { kind: what === "mcp" ? "mcp" : "tools", view: { kind: "one", server: majorServer(server, major) } };
}
