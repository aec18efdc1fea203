import assert from "node:assert/strict";
import type { PullIdentity } from "../../../../lib/vocabulary/pull_identity.ts";
import {
  type PullCredentials,
  type PullSecretMode,
  PullSecrets,
} from "../../../../lib/placement/images/pull_secrets.ts";
import type { KubeApi } from "../../../../lib/k8s/api.ts";
import { AnswerTooLarge, ApiError } from "../../../../lib/k8s/api_error.ts";
import type { KubeObject } from "../../../../lib/k8s/types.ts";
import { callersOf, type InspectionPriority } from "../../../../lib/oci/callers.ts";
import { keepLog } from "../../../support/logs.ts";
import { WorkLimits } from "../../../../lib/oci/limits/work_limits.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { makeUse, openImageBed } from "../../../support/image_bed.ts";

const SIGNAL = new AbortController().signal;

function secretOf(user: string, type = "kubernetes.io/dockerconfigjson"): KubeObject {
  const auths = { "example.com": { auth: btoa(`${user}:secret`) } };
  return { type, metadata: { name: user }, data: { ".dockerconfigjson": btoa(JSON.stringify({ auths })) } };
}

/** A secret whose docker config has about so many bytes. */
function secretOfBytes(bytes: number): KubeObject {
  return secretOf("u".repeat(Math.floor(bytes * 3 / 4)));
}

/** A secret with three credentials in each of its entries, all for one host. */
function secretOfEntries(name: string, count: number, host = "e.io"): KubeObject {
  const entry = { auth: btoa("a:b"), identitytoken: "a", registrytoken: "b" };
  const auths = Object.fromEntries(Array.from({ length: count }, (_, at) => [`u${at}@${host}`, entry]));
  const data = { ".dockerconfigjson": btoa(JSON.stringify({ auths })) };
  return { type: "kubernetes.io/dockerconfigjson", metadata: { name }, data };
}

function accountOf(...names: readonly string[]): KubeObject {
  return { metadata: { name: "default" }, imagePullSecrets: names.map((name) => ({ name })) };
}

type Answer = (
  name: string,
  asked: { readonly kind: string; readonly signal: AbortSignal },
) => KubeObject | Promise<KubeObject>;

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `s${at}`);
}

function usersIn({ credentials }: PullCredentials): readonly string[] {
  return credentials.map(({ secret }) => secret.kind === "basic" ? secret.username : secret.kind);
}

const openBed = (answer: Answer, mode: PullSecretMode = "pod") => {
  const clock = new FakeClock();
  const asked: string[] = [];
  const api: Pick<KubeApi, "get"> = {
    get: ({ kind }, { namespace = "", name = "" }, signal = SIGNAL) => {
      asked.push(`${kind === "Secret" ? "" : `${kind} `}${namespace}/${name}`);
      return Promise.resolve().then(() => answer(name, { kind, signal }));
    },
  };
  const [limits, log] = [new WorkLimits(), keepLog()];
  const secrets = new PullSecrets({ api, mode, ownNamespace: "archway-system", limits, clock, log });
  const credentials = (
    { namespace = "team", ...scope }: Partial<PullIdentity>,
    { signal = SIGNAL, priority = "gated" }: { signal?: AbortSignal; priority?: InspectionPriority } = {},
  ): Promise<PullCredentials> => {
    const callers = callersOf({ namespace, priority });
    return secrets.read({ namespace, serviceAccount: "", pullSecrets: [], ...scope }, { callers, signal });
  };
  return {
    clock,
    asked,
    log,
    credentials,
    read: async (pullSecrets: readonly string[], namespace = "team") =>
      usersIn(await credentials({ pullSecrets, namespace })),
  };
};

function fail(status: number): never {
  throw new ApiError("no", { status });
}

