import { win32 } from "node:path";
import { isFullPath } from "../files/user-folders.ts";

/**
 * The full path of a program that comes with Windows: one that is started by its name alone is looked for in the working
 * folder first. A `SystemRoot` that is not a full path is not believed.
 */
export function windowsProgram(name: string, variables: Readonly<Record<string, string | undefined>> = {}): string {
  const [, root] = Object.entries(variables).find(([key]) => key.toUpperCase() === "SYSTEMROOT") ?? [];
  return win32.join(isFullPath(root, "win32") ? root : "C:\\Windows", "System32", name);
}
