/** Variables every child gets; all others would hand it the secrets of its parent. */
const ALWAYS = "PATH HOME USER LOGNAME LANG LC_ALL LC_CTYPE TERM SHELL TMPDIR TMP TEMP".split(" ");
const ON_WINDOWS = "USERPROFILE APPDATA LOCALAPPDATA PATHEXT SYSTEMROOT COMSPEC".split(" ");

export interface ChildEnvironmentOptions {
  /** The parent's variables. */
  variables: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  /** Set for this child. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Names of further variables that may pass. */
  passthrough?: readonly string[] | undefined;
}

/** Whether every child gets it: that is nobody's secret. */
export function isOwnVariable(name: string, platform: NodeJS.Platform): boolean {
  return platform === "win32" ? [...ALWAYS, ...ON_WINDOWS].includes(name.toUpperCase()) : ALWAYS.includes(name);
}

/** The environment of a child process: a short allow-list, plus what its entry adds. */
export function childEnvironment({
  variables,
  platform,
  env,
  passthrough,
}: ChildEnvironmentOptions): Record<string, string> {
  const windows = platform === "win32";
  const fold = (name: string) => (windows ? name.toUpperCase() : name);
  const allowed = new Set([...ALWAYS, ...(windows ? ON_WINDOWS : []), ...(passthrough ?? [])].map(fold));
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (value !== undefined && allowed.has(fold(name))) result[name] = value;
  }
  for (const [name, value] of Object.entries(env ?? {})) {
    // Windows reads names without regard to case: a second "Path" beside "PATH" would win or lose by chance.
    if (windows) for (const other of Object.keys(result)) if (fold(other) === fold(name)) delete result[other];
    result[name] = value;
  }
  return result;
}