Deno.test("DV-54 read() skips a secret that is missing or forbidden", async () => {
  for (const status of [403, 404]) {
    const bed = openBed((name) => name === "gone" ? fail(status) : secretOf(name));
    assert.deepEqual(await bed.read(["gone", "a"]), ["a"]);
    assert.equal((await bed.credentials({ pullSecrets: ["gone", "a"] })).problem, undefined);
  }
});

Deno.test("DV-55 read() skips a secret of another type", async () => {
  assert.deepEqual(await openBed((name) => secretOf(name, "Opaque")).read(["a"]), []);
});

Deno.test("read() names the secrets that are of no use, and why", async () => {
  const answers: Readonly<Record<string, () => KubeObject>> = {
    gone: () => fail(404),
    locked: () => fail(403),
    opaque: () => secretOf("opaque", "Opaque"),
    good: () => secretOf("good"),
  };
  const bed = openBed((name) => answers[name]?.() ?? fail(404));
  assert.deepEqual((await bed.credentials({ pullSecrets: Object.keys(answers) })).unusable, [
    "gone (not found)",
    "locked (Archway may not read it)",
    "opaque (its type is not a docker config)",
  ]);
});

Deno.test("read() leaves out a broken entry alone, and logs which", async () => {
  const auths = { "a.io": { auth: "%" }, "b.io": { auth: btoa("b:secret") } };
  const data = { ".dockerconfigjson": btoa(JSON.stringify({ auths })) };
  const bed = openBed(() => ({ ...secretOf("pull"), data }));
  assert.deepEqual(await bed.read(["pull"]), ["b"]);
  const reason = 'the entry of "a.io" is not readable';
  const [{ message, fields } = assert.fail("nothing logged")] = bed.log.lines;
  assert.deepEqual([message, fields], [
    "cannot use an entry of a pull secret",
    { namespace: "team", secret: "pull", reason },
  ]);
});

Deno.test("read() leaves out a secret whose docker config is too large, and reports it", async () => {
  const bed = openBed((name) => name === "huge" ? secretOfBytes(200_000) : secretOf(name));
  const { credentials, unusable, problem } = await bed.credentials({ pullSecrets: ["huge", "a"] });
  assert.deepEqual([credentials.length, unusable, problem], [
    1,
    ["huge (its .dockerconfigjson is larger than 128 KiB)"],
    undefined,
  ]);
});

Deno.test("read() leaves out a secret or an account with too many members to be parsed, and goes on without", async () => {
  const bed = openBed((name) => {
    if (name !== "good") throw new AnswerTooLarge("Cannot get it: the answer has more than 2000 members.");
    return secretOf("good");
  });
  const found = await bed.credentials({ pullSecrets: ["dense", "good"] });
  assert.deepEqual([usersIn(found), found.unusable, found.problem], [["good"], ["dense (too large)"], undefined]);
  assert.deepEqual(await bed.credentials({}), { credentials: [], unusable: [], problem: undefined });
});

Deno.test("read() leaves out what comes after half a MiB of credentials of one pod", async () => {
  const bed = openBed(() => secretOfBytes(120_000));
  const { credentials, unusable = [] } = await bed.credentials({ pullSecrets: names(32) });
  const bytes = credentials.reduce((sum, { secret }) => sum + JSON.stringify(secret).length, 0);
  assert.ok(bytes > 384 * 1024 && bytes <= 512 * 1024, `${bytes} bytes`);
  assert.equal(bed.asked.length, 8, "no more than those read side by side with the last that fits");
  assert.equal(unusable.length, 32 - credentials.length);
  assert.equal(unusable.at(-1), "s31 (those before it are too large together)");
});

