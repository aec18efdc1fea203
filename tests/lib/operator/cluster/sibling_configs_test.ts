import assert from "node:assert/strict";
import { openSiblingConfigs } from "../../../../lib/operator/cluster/sibling_configs.ts";
import type { ReadApi } from "../../../../lib/k8s/api.ts";
import type { KubeList } from "../../../../lib/k8s/types.ts";
import { type NamespaceConfig, parseNamespaceConfig } from "../../../../lib/placement/decide/config/config.ts";
import { turn } from "../../../support/until.ts";

const MIB = 1024 * 1024;
const signal = new AbortController().signal;

function config(name: string, priority: number): KubeList["items"][number] {
  return {
    metadata: { name, namespace: "team" },
    spec: { priority, plugins: {}, labelSelector: { matchLabels: { a: "b" } } },
  };
}

function known(...names: readonly (readonly [name: string, priority: number])[]): readonly NamespaceConfig[] {
  return names.flatMap(([name, priority]) => {
    const parsed = parseNamespaceConfig(config(name, priority));
    return parsed.kind === "parsed" ? [parsed.value] : [];
  });
}

/** `seen`: what the informer has; undefined while it has not synced. */
const openBench = ({ seen }: { readonly seen: readonly NamespaceConfig[] | undefined } = { seen: [] }) => {
  const lists: ((page: KubeList) => void)[] = [];
  const asked: unknown[] = [];
  const never = (): never => assert.fail("configs are listed");
  const api: ReadApi = {
    list: (_type, options) => {
      asked.push(options);
      return new Promise((resolve) => lists.push(resolve));
    },
    ...{ get: never, watch: never, raw: never, serverClockOffsetMs: () => 0 },
  };
  const configs = {
    hasSynced: () => seen !== undefined,
    forNamespace: () => ({ cluster: undefined, namespace: seen ?? [] }),
  };
  return { lists, asked, api, siblings: openSiblingConfigs({ api, configs, signal }) };
};

async function answerNext({ lists }: ReturnType<typeof openBench>, page: Partial<KubeList>): Promise<void> {
  await turn();
  const answer = lists.shift();
  assert.ok(answer !== undefined, "a list was asked for");
  answer({ items: [], resourceVersion: "1", ...page });
}

Deno.test("SiblingConfigs.read() gives names and priorities of every page, and nothing else", async () => {
  const bench = openBench();
  const reading = bench.siblings.read("team");
  await answerNext(bench, { items: [config("a", 1)], bytes: MIB, continue: "next" });
  await answerNext(bench, { items: [config("b", 2)], bytes: MIB });
  assert.deepEqual(await reading, [{ name: "a", priority: 1 }, { name: "b", priority: 2 }]);
  assert.deepEqual(bench.asked, [{ namespace: "team", limit: 50 }, { namespace: "team", limit: 3, continue: "next" }]);
});

Deno.test("SiblingConfigs.read() reads 4 MiB of a namespace, and takes what was seen before for the rest", async () => {
  const bench = openBench({ seen: known(["a", 9], ["z", 7]) });
  const reading = bench.siblings.read("team");
  await answerNext(bench, { items: [config("a", 1)], bytes: 4 * MIB + 1, continue: "next" });
  const read = await reading;
  assert.deepEqual(read.map(({ name, priority }) => [name, priority]), [["a", 1], ["z", 7]]);
  assert.equal(bench.asked.length, 1);
});

Deno.test("SiblingConfigs.read() rejects when there is too much to read and nothing was seen yet", async () => {
  const bench = openBench({ seen: undefined });
  const reading = bench.siblings.read("team");
  reading.catch(() => {});
  await answerNext(bench, { items: [config("a", 1)], bytes: 4 * MIB + 1, continue: "next" });
  await assert.rejects(reading, /PodPlacementConfigs of team have more than 4194304 bytes/);
});

Deno.test("SiblingConfigs.read() reads again after a failure, and two namespaces at a time", async () => {
  const bench = openBench();
  const all = ["a", "b", "c"].map((namespace) => bench.siblings.read(namespace));
  await turn();
  assert.equal(bench.asked.length, 2);
  for (let at = 0; at < 3; at++) await answerNext(bench, {});
  assert.deepEqual(await Promise.all(all), [[], [], []]);
  const failing = openSiblingConfigs({
    api: { ...bench.api, list: () => Promise.reject(new Error("no answer")) },
    configs: { hasSynced: () => true, forNamespace: () => ({ cluster: undefined, namespace: [] }) },
    signal,
  });
  await assert.rejects(failing.read("team"), /no answer/);
  await assert.rejects(failing.read("team"), /no answer/);
});
