// Finds Helm, or builds it once from the Go module proxy into the cache, as tests/cluster builds the control plane.
import { join } from "node:path";

const VERSION = "v3.18.4";

/** Path of a Helm that runs; undefined when there is neither Helm nor Go. */
export async function findHelm(): Promise<string | undefined> {
  if (await runs("helm", ["version"])) return "helm";
  const cache = Deno.env.get("XDG_CACHE_HOME") ?? join(Deno.env.get("HOME") ?? "/tmp", ".cache");
  const folder = join(cache, "archway", `helm-${VERSION}`);
  const helm = join(folder, "helm");
  if (await runs(helm, ["version"])) return helm;
  const env = { GOBIN: folder, CGO_ENABLED: "0" };
  const install = ["install", "-trimpath", "-ldflags=-s -w", `helm.sh/helm/v3/cmd/helm@${VERSION}`];
  return await runs("go", install, env) ? helm : undefined;
}

async function runs(command: string, args: readonly string[], env: Record<string, string> = {}): Promise<boolean> {
  try {
    return (await new Deno.Command(command, { args: [...args], env, stdout: "null", stderr: "null" }).output()).success;
  } catch {
    return false;
  }
}