Deno.test("read() gives at most 256 credentials of a pod, the first ones of its list, and names what it leaves out", async () => {
  const bed = openBed((name) => secretOfEntries(name, name === "few" ? 10 : 1_000));
  const { credentials, unusable } = await bed.credentials({ pullSecrets: ["few", "many", "a", "b", "c"] });
  const sources = Map.groupBy(credentials, ({ source }) => source);
  assert.deepEqual([...sources].map(([source, { length }]) => [source, length]), [
    ["secret team/few", 30],
    ["secret team/many", 226],
  ]);
  assert.deepEqual(unusable, [
    "many (all but its first 226 credentials)",
    "a (those before it are too many together)",
    "b (those before it are too many together)",
    "c (those before it are too many together)",
  ]);
  assert.deepEqual(bed.asked, ["team/few", "team/many", "team/a", "team/b"]);
});

for (
  const [what, host, count] of [["a credential as one", "e.io", 256], ["a wildcard as eight", "*.e.io", 32]] as const
) {
  Deno.test(`read() uses the first 256 credentials of one secret, ${what}, and says so`, async () => {
    const bed = openBed((name) => secretOfEntries(name, 1_000, host));
    const { credentials, unusable } = await bed.credentials({ pullSecrets: ["many"] });
    assert.deepEqual([credentials.length, unusable], [count, [`many (all but its first ${count} credentials)`]]);
  });
}

Deno.test("read() reads a few secrets at a time for one namespace, however many pods it has, and one of another at once", async () => {
  const answers: PromiseWithResolvers<KubeObject>[] = [];
  const bed = openBed(async () => {
    const answer = Promise.withResolvers<KubeObject>();
    answers.push(answer);
    return await answer.promise;
  });
  const pods = Array.from({ length: 100 }, (_, at) => bed.read([`a${at}`, `b${at}`], "evil"));
  await bed.clock.advance(0);
  assert.equal(bed.asked.length, 16);
  const other = bed.read(["pull"], "good");
  await bed.clock.advance(0);
  assert.equal(bed.asked.at(-1), "good/pull");
  while (answers.length > 0) {
    for (const { resolve } of answers.splice(0)) resolve(secretOf("u"));
    await bed.clock.advance(0);
  }
  assert.deepEqual([await other, (await Promise.all(pods)).flat().length], [["u"], 200]);
});

Deno.test("read() reads for a gated pod before it reads for prewarming", async () => {
  const answers: PromiseWithResolvers<KubeObject>[] = [];
  const bed = openBed(() => {
    const answer = Promise.withResolvers<KubeObject>();
    answers.push(answer);
    return answer.promise;
  });
  const warming = names(17).map((name) => bed.credentials({ pullSecrets: [name] }, { priority: "prewarm" }));
  const gated = bed.credentials({ pullSecrets: ["gated"] });
  await bed.clock.advance(0);
  answers.shift()?.resolve(secretOf("u"));
  await bed.clock.advance(0);
  assert.equal(bed.asked.at(-1), "team/gated");
  for (const { resolve } of answers) resolve(secretOf("u"));
  await bed.clock.advance(0);
  answers.at(-1)?.resolve(secretOf("u"));
  await Promise.all([...warming, gated]);
});

Deno.test("read() reads once for a burst of pods, and again two seconds later: a rotation is seen", async () => {
  let user = "old";
  const bed = openBed(() => secretOf(user));
  assert.deepEqual(await Promise.all([bed.read(["pull"]), bed.read(["pull"])]), [["old"], ["old"]]);
  assert.equal(bed.asked.length, 1);
  user = "new";
  await bed.clock.advance(2_001);
  assert.deepEqual(await bed.read(["pull"]), ["new"]);
});

Deno.test("read() reads no secret and no account that its mode forbids", async () => {
  const none = openBed((name) => secretOf(name), "none");
  assert.deepEqual(await none.read(["a"]), []);
  assert.deepEqual(await none.read([]), []);
  const own = openBed((name) => secretOf(name), "own-namespace");
  assert.deepEqual(await own.read(["a"]), []);
  assert.deepEqual(await own.read(["a"], "archway-system"), ["a"]);
  assert.deepEqual([...none.asked, ...own.asked], ["archway-system/a"]);
});

