import { expect, test } from "vitest";
import { quotePath, quoteUrl, quoteWord, splitShellWords } from "./shell-words.ts";

test.each([
  ["linux", `npx -y 'a b' "c d" e\\ f ''`, ["npx", "-y", "a b", "c d", "e f", ""]],
  ["win32", `C:\\bin\\x.exe "C:\\My Files"`, ["C:\\bin\\x.exe", "C:\\My Files"]],
] as const)("a command line of %s is split into words", (platform, line, words) => {
  expect(splitShellWords(line, platform)).toEqual({ words, open: undefined });
});

test("an unclosed quote is reported", () => {
  expect(splitShellWords(`echo "a b`, "linux")).toEqual({ words: ["echo", "a b"], open: '"' });
});

test.each(["plain", "it's", "a b", "$HOME", "", 'say "x"', "a\\b"])(
  "the quoted word %j is the same word again",
  (word) => {
    expect(splitShellWords(quoteWord(word, "linux"), "linux").words).toEqual([word]);
  },
);

test("a URL is quoted if a shell would split it", () => {
  expect(quoteUrl("https://host/mcp", "linux")).toBe("https://host/mcp");
  expect(quoteUrl("https://host/mcp?a=1&b='2'", "linux")).toBe("'https://host/mcp?a=1&b=%272%27'");
  expect(quoteUrl("https://host/mcp?a=1&b=2", "win32")).toBe('"https://host/mcp?a=1&b=2"');
});

test("the home folder of a path is typed outside of the quotes, because the shell does not know it inside", () => {
  expect(quotePath("~/api/shop.nexus.yaml", "linux")).toBe("~/api/shop.nexus.yaml");
  expect(quotePath("~/my api/shop.nexus.yaml", "linux")).toBe("~/'my api/shop.nexus.yaml'");
  expect(quotePath("a b", "linux")).toBe("'a b'");
});
