import type { Command } from "./command/command.ts";

/** A command in the overview; its code is a separate chunk that is loaded on demand. */
interface Listing {
  section: string;
  summary: string;
  load: () => Promise<Command>;
  /** For programs only; not in any list. */
  hidden?: boolean;
}

/** Every command of the program, in the order of the overview. */
export const CATALOG: Readonly<Record<string, Listing>> = {
  ...section("Look", {
    "mcp servers": {
      summary: "list configured servers and their last known state, without connecting",
      load: async () => (await import("./look/mcp-servers.ts")).servers,
    },
    "mcp list": {
      summary: "same as mcp servers",
      load: async () => (await import("./look/mcp-servers.ts")).servers,
      hidden: true,
    },
    "mcp ls": {
      summary: "same as mcp servers",
      load: async () => (await import("./look/mcp-servers.ts")).servers,
      hidden: true,
    },
    "mcp connect": {
      summary: "connect to a server and show its name, revision and capabilities",
      load: async () => (await import("./look/mcp-connect.ts")).connect,
    },
    "mcp tools": {
      summary: "list the tools of one or all servers",
      load: async () => (await import("./look/mcp-tools.ts")).tools,
    },
    "mcp resources": {
      summary: "list the resources of one or all servers",
      load: async () => (await import("./look/mcp-resources.ts")).resources,
    },
    "mcp templates": {
      summary: "list the resource templates of one or all servers",
      load: async () => (await import("./look/mcp-templates.ts")).templates,
    },
    "mcp prompts": {
      summary: "list the prompts of one or all servers",
      load: async () => (await import("./look/mcp-prompts.ts")).prompts,
    },
  }),
  ...section("Use", {
    "mcp call": {
      summary: "call a tool",
      load: async () => (await import("./call/mcp-call.ts")).call,
    },
    "mcp read": {
      summary: "read a resource",
      load: async () => (await import("./call/mcp-read.ts")).read,
    },
    "mcp prompt": {
      summary: "get the messages of a prompt",
      load: async () => (await import("./call/mcp-prompt.ts")).prompt,
    },
    "mcp complete": {
      summary: "suggest values for an argument of a prompt or a template",
      load: async () => (await import("./call/mcp-complete.ts")).complete,
    },
    "mcp watch": {
      summary: "show changes of resources and lists while they happen",
      load: async () => (await import("./watch/mcp-watch.ts")).watch,
    },
    "mcp ping": {
      summary: "check that a server answers, and how fast",
      load: async () => (await import("./call/mcp-ping.ts")).ping,
    },
    "mcp request": {
      summary: "send any request and print its result unchanged",
      load: async () => (await import("./call/mcp-request.ts")).request,
    },
  }),
  ...section("Configure", {
    "mcp add": {
      summary: "add a server to a configuration file",
      load: async () => (await import("./configure/mcp-add.ts")).add,
    },
    "mcp remove": {
      summary: "remove a server from its configuration file",
      load: async () => (await import("./configure/mcp-remove.ts")).remove,
    },
    "mcp enable": {
      summary: "enable a server",
      load: async () => (await import("./configure/mcp-enable-disable.ts")).enable,
    },
    "mcp disable": {
      summary: "disable a server but keep its entry",
      load: async () => (await import("./configure/mcp-enable-disable.ts")).disable,
    },
    "mcp import": {
      summary: "import servers from the configuration of other programs",
      load: async () => (await import("./clients/mcp-import.ts")).importServers,
    },
    "mcp export": {
      summary: "print entries of configured servers, also in the format of other programs",
      load: async () => (await import("./clients/mcp-export.ts")).exportServers,
    },
    "mcp install": {
      summary: "add Nexus, or one server, to another program's configuration",
      load: async () => (await import("./clients/mcp-install.ts")).install,
    },
    "mcp uninstall": {
      summary: "remove from another program what install added",
      load: async () => (await import("./clients/mcp-uninstall.ts")).uninstall,
    },
    "mcp explain": {
      summary: "show which files were read and where a server is configured",
      load: async () => (await import("./look/mcp-explain.ts")).explain,
    },
    "mcp trust": {
      summary: "review and trust the project's configuration",
      load: async () => (await import("./trust/mcp-trust.ts")).trust,
    },
    "mcp login": {
      summary: "log in to a server that requires it, or list the kept logins",
      load: async () => (await import("./login/mcp-login.ts")).login,
    },
    "mcp logout": {
      summary: "end the login to a server",
      load: async () => (await import("./login/mcp-logout.ts")).logout,
    },
    "mcp changes list": {
      summary: "list tools, prompts and resources that servers have changed",
      load: async () => (await import("./changes/changes.ts")).changesList,
    },
    "mcp changes show": {
      summary: "show what a server has changed in a tool",
      load: async () => (await import("./changes/changes.ts")).changesShow,
    },
    "mcp changes accept": {
      summary: "accept changed tools, prompts and resources",
      load: async () => (await import("./changes/changes.ts")).changesAccept,
    },
  }),
  ...section("Diagnose", {
    "mcp doctor": {
      summary: "check one or all servers step by step, with fixes",
      load: async () => (await import("./doctor/mcp-doctor.ts")).doctor,
    },
    "mcp retry": {
      summary: "forget the remembered state of a server and connect again",
      load: async () => (await import("./configure/mcp-retry.ts")).retry,
    },
    "mcp logs": {
      summary: "show what a server wrote to stderr",
      load: async () => (await import("./doctor/mcp-logs.ts")).logs,
    },
  }),
  ...section("Agent", {
    chat: {
      summary: "talk with a model that uses the tools of your servers",
      load: async () => (await import("./chat/chat.ts")).chat,
    },
  }),
  ...section("Serve", {
    serve: {
      summary: "run the gateway: all servers at one address, for clients of every revision",
      load: async () => (await import("./serve/serve.ts")).serve,
    },
  }),
  ...section("Turn APIs into servers", {
    "api import": {
      summary: "make a tool file of an API description or a manual",
      load: async () => (await import("./api/api-import.ts")).apiImport,
    },
    "api new": {
      summary: "start a tool file from a curl command or from questions",
      load: async () => (await import("./api/api-new.ts")).apiNew,
    },
    "api check": {
      summary: "check a tool file, with line and column of each problem",
      load: async () => (await import("./api/api-check.ts")).apiCheck,
    },
    "api show": {
      summary: "show the tools, addresses and secrets of a tool file",
      load: async () => (await import("./api/api-show.ts")).apiShow,
    },
    "api diff": {
      summary: "show the changes since the last approval, by kind",
      load: async () => (await import("./api/api-diff.ts")).apiDiff,
    },
    "api stale": {
      summary: "list what leaned on parts of documents that changed",
      load: async () => (await import("./api/api-stale.ts")).apiStale,
    },
    "api approve": {
      summary: "approve a tool file, so that it can be served",
      load: async () => (await import("./api/api-approve.ts")).apiApprove,
    },
    "api publish": {
      summary: "publish an approved tool file: gateways serve it as a version",
      load: async () => (await import("./api/publish/api-publish.ts")).apiPublish,
    },
    "api rollback": {
      summary: "serve the version of an API that was served before",
      load: async () => (await import("./api/publish/api-rollback.ts")).apiRollback,
    },
    "api versions": {
      summary: "list published versions and how much they are used, or retire one",
      load: async () => (await import("./api/publish/api-versions.ts")).apiVersions,
    },
    "api instances": {
      summary: "list, add, change and remove the servers of a published API",
      load: async () => (await import("./api/publish/api-instances.ts")).apiInstances,
    },
    "api files": {
      summary: "list the tool files of servers and whether they are approved, or show one",
      load: async () => (await import("./api/api-files.ts")).apiFiles,
    },
    "api learn": {
      summary: "propose changes to a tool file from answers that did not fit it",
      load: async () => (await import("./api/api-learn.ts")).apiLearn,
    },
    "api questions": {
      summary: "answer what a tool file leaves open",
      load: async () => (await import("./api/api-questions.ts")).apiQuestions,
    },
    "api writes": {
      summary: "list writes with unknown outcome",
      load: async () => (await import("./api/api-writes.ts")).apiWrites,
    },
    "api settle": {
      summary: "record the outcome of such a write",
      load: async () => (await import("./api/api-settle.ts")).apiSettle,
    },
    "api try": {
      summary: "talk with a model that uses the tools of an API, with a fake behind them",
      load: async () => (await import("./api/try/api-try.ts")).apiTry,
    },
    "api fake": {
      summary: "run a fake of the API, generated from the tool file",
      load: async () => (await import("./api/api-fake.ts")).apiFake,
    },
    "api test": {
      summary: "run the checks of a tool file against its fake",
      load: async () => (await import("./api/api-test.ts")).apiTest,
    },
  }),
  ...section("Agent", {
    "models list": {
      summary: "list model providers, their models and the default",
      load: async () => (await import("./models/models-list.ts")).modelsList,
    },
    "models add": {
      summary: "add a provider of models",
      load: async () => (await import("./configure/models-add.ts")).modelsAdd,
    },
    "models test": {
      summary: "send one short request to a model",
      load: async () => (await import("./models/models-test.ts")).modelsTest,
    },
    "consent list": {
      summary: "list the tools that the agent may call without asking",
      load: async () => (await import("./consent/consent-list.ts")).consentList,
    },
    "consent forget": {
      summary: "let the agent ask again before it calls a tool",
      load: async () => (await import("./consent/consent-forget.ts")).consentForget,
    },
  }),
  ...section("Secrets", {
    "secrets set": {
      summary: "store a secret that entries use as ${secret:name}",
      load: async () => (await import("./secrets/secrets.ts")).secretsSet,
    },
    "secrets list": {
      summary: "list stored secrets and the origins they may be sent to",
      load: async () => (await import("./secrets/secrets.ts")).secretsList,
    },
    "secrets allow": {
      summary: "allow one more origin for a secret",
      load: async () => (await import("./secrets/secrets.ts")).secretsAllow,
    },
    "secrets remove": {
      summary: "remove a secret",
      load: async () => (await import("./secrets/secrets.ts")).secretsRemove,
    },
  }),
  ...section("Operate the gateway", {
    "keys create": {
      summary: "create an API key for a client of the gateway",
      load: async () => (await import("./keys/keys.ts")).keysCreate,
    },
    "keys list": {
      summary: "list API keys, without their secrets",
      load: async () => (await import("./keys/keys.ts")).keysList,
    },
    "keys show": {
      summary: "show one API key, without its secret",
      load: async () => (await import("./keys/keys.ts")).keysShow,
    },
    "keys whoami": {
      summary: "show whose rights commands have at a gateway, or here",
      load: async () => (await import("./keys/keys.ts")).keysWhoami,
    },
    "keys grant": {
      summary: "change what a key may use",
      load: async () => (await import("./keys/keys.ts")).keysGrant,
    },
    "keys limit": {
      summary: "change how much a key may use",
      load: async () => (await import("./keys/keys.ts")).keysLimit,
    },
    "keys rotate": {
      summary: "give an API key a new secret",
      load: async () => (await import("./keys/keys.ts")).keysRotate,
    },
    "keys revoke": {
      summary: "end an API key for good",
      load: async () => (await import("./keys/keys.ts")).keysRevoke,
    },
    "keys explain": {
      summary: "say whether an API key may use a tool, and why",
      load: async () => (await import("./keys/keys.ts")).keysExplain,
    },
    "tenants create": {
      summary: "create a tenant",
      load: async () => (await import("./tenants/tenants.ts")).tenantsCreate,
    },
    "tenants list": {
      summary: "list tenants",
      load: async () => (await import("./tenants/tenants.ts")).tenantsList,
    },
    "tenants show": {
      summary: "show one tenant, with its limits",
      load: async () => (await import("./tenants/tenants.ts")).tenantsShow,
    },
    "tenants limit": {
      summary: "change how much a tenant may use",
      load: async () => (await import("./tenants/tenants.ts")).tenantsLimit,
    },
    "tenants metrics": {
      summary: "show what callers of a tenant do at a gateway now, and did since it started",
      load: async () => (await import("./tenants/tenants.ts")).tenantsMetrics,
    },
    "tenants remove": {
      summary: "remove a tenant with its keys and secrets",
      load: async () => (await import("./tenants/tenants.ts")).tenantsRemove,
    },
    "sets create": {
      summary: "create a set of several servers' tools",
      load: async () => (await import("./sets/sets.ts")).setsCreate,
    },
    "sets edit": {
      summary: "change what a set contains and how it shows it",
      load: async () => (await import("./sets/sets.ts")).setsEdit,
    },
    "sets list": {
      summary: "list sets",
      load: async () => (await import("./sets/sets.ts")).setsList,
    },
    "sets show": {
      summary: "show what a set contains",
      load: async () => (await import("./sets/sets.ts")).setsShow,
    },
    "sets remove": {
      summary: "remove a set",
      load: async () => (await import("./sets/sets.ts")).setsRemove,
    },
    "audit list": {
      summary: "list calls and refused attempts, the newest first",
      load: async () => (await import("./audit/audit.ts")).auditList,
    },
    "audit show": {
      summary: "show one record of the audit in full",
      load: async () => (await import("./audit/audit.ts")).auditShow,
    },
    "audit usage": {
      summary: "count the calls of each key",
      load: async () => (await import("./audit/audit.ts")).auditUsage,
    },
    "audit verify": {
      summary: "verify that no record of the audit was changed or removed",
      load: async () => (await import("./audit/audit.ts")).auditVerify,
    },
    "audit export": {
      summary: "write records of the audit as lines of JSON",
      load: async () => (await import("./audit/audit.ts")).auditExport,
    },
    "audit prune": {
      summary: "remove old records of the audit",
      load: async () => (await import("./audit/audit.ts")).auditPrune,
    },
    "store check": {
      summary: "check the gateway's database for damage",
      load: async () => (await import("./store/store-check.ts")).storeCheck,
    },
    "store backup": {
      summary: "write the gateway's data into a file",
      load: async () => (await import("./store/store-backup.ts")).storeBackup,
    },
    "store restore": {
      summary: "restore the gateway's data from a backup",
      load: async () => (await import("./store/store-restore.ts")).storeRestore,
    },
    "store migrate": {
      summary: "create or update the tables of the gateway's database",
      load: async () => (await import("./store/store-migrate.ts")).storeMigrate,
    },
  }),
  ...section("Write", {
    "new server": {
      summary: "make a small project: an MCP server with a test",
      load: async () => (await import("./new/new-project.ts")).newServer,
    },
    "new client": {
      summary: "make a small project: a program that uses MCP servers, with a test",
      load: async () => (await import("./new/new-project.ts")).newClient,
    },
  }),
  ...section("More", {
    demo: {
      summary: "connect to the bundled demo server and show its features",
      load: async () => (await import("./serve/demo.ts")).demo,
    },
    completion: {
      summary: "print the completion script for bash, zsh, fish or PowerShell",
      load: async () => (await import("./completion/completion.ts")).completion,
    },
    "complete-words": {
      summary: "print completions for a command line; used by the completion scripts",
      load: async () => (await import("./completion/complete-words.ts")).completeWords,
      hidden: true,
    },
  }),
};

/** Commands that lists show together. */
function section(name: string, commands: Readonly<Record<string, Omit<Listing, "section">>>): Record<string, Listing> {
  return Object.fromEntries(
    Object.entries(commands).map(([command, listing]) => [command, { section: name, ...listing }]),
  );
}

/** The commands for lists. */
export function listedCommands(): [string, Listing][] {
  return Object.entries(CATALOG).filter(([, { hidden }]) => !hidden);
}

/** The longest command name that the words begin with. */
export function findCommand(words: readonly string[]): string | undefined {
  for (const length of [3, 2, 1]) {
    const name = words.slice(0, length).join(" ");
    if (words.length >= length && Object.hasOwn(CATALOG, name)) return name;
  }
  return undefined;
}
