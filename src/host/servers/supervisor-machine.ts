/** What one configured server is doing. Whether it is switched on is separate: that changes only what is shown. */
export type SupervisorState =
  /** Its entry has a problem, or comes from a project that is not trusted. */
  | "blocked"
  | "idle"
  /** Its idle process was stopped for another one; the lists are kept. */
  | "paused"
  | "starting"
  | "ready"
  /** Connected, but a list could not be read. */
  | "degraded"
  | "failed"
  | "closing"
  | "stopped";

export type SupervisorEvent =
  /** A connection is needed: by a call, at the start of the host, or because the pause after a failure is over. */
  | "start"
  /** The same, but the current connection ends first. */
  | "restart"
  /** A person asks for another attempt; `restart` follows unless the server answers. */
  | "retry"
  | "opened"
  | "opened-without-lists"
  | "start-failed"
  | "lists-read"
  | "lists-failed"
  | "lost"
  /** Nobody uses its process, and another server needs one: it starts again on its next use. */
  | "pause"
  | "switch-on"
  | "switch-off"
  | "close"
  | "closed";

export type SupervisorEffect =
  /** End the connection, or the attempt to open one; `open` waits for it. */
  | "end"
  | "open"
  /** Notice when the connection is lost. */
  | "watch"
  /** Let no more callers use the lost connection. */
  | "retire"
  /** Forget failures: the next start is not delayed. */
  | "forgive"
  /** Start again after a pause, if the server starts by itself and is switched on. */
  | "plan-retry"
  | "cancel-retry"
  | "report"
  /** Report the state and the lists: the server was switched on or off. */
  | "report-switch"
  | "close-connections";

export type Transition =
  | { kind: "go"; to: SupervisorState; effects: readonly SupervisorEffect[] }
  | { kind: "ignore" }
  /** The event cannot happen in this state. */
  | { kind: "never"; reason: string };

const IGNORE: Transition = { kind: "ignore" };

function go(to: SupervisorState, ...effects: SupervisorEffect[]): Transition {
  return { kind: "go", to, effects };
}

function never(reason: string): Transition {
  return { kind: "never", reason };
}

const REFUSED = never("a server that may not run is refused before");
const CLOSED = never("a closed server is refused before");
const SHARED = never("callers share the connection there is");
const NOT_STARTED = never("no start is under way");
const NOT_UP = never("no connection is up");
const GIVEN_UP = never("a start is given up at closing");
const NOT_CLOSING = never("it is not closing");

const WITHOUT_START = {
  opened: NOT_STARTED,
  "opened-without-lists": NOT_STARTED,
  "start-failed": NOT_STARTED,
} as const;

const WITHOUT_CONNECTION = { "lists-read": NOT_UP, "lists-failed": NOT_UP, lost: NOT_UP, pause: NOT_UP } as const;

/** The states after `close` differ only in how `closed` is handled. */
const AFTER_CLOSE = {
  start: CLOSED,
  restart: CLOSED,
  retry: CLOSED,
  opened: GIVEN_UP,
  "opened-without-lists": GIVEN_UP,
  "start-failed": IGNORE,
  ...WITHOUT_CONNECTION,
  "switch-on": IGNORE,
  "switch-off": IGNORE,
  close: IGNORE,
} as const;

/** Every state and event. The last effect is always the report, so that a listener may cause the next event. */
export const TRANSITIONS: Readonly<Record<SupervisorState, Readonly<Record<SupervisorEvent, Transition>>>> = {
  blocked: {
    start: REFUSED,
    restart: REFUSED,
    retry: REFUSED,
    ...WITHOUT_START,
    ...WITHOUT_CONNECTION,
    "switch-on": go("blocked", "report-switch"),
    "switch-off": go("blocked", "report-switch"),
    close: go("closing", "close-connections"),
    closed: NOT_CLOSING,
  },
  idle: {
    start: go("starting", "open", "report"),
    restart: go("starting", "open", "report"),
    retry: go("idle", "forgive"),
    ...WITHOUT_START,
    ...WITHOUT_CONNECTION,
    "switch-on": go("idle", "report-switch"),
    "switch-off": go("idle", "report-switch"),
    close: go("closing", "close-connections"),
    closed: NOT_CLOSING,
  },
  paused: {
    start: go("starting", "open", "report"),
    restart: go("starting", "open", "report"),
    retry: go("paused", "forgive"),
    ...WITHOUT_START,
    ...WITHOUT_CONNECTION,
    "switch-on": go("paused", "report-switch"),
    "switch-off": go("paused", "report-switch"),
    close: go("closing", "close-connections"),
    closed: NOT_CLOSING,
  },
  starting: {
    start: SHARED,
    restart: go("starting", "end", "open", "report"),
    retry: go("starting", "forgive"),
    opened: go("ready", "watch", "report"),
    "opened-without-lists": go("degraded", "watch", "report"),
    "start-failed": go("failed", "plan-retry", "report"),
    ...WITHOUT_CONNECTION,
    "switch-on": go("starting", "report-switch"),
    "switch-off": go("starting", "report-switch"),
    close: go("closing", "close-connections"),
    closed: NOT_CLOSING,
  },
  ready: {
    start: SHARED,
    restart: go("starting", "end", "open", "report"),
    retry: go("ready", "forgive"),
    ...WITHOUT_START,
    "lists-read": IGNORE,
    "lists-failed": go("degraded", "report"),
    lost: go("failed", "retire", "plan-retry", "report"),
    pause: go("paused", "end", "report"),
    "switch-on": go("ready", "report-switch"),
    "switch-off": go("ready", "report-switch"),
    close: go("closing", "close-connections"),
    closed: NOT_CLOSING,
  },
  degraded: {
    start: SHARED,
    restart: go("starting", "end", "open", "report"),
    retry: go("degraded", "forgive"),
    ...WITHOUT_START,
    "lists-read": go("ready", "report"),
    "lists-failed": go("degraded", "report"),
    lost: go("failed", "retire", "plan-retry", "report"),
    pause: go("paused", "end", "report"),
    "switch-on": go("degraded", "report-switch"),
    "switch-off": go("degraded", "report-switch"),
    close: go("closing", "close-connections"),
    closed: NOT_CLOSING,
  },
  failed: {
    start: go("starting", "cancel-retry", "open", "report"),
    // Callers may still be using the lost connection.
    restart: go("starting", "cancel-retry", "end", "open", "report"),
    retry: go("failed", "forgive", "cancel-retry"),
    ...WITHOUT_START,
    ...WITHOUT_CONNECTION,
    // A server that failed before it was switched off gets a new attempt.
    "switch-on": go("idle", "forgive", "report-switch"),
    "switch-off": go("failed", "cancel-retry", "report-switch"),
    close: go("closing", "cancel-retry", "close-connections"),
    closed: NOT_CLOSING,
  },
  closing: { ...AFTER_CLOSE, closed: go("stopped", "report") },
  stopped: { ...AFTER_CLOSE, closed: IGNORE },
};
