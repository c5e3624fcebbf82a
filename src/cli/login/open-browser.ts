import { findProgram, windowsProgram } from "../../process/find-program.ts";

export interface BrowserMachine {
  platform: NodeJS.Platform;
  variables: Readonly<Record<string, string | undefined>>;
}

interface BrowserCommand {
  program: string;
  args: string[];
}

/** The program that opens the page; undefined if there is none. */
export function browserCommand(page: URL, { platform, variables }: BrowserMachine): BrowserCommand | undefined {
  if (page.protocol !== "https:" && page.protocol !== "http:") return undefined;
  const url = page.href;
  const search = { env: variables, platform };
  const chosen = variables["BROWSER"] ?? "";
  // Only a program: a command line would need a shell.
  const own = chosen === "" ? undefined : findProgram(chosen, search);
  if (own !== undefined) return { program: own, args: [url] };
  if (platform === "win32") {
    return { program: windowsProgram("rundll32.exe", variables), args: ["url.dll,FileProtocolHandler", url] };
  }
  // Without a display, a browser in the terminal would be started, which nobody sees.
  if (platform !== "darwin" && !variables["DISPLAY"] && !variables["WAYLAND_DISPLAY"]) return undefined;
  const program = findProgram(platform === "darwin" ? "open" : "xdg-open", search);
  return program === undefined ? undefined : { program, args: [url] };
}
