import { parseDuration } from "../text/duration.ts";
import { plainValue } from "../source/source-node.ts";
import { loadSection } from "./load-section.ts";
import type { ConfigContext } from "./read/places.ts";
import type { SettingsSection } from "./settings-section.ts";

/** What the audit contains of arguments or results. */
export type AuditDetail = "none" | "hashed" | "redacted" | "full";

/** `"gateway": { "audit": … }`. */
export interface AuditSettings {
  /** False: nothing is recorded. */
  enabled: boolean;
  /** `open`: calls are answered before their record is durable; `closed`: after. */
  onFailure: "open" | "closed";
  arguments: AuditDetail;
  results: AuditDetail;
  /** How long records are kept; undefined: for ever. */
  retentionMs: number | undefined;
}

const DAY_MS = 86_400_000;

export const DEFAULT_AUDIT: AuditSettings = {
  enabled: true,
  onFailure: "open",
  arguments: "none",
  results: "none",
  retentionMs: 90 * DAY_MS,
};

const MODES = ["open", "closed"] as const;
const DETAILS = ["none", "hashed", "redacted", "full"] as const;
const KEYS = ["enabled", "onFailure", "arguments", "results", "retention"];
const FOREVER = "forever";

/** The audit in the configuration. */
export async function loadAuditSettings(context: ConfigContext, explicit: string | undefined): Promise<AuditSettings> {
  return auditSettings(await loadSection("gateway", context, explicit));
}

/** Throws where a setting is not valid: an audit that is misconfigured must not be missed. */
function auditSettings(gateway: SettingsSection): AuditSettings {
  const settings = { ...DEFAULT_AUDIT };
  for (const setting of gateway.membersOf("audit", KEYS)) {
    const value = plainValue(setting.node);
    const choose = <T extends string>(known: readonly T[]): T => {
      const chosen = known.find((each) => each === value);
      if (chosen !== undefined) return chosen;
      throw gateway.invalid(
        setting,
        `is not one of ${known.join(", ")}`,
        `Use ${known.map((each) => `"${each}"`).join(" or ")}.`,
      );
    };
    switch (setting.key.slice("audit.".length)) {
      case "enabled":
        if (typeof value !== "boolean") throw gateway.invalid(setting, "is not true or false", "Use true or false.");
        settings.enabled = value;
        break;
      case "onFailure":
        settings.onFailure = choose(MODES);
        break;
      case "arguments":
        settings.arguments = choose(DETAILS);
        break;
      case "results":
        settings.results = choose(DETAILS);
        break;
      default: {
        const ms = value === FOREVER ? undefined : (parseDuration(value) ?? 0);
        if (ms !== undefined && ms < 1000) {
          throw gateway.invalid(setting, "is not a duration", `Use "90d", at least "1s", or "${FOREVER}".`);
        }
        settings.retentionMs = ms;
      }
    }
  }
  return settings;
}
