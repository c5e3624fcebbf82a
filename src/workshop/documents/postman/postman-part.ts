import { isRecord } from "../../../json/is-record.ts";
import type { Evidence } from "../api-facts.ts";
import { escapePart } from "../../../schema/pointer.ts";

/** A value of a collection and its place. Whatever it is, reading it never fails: what is not there is undefined. */
export class PostmanPart {
  readonly value: unknown;
  readonly evidence: Evidence;

  constructor(value: unknown, evidence: Evidence) {
    this.value = value;
    this.evidence = evidence;
  }

  get isThere(): boolean {
    return this.value !== undefined && this.value !== null;
  }

  part(key: string | number): PostmanPart {
    const { value } = this;
    const found = Array.isArray(value)
      ? (value as unknown[])[Number(key)]
      : isRecord(value) && Object.hasOwn(value, key)
        ? value[key]
        : undefined;
    return new PostmanPart(found, `${this.evidence}/${escapePart(String(key))}`);
  }

  items(): PostmanPart[] {
    return Array.isArray(this.value) ? this.value.map((_, index) => this.part(index)) : [];
  }

  /** Also numbers and truth values, which some programs write without quotes. */
  text(): string | undefined {
    const { value } = this;
    if (typeof value === "string") return value;
    return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
  }

  get isOff(): boolean {
    return this.part("disabled").value === true;
  }

  /** A text, or an object with `content`. */
  description(): string | undefined {
    const own = this.part("description");
    const text = (own.text() ?? own.part("content").text())?.trim();
    return text === "" ? undefined : text;
  }

  /** The value of an entry: of a list of keys and values (2.1), or of an object (2.0). */
  entry(key: string): string | undefined {
    if (!Array.isArray(this.value)) return this.part(key).text();
    return this.items()
      .find((item) => item.part("key").text() === key)
      ?.part("value")
      .text();
  }
}
