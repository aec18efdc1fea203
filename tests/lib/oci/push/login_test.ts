import assert from "node:assert/strict";
import { digestOf } from "../../../support/documents.ts";
import { openFakeRegistry, type SeenRequest } from "../../../support/registry.ts";
import { openPushBed } from "./support.ts";

const MANIFEST = { mediaType: "a/b", digest: digestOf("{}"), bytes: new TextEncoder().encode("{}") };

function bearer(realm: string, repository: string): Response {
  const challenge = `Bearer realm="${realm}",service="s",scope="repository:${repository}:pull,push"`;
  return new Response(null, { status: 401, headers: { "www-authenticate": challenge } });
}

Deno.test("a push follows the challenge of its own repository, never that of a neighbour on the same host, and logs in once", async () => {
  await using bed = await openPushBed({ logsIn: true });
  await using neighbours = await openFakeRegistry();
  const { registry } = bed;
  neighbours.intercept = () => Response.json({ token: "neighbour" });
  bed.before = ({ path, headers }: SeenRequest) => {
    if (path.startsWith("/token")) return Response.json({ token: "own" });
    const [, repository = ""] = /^\/v2\/([^/]+\/[^/]+)\//.exec(path) ?? [];
    const [wanted, realm] = repository === "evil/app"
      ? ["Bearer neighbour", `${neighbours.origin}/token`] as const
      : ["Bearer own", `${registry.origin}/token`] as const;
    if (headers.get("authorization") !== wanted) return bearer(realm, repository);
    return new Response(null, { status: 201 });
  };
  await bed.targetOf("evil/app").putManifest("v1", MANIFEST);
  const before = neighbours.requests.length;
  await bed.target.putManifest("v1", MANIFEST);
  await bed.target.putManifest("v2", MANIFEST);
  assert.equal(neighbours.requests.length, before, "nothing of the other repository's push went there");
  const own = registry.requests.filter(({ path }) => path.startsWith("/token"));
  assert.deepEqual(own.map(({ path }) => new URLSearchParams(path.split("?")[1]).get("scope")), [
    "repository:evil/app:pull,push",
    "repository:team/app:pull,push",
  ]);
  const sent = registry.requests.filter(({ path }) => path.startsWith("/v2/team/app/"));
  assert.deepEqual(sent.map(({ headers }) => headers.get("authorization")), ["Bearer own", "Bearer own"]);
});
