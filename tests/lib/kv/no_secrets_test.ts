import assert from "node:assert/strict";
import fc from "fast-check";
import { openMemoryStore } from "../../support/memory_store.ts";
import type { KeyValueStore } from "../../../lib/kv/store.ts";
import { silentLogger } from "../../../lib/log.ts";
import { CachedInspector } from "../../../lib/oci/cache/cached.ts";
import type { Credential } from "../../../lib/oci/credential.ts";
import { fingerprintOf, fingerprintOfAll } from "../../../lib/oci/fingerprint.ts";
import { makeRequest } from "../../support/inspectors.ts";
import type { RegistryLookups } from "../../../lib/oci/inspector.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { makePlatforms, makeReport } from "../../support/reports.ts";
import { until } from "../../support/until.ts";

const secret = fc.string({ minLength: 8, maxLength: 40 }).map((text) => `canary-${text}`);
const credential: fc.Arbitrary<Credential> = fc.record({
  scope: fc.constantFrom("registry.example", "registry.example/team"),
  source: fc.constant("secret team/pull"),
  secret: fc.oneof(
    fc.record({ kind: fc.constant("basic" as const), username: secret, password: secret }),
    fc.record({ kind: fc.constant("identity" as const), token: secret }),
    fc.record({ kind: fc.constant("registry" as const), token: secret }),
  ),
});

/** A registry that answers only to who logs in, and says where the credential came from. */
function privateRegistry(): RegistryLookups {
  const report = makeReport(makePlatforms(), { access: "private", credentialSource: "secret team/pull" });
  return {
    inspect: () => Promise.resolve(report),
    head: () => Promise.resolve({ kind: "unknown" }),
  };
}

function recording(inner: KeyValueStore): { readonly store: KeyValueStore; readonly written: string[] } {
  const written: string[] = [];
  const keep = (...what: readonly unknown[]): void => void written.push(JSON.stringify(what));
  const store: KeyValueStore = {
    ...inner,
    set: (key, value) => (keep(key, value), inner.set(key, value)),
    create: (key, value) => (keep(key, value), inner.create(key, value)),
  };
  return { store, written };
}

/** Forms in which a secret might leak: as it is, inside JSON, encoded, or as a plain hash that can be guessed against. */
function tracesOf(credentials: readonly Credential[]): readonly string[] {
  const texts = credentials.flatMap(({ secret }) =>
    secret.kind === "basic"
      ? [secret.username, secret.password, `${secret.username}:${secret.password}`]
      : [secret.token]
  );
  const encode = (text: string): readonly string[] => {
    const bytes = new TextEncoder().encode(text);
    return [text, JSON.stringify(text).slice(1, -1), bytes.toBase64().replace(/=+$/, ""), bytes.toHex()];
  };
  return [...texts.flatMap(encode), ...credentials.map(fingerprintOf), fingerprintOfAll(credentials)];
}

Deno.test("CachedInspector writes no credential into the store, in no form", async () => {
  const clock = new FakeClock();
  await fc.assert(
    fc.asyncProperty(fc.array(credential, { minLength: 1, maxLength: 3 }), async (credentials) => {
      const { store, written } = recording(openMemoryStore());
      const parts = { inner: privateRegistry(), kv: store, clock, log: silentLogger, maxEntries: 10, tagTtlMs: 60_000 };
      const inspector = new CachedInspector(parts);
      const request = makeRequest("registry.example/team/app:v1", { credentials });
      await inspector.inspect(request, new AbortController().signal);
      // The salt, the document and the tag; the names of private knowledge take their time.
      await until("all three are written", () => written.length >= 3);
      assert.equal(written.length, 3);
      const all = written.join("\n");
      for (const trace of tracesOf(credentials)) assert.ok(!all.includes(trace), `found ${trace} in ${all}`);
    }),
    { numRuns: 15 },
  );
});
