import { NexusError } from "../errors/nexus-error.ts";
import { readRegularFile } from "../files/regular-file.ts";

const MAX_BYTES = 4 * 1024 * 1024;

/** The certificate authorities in these PEM files. Throws where a file cannot be used: nothing is reached without them. */
export function loadCertificates(files: readonly string[]): string[] {
  return files.map((file) => {
    const text = read(file);
    if (text?.includes("-----BEGIN CERTIFICATE-----")) return text;
    throw invalid(file, text === undefined ? "cannot be read" : "is not a certificate in PEM format");
  });
}

function read(file: string): string | undefined {
  try {
    const found = readRegularFile(file, MAX_BYTES);
    return found.kind === "read" ? found.bytes.toString("utf8") : undefined;
  } catch {
    return undefined;
  }
}

function invalid(file: string, problem: string): NexusError {
  return new NexusError("CONFIG_INVALID", `The file of certificate authorities ${file} ${problem}`, {
    phase: "config",
    hint: `"ca" names PEM files, which begin with -----BEGIN CERTIFICATE-----.`,
    mayHaveReached: false,
  });
}
