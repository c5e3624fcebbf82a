import type { Configuration } from "../../config/load.ts";
import { messageOf } from "../../errors/nexus-error.ts";
import { ServerDirectory } from "../../host/directory/server-directory.ts";
import type { Logger } from "../../text/logger.ts";
import type { ServerSource } from "./server-source.ts";

interface BesideOptions {
  source: Pick<ServerSource, "published">;
  /** Of the command line; the first may name a server. */
  words?: readonly string[];
  logger: Logger;
}

/**
 * The configuration with what is published in the user's own store, as a gateway would serve it. Opening a database takes
 * time, so a command about a configured server does without. Without the database, everything else still works.
 */
export async function withPublished(
  configuration: Configuration,
  { source, words, logger }: BesideOptions,
): Promise<Configuration> {
  if (!source.published || !words) return configuration;
  const directory = new ServerDirectory();
  directory.replace(configuration.servers);
  const [word] = words;
  if (word !== undefined && (directory.find(word) || directory.findOwners(word).length > 0)) return configuration;
  try {
    const published = await source.published({ isSought: word !== undefined });
    const others = published.filter(({ id }) => !directory.find(id));
    return { ...configuration, servers: [...configuration.servers, ...others] };
  } catch (error) {
    logger.warn(`what is published is not known: ${messageOf(error)}`);
    return configuration;
  }
}
