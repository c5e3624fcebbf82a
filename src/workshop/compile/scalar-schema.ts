/** ISO 8601 with or without a zone; JSON Schema's `date-time` requires one. */
export const DATETIME = String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?$`;
