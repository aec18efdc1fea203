// Finds Helm, or builds it once from the Go module proxy into the cache, as tests/cluster builds the control plane.
import { join } from "node:path";
import { succeeds } from "../../support/commands.ts";

const VERSION = "v3.18.4";

/** Path of a Helm that runs; undefined when there is neither Helm nor Go. */
export async function findHelm(): Promise<string | undefined> {
  if (await succeeds("helm", ["version"])) return "helm";
  const cache = Deno.env.get("XDG_CACHE_HOME") ?? join(Deno.env.get("HOME") ?? "/tmp", ".cache");
  const folder = join(cache, "archway", `helm-${VERSION}`);
  const helm = join(folder, "helm");
  if (await succeeds(helm, ["version"])) return helm;
  const env = { GOBIN: folder, CGO_ENABLED: "0" };
  const install = ["install", "-trimpath", "-ldflags=-s -w", `helm.sh/helm/v3/cmd/helm@${VERSION}`];
  return await succeeds("go", install, { env }) ? helm : undefined;
}
