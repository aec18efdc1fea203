// A root folder with nothing but what gcr.io/distroless/cc-debian12 has, to run the image's content in without an engine.
import { basename, dirname, join } from "node:path";
import { type Ended, runToEnd } from "../../support/commands.ts";

/** The libraries of distroless/cc that a program may want: glibc, its loader, libgcc. No libstdc++, no shell, no tools. */
const LIBRARIES = /^(linux-vdso\.so\.1|ld-linux-[\w-]+\.so\.\d|lib(c|m|dl|rt|pthread|gcc_s|resolv)\.so\.\d+)$/;

const NOBODY = 65532;

export class BareRoot implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Lays out the libraries that the program wants. Throws when it wants one that the image does not have. */
  static async open(program: string): Promise<BareRoot> {
    const root = new BareRoot(await Deno.makeTempDir({ prefix: "archway-root-" }));
    await Deno.chmod(root.folder, 0o755);
    for (const library of await librariesOf(program)) await root.add(library, library);
    for (const folder of ["proc", "dev", "tmp", "var/cache/archway", "etc"]) {
      await Deno.mkdir(join(root.folder, folder), { recursive: true });
    }
    // What can be written: the emptyDir of the Deployment, and /tmp, which only the playground uses.
    await Deno.chmod(join(root.folder, "var/cache/archway"), 0o777);
    await Deno.chmod(join(root.folder, "tmp"), 0o1777);
    return root;
  }

  async add(from: string, to: string): Promise<void> {
    const target = join(this.folder, to);
    await Deno.mkdir(dirname(target), { recursive: true });
    await Deno.copyFile(from, target);
    await Deno.chmod(target, 0o555);
  }

  /** Runs a program of the root as the image's user, with this environment alone. */
  async run(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended & { readonly ms: number }> {
    const script = 'root=$1 user=$2; shift 2; mount --rbind /proc "$root/proc" && mount --rbind /dev "$root/dev" && ' +
      'exec chroot --userspec="$user" --groups= "$root" "$@"';
    const started = performance.now();
    const inRoot = ["--mount", "sh", "-c", script, "sh", this.folder, `${NOBODY}:${NOBODY}`, ...args];
    const only = { clearEnv: true, env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...env } };
    return { ...await runToEnd("unshare", inRoot, only), ms: performance.now() - started };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

async function librariesOf(program: string): Promise<readonly string[]> {
  const { out } = await runToEnd("ldd", [program]);
  const paths: string[] = [];
  for (const line of out.split("\n")) {
    const name = line.trim().split(" ")[0] ?? "";
    if (name === "") continue;
    if (!LIBRARIES.test(basename(name))) throw new Error(`Cannot run "${program}" in the image: it has no ${name}`);
    const path = /(\/\S+) \(0x/.exec(line)?.[1];
    if (path !== undefined) paths.push(path);
  }
  return paths;
}
