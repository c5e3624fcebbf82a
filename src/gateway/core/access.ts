import type { ServerStatus } from "../../host/host.ts";
import { decide as decideByEntry, type Decision } from "../../host/policy.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { ToolAnnotations } from "../../protocol/mcp.ts";
import type { Principal } from "../principal.ts";
import type { ThingKind } from "./target.ts";

export type Operation = "list" | "use";

/** A thing that somebody wants to see or use, by the name its server gives it. */
export interface AccessTarget {
  server: string;
  kind: ThingKind;
  name: string;
  annotations?: ToolAnnotations | undefined;
}

/** Whether somebody may. Asked for listing and using alike, so that nothing is hidden that can be used. */
export type Decide = (principal: Principal, operation: Operation, target: AccessTarget) => Decision;

const ALLOWED: Decision = { kind: "allowed" };

/** What the server's entry allows, narrowed by who asks. */
export class Access {
  readonly #decide: Decide | undefined;

  constructor(decide: Decide | undefined) {
    this.#decide = decide;
  }

  /** Everybody sees the same. */
  get isCommon(): boolean {
    return this.#decide === undefined;
  }

  /** Whether nothing of this kind has to be asked about one by one. */
  isOpen(kind: ThingKind, { definition: { tools } }: ServerStatus): boolean {
    return this.isCommon && (kind !== "tool" || (!tools.allow && !tools.deny));
  }

  decide(principal: Principal, operation: Operation, target: AccessTarget, { definition }: ServerStatus): Decision {
    if (target.kind === "tool") {
      const { server, name: tool, annotations } = target;
      const decision = decideByEntry({}, { server, tool, annotations, own: definition.tools }, undefined);
      if (decision.kind === "denied") return decision;
    }
    return this.#decide?.(principal, operation, target) ?? ALLOWED;
  }

  allows(principal: Principal, target: AccessTarget, status: ServerStatus): boolean {
    return this.isOpen(target.kind, status) || this.decide(principal, "use", target, status).kind !== "denied";
  }

  /** Throws where it is denied. */
  require(principal: Principal, target: AccessTarget, status: ServerStatus): void {
    if (this.isOpen(target.kind, status)) return;
    const decision = this.decide(principal, "use", target, status);
    if (decision.kind !== "denied") return;
    const message = `${target.kind} "${target.name}" of "${target.server}" may not be used: ${decision.reason}`;
    throw new NexusError("DENIED", `The ${message}`, { server: target.server, mayHaveReached: false });
  }
}
