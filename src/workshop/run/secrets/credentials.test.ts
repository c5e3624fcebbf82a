import { expect, test } from "vitest";
import { credentialsFor } from "./credentials.ts";
import { HiddenValues } from "../../../masking/hidden-values.ts";

test("a secret whose name is not valid is reported while another lookup fails", async () => {
  const failing = credentialsFor(
    { query: {}, headers: {}, public: [] },
    { room: "not a name" },
    {
      places: [
        { kind: "headers", at: "x-key", written: "key" },
        { kind: "query", at: "room", written: "room-{room}" },
      ],
      server: "shop",
      origin: "https://shop.example",
      tokenUrl: (address) => address,
      find: async () => {
        throw new Error("The keychain is locked");
      },
      hidden: new HiddenValues(),
    },
  );
  await expect(failing).rejects.toMatchObject({ code: "ARGUMENTS_INVALID" });
});
