import { setImmediate as nextTurn } from "node:timers/promises";
import { realpathSync } from "node:fs";
import type { CredentialStorage } from "../../auth/oauth/stored-credential.ts";
import type { Client } from "../../client/client.ts";
import type { NetworkTrust } from "../../client/connect/connect-entry.ts";
import { networkTrust } from "../../client/connect/http-transport-for.ts";
import type { Logger } from "../../text/logger.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { asNexusError, NexusError, messageOf } from "../../errors/nexus-error.ts";
import { openCredentials } from "../../host/servers/load-options.ts";
import type { ResolvedEntry, StdioReach } from "../../transport/server-entry.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import type { ServerSet } from "../command/server-set.ts";
import { apiFindings } from "./api-checks.ts";
import { findFailedCheck, wayOf } from "./blame.ts";
import { toFailedFinding, ok, FindingDraft, type CheckId, type Finding } from "./check.ts";
import type { Checkup } from "./checkup.ts";
import { authenticationFinding, httpFinding, readHead, type HttpHead } from "./http-check.ts";
import { latencyFinding } from "./life-checks.ts";
import { listFinding, readOffer, toolHintFinding } from "./list-check.ts";
import { networkFindings } from "./network-checks.ts";
import { providerFinding } from "./provider-check.ts";
import { LEGACY_REVISIONS, MODERN_REVISIONS, type Era } from "../../protocol/revisions.ts";
import type { Tool, ServerCapabilities } from "../../protocol/mcp.ts";
import type { compileSchema } from "../../schema/validator.ts";
import { isRecord } from "../../json/is-record.ts";
import { isFolder } from "../../files/paths.ts";
import { maskCommand, withoutDefaults } from "../../masking/mask-words.ts";
import { childEnvironment } from "../../process/child-environment.ts";
import { findProgram } from "../../process/find-program.ts";
import { changeOf, LIST_KINDS, type ListKind } from "../../protocol/list-kinds.ts";
import { LIST_METHODS } from "../../protocol/methods.ts";
import { pluralize } from "../output/amounts.ts";

/** The client reports no more lines. */
const MOST_NOISE = 20;
/** A child that has not exited after this time gets SIGTERM. */
const PATIENCE_MS = 2_000;

/** The context of an examination. */
export interface ExaminationContext {
  /** The entry as written, for display: resolved values may be secret. */
  written?: unknown;
  servers: ServerSet;
  surroundings: Surroundings;
  timeoutMs: number | undefined;
  logger: Logger;
  /** Called with what must not wait for the report, because a check may take long. */
  onTrouble?: ((message: string) => void) | undefined;
  signal: AbortSignal;
}

/** Timeout of a single step on the way to a server. */
const STEP_MS = 10_000;

/** The part of the examination that starts or reaches the server. */
export class ServerExamination {
  readonly #checkup: Checkup;
  readonly #definition: ServerDefinition;
  readonly #entry: ResolvedEntry;
  readonly #context: ExaminationContext;
  readonly #noise: string[] = [];
  readonly #warnings: string[] = [];
  #starts = 0;
  #startedAt = performance.now();

  constructor(checkup: Checkup, definition: ServerDefinition, entry: ResolvedEntry, context: ExaminationContext) {
    this.#checkup = checkup;
    this.#definition = definition;
    this.#entry = entry;
    this.#context = context;
  }

