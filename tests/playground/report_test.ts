// `archway report` over the samples of the playground: real HTTP to its API server and to its registry, pull secrets included.
import assert from "node:assert/strict";
import { runReport } from "../../lib/cli/report.ts";
import { systemClock } from "../../lib/clock.ts";
import { parseConfig } from "../../lib/config/parse.ts";
import { readKubeconfigAccess } from "../../lib/k8s/kubeconfig_access.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { silentLogger } from "../../lib/log.ts";
import { openPlayground } from "../../playground/playground.ts";
import { SAMPLE_NAMESPACE, samplePods } from "../../playground/samples.ts";
import { recordingTerminal } from "../lib/cli/support.ts";
import { openTestApi } from "../support/cluster_api.ts";

Deno.test("playground: runReport() gives for each sample where it runs, private images by their pull secret", async () => {
  const workDir = await Deno.makeTempDir();
  const clock = systemClock;
  try {
    await using playground = await openPlayground({ clock, log: silentLogger, workDir });
    await using api = openTestApi(await readKubeconfigAccess(playground.files.kubeconfig, { clock }));
    const { signal } = new AbortController();
    for (const pod of samplePods(playground.registryHost)) {
      await api.create(Resource.pods, pod, { namespace: SAMPLE_NAMESPACE, signal });
    }
    const registry = [`--registry=${playground.registryHost}`, `--registry-ca=${playground.files.authority}`];
    const parsed = parseConfig(["report", "-o", "json", ...registry], { env: {}, readFile: () => "" });
    assert.ok(parsed.kind === "run");
    const { terminal, said } = recordingTerminal({ color: false });
    const code = await runReport(parsed.config, {
      api,
      terminal,
      clock,
      userAgent: "test",
      signal,
      showsProgress: false,
    });
    assert.deepEqual([code, said.err], [0, ""]);
    const rows = JSON.parse(said.out).workloads.map(
      ({ name, architectures, isKnown }: Readonly<Record<"name" | "architectures" | "isKnown", unknown>>) =>
        `${name}: ${architectures}${isKnown ? "" : " or fewer"}`,
    );
    assert.deepEqual(rows, [
      "amd64-only: amd64",
      "arm64-only: arm64",
      "image-missing: amd64,arm64,ppc64le,s390x or fewer",
      "multi-arch: amd64,arm64",
      "needs-nothing: arm64",
      "none-in-common: ",
      "one-in-common: arm64",
      "private-image: arm64",
    ]);
  } finally {
    await Deno.remove(workDir, { recursive: true });
  }
});
