/** One command of the program: its own help, and what it does. */
export interface Command {
  help: string;
  run(context: CommandContext): Promise<void>;
}

interface CommandContext {
  /** Machine output on stdout, nothing else there. */
  json: boolean;
  /** Fires on Ctrl-C. */
  signal: AbortSignal;
}
