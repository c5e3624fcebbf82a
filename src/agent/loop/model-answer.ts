import { unlessAborted } from "../../async/unless-aborted.ts";
import { within } from "../../async/within.ts";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import type { AssistantMessage } from "../model/model-message.ts";
import type { ModelEvent, ModelProvider, ModelRequest, ModelStopReason, Usage } from "../model/model-provider.ts";
import type { TurnEvent } from "./turn-event.ts";

/** The end of one request to a model. */
export type ModelAnswer =
  | { kind: "complete"; message: AssistantMessage; stopReason: ModelStopReason; usage: Usage }
  /** `text`: what had come until then. */
  | { kind: "broken"; text: string; error: NexusError };

export interface AnswerOptions {
  signal: AbortSignal;
  onEvent: (event: TurnEvent) => void;
}

/** How long a provider has to end a request that nobody waits for. */
const END_MS = 1_000;

/** Reads one answer. Does not throw; an aborted signal ends it, also if the provider does not react. */
export async function readAnswer(
  model: ModelProvider,
  request: ModelRequest,
  { signal, onEvent }: AnswerOptions,
): Promise<ModelAnswer> {
  let text = "";
  let events: AsyncIterator<ModelEvent> | undefined;
  try {
    events = model.stream(request, { signal })[Symbol.asyncIterator]();
    for (;;) {
      const next = await unlessAborted(events.next(), signal);
      if (next.done) break;
      const event = next.value;
      if (event.type === "end") {
        const { message, stopReason, usage } = event;
        return { kind: "complete", message, stopReason, usage };
      }
      if (event.type === "text") text += event.text;
      if (event.type !== "tool_call") onEvent(event);
    }
    const message = `The answer of the model ${model.name} ended too early`;
    return { kind: "broken", text, error: new NexusError("PROTOCOL_VIOLATION", message, { hint: "Try again." }) };
  } catch (error) {
    return { kind: "broken", text, error: asNexusError(error) };
  } finally {
    if (events) await end(events);
  }
}

/** A provider that fails now has nothing to add: the answer is complete or broken already. */
async function end(events: AsyncIterator<ModelEvent>): Promise<void> {
  const ended = (async () => events.return?.())().catch(() => undefined);
  await within(ended, END_MS);
}
