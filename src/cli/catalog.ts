import type { Command } from "./command/command.ts";

/** A command as the overview shows it; the rest of it is a chunk of its own, loaded when it is asked for. */
interface Listing {
  section: string;
  summary: string;
  load: () => Promise<Command>;
  /** For programs only: no list shows it. */
  hidden?: boolean;
}

/** Every command of the program, in the order of the overview. */
export const CATALOG: Readonly<Record<string, Listing>> = {
  "mcp servers": {
    section: "Look",
    summary: "configured servers: where, enabled, trusted, last known state; connects to none",
    load: async () => (await import("./look/mcp-servers.ts")).servers,
  },
  "mcp list": {
    section: "Look",
    summary: "the same as mcp servers",
    load: async () => (await import("./look/mcp-servers.ts")).servers,
    hidden: true,
  },
  "mcp ls": {
    section: "Look",
    summary: "the same as mcp servers",
    load: async () => (await import("./look/mcp-servers.ts")).servers,
    hidden: true,
  },
  "mcp connect": {
    section: "Look",
    summary: "connect to a server and show what it is",
    load: async () => (await import("./look/mcp-connect.ts")).connect,
  },
  "mcp tools": {
    section: "Look",
    summary: "list tools of one server or all",
    load: async () => (await import("./look/mcp-tools.ts")).tools,
  },
  "mcp resources": {
    section: "Look",
    summary: "list resources of one server or all",
    load: async () => (await import("./look/mcp-resources.ts")).resources,
  },
  "mcp templates": {
    section: "Look",
    summary: "list resource templates of one server or all",
    load: async () => (await import("./look/mcp-templates.ts")).templates,
  },
  "mcp prompts": {
    section: "Look",
    summary: "list prompts of one server or all",
    load: async () => (await import("./look/mcp-prompts.ts")).prompts,
  },
  "mcp call": {
    section: "Use",
    summary: "call a tool",
    load: async () => (await import("./call/mcp-call.ts")).call,
  },
  "mcp read": {
    section: "Use",
    summary: "read a resource",
    load: async () => (await import("./call/mcp-read.ts")).read,
  },
  "mcp prompt": {
    section: "Use",
    summary: "fill in a prompt",
    load: async () => (await import("./call/mcp-prompt.ts")).prompt,
  },
  "mcp complete": {
    section: "Use",
    summary: "suggestions for an argument of a prompt or a template",
    load: async () => (await import("./call/mcp-complete.ts")).complete,
  },
  "mcp watch": {
    section: "Use",
    summary: "show changes of resources and lists as they happen",
    load: async () => (await import("./watch/mcp-watch.ts")).watch,
  },
  "mcp ping": {
    section: "Use",
    summary: "is the server there, and how fast does it answer",
    load: async () => (await import("./call/mcp-ping.ts")).ping,
  },
  "mcp request": {
    section: "Use",
    summary: "send any request, and show the result as it came",
    load: async () => (await import("./call/mcp-request.ts")).request,
  },
  "mcp add": {
    section: "Configure",
    summary: "add a server to a configuration file",
    load: async () => (await import("./configure/mcp-add.ts")).add,
  },
  "mcp remove": {
    section: "Configure",
    summary: "remove a server from its file",
    load: async () => (await import("./configure/mcp-remove.ts")).remove,
  },
  "mcp enable": {
    section: "Configure",
    summary: "switch a server on",
    load: async () => (await import("./configure/mcp-enable-disable.ts")).enable,
  },
  "mcp disable": {
    section: "Configure",
    summary: "switch a server off, keeping its entry",
    load: async () => (await import("./configure/mcp-enable-disable.ts")).disable,
  },
  "mcp import": {
    section: "Configure",
    summary: "take over servers that other programs have configured",
    load: async () => (await import("./clients/mcp-import.ts")).importServers,
  },
  "mcp export": {
    section: "Configure",
    summary: "print entries of configured servers, also as other programs write them",
    load: async () => (await import("./clients/mcp-export.ts")).exportServers,
  },
  "mcp install": {
    section: "Configure",
    summary: "write Nexus, or one server, into another program's configuration",
    load: async () => (await import("./clients/mcp-install.ts")).install,
  },
  "mcp uninstall": {
    section: "Configure",
    summary: "remove what install wrote from another program's configuration",
    load: async () => (await import("./clients/mcp-uninstall.ts")).uninstall,
  },
  "mcp explain": {
    section: "Configure",
    summary: "which files were read, and where a server comes from",
    load: async () => (await import("./look/mcp-explain.ts")).explain,
  },
  "mcp trust": {
    section: "Configure",
    summary: "trust the project's configuration, or show what it would start",
    load: async () => (await import("./trust/mcp-trust.ts")).trust,
  },
  "mcp doctor": {
    section: "Find out why",
    summary: "check a server or all, step by step, with what to do",
    load: async () => (await import("./doctor/mcp-doctor.ts")).doctor,
  },
  "mcp retry": {
    section: "Find out why",
    summary: "connect anew, forgetting what was remembered of a server",
    load: async () => (await import("./configure/mcp-retry.ts")).retry,
  },
  "mcp logs": {
    section: "Find out why",
    summary: "what a server wrote to stderr",
    load: async () => (await import("./doctor/mcp-logs.ts")).logs,
  },
  serve: {
    section: "Serve",
    summary: "the gateway: all servers behind one address, for clients of every revision",
    load: async () => (await import("./serve/serve.ts")).serve,
  },
  "api check": {
    section: "Make servers of APIs",
    summary: "everything that is wrong with a tool file, with line and column",
    load: async () => (await import("./api/api-check.ts")).apiCheck,
  },
  "api show": {
    section: "Make servers of APIs",
    summary: "what a tool file becomes: tools, addresses, secrets",
    load: async () => (await import("./api/api-show.ts")).apiShow,
  },
  "api diff": {
    section: "Make servers of APIs",
    summary: "what differs from what was approved, by kind",
    load: async () => (await import("./api/api-diff.ts")).apiDiff,
  },
  "api approve": {
    section: "Make servers of APIs",
    summary: "agree with what a tool file says; only then it is served",
    load: async () => (await import("./api/api-approve.ts")).apiApprove,
  },
  "api writes": {
    section: "Make servers of APIs",
    summary: "writes whose outcome is not known",
    load: async () => (await import("./api/api-writes.ts")).apiWrites,
  },
  "api settle": {
    section: "Make servers of APIs",
    summary: "say what became of such a write",
    load: async () => (await import("./api/api-settle.ts")).apiSettle,
  },
  "api fake": {
    section: "Make servers of APIs",
    summary: "an upstream to try a tool file with, made of the file itself",
    load: async () => (await import("./api/api-fake.ts")).apiFake,
  },
  "api test": {
    section: "Make servers of APIs",
    summary: "run the checks of a tool file against its fake",
    load: async () => (await import("./api/api-test.ts")).apiTest,
  },
  "secrets set": {
    section: "Secrets",
    summary: "store a secret that entries use as ${secret:name}",
    load: async () => (await import("./secrets/secrets-set.ts")).secretsSet,
  },
  "secrets list": {
    section: "Secrets",
    summary: "names of stored secrets, and where they may be sent",
    load: async () => (await import("./secrets/secrets-list.ts")).secretsList,
  },
  "secrets allow": {
    section: "Secrets",
    summary: "let a secret be sent to one more origin",
    load: async () => (await import("./secrets/secrets-allow.ts")).secretsAllow,
  },
  "secrets remove": {
    section: "Secrets",
    summary: "remove a secret",
    load: async () => (await import("./secrets/secrets-remove.ts")).secretsRemove,
  },
  demo: {
    section: "More",
    summary: "connect to the bundled demo server and show what it offers",
    load: async () => (await import("./serve/demo.ts")).demo,
  },
  completion: {
    section: "More",
    summary: "completion for bash, zsh, fish or PowerShell",
    load: async () => (await import("./completion/completion.ts")).completion,
  },
  "complete-words": {
    section: "More",
    summary: "what could stand next on a command line; for the scripts of completion",
    load: async () => (await import("./completion/complete-words.ts")).completeWords,
    hidden: true,
  },
};

/** The commands that lists show. */
export function listedCommands(): [string, Listing][] {
  return Object.entries(CATALOG).filter(([, { hidden }]) => !hidden);
}

/** The longest name in the catalog that the words begin with. */
export function findCommand(words: readonly string[]): string | undefined {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(" ");
    if (words.length >= length && Object.hasOwn(CATALOG, name)) return name;
  }
  return undefined;
}
