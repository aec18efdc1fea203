// Repositories that are written: in which order their credentials are tried.
import assert from "node:assert/strict";
import { systemClock } from "../../../lib/clock.ts";
import { silentLogger } from "../../../lib/log.ts";
import { openRegistryAccess } from "../../../lib/oci/registry_access.ts";
import { Repositories } from "../../../lib/oci/repositories.ts";
import { makeCredential, makeEndpoint } from "../../support/inspectors.ts";

Deno.test("Repositories.target() tries credentials in the keyring's order, whatever their paths", async () => {
  using access = openRegistryAccess({
    config: { registry: [], registryCa: [], insecureRegistry: [] },
    ...{ clock: systemClock, log: silentLogger, userAgent: "archway/test", clusterCredentials: () => [] },
  });
  const own = makeCredential("registry.example", { source: "the build's push secret" });
  const shared = makeCredential("registry.example/team", { source: "global pull secret" });
  const repositories = new Repositories({
    access: { ...access, keyring: { credentialsFor: () => Promise.resolve([own, shared]) } },
    clock: systemClock,
    signal: new AbortController().signal,
  });
  const place = makeEndpoint("registry.example", { repository: "team/app", identifier: "v1" });
  const { endpoint } = await repositories.target(place);
  assert.deepEqual(endpoint.credentials.map(({ source }) => source), ["the build's push secret", "global pull secret"]);
});
