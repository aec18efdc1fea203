// The shared cache on a real KV Connect server: replicas share what they learn, and its loss costs nothing but misses.
import assert from "node:assert/strict";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { openDenoKv } from "../../lib/kv/deno_kv.ts";
import { REST_MS } from "../../lib/kv/guarded_store.ts";
import type { KeyValueStore } from "../../lib/kv/store.ts";
import { silentLogger } from "../../lib/log.ts";
import { ImageCache } from "../../lib/oci/cache/image_cache.ts";
import { makeRequest } from "../support/inspectors.ts";
import type { PlannedRequest } from "../../lib/oci/inspection_request.ts";
import type { RegistryReader } from "../../lib/oci/registry_reader.ts";
import { lacks } from "../support/needs.ts";
import { makePlatforms, makeRead } from "../support/reports.ts";
import { KvServer } from "./support/denokv.ts";
import { waitUntil } from "./support/wait.ts";

const TOKEN = "a-token-of-the-tests-alone";
const signal = new AbortController().signal;

function test(name: string, body: (server: KvServer) => Promise<void>): void {
  Deno.test({
    name,
    ignore: lacks("denokv"),
    // Deno's client cannot be made to give up a call to a server that is gone; ours does not wait for it.
    sanitizeOps: false,
    fn: async () => {
      using stack = new DisposableStack();
      Deno.env.set("DENO_KV_ACCESS_TOKEN", TOKEN);
      stack.defer(() => Deno.env.delete("DENO_KV_ACCESS_TOKEN"));
      await using server = await KvServer.start({ token: TOKEN });
      await body(server);
    },
  });
}

type Registry = Pick<RegistryReader, "head" | "read">;

function countingRegistry(): { readonly registry: Registry; asked(): number } {
  let asked = 0;
  return {
    asked: () => asked,
    registry: {
      read: ({ credentials }) => {
        asked += 1;
        const [credential] = credentials;
        const byte = credential === undefined ? "ab" : "cd";
        const inspection = makePlatforms({ digest: `sha256:${byte.repeat(32)}` });
        return Promise.resolve(makeRead(inspection, credential));
      },
      head: () => Promise.resolve({ kind: "unknown" }),
    },
  };
}

function openReplica(kv: KeyValueStore, registry: Registry): ImageCache {
  const limits = { maxEntries: 100, tagTtlMs: 60_000 };
  return new ImageCache({ registry, kv, clock: systemClock, log: silentLogger, ...limits });
}

function requestWith(password: string | undefined): PlannedRequest {
  const scope = "registry.example";
  const credentials = password === undefined
    ? []
    : [{ scope, source: "secret team/pull", secret: { kind: "basic" as const, username: "team", password } }];
  return { ...makeRequest(`registry.example/team/${password === undefined ? "open" : "closed"}:v1`), credentials };
}

async function count(kv: KeyValueStore): Promise<number> {
  return (await Array.fromAsync(kv.list(["archway"]))).length;
}

test("openDenoKv() lets replicas share what one of them has learnt, in public and with the same secret", async (server) => {
  const [left, right] = [
    await openDenoKv({ url: server.url, clock: systemClock, log: silentLogger }),
    await openDenoKv({ url: server.url, clock: systemClock, log: silentLogger }),
  ];
  const counting = countingRegistry();
  const [first, second] = [openReplica(left, counting.registry), openReplica(right, counting.registry)];
  for (const [password, entries] of [[undefined, 2], ["right", 5]] as const) {
    // Two of the public image; two of the private one and the salt.
    await first.inspect(requestWith(password), signal);
    await waitUntil("the knowledge to be stored", async () => await count(left) === entries);
    const asked = counting.asked();
    assert.equal((await second.inspect(requestWith(password), signal)).source, "cache");
    assert.equal(counting.asked(), asked);
  }
  await Promise.all([left.close(), right.close()]);
});

test("ImageCache works through the loss of the server and shares again when it is back, also what started meanwhile", async (server) => {
  let shiftMs = 0;
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + shiftMs };
  const stores: KeyValueStore[] = [];
  const counting = countingRegistry();
  const join = async (): Promise<ImageCache> => {
    const kv = await openDenoKv({ url: server.url, clock, log: silentLogger });
    stores.push(kv);
    return openReplica(kv, counting.registry);
  };
  const ask = async (replica: ImageCache, name: string): Promise<string> =>
    (await replica.inspect(makeRequest(`registry.example/team/${name}:v1`), signal)).source;
  const [first, second] = [await join(), await join()];
  const [watched] = stores;
  assert.ok(watched !== undefined);
  assert.equal(await ask(first, "before"), "registry");
  await waitUntil("the knowledge to be stored", async () => await count(watched) === 2);
  assert.deepEqual([await ask(second, "before"), counting.asked()], ["cache", 1]);

  await server.kill();
  const late = await join();
  const asked = counting.asked();
  const begin = performance.now();
  for (let at = 0; at < 50; at++) assert.equal(await ask(first, `during-${at}`), "registry");
  assert.ok(performance.now() - begin < 5_000, "the server's loss delayed images");
  assert.equal(counting.asked() - asked, 50);
  assert.equal(await ask(first, "before"), "cache", "what is in memory stays");
  assert.equal(await ask(late, "during-0"), "registry");

  await server.restart();
  // A name of its own for each try: what a replica inspected itself it would have in memory.
  for (const [writer, reader] of [[first, second], [second, late], [late, first]] as const) {
    await waitUntil("the replicas to share again", async () => {
      shiftMs += REST_MS;
      const name = `after-${counting.asked()}`;
      await ask(writer, name);
      return await ask(reader, name) === "cache";
    });
  }
  for (const kv of stores) await kv.close();
});

test("openDenoKv() goes on with misses when its token is wrong", async (server) => {
  Deno.env.set("DENO_KV_ACCESS_TOKEN", "another-token-altogether");
  const kv = await openDenoKv({ url: server.url, clock: systemClock, log: silentLogger });
  assert.equal(await kv.set(["archway", "a"], 1), false);
  assert.equal(await kv.get(["archway", "a"]), undefined);
  await kv.close();
});