Deno.test("read() gives the pull secrets of the ServiceAccount to a pod that names none", async () => {
  const bed = openBed((name, { kind }) => kind === "ServiceAccount" ? accountOf("a", "b") : secretOf(name));
  assert.deepEqual(usersIn(await bed.credentials({ serviceAccount: "builder" })), ["a", "b"]);
  assert.deepEqual(usersIn(await bed.credentials({ serviceAccount: "" })), ["a", "b"]);
  assert.deepEqual(bed.asked.filter((one) => one.startsWith("ServiceAccount")), [
    "ServiceAccount team/builder",
    "ServiceAccount team/default",
  ]);
});

Deno.test("read() reads an account once in ten seconds, and pulls without where it is missing or forbidden", async () => {
  for (const status of [403, 404]) {
    const bed = openBed(() => fail(status));
    for (let at = 0; at < 10; at++) {
      assert.deepEqual(await bed.credentials({}), { credentials: [], unusable: [], problem: undefined });
    }
    assert.equal(bed.asked.length, 1);
    await bed.clock.advance(10_001);
    await bed.read([]);
    assert.equal(bed.asked.length, 2);
  }
});

Deno.test("read() reports it when the API server cannot give a secret or an account just now", async () => {
  const answers: readonly (() => KubeObject)[] = [
    () => fail(500),
    () => fail(429),
    () => fail(401),
    () => fail(0),
    () => {
      throw new DOMException("too slow", "TimeoutError");
    },
  ];
  for (const answer of answers) {
    for (const pullSecrets of [["pull"], []]) {
      const bed = openBed(answer);
      const { credentials, problem } = await bed.credentials({ pullSecrets });
      assert.deepEqual([credentials.length, problem?.kind], [0, "transient"]);
      await bed.read(pullSecrets);
      assert.equal(bed.asked.length, 2, "and is asked again by the next pod");
    }
  }
});

Deno.test("PodImageInspector.inspect() takes no permanent failure for one while a pull secret cannot be read", async () => {
  const problem = { kind: "transient", reason: "ServerError", message: "Cannot read the secret." } as const;
  const bed = openImageBed({ pull: () => ({ credentials: [], problem }) });
  bed.registry.private.add("registry.example/closed:v1");
  assert.deepEqual((await bed.inspect(makeUse("registry.example/closed:v1"))).inspection, {
    kind: "failed",
    failure: problem,
  });
  assert.equal((await bed.inspect(makeUse("registry.example/open:v1"))).inspection.kind, "platforms");
});

Deno.test("read() reads four secrets of a pod at a time, and for no more once its signal aborts", async () => {
  let underWay = 0;
  let most = 0;
  const answers: PromiseWithResolvers<KubeObject>[] = [];
  const bed = openBed(async () => {
    most = Math.max(most, ++underWay);
    const answer = Promise.withResolvers<KubeObject>();
    answers.push(answer);
    return await answer.promise.finally(() => underWay--);
  });
  const leaving = new AbortController();
  const left = assert.rejects(bed.credentials({ pullSecrets: names(32) }, { signal: leaving.signal }));
  await bed.clock.advance(0);
  for (const { resolve } of answers.splice(0)) resolve(secretOf("u"));
  await bed.clock.advance(0);
  assert.deepEqual([bed.asked.length, most], [8, 4]);
  leaving.abort();
  await left;
  await bed.clock.advance(0);
  for (const { resolve } of answers) resolve(secretOf("u"));
  await bed.clock.advance(0);
  assert.equal(bed.asked.length, 8);
});

Deno.test("read() asks for the first 32 distinct secrets of a ServiceAccount", async () => {
  const twice = Array.from({ length: 5_000 }, (_, at) => `s${Math.floor(at / 2)}`);
  const bed = openBed((name, { kind }) => kind === "Secret" ? secretOf(name) : accountOf(...twice));
  assert.deepEqual(usersIn(await bed.credentials({})), names(32));
});
