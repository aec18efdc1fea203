// What a request is completed with before it is shared and cached.
import assert from "node:assert/strict";
import { systemClock } from "../../../lib/clock.ts";
import type { Credential } from "../../../lib/oci/credential.ts";
import type { InspectionRequest, Inspector } from "../../../lib/oci/inspector.ts";
import { NO_REQUESTS } from "../../../lib/oci/request_log.ts";
import { withKeyring } from "../../../lib/oci/with_keyring.ts";
import { makeCredential, makeEndpoint, makeRequest } from "../../support/inspectors.ts";

const signal = new AbortController().signal;
const ENDPOINTS = [
  makeEndpoint("mirror.example", { repository: "cache/app", reference: "v1", mirror: true }),
  makeEndpoint("quay.io", { repository: "org/app", reference: "v1" }),
];

async function credentialsFor(pods: readonly Credential[], keyring: readonly Credential[]): Promise<readonly string[]> {
  const seen: InspectionRequest[] = [];
  const inner: Inspector = {
    inspect: (request) => {
      seen.push(request);
      const failure = { kind: "permanent", reason: "ManifestUnknown", message: "" } as const;
      const inspection = { kind: "failed", failure } as const;
      return Promise.resolve({
        inspection,
        resolved: "",
        verifiedAtMs: 0,
        source: "registry",
        access: "public",
        requests: NO_REQUESTS,
        trace: [],
      });
    },
  };
  const planner = { plan: () => ({ kind: "endpoints", endpoints: ENDPOINTS }) as const };
  const outer = withKeyring(inner, {
    planner,
    keyring: { lookup: () => Promise.resolve(keyring) },
    clock: systemClock,
  });
  await outer.inspect(makeRequest("quay.io/org/app:v1", { credentials: pods }), signal);
  return (seen[0]?.credentials ?? []).map(({ source }) => source);
}

function named(source: string, scope: string): Credential {
  return makeCredential(scope, { source, password: source });
}

Deno.test("withKeyring() drops what matches no endpoint of the image", async () => {
  const pods = [named("other", "docker.io"), named("near", "quay.io/elsewhere"), named("mine", "quay.io/org")];
  assert.deepEqual(await credentialsFor(pods, [named("global", "ghcr.io")]), ["mine"]);
});

Deno.test("withKeyring() puts the pod's before the keyring's, endpoint by endpoint", async () => {
  const pods = [named("pod", "quay.io")];
  const keyring = [named("global", "quay.io/org"), named("for the mirror", "mirror.example")];
  assert.deepEqual(await credentialsFor(pods, keyring), ["for the mirror", "pod", "global"]);
});

Deno.test("withKeyring() keeps equal credentials once", async () => {
  const same = named("pod", "quay.io");
  assert.deepEqual(await credentialsFor([same], [{ ...same, source: "global" }]), ["global"]);
});

Deno.test("withKeyring() sends no request for an image that policy refuses", async () => {
  const failure = { kind: "permanent", reason: "Blocked", message: "no" } as const;
  const inner: Inspector = { inspect: () => assert.fail("asked") };
  const lookup = (): never => assert.fail("looked up");
  const outer = withKeyring(inner, {
    planner: { plan: () => ({ kind: "refused", failure }) },
    keyring: { lookup },
    clock: systemClock,
  });
  const report = await outer.inspect(makeRequest("quay.io/a"), signal);
  assert.deepEqual([report.inspection, report.requests], [{ kind: "failed", failure }, NO_REQUESTS]);
});
