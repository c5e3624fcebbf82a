import type { Params } from "../../protocol/json-rpc.ts";
import type { Implementation, ServerCapabilities, Tool } from "../../protocol/mcp.ts";
import { isModernRevision, LEGACY_REVISIONS, type LegacyRevision, type Revision } from "../../protocol/revisions.ts";
import type { CallContext } from "./call-context.ts";
import { Changes } from "./changes.ts";
import { FeatureMethods } from "./feature-methods.ts";
import { describeTool, type Features } from "./features.ts";
import { RequestStates } from "./request-state.ts";

export interface McpServerOptions {
  info: Implementation;
  instructions?: string;
  features: Features;
  /** The revisions it speaks; of both eras if it likes. */
  revisions: readonly Revision[];
  /** Entries per page of a list; without it lists come whole. */
  pageSize?: number;
  /** How long modern clients may keep lists and resources. */
  ttlMs?: number;
  /** Seals what clients carry from one round of a call to the next; without it that does not survive the server. */
  stateKey?: Uint8Array | undefined;
  /** Instead of everything that this core can do. */
  capabilities?: ServerCapabilities;
}

const EVERYTHING: ServerCapabilities = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

/** One server, spoken to in any number of conversations: what they share, and nothing of any one of them. */
export class McpServer {
  readonly info: Implementation;
  readonly instructions: string | undefined;
  readonly ttlMs: number;
  readonly revisions: readonly Revision[];
  readonly methods: FeatureMethods;
  readonly changes = new Changes();
  readonly requestStates: RequestStates;
  readonly #features: Features;
  readonly #capabilities: ServerCapabilities;

  constructor(options: McpServerOptions) {
    this.info = options.info;
    this.requestStates = new RequestStates(options.stateKey);
    this.instructions = options.instructions;
    this.ttlMs = options.ttlMs ?? 0;
    this.revisions = options.revisions;
    this.#features = options.features;
    this.#capabilities = options.capabilities ?? EVERYTHING;
    this.methods = new FeatureMethods(options.features, options.pageSize ?? Number.MAX_SAFE_INTEGER);
  }

  get modernRevisions(): Revision[] {
    return this.revisions.filter(isModernRevision);
  }

  get legacyRevisions(): LegacyRevision[] {
    return LEGACY_REVISIONS.filter((revision) => this.revisions.includes(revision));
  }

  findTool(name: unknown, revision: string): Tool | undefined {
    const feature = this.#features.tools.find((candidate) => candidate.name === name);
    return feature && describeTool(feature, revision);
  }

  /** What extensions let a modern client listen to. */
  topics(wanted: Params, context: CallContext): { accepted: Params; topics: string[] } {
    return this.#features.topics?.(wanted, context) ?? { accepted: {}, topics: [] };
  }

  capabilities(revision: string): ServerCapabilities {
    return { ...this.#capabilities, ...this.#features.capabilities?.(revision) };
  }
}
