import assert from "node:assert/strict";
import { type ReleaseGraph, releasesFrom } from "../../../../../lib/upgrades/decide/release/graph.ts";

const GRAPH: ReleaseGraph = {
  nodes: ["4.16.1", "4.16.2", "4.16.3", "4.17.0"].map((version) => ({
    version,
    payload: `quay.io/r@sha256:${version}`,
  })),
  edges: [[0, 1], [1, 2], [0, 9], [0, 1]],
  conditionalEdges: [
    { edges: [{ from: "4.16.1", to: "4.17.0" }, { from: "4.16.2", to: "4.17.0" }] },
    { edges: [{ from: "4.16.1", to: "4.99.0" }] },
  ],
};

const versions = (from: string) => releasesFrom(GRAPH, from).offered.map(({ version }) => version);

Deno.test("M-124 releasesFrom() follows edges and conditional edges from a version, each release once", () => {
  assert.deepEqual(versions("4.16.1"), ["4.16.2", "4.17.0"]);
  assert.deepEqual(releasesFrom(GRAPH, "4.16.2").offered, [
    { version: "4.16.3", image: "quay.io/r@sha256:4.16.3" },
    { version: "4.17.0", image: "quay.io/r@sha256:4.17.0" },
  ]);
});

Deno.test("M-125 releasesFrom() offers nothing to a version that leads nowhere, or that the graph lacks", () => {
  assert.deepEqual(versions("4.17.0"), []);
  assert.deepEqual(releasesFrom(GRAPH, "4.10.0"), { offered: [], own: undefined });
});