  async run(): Promise<void> {
    const { reach, connectTimeoutMs } = this.#entry;
    const { surroundings, signal, servers, written } = this.#context;
    const timeoutMs = Math.min(this.#context.timeoutMs ?? connectTimeoutMs ?? STEP_MS, STEP_MS);
    if (reach.kind === "stdio") {
      this.#checkup.set("command", commandFinding(reach, surroundings, written));
      this.#checkup.set("folder", folderFinding(reach, written));
    } else if (reach.kind === "api") {
      const findings = await apiFindings(reach, this.#definition.id, servers.secrets);
      for (const [id, finding] of findings) this.#checkup.set(id, finding);
    } else {
      const way = { url: new URL(reach.url), surroundings, ca: this.#trust().ca, timeoutMs, signal };
      for (const [id, finding] of await networkFindings(way)) this.#checkup.set(id, finding);
    }
    const remembered = await servers.findEra(this.#definition);
    // The remembered era may be the problem.
    await servers.forgetEra(this.#definition);
    const client = await this.#connect();
    if (!client) return;
    const stderr = client.stderr;
    this.#checkup.set("protocol", protocolFinding(client, { remembered, starts: this.#starts }));
    await this.#examineOffer(client);
    if (reach.kind === "stdio") {
      this.#checkup.set("stdout", stdoutFinding(this.#noise));
      this.#checkup.set("stderr", stderrFinding(stderr));
      if (!client.lost) this.#checkup.set("shutdown", await shutdownFinding(client));
    }
    await client.close();
  }

  async #examineOffer(client: Client): Promise<void> {
    const { servers, signal } = this.#context;
    const offer = await readOffer(client, signal);
    const { tools, prompts, failures } = offer;
    this.#checkup.set("lists", listFinding(offer, this.#definition, this.#warnings));
    if (!client.lost) this.#checkup.set("latency", await latencyFinding(client, signal));
    if (failures.length === 0) {
      const names = { tools: tools.map(({ name }) => name), prompts: prompts.map(({ name }) => name) };
      servers.saw(this.#definition, names);
      this.#checkup.set("schemas", await schemaFinding(tools));
      this.#checkup.set("providers", providerFinding(this.#definition.prefix ?? this.#definition.id, tools));
      this.#checkup.set("annotations", toolHintFinding(tools));
    }
    // Last, because a server may crash when it is asked for what it does not declare.
    if (!client.lost) this.#checkup.set("capabilities", await capabilityFinding(client, signal));
  }

  async #connect(): Promise<Client | undefined> {
    const { servers, signal, surroundings } = this.#context;
    const { reach } = this.#entry;
    const enough = new AbortController();
    // At the same time, so that a server that never answers is waited for once.
    const heading: Promise<HttpHead | undefined> =
      reach.kind === "stdio" || reach.kind === "api" || this.#brokenStep !== undefined
        ? Promise.resolve(undefined)
        : readHead(reach, { surroundings, trust: this.#trust() }, AbortSignal.any([signal, enough.signal]));
    this.#startedAt = performance.now();
    try {
      const client = await servers.connect(this.#definition, {
        signal,
        tellsWarnings: false,
        logger: this.#logger,
        onSpawn: () => {
          if (this.#starts++ === 0) this.#startedAt = performance.now();
        },
        ...(this.#brokenStep === undefined ? {} : { retry: { maxRetries: 0 } }),
      });
      await this.#connected(await headOrNothing(heading, enough));
      return client;
    } catch (error) {
      if (signal.aborted) throw error;
      const head = await headOrNothing(heading, enough);
      await this.#failed(asNexusError(error), head);
      return undefined;
    }
  }

  /** Certificates that cannot be read are reported by connecting. */
  #trust(): NetworkTrust {
    try {
      return networkTrust(this.#entry, {});
    } catch {
      return { ca: [], publicOnly: this.#entry.network?.publicOnly };
    }
  }

  async #connected(head: HttpHead | undefined): Promise<void> {
    const { reach } = this.#entry;
    const ms = Math.round(performance.now() - this.#startedAt);
    if (reach.kind === "stdio") return this.#checkup.set("starts", ok(`ready ${ms} ms after its start`));
    if (reach.kind === "api") return;
    this.#checkup.set("http", httpFinding(head));
    const { keptLogin } = await import("./authorization-check.ts");
    const login = await keptLogin(reach, await this.#credentials());
    this.#checkup.set("authentication", authenticationFinding(reach, head, login));
  }

  async #credentials(): Promise<CredentialStorage> {
    const { servers, surroundings } = this.#context;
    return openCredentials(surroundings, servers.stateFolder);
  }

  /** With the way to a login, if the server requires one. */
  async #refused(error: NexusError, head: HttpHead | undefined): Promise<Finding> {
    const { reach } = this.#entry;
    const { surroundings, signal } = this.#context;
    if (reach.kind === "stdio" || reach.kind === "api") return toFailedFinding(error);
    const { authorizationSteps, refusedFinding } = await import("./authorization-check.ts");
    const context = { surroundings, trust: this.#trust(), storage: await this.#credentials(), signal };
    const steps = await authorizationSteps(reach, head, context);
    return steps ? refusedFinding(error, steps) : toFailedFinding(error);
  }

  async #failed(error: NexusError, head: HttpHead | undefined): Promise<void> {
    const { reach } = this.#entry;
    const checkup = this.#checkup;
    const kind = wayOf(reach);
    const isNoisy = this.#noise.length > 0;
    const culprit = findFailedCheck(error, {
      kind,
      isNoisy,
      hasAnswered: head !== undefined,
      brokenStep: this.#brokenStep,
    });
    if (kind === "stdio") {
      if (checkup.isBefore("starts", culprit)) checkup.set("starts", ok("the process is running"));
      if (checkup.isBefore("stdout", culprit) || isNoisy) checkup.set("stdout", stdoutFinding(this.#noise));
    } else if (reach.kind === "http" || reach.kind === "sse") {
      if (head) checkup.set("http", httpFinding(head));
      if (culprit === "protocol") {
        checkup.set("authentication", authenticationFinding(reach, head));
      }
    }
    const seen = checkup.find(culprit);
    const isRefused = culprit === "authentication";
    checkup.set(culprit, isRefused ? await this.#refused(error, head) : toFailedFinding(error, seen?.evidence));
  }

  /** The first failed step on the way to the server. */
  get #brokenStep(): CheckId | undefined {
    const steps = ["proxy", "dns", "tcp", "tls"] as const;
    return steps.find((id) => this.#checkup.find(id)?.verdict === "warning");
  }

  get #logger(): Logger {
    const { logger, onTrouble } = this.#context;
    return {
      ...logger,
      info: (message, data) => {
        if (data?.["repaired"] === true) this.#warnings.push(message);
        logger.info(message, data);
      },
      warn: (message, data) => {
        const excerpt = data?.["excerpt"];
        if (typeof excerpt === "string") {
          if (this.#noise.length === 0) onTrouble?.(message);
          this.#noise.push(excerpt);
        } else this.#warnings.push(message);
        logger.warn(message, data);
      },
    };
  }
}

/** An answer that has not begun shortly after the client has finished will not come. */
async function headOrNothing(
  heading: Promise<HttpHead | undefined>,
  enough: AbortController,
): Promise<HttpHead | undefined> {
  const timer = setTimeout(() => enough.abort(), 500);
  const head = await heading;
  clearTimeout(timer);
  return head;
}

interface Meeting {
  /** The era that was remembered before this detection. */
  remembered: Era | undefined;
  /** How often its process was started. */
  starts: number;
}

const FOUND: Record<Client["verdict"]["how"], string> = {
  probed: "detected",
  given: "as remembered",
  pinned: "as configured",
};

/** The revision in use, and how it was detected. */
function protocolFinding(
  { protocolVersion, era, verdict, serverInfo }: Client,
  { remembered, starts }: Meeting,
): Finding {
  const draft = new FindingDraft();
  const who = serverInfo ? `${serverInfo.name} ${serverInfo.version}: ` : "";
  draft.add("ok", `${who}revision ${protocolVersion} (${era}), ${FOUND[verdict.how]}`);
  if (!serverInfo)
    draft.add("note", "the server does not send its name", "The server's author should send serverInfo.");
  if (remembered !== undefined && remembered !== era) {
    draft.add("note", `remembered as ${remembered} before; now remembered as ${era}`);
  }
  if (starts > 1) {
    draft.add(
      "note",
      `its process exited after the first request and was started ${starts} times`,
      "The server's author should answer unknown methods with an error. Until then, every first start takes longer.",
    );
  }
  const newestLegacy = LEGACY_REVISIONS[0];
  if (era === "legacy" && protocolVersion < newestLegacy) {
    const newer = [...MODERN_REVISIONS, newestLegacy].join(" and ");
    draft.add("note", `older than ${newer}`, "Update the server if a newer version exists.");
  }
  return draft.finding();
}

const MOST = 5;
const ADVICE = "The server's author must correct it. Until then, arguments are sent unchecked.";

/** Whether the tools' schemas are valid JSON Schema. */
async function schemaFinding(tools: readonly Tool[]): Promise<Finding> {
  if (tools.length === 0) return ok("no tools");
  const { compileSchema: compile } = await import("../../schema/validator.ts");
  const faults: string[] = [];
  for (const { name, inputSchema, outputSchema } of tools) {
    const schemas = { inputSchema, ...(outputSchema === undefined ? {} : { outputSchema }) };
    for (const [member, schema] of Object.entries<unknown>(schemas)) {
      const fault = faultOf(schema, compile);
      if (fault !== undefined) faults.push(`${name}: ${member}${fault}`);
    }
    // Other servers are checked at the same time and must not wait for a thousand schemas.
    await nextTurn();
  }
  const withOutput = tools.filter(({ outputSchema }) => outputSchema !== undefined).length;
  const draft = new FindingDraft();
  for (const fault of faults.slice(0, MOST)) draft.add("warning", fault, ADVICE);
  if (faults.length > MOST) draft.add("warning", `and ${faults.length - MOST} more`);
  const valid = `${tools.length} checked, ${withOutput} of them with an output schema`;
  return faults.length > 0 ? draft.finding() : ok(valid);
}

function faultOf(schema: unknown, compile: typeof compileSchema): string | undefined {
  if (!isRecord(schema)) return " is not an object";
  const check = compile(schema)({});
  return check.kind === "unusable" ? `: ${check.reason}` : undefined;
}

/** The file of the command. If it cannot be found, starting it reports more. */
function commandFinding(reach: StdioReach, { variables, platform }: Surroundings, written: unknown): Finding {
  const { cwd, env, passthrough } = reach;
  const filled = variableText(written, ["command"]);
  const command = filled ?? maskCommand(reach.command);
  const file = findProgram(reach.command, {
    env: childEnvironment({ variables, platform, env, passthrough }),
    platform,
    cwd,
  });
  if (file === undefined) return { verdict: "warning", evidence: [`${command}: program not found`] };
  if (filled !== undefined) return ok(`${filled} is an executable`);
  const what = file === command ? command : `${command} is ${file}`;
  return ok(isOurNode(file) ? `${what} (Node.js ${process.version}, the same as Nexus uses)` : what);
}

function folderFinding({ cwd }: StdioReach, written: unknown): Finding {
  if (cwd === undefined) return ok(`${process.cwd()} (where Nexus was started)`);
  const isNamed = isRecord(written) && (written["cwd"] ?? written["workdir"]) !== undefined;
  const shown = isNamed ? (variableText(written, ["cwd", "workdir"]) ?? cwd) : `${cwd} (the entry has no "cwd")`;
  return isFolder(cwd) ? ok(shown) : { verdict: "warning", evidence: [`${shown} is not a folder`] };
}

/** The variables in a part of an entry, without their values, which may be secret. */
function variableText(written: unknown, names: readonly string[]): string | undefined {
  const found = isRecord(written) ? names.map((name) => [written[name]].flat()[0]) : [];
  const text = found.find((value) => typeof value === "string");
  return text?.includes("${") ? withoutDefaults(text) : undefined;
}

function isOurNode(file: string): boolean {
  try {
    return realpathSync(file) === realpathSync(process.execPath);
  } catch {
    return false;
  }
}

/** The answer to an undeclared list is not important, so the wait is short. */
const CURIOSITY_MS = 3_000;

/** What the server declares, and whether it answers what it does not declare. Declared lists are checked by `lists`. */
async function capabilityFinding(client: Client, signal: AbortSignal): Promise<Finding> {
  const declared = client.serverCapabilities;
  const draft = new FindingDraft().add("ok", `declares ${described(declared ?? {})}`);
  for (const kind of LIST_KINDS) {
    const [method, capability] = [LIST_METHODS[kind], changeOf(kind)];
    if (!declared || declared[capability]) continue;
    const answer = await answersAnyway(client, kind, signal);
    if (client.lost) {
      return draft
        .add("warning", `exited after ${method}, which it does not declare: ${client.lost.message}`)
        .finding();
    }
    if (answer) {
      draft.add(
        "note",
        `answers ${method} but does not declare "${capability}"`,
        `The server's author should declare "${capability}". Clients do not use it until then.`,
      );
    }
  }
  return draft.finding();
}

async function answersAnyway(client: Client, kind: ListKind, signal: AbortSignal): Promise<boolean> {
  try {
    const result = await client.request(LIST_METHODS[kind], undefined, { signal, timeoutMs: CURIOSITY_MS });
    const items = result[kind];
    return Array.isArray(items) && items.length > 0;
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof NexusError) return false;
    throw new NexusError("INTERNAL", messageOf(error), { cause: error });
  }
}

/** "tools (list changes), resources (subscribe), logging" */
function described(capabilities: ServerCapabilities): string {
  const parts = Object.entries(capabilities).flatMap(([name, value]) => {
    if (value === undefined || value === null) return [];
    const details = typeof value === "object" ? detailsOf(name, value) : [];
    return [details.length === 0 ? name : `${name} (${details.join(", ")})`];
  });
  return parts.length === 0 ? "nothing" : parts.join(", ");
}

function detailsOf(name: string, value: object): string[] {
  if (name === "extensions" || name === "experimental") return Object.keys(value);
  const names: Record<string, string> = { listChanged: "list changes", subscribe: "subscribe" };
  return Object.entries(value).flatMap(([key, on]) => (on === true ? (names[key] ?? key) : []));
}

/** The first lines on stdout that were not messages. */
function stdoutFinding(noise: readonly string[]): Finding {
  if (noise.length === 0) return ok("messages only");
  const count = noise.length === 1 ? "1 line" : `${noise.length} lines${noise.length < MOST_NOISE ? "" : " or more"}`;
  return {
    verdict: "warning",
    evidence: [`${count} of other text`, ...noise.slice(0, 3).map((line) => `stdout: ${line}`)],
    advice: ["Servers must log to stderr. Other clients may reject a server that writes other text to stdout."],
  };
}

function stderrFinding(lines: readonly string[]): Finding {
  const written = lines.filter((line) => line.trim() !== "");
  if (written.length === 0) return ok("nothing");
  return { verdict: "note", evidence: [`${pluralize(written.length, "line")}, the last:`, ...written.slice(-3)] };
}

/** Ends the server like every client does: closes stdin, after which a server should exit. */
async function shutdownFinding(client: Client): Promise<Finding> {
  const startedAt = performance.now();
  await client.close();
  const ms = Math.round(performance.now() - startedAt);
  const reason = await client.closed;
  const signal = reason.kind === "exited" ? reason.signal : undefined;
  if (signal === undefined && ms < PATIENCE_MS) return ok(`exited ${ms} ms after its stdin was closed`);
  return {
    verdict: "note",
    evidence: [
      `did not exit when its stdin was closed; it was terminated${signal ? ` with ${signal}` : ""} after ${ms} ms`,
    ],
    advice: ["The server's author should exit the process when stdin closes. Until then, every command waits for it."],
  };
}
