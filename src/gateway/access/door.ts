import type { Authenticate, Principal } from "../../server/core/principal.ts";
import type { AccessRules } from "./principal-access.ts";

/** Who may come in, and what each may see and use. Both may change while the gateway runs. */
export interface Door extends AccessRules {
  readonly authenticate: Authenticate;
  /** Whether a principal that was let in before may still come in: a request may take long to arrive. */
  admits(principal: Principal): boolean;
  /** False while no caller can be admitted, for example because the database is away. Absent: always true. */
  readonly isOpen?: boolean;
  /** Whether the principal may read `/metrics`. */
  seesMetrics(principal: Principal): boolean;
  /**
   * Calls the listener for each principal who may not come in any more. Returns a function that stops this. `present` says who has something open: it has
   * to be decided for them, though they may not come in again for long.
   */
  onExpelled(listener: (principal: Principal) => void, present?: () => Iterable<Principal>): () => void;
  /**
   * Hears of principals whose credential was replaced, for example because it leaked: what was opened with this very object
   * has to end. The principal may come in again with the new one. Returns a function that stops this.
   */
  onReplaced?(listener: (principal: Principal) => void): () => void;
}
