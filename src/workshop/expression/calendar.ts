const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATETIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,12})?)?(?:Z|[+-](\d{2}):(\d{2}))?$/;

/** YYYY-MM-DD of an existing day. */
export function isDate(text: string): boolean {
  if (!DATE.test(text)) return false;
  const month = Number(text.slice(5, 7));
  const day = Number(text.slice(8));
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(Number(text.slice(0, 4)), month);
}

/** ISO 8601 with optional seconds and zone, of an existing time. */
export function isDateTime(text: string): boolean {
  const [, date = "", hour, minute, second = "0", zoneHour = "0", zoneMinute = "0"] = DATETIME.exec(text) ?? [];
  if (minute === undefined || !isDate(date)) return false;
  // A leap second is written as second 60.
  return (
    Number(hour) < 24 && Number(minute) < 60 && Number(second) <= 60 && Number(zoneHour) < 24 && Number(zoneMinute) < 60
  );
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
