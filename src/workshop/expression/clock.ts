/** `now(zone)` and `today(zone)`, for expressions. */
export interface ClockFunctions {
  now: (zone?: unknown) => string | null;
  today: (zone?: unknown) => string | null;
}

/** The local time of a call in a zone, UTC by default; written without the zone, as most APIs do. */
export function clockFunctions(now: () => number): ClockFunctions {
  return {
    now: (zone) => localTime(now(), zone),
    today: (zone) => localTime(now(), zone)?.slice(0, 10) ?? null,
  };
}

/** Names of the IANA database; an offset is not a zone, because clocks change. */
export function isTimeZone(name: string): boolean {
  return /^[A-Za-z]/.test(name) && formatOf(name) !== undefined;
}

function localTime(time: number, zone: unknown): string | null {
  if (zone === undefined) return new Date(time).toISOString().slice(0, 19);
  const format = typeof zone === "string" ? formatOf(zone) : undefined;
  if (!format) return null;
  const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]));
  const { year = "", month = "", day = "", hour = "", minute = "", second = "" } = parts;
  return `${year.padStart(4, "0")}-${month}-${day}T${hour}:${minute}:${second}`;
}

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  const two = "2-digit";
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      calendar: "gregory",
      numberingSystem: "latn",
      year: "numeric",
      month: two,
      day: two,
      hour: two,
      minute: two,
      second: two,
    });
  } catch {
    // There is no such zone.
    return undefined;
  }
}
