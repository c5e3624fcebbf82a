import { expect, test } from "vitest";
import { certificateFinding } from "./network-checks.ts";

const certificate = {
  subject: { C: "", ST: "", L: "", O: "", OU: "", CN: "notes.example" },
  issuer: { C: "", ST: "", L: "", O: "", OU: "", CN: "Some Authority" },
  subjectaltname: "DNS:notes.example",
  valid_to: "Nov 30 00:00:00 2026 GMT",
};

function seenOn(day: string, mistrust?: string) {
  return certificateFinding(certificate, { protocol: "TLSv1.3", mistrust, now: Date.parse(`${day}T00:00:00Z`) });
}

test.each([
  ["2026-11-01", "ok", "valid until Nov 30 00:00:00 2026 GMT, 29 days"],
  ["2026-11-16", "ok", "valid until Nov 30 00:00:00 2026 GMT, 14 days"],
  ["2026-11-17", "warning", "expires on Nov 30 00:00:00 2026 GMT, in 13 days"],
  ["2026-11-29", "warning", "expires on Nov 30 00:00:00 2026 GMT, in 1 day"],
  ["2026-11-30", "warning", "expires on Nov 30 00:00:00 2026 GMT, in less than a day"],
  ["2026-12-01", "warning", "expired on Nov 30 00:00:00 2026 GMT"],
])("on %s the certificate is %s: %s", (day, verdict, text) => {
  expect(seenOn(day)).toMatchObject({ verdict });
  expect(seenOn(day).evidence).toEqual(["TLSv1.3, for notes.example (DNS:notes.example), by Some Authority", text]);
});

test("an untrusted certificate is reported with the reason first", () => {
  expect(seenOn("2026-11-01", "SELF_SIGNED_CERT_IN_CHAIN")).toMatchObject({ verdict: "warning" });
  expect(seenOn("2026-11-01", "SELF_SIGNED_CERT_IN_CHAIN").evidence[0]).toBe("not trusted: SELF_SIGNED_CERT_IN_CHAIN");
});
