type Ways = Partial<Record<NodeJS.Platform, string>> & { otherwise: string };

/** How to install the programs that usually start servers. */
const WAYS: readonly { programs: readonly string[]; name: string; ways: Ways }[] = [
  {
    programs: ["node", "npx", "npm"],
    name: "Node.js",
    ways: {
      darwin: "brew install node",
      win32: "winget install OpenJS.NodeJS.LTS",
      otherwise: "https://nodejs.org/en/download",
    },
  },
  {
    programs: ["uv", "uvx"],
    name: "uv",
    ways: {
      darwin: "brew install uv",
      win32: "winget install --id=astral-sh.uv -e",
      otherwise: "curl -LsSf https://astral.sh/uv/install.sh | sh",
    },
  },
  {
    programs: ["docker"],
    name: "Docker",
    ways: {
      win32: "winget install Docker.DockerDesktop",
      otherwise: "https://docs.docker.com/get-started/get-docker/",
    },
  },
  {
    programs: ["python", "python3", "py", "pip", "pip3"],
    name: "Python",
    ways: {
      darwin: "brew install python",
      win32: "winget install Python.Python.3.13",
      otherwise: "the system package python3",
    },
  },
  {
    programs: ["pipx"],
    name: "pipx",
    ways: {
      darwin: "brew install pipx",
      win32: "py -m pip install --user pipx",
      otherwise: "the system package pipx",
    },
  },
  {
    programs: ["deno"],
    name: "Deno",
    ways: {
      darwin: "brew install deno",
      win32: "winget install DenoLand.Deno",
      otherwise: "curl -fsSL https://deno.land/install.sh | sh",
    },
  },
  {
    programs: ["bun", "bunx"],
    name: "Bun",
    ways: {
      darwin: "brew install oven-sh/bun/bun",
      win32: `powershell -c "irm bun.sh/install.ps1 | iex"`,
      otherwise: "curl -fsSL https://bun.sh/install | bash",
    },
  },
];

/** Other names of the same program. */
const OTHER_NAMES: Record<string, readonly string[]> = {
  python: ["python3", "py"],
  python3: ["python", "py"],
  pip: ["pip3"],
  npx: ["bunx", "pnpx"],
  docker: ["podman"],
};

/** The package of a well-known program, and how to install it. */
export function howToInstall(program: string, platform: NodeJS.Platform): string | undefined {
  const known = WAYS.find(({ programs }) => programs.includes(program));
  return known && `${program} comes with ${known.name}: ${known.ways[platform] ?? known.ways.otherwise}`;
}

export function otherNames(program: string): readonly string[] {
  return OTHER_NAMES[program] ?? [];
}
