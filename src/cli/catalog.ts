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
  "mcp servers": {
    section: "Look",
    summary: "list configured servers and their last known state, without connecting",
    load: async () => (await import("./look/mcp-servers.ts")).servers,
  },
  "mcp list": {
    section: "Look",
    summary: "same as mcp servers",
    load: async () => (await import("./look/mcp-servers.ts")).servers,
    hidden: true,
  },
  "mcp ls": {
    section: "Look",
    summary: "same as mcp servers",
    load: async () => (await import("./look/mcp-servers.ts")).servers,
    hidden: true,
  },
  "mcp connect": {
    section: "Look",
    summary: "connect to a server and show its name, revision and capabilities",
    load: async () => (await import("./look/mcp-connect.ts")).connect,
  },
  "mcp tools": {
    section: "Look",
    summary: "list the tools of one or all servers",
    load: async () => (await import("./look/mcp-tools.ts")).tools,
  },
  "mcp resources": {
    section: "Look",
    summary: "list the resources of one or all servers",
    load: async () => (await import("./look/mcp-resources.ts")).resources,
  },
  "mcp templates": {
    section: "Look",
    summary: "list the resource templates of one or all servers",
    load: async () => (await import("./look/mcp-templates.ts")).templates,
  },
  "mcp prompts": {
    section: "Look",
    summary: "list the prompts of one or all servers",
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
    summary: "get the messages of a prompt",
    load: async () => (await import("./call/mcp-prompt.ts")).prompt,
  },
  "mcp complete": {
    section: "Use",
    summary: "suggest values for an argument of a prompt or a template",
    load: async () => (await import("./call/mcp-complete.ts")).complete,
  },
  "mcp watch": {
    section: "Use",
    summary: "show changes of resources and lists while they happen",
    load: async () => (await import("./watch/mcp-watch.ts")).watch,
  },
  "mcp ping": {
    section: "Use",
    summary: "check that a server answers, and how fast",
    load: async () => (await import("./call/mcp-ping.ts")).ping,
  },
  "mcp request": {
    section: "Use",
    summary: "send any request and print its result unchanged",
    load: async () => (await import("./call/mcp-request.ts")).request,
  },
  "mcp add": {
    section: "Configure",
    summary: "add a server to a configuration file",
    load: async () => (await import("./configure/mcp-add.ts")).add,
  },
  "mcp remove": {
    section: "Configure",
    summary: "remove a server from its configuration file",
    load: async () => (await import("./configure/mcp-remove.ts")).remove,
  },
  "mcp enable": {
    section: "Configure",
    summary: "enable a server",
    load: async () => (await import("./configure/mcp-enable-disable.ts")).enable,
  },
  "mcp disable": {
    section: "Configure",
    summary: "disable a server but keep its entry",
    load: async () => (await import("./configure/mcp-enable-disable.ts")).disable,
  },
  "mcp import": {
    section: "Configure",
    summary: "import servers from the configuration of other programs",
    load: async () => (await import("./clients/mcp-import.ts")).importServers,
  },
  "mcp export": {
    section: "Configure",
    summary: "print entries of configured servers, also in the format of other programs",
    load: async () => (await import("./clients/mcp-export.ts")).exportServers,
  },
  "mcp install": {
    section: "Configure",
    summary: "add Nexus, or one server, to another program's configuration",
    load: async () => (await import("./clients/mcp-install.ts")).install,
  },
  "mcp uninstall": {
    section: "Configure",
    summary: "remove from another program what install added",
    load: async () => (await import("./clients/mcp-uninstall.ts")).uninstall,
  },
  "mcp explain": {
    section: "Configure",
    summary: "show which files were read and where a server is configured",
    load: async () => (await import("./look/mcp-explain.ts")).explain,
  },
  "mcp trust": {
    section: "Configure",
    summary: "review and trust the project's configuration",
    load: async () => (await import("./trust/mcp-trust.ts")).trust,
  },
  "mcp login": {
    section: "Configure",
    summary: "log in to a server that requires it, or list the kept logins",
    load: async () => (await import("./login/mcp-login.ts")).login,
  },
  "mcp logout": {
    section: "Configure",
    summary: "end the login to a server",
    load: async () => (await import("./login/mcp-logout.ts")).logout,
  },
  "mcp changes list": {
    section: "Configure",
    summary: "list tools, prompts and resources that servers have changed",
    load: async () => (await import("./changes/changes.ts")).changesList,
  },
  "mcp changes show": {
    section: "Configure",
    summary: "show what a server has changed in a tool",
    load: async () => (await import("./changes/changes.ts")).changesShow,
  },
  "mcp changes accept": {
    section: "Configure",
    summary: "accept changed tools, prompts and resources",
    load: async () => (await import("./changes/changes.ts")).changesAccept,
  },
  "mcp doctor": {
    section: "Diagnose",
    summary: "check one or all servers step by step, with fixes",
    load: async () => (await import("./doctor/mcp-doctor.ts")).doctor,
  },
  "mcp retry": {
    section: "Diagnose",
    summary: "forget the remembered state of a server and connect again",
    load: async () => (await import("./configure/mcp-retry.ts")).retry,
  },
  "mcp logs": {
    section: "Diagnose",
    summary: "show what a server wrote to stderr",
    load: async () => (await import("./doctor/mcp-logs.ts")).logs,
  },
  chat: {
    section: "Agent",
    summary: "talk with a model that uses the tools of your servers",
    load: async () => (await import("./chat/chat.ts")).chat,
  },
  serve: {
    section: "Serve",
    summary: "run the gateway: all servers at one address, for clients of every revision",
    load: async () => (await import("./serve/serve.ts")).serve,
  },
  "api import": {
    section: "Turn APIs into servers",
    summary: "make a tool file of an API description or a manual",
    load: async () => (await import("./api/api-import.ts")).apiImport,
  },
  "api new": {
    section: "Turn APIs into servers",
    summary: "start a tool file from a curl command or from questions",
    load: async () => (await import("./api/api-new.ts")).apiNew,
  },
  "api check": {
    section: "Turn APIs into servers",
    summary: "check a tool file, with line and column of each problem",
    load: async () => (await import("./api/api-check.ts")).apiCheck,
  },
  "api show": {
    section: "Turn APIs into servers",
    summary: "show the tools, addresses and secrets of a tool file",
    load: async () => (await import("./api/api-show.ts")).apiShow,
  },
  "api diff": {
    section: "Turn APIs into servers",
    summary: "show the changes since the last approval, by kind",
    load: async () => (await import("./api/api-diff.ts")).apiDiff,
  },
  "api stale": {
    section: "Turn APIs into servers",
    summary: "list what leaned on parts of documents that changed",
    load: async () => (await import("./api/api-stale.ts")).apiStale,
  },
  "api approve": {
    section: "Turn APIs into servers",
    summary: "approve a tool file, so that it can be served",
    load: async () => (await import("./api/api-approve.ts")).apiApprove,
  },
  "api publish": {
    section: "Turn APIs into servers",
    summary: "publish an approved tool file: gateways serve it as a version",
    load: async () => (await import("./api/publish/api-publish.ts")).apiPublish,
  },
  "api rollback": {
    section: "Turn APIs into servers",
    summary: "serve the version of an API that was served before",
    load: async () => (await import("./api/publish/api-rollback.ts")).apiRollback,
  },
  "api versions": {
    section: "Turn APIs into servers",
    summary: "list published versions and how much they are used, or retire one",
    load: async () => (await import("./api/publish/api-versions.ts")).apiVersions,
  },
  "api instances": {
    section: "Turn APIs into servers",
    summary: "list, add, change and remove the servers of a published API",
    load: async () => (await import("./api/publish/api-instances.ts")).apiInstances,
  },
  "api files": {
    section: "Turn APIs into servers",
    summary: "list the tool files of servers and whether they are approved, or show one",
    load: async () => (await import("./api/api-files.ts")).apiFiles,
  },
  "api learn": {
    section: "Turn APIs into servers",
    summary: "propose changes to a tool file from answers that did not fit it",
    load: async () => (await import("./api/api-learn.ts")).apiLearn,
  },
  "api questions": {
    section: "Turn APIs into servers",
    summary: "answer what a tool file leaves open",
    load: async () => (await import("./api/api-questions.ts")).apiQuestions,
  },
  "api writes": {
    section: "Turn APIs into servers",
    summary: "list writes with unknown outcome",
    load: async () => (await import("./api/api-writes.ts")).apiWrites,
  },
  "api settle": {
    section: "Turn APIs into servers",
    summary: "record the outcome of such a write",
    load: async () => (await import("./api/api-settle.ts")).apiSettle,
  },
  "api try": {
    section: "Turn APIs into servers",
    summary: "talk with a model that uses the tools of an API, with a fake behind them",
    load: async () => (await import("./api/try/api-try.ts")).apiTry,
  },
  "api fake": {
    section: "Turn APIs into servers",
    summary: "run a fake of the API, generated from the tool file",
    load: async () => (await import("./api/api-fake.ts")).apiFake,
  },
  "api test": {
    section: "Turn APIs into servers",
    summary: "run the checks of a tool file against its fake",
    load: async () => (await import("./api/api-test.ts")).apiTest,
  },
  "models list": {
    section: "Agent",
    summary: "list model providers, their models and the default",
    load: async () => (await import("./models/models-list.ts")).modelsList,
  },
  "models test": {
    section: "Agent",
    summary: "send one short request to a model",
    load: async () => (await import("./models/models-test.ts")).modelsTest,
  },
  "consent list": {
    section: "Agent",
    summary: "list the tools that the agent may call without asking",
    load: async () => (await import("./consent/consent-list.ts")).consentList,
  },
  "consent forget": {
    section: "Agent",
    summary: "let the agent ask again before it calls a tool",
    load: async () => (await import("./consent/consent-forget.ts")).consentForget,
  },
  "secrets set": {
    section: "Secrets",
    summary: "store a secret that entries use as ${secret:name}",
    load: async () => (await import("./secrets/secrets.ts")).secretsSet,
  },
  "secrets list": {
    section: "Secrets",
    summary: "list stored secrets and the origins they may be sent to",
    load: async () => (await import("./secrets/secrets.ts")).secretsList,
  },
  "secrets allow": {
    section: "Secrets",
    summary: "allow one more origin for a secret",
    load: async () => (await import("./secrets/secrets.ts")).secretsAllow,
  },
  "secrets remove": {
    section: "Secrets",
    summary: "remove a secret",
    load: async () => (await import("./secrets/secrets.ts")).secretsRemove,
  },
  "keys create": {
    section: "Operate the gateway",
    summary: "create an API key for a client of the gateway",
    load: async () => (await import("./keys/keys.ts")).keysCreate,
  },
  "keys list": {
    section: "Operate the gateway",
    summary: "list API keys, without their secrets",
    load: async () => (await import("./keys/keys.ts")).keysList,
  },
  "keys show": {
    section: "Operate the gateway",
    summary: "show one API key, without its secret",
    load: async () => (await import("./keys/keys.ts")).keysShow,
  },
  "keys whoami": {
    section: "Operate the gateway",
    summary: "show whose rights commands have at a gateway, or here",
    load: async () => (await import("./keys/keys.ts")).keysWhoami,
  },
  "keys grant": {
    section: "Operate the gateway",
    summary: "change what a key may use",
    load: async () => (await import("./keys/keys.ts")).keysGrant,
  },
  "keys limit": {
    section: "Operate the gateway",
    summary: "change how much a key may use",
    load: async () => (await import("./keys/keys.ts")).keysLimit,
  },
  "keys rotate": {
    section: "Operate the gateway",
    summary: "give an API key a new secret",
    load: async () => (await import("./keys/keys.ts")).keysRotate,
  },
  "keys revoke": {
    section: "Operate the gateway",
    summary: "end an API key for good",
    load: async () => (await import("./keys/keys.ts")).keysRevoke,
  },
  "keys explain": {
    section: "Operate the gateway",
    summary: "say whether an API key may use a tool, and why",
    load: async () => (await import("./keys/keys.ts")).keysExplain,
  },
  "tenants create": {
    section: "Operate the gateway",
    summary: "create a tenant",
    load: async () => (await import("./tenants/tenants.ts")).tenantsCreate,
  },
  "tenants list": {
    section: "Operate the gateway",
    summary: "list tenants",
    load: async () => (await import("./tenants/tenants.ts")).tenantsList,
  },
  "tenants show": {
    section: "Operate the gateway",
    summary: "show one tenant, with its limits",
    load: async () => (await import("./tenants/tenants.ts")).tenantsShow,
  },
  "tenants limit": {
    section: "Operate the gateway",
    summary: "change how much a tenant may use",
    load: async () => (await import("./tenants/tenants.ts")).tenantsLimit,
  },
  "tenants metrics": {
    section: "Operate the gateway",
    summary: "show what callers of a tenant do at a gateway now, and did since it started",
    load: async () => (await import("./tenants/tenants.ts")).tenantsMetrics,
  },
  "tenants remove": {
    section: "Operate the gateway",
    summary: "remove a tenant with its keys and secrets",
    load: async () => (await import("./tenants/tenants.ts")).tenantsRemove,
  },
  "sets create": {
    section: "Operate the gateway",
    summary: "create a set of several servers' tools",
    load: async () => (await import("./sets/sets.ts")).setsCreate,
  },
  "sets edit": {
    section: "Operate the gateway",
    summary: "change what a set contains and how it shows it",
    load: async () => (await import("./sets/sets.ts")).setsEdit,
  },
  "sets list": {
    section: "Operate the gateway",
    summary: "list sets",
    load: async () => (await import("./sets/sets.ts")).setsList,
  },
  "sets show": {
    section: "Operate the gateway",
    summary: "show what a set contains",
    load: async () => (await import("./sets/sets.ts")).setsShow,
  },
  "sets remove": {
    section: "Operate the gateway",
    summary: "remove a set",
    load: async () => (await import("./sets/sets.ts")).setsRemove,
  },
  "audit list": {
    section: "Operate the gateway",
    summary: "list calls and refused attempts, the newest first",
    load: async () => (await import("./audit/audit.ts")).auditList,
  },
  "audit show": {
    section: "Operate the gateway",
    summary: "show one record of the audit in full",
    load: async () => (await import("./audit/audit.ts")).auditShow,
  },
  "audit usage": {
    section: "Operate the gateway",
    summary: "count the calls of each key",
    load: async () => (await import("./audit/audit.ts")).auditUsage,
  },
  "audit verify": {
    section: "Operate the gateway",
    summary: "verify that no record of the audit was changed or removed",
    load: async () => (await import("./audit/audit.ts")).auditVerify,
  },
  "audit export": {
    section: "Operate the gateway",
    summary: "write records of the audit as lines of JSON",
    load: async () => (await import("./audit/audit.ts")).auditExport,
  },
  "audit prune": {
    section: "Operate the gateway",
    summary: "remove old records of the audit",
    load: async () => (await import("./audit/audit.ts")).auditPrune,
  },
  "store check": {
    section: "Operate the gateway",
    summary: "check the gateway's database for damage",
    load: async () => (await import("./store/store-check.ts")).storeCheck,
  },
  "store backup": {
    section: "Operate the gateway",
    summary: "write the gateway's data into a file",
    load: async () => (await import("./store/store-backup.ts")).storeBackup,
  },
  "store restore": {
    section: "Operate the gateway",
    summary: "restore the gateway's data from a backup",
    load: async () => (await import("./store/store-restore.ts")).storeRestore,
  },
  "store migrate": {
    section: "Operate the gateway",
    summary: "create or update the tables of the gateway's database",
    load: async () => (await import("./store/store-migrate.ts")).storeMigrate,
  },
  demo: {
    section: "More",
    summary: "connect to the bundled demo server and show its features",
    load: async () => (await import("./serve/demo.ts")).demo,
  },
  completion: {
    section: "More",
    summary: "print the completion script for bash, zsh, fish or PowerShell",
    load: async () => (await import("./completion/completion.ts")).completion,
  },
  "complete-words": {
    section: "More",
    summary: "print completions for a command line; used by the completion scripts",
    load: async () => (await import("./completion/complete-words.ts")).completeWords,
    hidden: true,
  },
};

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
