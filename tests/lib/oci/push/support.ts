// A registry that takes uploads, as answers of the double of tests/support: in memory, strict about offsets and digests, with
// a hook for what registries do otherwise.
import { systemClock } from "../../../../lib/clock.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { HostLimiters } from "../../../../lib/oci/limits/host_limiters.ts";
import { TargetRepository } from "../../../../lib/oci/push/target_repository.ts";
import { makeClientDeps, RepositoryClient } from "../../../../lib/oci/repository_client.ts";
import { digestOf } from "../../../support/documents.ts";
import { makeContext, makeCredential, makeEndpoint, openTransport } from "../../../support/inspectors.ts";
import { type FakeRegistry, openFakeRegistry, type SeenRequest } from "../../../support/registry.ts";
import { WorkLimits } from "../../../../lib/oci/limits/work_limits.ts";

/** A registry with one repository, `team/app`, and what pushes to it. */
export interface PushBed extends AsyncDisposable {
  readonly registry: FakeRegistry;
  readonly target: TargetRepository;
  targetOf(repository: string): TargetRepository;
  readonly blobs: ReadonlyMap<string, string>;
  before: (request: SeenRequest) => Response | undefined;
  asked(): readonly string[];
}

export async function openPushBed(
  { logsIn = false, leastPieceBytes = 0, location = (id) => `/v2/team/app/blobs/uploads/${id}?state=s3cret` }: {
    readonly logsIn?: boolean;
    readonly leastPieceBytes?: number;
    readonly location?: (id: string) => string;
  } = {},
): Promise<PushBed> {
  const registry = await openFakeRegistry();
  const blobs = new Map<string, string>();
  const uploads = new Map<string, string>();
  registry.intercept = (request) =>
    bed.before(request) ?? answer(request, { blobs, uploads, location, leastPieceBytes });
  const clock = systemClock;
  const limits = new WorkLimits();
  const transport = openTransport({ limits, clock });
  const deps = makeClientDeps({ transport, limits, hosts: new HostLimiters({ clock, log: silentLogger }), clock });
  const credentials = logsIn ? [makeCredential(registry.host)] : [];
  const context = makeContext();
  const targetOf = (repository: string): TargetRepository => {
    const endpoint = { ...makeEndpoint(registry.host, { repository, identifier: "v1" }), credentials };
    return new TargetRepository(new RepositoryClient(deps, { endpoint, context, rights: "pull,push" }));
  };
  const bed: PushBed = {
    registry,
    target: targetOf("team/app"),
    targetOf,
    blobs,
    before: () => undefined,
    asked: registry.asked,
    [Symbol.asyncDispose]: async () => {
      transport[Symbol.dispose]();
      await registry[Symbol.asyncDispose]();
    },
  };
  return bed;
}

interface Shelf {
  readonly blobs: Map<string, string>;
  readonly uploads: Map<string, string>;
  readonly location: (id: string) => string;
  readonly leastPieceBytes: number;
}

const UPLOAD = /^\/v2\/team\/app\/blobs\/uploads\/([^?]*)\??(.*)$/;

/** What the distribution specification has a registry answer. */
function answer(
  { method, path, headers, body }: SeenRequest,
  { blobs, uploads, location, leastPieceBytes }: Shelf,
): Response | undefined {
  const [, id = "", query = ""] = UPLOAD.exec(path) ?? [];
  if (!UPLOAD.test(path)) return undefined;
  const at = (status: number, has: string, key: string): Response =>
    new Response(null, {
      status,
      headers: {
        location: location(key),
        ...leastPieceBytes > 0 && { "oci-chunk-min-length": `${leastPieceBytes}` },
        ...has !== "" && { range: `0-${has.length - 1}` },
      },
    });
  if (method === "POST") {
    const key = String(uploads.size + 1);
    uploads.set(key, "");
    return at(202, "", key);
  }
  const has = uploads.get(id);
  if (has === undefined) return Response.json({ errors: [{ code: "BLOB_UPLOAD_UNKNOWN" }] }, { status: 404 });
  if (method === "GET") return at(204, has, id);
  if (method === "DELETE") {
    uploads.delete(id);
    return new Response(null, { status: 204 });
  }
  const range = headers.get("content-range");
  if (method === "PATCH" && range !== null && range !== `${has.length}-${has.length + body.length - 1}`) {
    return at(416, has, id);
  }
  uploads.set(id, has + body);
  if (method === "PATCH") return at(202, has + body, id);
  const digest = new URLSearchParams(query).get("digest") ?? "";
  if (digest !== digestOf(has + body)) return Response.json({ errors: [{ code: "DIGEST_INVALID" }] }, { status: 400 });
  blobs.set(digest, has + body);
  return new Response(null, { status: 201, headers: { "docker-content-digest": digest } });
}
