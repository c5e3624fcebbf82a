import type { ListKind } from "../../protocol/list-kinds.ts";
import type { ReceivedDefinition } from "./listed-definitions.ts";

/** A list of a server as it was read. */
export interface ReadList {
  server: string;
  kind: ListKind;
  /** False: it is only for callers with certain capabilities, or it is one page. What is missing in it is not removed. */
  isCommon: boolean;
  /** Something of the server is pinned: only its very first list is accepted by itself. */
  isPinned: boolean;
  definitions: ReadonlyMap<string, ReceivedDefinition>;
}

/** A definition that differs from the accepted one. */
export interface DefinitionChange {
  server: string;
  kind: ListKind;
  /** Name of a tool or prompt, URI of a resource, URI template. */
  name: string;
  what: "changed" | "added" | "removed";
}

/** `unknown`: it was never compared. */
export type Standing = "accepted" | "changed" | "added" | "unknown";

export interface NamedDefinition {
  server: string;
  kind: ListKind;
  name: string;
  hash: string | undefined;
}

/** Remembers which definitions of servers were accepted, and what servers list now. */
export interface DefinitionLedger {
  /** Whether it also keeps the definitions of servers that are not pinned. */
  readonly keepsUnpinned: boolean;
  /** Compares a list with what was accepted, and keeps the differences. Returns those that are new. */
  compare(list: ReadList): Promise<DefinitionChange[]>;
  /**
   * Reads what was accepted of a server, without comparing a list. Without it, pinned definitions are listed only after the
   * server was read.
   */
  load?(server: string): Promise<void>;
  /** By what was compared or loaded before; reads nothing. */
  standingOf(definition: NamedDefinition): Standing;
  /** Calls the listener when something of a server was accepted, also by another process. Returns a function that stops it. */
  onAccepted(listener: (server: string) => void): () => void;
}
