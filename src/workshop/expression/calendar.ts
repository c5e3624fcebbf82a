const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATETIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,12})?)?(?:Z|[+-]\d{2}:\d{2})?$/;

const ZERO = "0".charCodeAt(0);

/** YYYY-MM-DD of an existing day. */
export function isDate(text: string): boolean {
  return DATE.test(text) && isDay(text);
}

/** ISO 8601 with optional seconds and zone, of an existing time. */
export function isDateTime(text: string): boolean {
  // By positions, because an answer may hold thousands: capturing groups and their texts take most of the time.
  if (!DATETIME.test(text) || !isDay(text) || twoDigits(text, 11) > 23 || twoDigits(text, 14) > 59) return false;
  // A leap second is written as second 60.
  if (text[16] === ":" && twoDigits(text, 17) > 60) return false;
  const zone = text.length - 6;
  if (text[zone] !== "+" && text[zone] !== "-") return true;
  return twoDigits(text, zone + 1) < 24 && twoDigits(text, zone + 4) < 60;
}

/** Whether a text that begins like a date begins with an existing day. */
function isDay(text: string): boolean {
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  if (month < 1 || month > 12 || day < 1) return false;
  return day <= 28 || day <= daysIn(twoDigits(text, 0) * 100 + twoDigits(text, 2), month);
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
