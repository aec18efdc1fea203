import assert from "node:assert/strict";
import { listenPlain } from "../../../../../playground/listen.ts";
import type { GraphQuery, GraphReleases } from "../../../../../lib/upgrades/decide/release/graph.ts";
import { UpstreamError } from "../../../../../lib/upgrades/outside/http/upstream_error.ts";
import { readReleases } from "../../../../../lib/upgrades/outside/releases/update_graph.ts";
import { FAULTS, hastyClock, LIMITS, openFaulty, SIGNAL } from "../support.ts";

const ID = "f1c8a2de-0000-4000-8000-1234567890ab";

function read(query: GraphQuery): Promise<GraphReleases> {
  const options = { caCerts: [], userAgent: "archway-test", clock: hastyClock(), limits: LIMITS };
  return readReleases(query, options, SIGNAL);
}

function queryOf(upstream: string, architecture = "amd64"): GraphQuery {
  return { upstream, architecture, channel: "stable-4.17", version: "4.16.1", clusterId: ID };
}

const GRAPH = {
  version: 1,
  nodes: [{ version: "4.16.1", payload: "a" }, { version: "4.17.0", payload: "b", metadata: {} }],
  edges: [[0, 1]],
};

Deno.test("M-126 N-025 releases() asks for channel, version, cluster and architecture, and reads the graph", async () => {
  const asked: URL[] = [];
  await using server = listenPlain(({ url }) => {
    asked.push(new URL(url));
    return Response.json(GRAPH);
  });
  const { offered, own } = await read(queryOf(`${server.origin}/api/upgrades_info/v1/graph`, "multi"));
  assert.deepEqual(offered, [{ version: "4.17.0", image: "b" }]);
  assert.deepEqual(own, { version: "4.16.1", image: "a" });
  assert.equal(asked[0]?.pathname, "/api/upgrades_info/v1/graph");
  assert.deepEqual(Object.fromEntries(asked[0]?.searchParams ?? []), {
    arch: "multi",
    channel: "stable-4.17",
    id: ID,
    version: "4.16.1",
  });
});

for (const [fault, handler] of Object.entries(FAULTS).filter(([fault]) => fault !== "never answers")) {
  Deno.test(`M-127 releases() rejects while the graph ${fault}`, async () => {
    await using server = openFaulty(handler);
    await assert.rejects(read(queryOf(server.origin)), (error) => {
      assert.ok(error instanceof UpstreamError, String(error));
      assert.match(error.message, /^Cannot read from the update graph "127\.0\.0\.1:\d+\/": /);
      return true;
    });
  });
}

Deno.test("releases() asks no address that is none of a web server", async () => {
  for (const upstream of ["", "graph", "file:///etc/passwd", "https://user:secret@graph.example"]) {
    await assert.rejects(read(queryOf(upstream)), /spec\.upstream of the ClusterVersion is no web address/);
  }
});
