import { wrongOption } from "../../errors/check-options.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Core, Servable } from "./core.ts";

/** The core of what is served. Throws for what is no server: options in its place would listen, and answer nobody. */
export function servedCore(where: string, server: Servable): Core {
  const given: unknown = server;
  const core = isRecord(given) ? given["core"] : undefined;
  if (isRecord(core) && typeof core["handle"] === "function") return server.core;
  throw wrongOption(
    `What ${where} got first is not a server`,
    `Write ${where}(server, …), with server = new McpServer({ name: "greetings", version: "1.0.0" }).`,
  );
}
