import { describe, expect, test } from "vitest";
import type { Client } from "../../client/client.ts";
import type { Host } from "../../host/host.ts";
import type { LeaseRequest } from "../../host/servers/lease.ts";
import type { Era } from "../../protocol/revisions.ts";
import { ANYBODY } from "../../server/core/principal.ts";
import { UpstreamLeases } from "./upstream-leases.ts";

/** A host whose connections are of these eras, one after the other, and what became of them. */
function hostOf(...eras: Era[]) {
  const leases: { era: Era; isOpen: boolean }[] = [];
  const inputs: unknown[] = [];
  const lease = async (_server: string, { input }: LeaseRequest) => {
    inputs.push(input);
    const taken = { era: eras[leases.length % eras.length] ?? "modern", isOpen: true };
    leases.push(taken);
    const release = () => void (taken.isOpen = false);
    return { client: { era: taken.era } as Client, release, report() {}, [Symbol.dispose]: release };
  };
  const host = { lease, find: () => undefined, findLease: () => undefined, release() {} } as unknown as Host;
  return { leases, inputs, host };
}

const WANTED = { principal: ANYBODY, owner: "me", capabilities: { sampling: {} } };

describe("connections for callers", () => {
  test("of a server that was replaced by one of the other era are opened again", async () => {
    const { host, leases } = hostOf("legacy", "modern", "modern");
    const lease = await new UpstreamLeases(host).take("up", WANTED);
    expect(lease.client.era).toBe("modern");
    expect(leases.filter(({ isOpen }) => isOpen)).toHaveLength(1);
    lease.release();
    expect(leases.filter(({ isOpen }) => isOpen)).toEqual([]);
  });

  test("of a server that changes its era every time are used as they are", async () => {
    const { host, leases } = hostOf("legacy", "modern");
    using lease = await new UpstreamLeases(host).take("up", WANTED);
    expect(lease.client.era).toBe("legacy");
    expect(leases.map(({ isOpen }) => isOpen)).toEqual([false, false, true]);
  });

  test("stay the same for a principal, no matter what another principal declares", async () => {
    const { host, inputs } = hostOf("legacy");
    const leases = new UpstreamLeases(host);
    const take = async (id: string, note: string) => {
      const capabilities = { sampling: { tools: { note } } };
      (await leases.take("up", { ...WANTED, principal: { ...ANYBODY, id }, capabilities })).release();
    };
    await take("alice", "hers");
    for (let count = 0; count < 1001; count++) await take("mallory", String(count));
    await take("alice", "hers");
    const [, hers] = inputs;
    expect(hers).toBeDefined();
    expect(inputs.at(-1)).toBe(hers);
  });

  test("are refused if the declared capabilities are too large", async () => {
    const { host } = hostOf("legacy");
    const capabilities = { experimental: { note: "x".repeat(20_000) } };
    const refused = new UpstreamLeases(host).take("up", { ...WANTED, capabilities });
    await expect(refused).rejects.toMatchObject({ code: "ARGUMENTS_INVALID" });
  });
});
