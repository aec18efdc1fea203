import assert from "node:assert/strict";
import { openPullSecrets, type PullSecretMode } from "../../../lib/images/pull_secrets.ts";
import type { KubeApi } from "../../../lib/k8s/api.ts";
import { ApiError } from "../../../lib/k8s/errors.ts";
import type { KubeObject } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import { FakeClock } from "../../support/fake_clock.ts";

const SIGNAL = new AbortController().signal;

function secretOf(user: string, type = "kubernetes.io/dockerconfigjson"): KubeObject {
  const auths = { "example.com": { auth: btoa(`${user}:secret`) } };
  return { type, metadata: { name: user }, data: { ".dockerconfigjson": btoa(JSON.stringify({ auths })) } };
}

interface Bed {
  readonly clock: FakeClock;
  readonly asked: string[];
  read(names: readonly string[], namespace?: string): Promise<readonly string[]>;
}

function openBed(answer: (name: string) => KubeObject, mode: PullSecretMode = "pod"): Bed {
  const clock = new FakeClock();
  const asked: string[] = [];
  const api: Pick<KubeApi, "get"> = {
    get: (_type, { namespace = "", name = "" }) => {
      asked.push(`${namespace}/${name}`);
      return Promise.resolve().then(() => answer(name));
    },
  };
  const secrets = openPullSecrets({ api, mode, ownNamespace: "archway-system", clock, log: silentLogger });
  return {
    clock,
    asked,
    read: async (names, namespace = "team") =>
      (await secrets.read({ namespace, pullSecrets: names }, SIGNAL)).map(({ secret }) =>
        secret.kind === "basic" ? secret.username : secret.kind
      ),
  };
}

Deno.test("read() gives the credentials in the order of the pod's list", async () => {
  const bed = openBed((name) => secretOf(name));
  assert.deepEqual(await bed.read(["b", "a"]), ["b", "a"]);
});

Deno.test("DV-54 read() skips a secret that is missing or forbidden", async () => {
  for (const status of [403, 404]) {
    const bed = openBed((name) => {
      if (name === "gone") throw new ApiError("no", { status });
      return secretOf(name);
    });
    assert.deepEqual(await bed.read(["gone", "a"]), ["a"]);
  }
});

Deno.test("DV-55 read() skips a secret of another type", async () => {
  const bed = openBed((name) => secretOf(name, "Opaque"));
  assert.deepEqual(await bed.read(["a"]), []);
});

Deno.test("read() asks once for a burst of pods, and again two seconds later: a rotation is seen", async () => {
  let user = "old";
  const bed = openBed(() => secretOf(user));
  assert.deepEqual(await Promise.all([bed.read(["pull"]), bed.read(["pull"])]), [["old"], ["old"]]);
  assert.equal(bed.asked.length, 1);
  user = "new";
  await bed.clock.advance(2_001);
  assert.deepEqual(await bed.read(["pull"]), ["new"]);
});

Deno.test("read() reads no secret that its mode forbids", async () => {
  const none = openBed((name) => secretOf(name), "none");
  assert.deepEqual(await none.read(["a"]), []);
  const own = openBed((name) => secretOf(name), "own-namespace");
  assert.deepEqual(await own.read(["a"]), []);
  assert.deepEqual(await own.read(["a"], "archway-system"), ["a"]);
  assert.deepEqual([...none.asked, ...own.asked], ["archway-system/a"]);
});
