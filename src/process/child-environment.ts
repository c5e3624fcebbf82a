/** Variables that every child gets; any others could contain secrets of the parent. */
const ALWAYS = "PATH HOME USER LOGNAME LANG LC_ALL LC_CTYPE TERM SHELL TMPDIR TMP TEMP".split(" ");
const ON_WINDOWS = "USERPROFILE APPDATA LOCALAPPDATA PATHEXT SYSTEMROOT COMSPEC".split(" ");

type Variables = Readonly<Record<string, string | undefined>>;

interface ChildEnvironmentOptions {
  /** The parent's variables. */
  variables: Variables;
  platform: NodeJS.Platform;
  /** Variables for this child. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Names of further variables that are passed on. */
  passthrough?: readonly string[] | undefined;
}

/** Whether every child gets it, so it is not a secret. */
export function isOwnVariable(name: string, platform: NodeJS.Platform): boolean {
  return platform === "win32" ? [...ALWAYS, ...ON_WINDOWS].includes(name.toUpperCase()) : ALWAYS.includes(name);
}

/** The environment of a child process: a short list of variables, and those of its entry. */
export function childEnvironment({
  variables,
  platform,
  env,
  passthrough,
}: ChildEnvironmentOptions): Record<string, string> {
  return platform === "win32"
    ? onWindows({ variables, env, passthrough })
    : { ...picked(variables, [...ALWAYS, ...(passthrough ?? [])]), ...env };
}

/** Reads single names: reading all of `process.env` is slow. */
function picked(variables: Variables, names: readonly string[]): Record<string, string> {
  const result: Record<string, string> = {};
  for (const name of names) {
    const value = variables[name];
    if (typeof value === "string") result[name] = value;
  }
  return result;
}

function onWindows({ variables, env, passthrough = [] }: Omit<ChildEnvironmentOptions, "platform">) {
  const fold = (name: string) => name.toUpperCase();
  const allowed = new Set([...ALWAYS, ...ON_WINDOWS, ...passthrough].map(fold));
  const passed = Object.keys(variables).filter((name) => allowed.has(fold(name)));
  const result = picked(variables, passed);
  for (const [name, value] of Object.entries(env ?? {})) {
    // Windows ignores the case of names: "Path" beside "PATH" would win or lose by chance.
    for (const other of Object.keys(result)) if (fold(other) === fold(name)) delete result[other];
    result[name] = value;
  }
  return result;
}
