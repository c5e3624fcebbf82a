import { nearestName } from "../../text/nearest-name.ts";
import { defineCommand } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";

/** The shells that have a script. */
export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

export type Shell = (typeof SHELLS)[number];

/** nexus completion bash */
export const completion = defineCommand({
  usage: `nexus completion <${SHELLS.join("|")}>`,
  description: `
Prints a completion script for the shell's startup file. The Tab key then completes commands, options, servers, and the names of
tools and prompts that Nexus has listed before (nexus mcp tools, nexus mcp prompts). It starts no server.`,
  options: {},
  examples: [
    ["source <(nexus completion bash)", "in ~/.bashrc"],
    ["source <(nexus completion zsh)", "in ~/.zshrc, after compinit"],
    ["nexus completion fish | source", "in ~/.config/fish/config.fish"],
    ["nexus completion powershell | Out-String | Invoke-Expression", "in the file $PROFILE"],
  ],

  async run({ words, out }) {
    const [word = ""] = words;
    const shell = SHELLS.find((known) => known === word);
    if (!shell) {
      const near = nearestName(word, SHELLS);
      const known = `Supported shells: ${SHELLS.join(", ")}.`;
      throw wrongUsage(
        `Completion does not support the shell "${word}"`,
        near ? `Did you mean ${near}? ${known}` : known,
      );
    }
    const { SCRIPTS } = await import("./shell-scripts.ts");
    const script = SCRIPTS[shell];
    if (out.json) out.value({ shell, script });
    else out.line(script.trimEnd());
  },
});
