import { abortSignalOf } from "../../async/cancellation.ts";
import type { DeviceCode, LoginHandler, RedirectSettings } from "../../auth/oauth/login-handler.ts";
import { visible } from "../../text/visible.ts";
import { durationText } from "../../text/duration.ts";
import type { Output } from "../output/output.ts";
import { askFor } from "../output/terminal-questions.ts";
import { InputLines } from "./input-lines.ts";
import { LoopbackRedirect } from "./loopback-redirect.ts";
import { openBrowser, type BrowserMachine } from "./open-browser.ts";
import { PastedRedirect } from "./pasted-redirect.ts";

export interface TerminalLoginOptions {
  out: Output;
  machine: BrowserMachine;
  /** The server's name, for messages. */
  server: string;
  /** False: the browser is on another machine, and the user brings the address back. */
  usesBrowser: boolean;
  /** Whether the client was registered by hand, so that its redirect address is known there. */
  isKnown: boolean;
}

/** Lets the user of the command line log in. */
export function terminalLogin(options: TerminalLoginOptions): LoginHandler {
  const { usesBrowser, isKnown } = options;
  return {
    openRedirect: async (settings) => {
      if (usesBrowser) return LoopbackRedirect.open({ ...settings, isKnown, show: (page) => showPage(page, options) });
      return pasted(options, { ...settings, isKnown });
    },
    showDeviceCode: (code) => showDeviceCode(code, options),
  };
}

async function showPage(page: URL, { out, machine, server }: TerminalLoginOptions): Promise<void> {
  tell(out, `Log in to ${server} at ${page.host}. If no browser opens, open this page on this machine:`, page);
  if (!(await openBrowser(page, machine))) {
    out.note("No browser was found here. With a browser on another machine, use --no-browser.");
  }
  out.note("Waiting for the browser. Press Ctrl-C to stop.");
}

function pasted(
  { out, server }: TerminalLoginOptions,
  settings: RedirectSettings & { isKnown: boolean },
): PastedRedirect {
  let lines: InputLines | undefined;
  const redirect: PastedRedirect = new PastedRedirect({
    ...settings,
    show: (page) => {
      tell(out, `Log in to ${server} at ${page.host}. Open this page in a browser, on any machine:`, page);
      out.note(`After the login, the browser goes to ${redirect.uri} and probably shows an error.`);
      out.note("Copy the whole address from the browser, and paste it here.");
    },
    read: async (signal) => {
      if (out.isInteractive) return askFor(out, { text: "Address", signal: signal && abortSignalOf(signal) });
      lines ??= new InputLines();
      return lines.next(signal);
    },
    complain: (problem) => out.note(problem),
    close: () => lines?.[Symbol.dispose](),
  });
  return redirect;
}

function showDeviceCode(code: DeviceCode, { out, server }: TerminalLoginOptions): void {
  const { verificationUri, verificationUriComplete, userCode, expiresAt } = code;
  const left = durationText(Math.max(expiresAt - Date.now(), 0));
  if (out.json) return out.log("info", `Log in to ${server}: open the page and enter the code`, { ...code });
  out.note(
    `Log in to ${server}: open this page on any device, and enter the code ${out.onStderr("bold", visible(userCode))}`,
  );
  out.note(`  ${visible(verificationUri)}`);
  if (verificationUriComplete !== undefined) {
    out.note("With the code filled in:");
    out.note(`  ${visible(verificationUriComplete)}`);
  }
  out.note(`The code is valid for ${left}. Waiting for the login. Press Ctrl-C to stop.`);
}

/** For programs, on stderr: they may show the page to their user. */
function tell(out: Output, message: string, page: URL): void {
  if (out.json) return out.log("info", message, { url: page.href });
  out.note(message);
  out.note(`  ${page.href}`);
}
