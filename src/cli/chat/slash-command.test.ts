import { expect, test } from "vitest";
import { asNexusError } from "../../errors/nexus-error.ts";
import type { ChatState } from "./chat-state.ts";
import { MCP_COMMANDS } from "./chat-commands.ts";
import { completeSlash, findSlashCommand, isSlashCommand, promptValues, type SlashCommand } from "./slash-command.ts";

const help: SlashCommand = { name: "/help", usage: "", help: "", words: { min: 0, max: 0 }, run: () => {} };
const commands = [help, ...MCP_COMMANDS];
/** The servers that completion offers; nothing else of it is used here. */
const directory = { visibleTo: () => [{ id: "files" }, { id: "github" }] };
const ids = ["files", "old", "github"];
const state = { servers: { host: { directory }, ids, disconnected: ["old"] } } as unknown as ChatState;
const complete = (before: string) => completeSlash(before, commands, state).words;

test("a message is a command if its first word is one, and a path is not", () => {
  expect(["/help", "/mcp tools", "/a:b c"].map(isSlashCommand)).toEqual([true, true, true]);
  expect(["/home/ada/x", "hello", " /help", "//x"].map(isSlashCommand)).toEqual([false, false, false, false]);
});

test("the longest command is found, with its words as a shell splits them", () => {
  expect(findSlashCommand("/mcp", commands).command.name).toBe("/mcp");
  const { command, words } = findSlashCommand(`/mcp prompt files.x "a b"=c`, commands);
  expect([command.name, words]).toEqual(["/mcp prompt", ["files.x", "a b=c"]]);
});

test("wrong commands and wrong numbers of words say what to do", () => {
  expect(() => findSlashCommand("/hepl", commands)).toThrow("There is no command /hepl");
  expect(() => findSlashCommand("/mcp conect files", commands)).toThrow("There is no command /mcp conect");
  expect(() => findSlashCommand("/mcp connect", commands)).toThrow("Usage: /mcp connect <server>");
  expect(() => findSlashCommand(`/mcp logs "x`, commands)).toThrow("unclosed");
});

test("a wrong command is suggested only one that has a similar name", () => {
  const hintOf = (typed: string) => {
    try {
      return findSlashCommand(typed, commands).command.name;
    } catch (error) {
      return asNexusError(error).hint;
    }
  };
  expect(hintOf("/mcp foo")).toMatch(/^Commands of \/mcp: tools, /);
  expect(hintOf("/mcp tols")).toMatch(/^Did you mean \/mcp tools\? /);
  expect(hintOf("/hepl")).toMatch(/^Did you mean \/help\? /);
});

test("Tab offers commands, their second words, and servers", () => {
  expect(complete("/h")).toEqual(["/help"]);
  expect(complete("/mcp dis")).toEqual(["disable", "disconnect"]);
  expect(complete("/mcp connect ")).toEqual(["files", "github", "old"]);
  expect(complete("/mcp connect gi")).toEqual(["github"]);
  expect(complete("/mcp connect github ")).toEqual([]);
  expect(complete("text /h")).toEqual([]);
});

test("values of a prompt are given by name, or in order with the rest of the line as the last one", () => {
  const prompt = { arguments: [{ name: "file" }, { name: "question" }] };
  expect(promptValues(["question=why", "file=a"], prompt)).toEqual({ question: "why", file: "a" });
  expect(promptValues(["a.txt", "what", "is", "it"], prompt)).toEqual(["a.txt", "what is it"]);
  expect(promptValues(["a=b"], prompt)).toEqual(["a=b"]);
});
