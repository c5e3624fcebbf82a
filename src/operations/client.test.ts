import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { GatewayClient } from "./client.ts";
import { KEYS } from "./keys.ts";

test("a gateway that accepts connections and never answers is given up after the time limit, and the error says so", async () => {
  const server = createServer(() => {});
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new GatewayClient({ url, key: "k", signal: new AbortController().signal, timeoutMs: 50, again: "" });
  await expect(client.call(KEYS.listKeys, { tenant: "default" })).rejects.toMatchObject({
    code: "TIMEOUT",
    message: `The gateway ${url} did not answer within 0.05 s`,
    hint: expect.stringContaining("--timeout"),
  });
  server.close();
});
