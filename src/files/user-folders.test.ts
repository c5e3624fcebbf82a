import { expect, test } from "vitest";
import { homeFolder, userFolders } from "./user-folders.ts";

const LINUX = { platform: "linux", home: "/home/me" } as const;
const WINDOWS = { platform: "win32", home: "C:\\Users\\me" } as const;

test("the user's folders are those that absolute variables name", () => {
  expect(userFolders({ ...LINUX, variables: { XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/s" } })).toEqual({
    home: "/home/me",
    config: "/c",
    state: "/s/nexus",
  });
  const variables = { APPDATA: "D:\\Roaming", LOCALAPPDATA: "\\\\server\\share\\Local" };
  expect(userFolders({ ...WINDOWS, variables })).toMatchObject({
    config: "D:\\Roaming",
    state: "\\\\server\\share\\Local\\nexus",
  });
});

test.each(["", ".", "folder", "./folder", "~", "~/folder", "C:\\folder"])(
  "a variable that is %j is ignored on POSIX systems",
  (value) => {
    const variables = { XDG_CONFIG_HOME: value, XDG_STATE_HOME: value };
    const expected = { home: "/home/me", config: "/home/me/.config" };
    expect(userFolders({ ...LINUX, variables })).toEqual({ ...expected, state: "/home/me/.local/state/nexus" });
    expect(userFolders({ ...LINUX, platform: "darwin", variables })).toEqual({
      ...expected,
      state: "/home/me/Library/Application Support/nexus",
    });
  },
);

test.each(["", ".", "folder", "\\folder", "/folder", "C:folder", "C:", "\\", "\\\\"])(
  "a variable that is %j is ignored on Windows",
  (value) => {
    expect(userFolders({ ...WINDOWS, variables: { APPDATA: value, LOCALAPPDATA: value } })).toEqual({
      home: "C:\\Users\\me",
      config: "C:\\Users\\me\\AppData\\Roaming",
      state: "C:\\Users\\me\\AppData\\Local\\nexus",
    });
  },
);

test("the home folder is an absolute path: what its variable says, or else that of the account", () => {
  const root = () => "/root";
  expect(homeFolder({ platform: "linux", variables: { HOME: "/home/me" } }, root)).toBe("/home/me");
  for (const HOME of ["", ".", "me", undefined])
    expect(homeFolder({ platform: "linux", variables: { HOME } }, root)).toBe("/root");
  for (const USERPROFILE of ["", "\\me", "C:me"])
    expect(homeFolder({ platform: "win32", variables: { USERPROFILE } }, () => "C:\\Users\\me")).toBe("C:\\Users\\me");
});

test("without any home folder there is an error that says what to set", () => {
  const unknown = () => {
    throw new Error("no such account");
  };
  for (const platform of ["linux", "darwin", "win32"] as const) {
    for (const ofAccount of [unknown, () => "", () => "me"]) {
      expect(() => homeFolder({ platform, variables: { HOME: "" } }, ofAccount)).toThrow(
        expect.objectContaining({ code: "CONFIG_INVALID", hint: expect.stringMatching(/^Set (HOME|USERPROFILE) to /) }),
      );
    }
  }
});
