// A pool whose builds ended, one well and one not, for tests of the page of image builds.
import type { PoolBuildView } from "../../lib/builds/decide/effects.ts";

export function makePoolBuild(overrides: Partial<PoolBuildView> = {}): PoolBuildView {
  return {
    pool: "worker",
    architectures: ["amd64", "arm64"],
    build: "worker-1",
    state: "Building",
    archs: [
      {
        ...{ arch: "amd64", buildKey: "a", state: "Succeeded", attempts: 1 },
        startedAt: "2026-01-01T00:00:00Z",
        finishedAt: "2026-01-01T00:05:00Z",
      },
      { arch: "arm64", buildKey: "b", state: "Failed", attempts: 4, reason: "DeadlineExceeded" },
    ],
    uncovered: [{ node: "<script>node</script>", arch: "arm64" }],
    rendered: "rendered-worker-1",
    times: {},
    push: "none",
    nodes: { total: 2, layered: 0, updated: 0 },
    published: `registry.example.com/team/os@sha256:${"1".repeat(64)}`,
    problem: { reason: "AnotherBuilderActive", message: "It runs." },
    ...overrides,
  };
}
