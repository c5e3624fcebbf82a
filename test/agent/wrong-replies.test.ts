import { describe, expect, test, vi } from "vitest";
import { AgentInput, ConsentDesk, ElicitationDesk } from "../../src/agent/index.ts";
import { ScriptedServer } from "../../src/testing/index.ts";
import { openWorld } from "../fixtures/agent/agent-world.ts";
import { packageBin } from "../interop/server-process.ts";

const call = (name: string) => [{ call: name, arguments: {} }];
/** A handler of a program that no compiler has checked. */
const returning = (reply: unknown) => vi.fn<() => Promise<never>>().mockResolvedValue(reply as never);

describe("a handler that returns no valid reply is named in the step, and nothing is allowed", () => {
  test("ask of a ConsentDesk: the tool does not run", async () => {
    const run = vi.fn<() => string>(() => "gone");
    const shop = new ScriptedServer({ tools: { remove: run } });
    await using world = await openWorld({
      servers: { shop: shop.transport },
      script: [call("mcp__shop__remove"), "done"],
      consent: new ConsentDesk({ ask: returning("yes") }),
    });
    const { steps, stopReason } = await world.agent.send("go");
    expect(stopReason).toBe("end");
    expect(steps).toMatchObject([
      { outcome: "denied", message: expect.stringContaining(`"ask" of ConsentDesk returned "yes"`) as string },
    ]);
    expect(run).not.toHaveBeenCalled();
  });

  test.each([
    ["a modern server", { s: asking().transport }, "mcp__s__ask"],
    ["a legacy server, which returns a result", { s: everything() }, "mcp__s__trigger-elicitation-request"],
  ])("fillForm, for %s", async (_what, servers, tool) => {
    const input = new AgentInput({ elicitation: new ElicitationDesk({ fillForm: returning({ name: "Ada" }) }) });
    await using world = await openWorld({
      servers,
      script: [call(tool), call(tool), "done"],
      input,
      hostOptions: { input },
    });
    const { steps } = await world.agent.send("go");
    const message = expect.stringContaining(`"fillForm" of ElicitationDesk returned { name }`) as string;
    expect(steps).toMatchObject([
      { outcome: "error", message },
      { outcome: "error", message },
    ]);
    expect(JSON.stringify(world.agent.messages)).not.toContain("Ada");
  });

  test("the next call of the server is not blamed for it", async () => {
    const fillForm = returning({ action: "decline" });
    fillForm.mockResolvedValueOnce("Ada" as never);
    await using world = await openWorld({
      servers: { s: asking().transport },
      script: [call("mcp__s__ask"), call("mcp__s__ask"), "done"],
      input: new AgentInput({ elicitation: new ElicitationDesk({ fillForm }) }),
    });
    expect((await world.agent.send("go")).steps.map(({ outcome }) => outcome)).toEqual(["error", "ok"]);
  });
});

function asking(): ScriptedServer {
  return new ScriptedServer({
    tools: {
      ask: async (_args, { ask }) => {
        const { action } = await ask("elicitation/create", {
          message: "Your name?",
          requestedSchema: { type: "object", properties: { name: { type: "string" } } },
        });
        return String(action);
      },
    },
  });
}

function everything() {
  return { command: process.execPath, args: [packageBin("@modelcontextprotocol/server-everything"), "stdio"] };
}
