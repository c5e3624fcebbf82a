import { randomBytes, randomInt } from "node:crypto";
import type { CancelSignal } from "../../async/cancellation.ts";
import type { LoginRedirect, RedirectSettings } from "../../auth/oauth/login-handler.ts";
import { NexusError } from "../../errors/nexus-error.ts";

export interface PastedOptions extends RedirectSettings {
  /** Whether the client was registered by hand, so that the path must be the usual one: `/callback`. */
  isKnown?: boolean | undefined;
  show: (page: URL) => void;
  /** Reads one line of the user; undefined at the end of the input. */
  read: (signal: CancelSignal | undefined) => Promise<string | undefined>;
  /** Says why a line is not the address. */
  complain: (problem: string) => void;
  close?: (() => void) | undefined;
}

/** Ports that no service has by default. */
const [FIRST_PORT, END_PORT] = [49_152, 65_536];

/** A login with a browser on any machine: the user brings the address back by hand, and nothing listens. */
export class PastedRedirect implements LoginRedirect {
  readonly uri: string;
  readonly #options: PastedOptions;

  constructor(options: PastedOptions) {
    this.#options = options;
    this.uri = addressOf(options);
  }

  async visit(page: URL, signal?: CancelSignal): Promise<URL> {
    const { show, read, complain } = this.#options;
    show(page);
    let problem = "Nothing was entered.";
    for (let line = await read(signal); line !== undefined; line = await read(signal)) {
      if (line.trim() === "") continue;
      const answer = answerIn(line.trim(), { uri: this.uri, state: page.searchParams.get("state") });
      if (answer instanceof URL) return answer;
      problem = answer.problem;
      complain(problem);
    }
    throw new NexusError("AUTH_REQUIRED", problem, {
      hint: "Start the login again, and enter the whole address that the browser shows after it.",
      mayHaveReached: false,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#options.close?.();
  }
}

function addressOf({ redirectUrl, callbackPort, registered, isKnown }: PastedOptions): string {
  if (redirectUrl !== undefined) return new URL(redirectUrl).href;
  if (callbackPort !== undefined) return `http://127.0.0.1:${callbackPort}/callback`;
  const [before] = registered;
  if (before !== undefined) return before;
  const path = isKnown ? "/callback" : `/callback/${randomBytes(16).toString("base64url")}`;
  return `http://127.0.0.1:${randomInt(FIRST_PORT, END_PORT)}${path}`;
}

/** The redirect in a line: the whole address, or only its query (`code=…&state=…`). */
function answerIn(line: string, { uri, state }: { uri: string; state: string | null }): URL | { problem: string } {
  const isQuery = /^\??\w+=[^\s&]*(?:&\w+=[^\s&]*)*$/.test(line);
  const text = isQuery ? `${uri}?${line.replace(/^\?/, "")}` : line;
  if (!URL.canParse(text)) return { problem: `This is not an address. It begins with ${uri}` };
  const answer = new URL(text);
  const expected = new URL(uri);
  if (answer.origin !== expected.origin || answer.pathname !== expected.pathname) {
    return { problem: `This is another address. The one that is needed begins with ${uri}` };
  }
  if (answer.searchParams.get("state") !== state) {
    return { problem: `This address is from another login: its "state" is not the expected one.` };
  }
  return answer;
}
