import type { CredentialStorage } from "../../auth/oauth/stored-credential.ts";
import type { Client } from "../../client/client.ts";
import type { NetworkTrust } from "../../client/connect/connect-entry.ts";
import { networkTrust } from "../../client/connect/http-transport-for.ts";
import type { Logger } from "../../text/logger.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { asNexusError, type NexusError } from "../../errors/nexus-error.ts";
import { openCredentials } from "../../host/servers/load-options.ts";
import type { ResolvedEntry } from "../../transport/server-entry.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import type { ServerSet } from "../command/server-set.ts";
import { apiFindings } from "./api-checks.ts";
import { findFailedCheck, wayOf } from "./blame.ts";
import { capabilityFinding } from "./capability-check.ts";
import { toFailedFinding, ok, type CheckId, type Finding } from "./check.ts";
import type { Checkup } from "./checkup.ts";
import { commandFinding, folderFinding } from "./command-checks.ts";
import { authenticationFinding, httpFinding, readHead, type HttpHead } from "./http-check.ts";
import { latencyFinding, shutdownFinding, stderrFinding, stdoutFinding } from "./life-checks.ts";
import { listFinding, readOffer, toolHintFinding } from "./list-check.ts";
import { networkFindings } from "./network-checks.ts";
import { protocolFinding } from "./protocol-check.ts";
import { providerFinding } from "./provider-check.ts";
import { schemaFinding } from "./schema-check.ts";

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
