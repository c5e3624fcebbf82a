import { expect, test } from "vitest";
import type { Client } from "../../client/client.ts";
import { SILENT } from "../../text/logger.ts";
import { type ErrorCode, NexusError } from "../../errors/nexus-error.ts";
import type { LogLevel } from "../../protocol/mcp.ts";
import { ConnectionLogLevels } from "./upstream-leases.ts";

function serverThat(fails?: ErrorCode) {
  const asked: LogLevel[] = [];
  const setLogLevel = async (level: LogLevel) => {
    asked.push(level);
    if (fails) throw new NexusError(fails, "no");
  };
  return { asked, client: { server: "old", setLogLevel } as unknown as Client };
}

test("a connection gets the lowest log level that any call wants, and each level once", async () => {
  const { asked, client } = serverThat();
  const levels = new ConnectionLogLevels(SILENT);
  for (const level of ["warning", "error", "debug", "info"] as const) await levels.ensure(client, level);
  expect(asked).toEqual(["warning", "debug"]);
});

test("a server that refuses or does not answer gets no log level with later calls; one that was cut off does", async () => {
  for (const [fails, times] of [
    ["SERVER_ERROR", 1],
    ["TIMEOUT", 1],
    ["CONNECTION_LOST", 3],
  ] as const) {
    const { asked, client } = serverThat(fails);
    const levels = new ConnectionLogLevels(SILENT);
    for (let call = 0; call < 3; call++) await levels.ensure(client, "info");
    expect(asked).toHaveLength(times);
  }
});
