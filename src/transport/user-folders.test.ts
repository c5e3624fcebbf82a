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

test("the home folder is the first that is absolute, and without one there is an error that says what to set", () => {
  expect(homeFolder(["", "/root"], "linux")).toBe("/root");
  expect(homeFolder(["\\me", "C:\\Users\\me"], "win32")).toBe("C:\\Users\\me");
  for (const platform of ["linux", "darwin", "win32"] as const)
    expect(() => homeFolder(["", ".", undefined], platform)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", hint: expect.stringMatching(/^Set (HOME|USERPROFILE) to /) }),
    );
});
