/** Where the library reports what it survived. It never prints by itself. */
export interface Logger {
  debug(message: string, data?: Record<string, unknown>): void;
  info(message: string, data?: Record<string, unknown>): void;
  warn(message: string, data?: Record<string, unknown>): void;
  error(message: string, data?: Record<string, unknown>): void;
}

export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };
