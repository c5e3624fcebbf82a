import { pathOf, settingsFolder, type Surroundings } from "./places.ts";

/** Programs whose servers can be taken over. */
export const IMPORT_CLIENTS = [
  "claude-desktop",
  "claude-code",
  "cursor",
  "vscode",
  "windsurf",
  "codex",
  "opencode",
  "gemini",
] as const;

export type ImportClient = (typeof IMPORT_CLIENTS)[number];

/** A file in which a program keeps its servers. */
export interface ImportPlace {
  client: ImportClient;
  file: string;
  /** Of the user, or of the project in the working folder. */
  scope: "user" | "project";
}

/** Where other programs keep their servers on this platform. */
export function importPlaces(surroundings: Surroundings): ImportPlace[] {
  const { cwd, home, platform, variables } = surroundings;
  const path = pathOf(platform);
  const applications =
    platform === "darwin" ? path.join(home, "Library", "Application Support") : settingsFolder(surroundings);
  // opencode goes by XDG on every platform.
  const xdg = platform === "win32" ? path.join(home, ".config") : settingsFolder(surroundings);
  const codex = variables["CODEX_HOME"] ?? path.join(home, ".codex");
  const user: [ImportClient, string[]][] = [
    ["claude-desktop", [path.join(applications, "Claude", "claude_desktop_config.json")]],
    ["claude-code", [path.join(home, ".claude.json")]],
    ["cursor", [path.join(home, ".cursor", "mcp.json")]],
    ["vscode", editors(applications, path)],
    ["windsurf", [path.join(home, ".codeium", "windsurf", "mcp_config.json")]],
    ["codex", [path.join(codex, "config.toml")]],
    ["opencode", ["opencode.json", "opencode.jsonc"].map((name) => path.join(xdg, "opencode", name))],
    ["gemini", [path.join(home, ".gemini", "settings.json")]],
  ];
  // .mcp.json, the project's file of Claude Code, is one of our own.
  const project: [ImportClient, string[]][] = [
    ["cursor", [path.join(".cursor", "mcp.json")]],
    ["vscode", [path.join(".vscode", "mcp.json"), path.join(".vscode", "settings.json")]],
    ["codex", [path.join(".codex", "config.toml")]],
    ["opencode", ["opencode.json", "opencode.jsonc"]],
    ["gemini", [path.join(".gemini", "settings.json")]],
  ];
  const own = user.flatMap(([client, files]) => files.map((file): ImportPlace => ({ client, file, scope: "user" })));
  const known = new Set(own.map(({ file }) => file));
  const theirs = project
    .flatMap(([client, files]) =>
      files.map((name): ImportPlace => {
        return { client, file: path.join(cwd, name), scope: "project" };
      }),
    )
    .filter(({ file }) => !known.has(file));
  return [...own, ...theirs];
}

function editors(applications: string, path: ReturnType<typeof pathOf>): string[] {
  return ["Code", "Code - Insiders"].flatMap((editor) => {
    return ["mcp.json", "settings.json"].map((name) => path.join(applications, editor, "User", name));
  });
}
