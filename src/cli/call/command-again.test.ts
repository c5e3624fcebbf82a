import { expect, test } from "vitest";
import { commandAgain } from "./attended-call.ts";

test("repeats the command as it has to be typed, without possible secrets", () => {
  const options = {
    arg: ["text=two words", "n=1"],
    url: "http://127.0.0.1:1/mcp",
    header: ["Authorization: Bearer abc"],
    json: true,
    trust: false,
    config: undefined,
  };
  const again = commandAgain({ command: "mcp call", words: ["s.tool"], options, plus: ["--continue", "abc"] });
  expect(again).toBe(
    "nexus mcp call s.tool --continue abc --arg 'text=two words' --arg n=1 --url http://127.0.0.1:1/mcp --header 'Authorization:…' --json",
  );
  expect(commandAgain({ command: "mcp call", words: ["s.tool"], options, without: ["arg", "url", "header"] })).toBe(
    "nexus mcp call s.tool --json",
  );
});
