import type { InputProvider } from "../../src/index.ts";

/** What a server asked, and whether it asked during a call. */
export interface Asked {
  method: string;
  params: Record<string, unknown>;
  duringCall: boolean;
}

/** Agrees to everything: gives a name, opens every URL, says hello and shows one folder. Keeps what it was asked. */
export function agreeable(roots = [{ uri: "file:///projects/one", name: "one" }]): {
  input: InputProvider;
  asked: Asked[];
} {
  const asked: Asked[] = [];
  const input: InputProvider = {
    capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
    handle: ({ method, params }, { call }) => {
      asked.push({ method, params: params ?? {}, duringCall: call !== undefined });
      if (method === "roots/list") return { roots };
      if (method === "sampling/createMessage") {
        return { role: "assistant", model: "parrot", content: { type: "text", text: "hello" } };
      }
      return params?.["mode"] === "url" ? { action: "accept" } : { action: "accept", content: { name: "Ada" } };
    },
  };
  return { input, asked };
}

/** Answers every form with this name. */
export function answering(name: string): InputProvider {
  return { capabilities: { elicitation: { form: {} } }, handle: () => ({ action: "accept", content: { name } }) };
}

/** Answers every form with the same refusal. */
export function refusing(action: "decline" | "cancel"): InputProvider {
  return { capabilities: { elicitation: { form: {} } }, handle: () => ({ action }) };
}
