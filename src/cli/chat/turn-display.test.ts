import { expect, test, vi } from "vitest";
import { Output } from "../output/output.ts";
import { ChatScreen } from "./terminal/chat-screen.ts";
import { TurnDisplay } from "./turn-display.ts";

test("progress is drawn from time to time, however often a server reports it", () => {
  using screen = new ChatScreen(new Output({ json: true, colours: false }));
  const redraw = vi.spyOn(screen, "redraw");
  const status = vi.spyOn(screen, "status");
  const display = new TurnDisplay({ screen, model: () => "fake:small", showsText: false });
  display.begin();
  display.onEvent({ type: "tool_start", id: "1", server: "evil", tool: "look", arguments: {} });
  redraw.mockClear();
  for (let progress = 0; progress < 1_000; progress++) display.onEvent({ type: "tool_progress", id: "1", progress });
  expect(redraw).not.toHaveBeenCalled();
  expect(status.mock.calls[0]?.[0]?.()).toMatch(/^evil\.look: progress 999, /);
});
