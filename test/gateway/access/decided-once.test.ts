import { expect, test } from "vitest";
import type { Decide } from "../../../src/gateway/index.ts";
import { cabinet } from "./access-servers.ts";
import { AccessWorld } from "./access-world.ts";

test("a call is decided once: its server and its tool, and nothing is asked after it", async () => {
  const asked: string[] = [];
  const decide: Decide = (_principal, operation, { kind, name }) => {
    asked.push(`${operation} ${kind} ${name}`);
    return { kind: "allowed" };
  };
  await using world = await AccessWorld.open({ alpha: cabinet() }, { decide });
  const call = () => world.ask("tools/call", { name: "alpha__look", arguments: {} }, { capabilities: {} });
  // The first one reads the list.
  await call();
  asked.length = 0;
  expect((await call()).result).toBeDefined();
  expect(asked).toEqual(["list server alpha", "use server alpha", "list tool look", "use tool look"]);
});

test("a refused call is asked for once more, whether its caller may know of the server", async () => {
  const asked: string[] = [];
  const decide: Decide = (_principal, operation, { kind, name }) => {
    if (operation === "list") asked.push(`${kind} ${name}`);
    return name === "look" ? { kind: "denied", reason: "the test says so" } : { kind: "allowed" };
  };
  await using world = await AccessWorld.open({ alpha: cabinet() }, { decide });
  const call = () => world.ask("tools/call", { name: "alpha__look", arguments: {} }, { capabilities: {} });
  await call();
  asked.length = 0;
  expect((await call()).error?.message).toMatch(/^There is no tool "alpha__look"/);
  expect(asked.slice(0, 3)).toEqual(["server alpha", "tool look", "server alpha"]);
});
