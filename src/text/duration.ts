const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The milliseconds of "30s", "2m", "90d", "500ms" or a number of milliseconds; undefined for anything else. */
export function parseDuration(value: unknown): number | undefined {
  const text = typeof value === "number" || typeof value === "string" ? String(value) : "";
  const [, amount, unit = "ms"] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?$/.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * (UNITS[unit] ?? 1);
}

/** How long something took: `85 ms`, `2.4 s`, `1 min 15 s`. */
export function durationText(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : elapsedText(ms);
}

/** A running clock: `0.3 s`, `2.4 s`, `1 min 15 s`. */
export function elapsedText(ms: number): string {
  const [minutes, seconds] = [Math.floor(ms / 60_000), ms / 1_000];
  return minutes === 0 ? `${seconds.toFixed(1)} s` : `${minutes} min ${Math.floor(seconds % 60)} s`;
}

/** How long to wait, rounded up: `5 s`, `12 min`, `23 h 59 min`. */
export function waitText(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`;
}

/** How long ago something was: `just now`, `5 min ago`, `3 days ago`. */
export function agoText(at: number, now: number = Date.now()): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`;
}

/** The farthest time that a `Date` can have. */
const MAX_DATE_MS = 8_640_000_000_000_000;

/** A time in milliseconds as ISO 8601. One that no date can have, in a row that another program wrote, is the last date. */
export function isoTime(at: number): string {
  const ms = Number.isNaN(at) ? MAX_DATE_MS : Math.max(-MAX_DATE_MS, Math.min(MAX_DATE_MS, at));
  return new Date(ms).toISOString();
}
