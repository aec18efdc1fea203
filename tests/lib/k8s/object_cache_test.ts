import assert from "node:assert/strict";
import { type Change, ObjectCache, type ObjectCacheOptions } from "../../../lib/k8s/object_cache.ts";
import type { KubeObject } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";

function pod(
  name: string,
  more: { readonly uid?: string; readonly version?: string; readonly size?: string } = {},
): KubeObject {
  const { uid = "u1", version = "1", size } = more;
  return { metadata: { name, namespace: "ns", uid, resourceVersion: version }, ...size && { size } };
}

const openStore = (retain: ObjectCacheOptions<string>["retain"] = { kind: "all" }) => {
  const changes: Change<string>[] = [];
  /** The namespaces that were warned of. */
  const warned: unknown[] = [];
  const store = new ObjectCache<string>({
    retain,
    parse: ({ size }) => {
      if (size === "broken") throw new Error("unreadable");
      return size === undefined ? undefined : String(size);
    },
    onChange: (change) => changes.push(change),
    log: { ...silentLogger, warn: (_, fields) => warned.push(fields?.["namespace"]) },
  });
  return { store, changes, warned, kept: () => [...store.values()].join(" ") };
};

Deno.test("ObjectCache.apply() reports new and changed objects with their former state", () => {
  const { store, changes } = openStore();
  store.apply(pod("a", { size: "small", version: "1" }));
  store.apply(pod("a", { size: "big", version: "2" }));
  assert.deepEqual(changes, [
    { kind: "apply", key: "ns/a", value: "small" },
    { kind: "apply", key: "ns/a", value: "big", previous: "small" },
  ]);
});

Deno.test("ObjectCache.apply() reports the end of the old object when the uid is another", () => {
  const { store, changes } = openStore();
  store.apply(pod("a", { size: "old", uid: "u1", version: "1" }));
  store.apply(pod("a", { size: "new", uid: "u2", version: "2" }));
  assert.deepEqual(changes.slice(1), [
    { kind: "delete", key: "ns/a", value: "old" },
    { kind: "apply", key: "ns/a", value: "new" },
  ]);
});

Deno.test("ObjectCache.apply() drops an object that is no longer of interest or cannot be read", () => {
  const { store, changes } = openStore();
  store.apply(pod("a", { size: "small", version: "1" }));
  store.apply(pod("a", { version: "2" }));
  store.apply(pod("b", { size: "small", version: "1" }));
  store.apply(pod("b", { size: "broken", version: "2" }));
  assert.deepEqual(changes.filter(({ kind }) => kind === "delete").map(({ key }) => key), ["ns/a", "ns/b"]);
  assert.equal(store.size, 0);
});

Deno.test("ObjectCache.apply() goes on when a listener throws", () => {
  const store = new ObjectCache({
    retain: { kind: "all" },
    parse: () => "x",
    onChange: () => {
      throw new Error("listener");
    },
    log: silentLogger,
  });
  store.apply(pod("a"));
  store.apply(pod("b"));
  assert.equal(store.size, 2);
});

Deno.test("ObjectCache keeps nothing when told so: what is given again is reported again, an end is not", () => {
  const { store, changes } = openStore({ kind: "nothing" });
  assert.equal(store.apply(pod("a", { size: "small" })), undefined);
  store.apply(pod("a", { size: "small" }));
  store.apply(pod("b"));
  store.delete(pod("a"));
  store.keepOnly(new Set());
  const reported = { kind: "apply", key: "ns/a", value: "small" } as const;
  assert.deepEqual(changes, [reported, reported]);
  assert.deepEqual([store.size, store.get("ns/a")], [0, undefined]);
});

const openShares = () =>
  openStore({ kind: "shares", weightOf: ({ length }) => length, maxPerNamespace: 4, maxTotal: 6, consequence: "" });

Deno.test("ObjectCache keeps what the share of a namespace has room for; what leaves or shrinks makes room", () => {
  const { store, kept, warned } = openShares();
  store.apply(pod("a", { size: "aaa", version: "1" }));
  assert.equal(store.apply(pod("b", { size: "bb", version: "1" })), undefined);
  store.apply(pod("c", { size: "cc", version: "1" }));
  assert.deepEqual([kept(), warned], ["aaa", ["ns"]]);
  store.apply(pod("a", { size: "aa", version: "2" }));
  assert.equal(store.apply(pod("b", { size: "bb", version: "1" })), "ns/b");
  assert.equal(kept(), "aa bb");
  store.apply(pod("a", { size: "aaa", version: "3" }));
  assert.equal(kept(), "bb");
  store.delete(pod("b"));
  store.apply(pod("a", { size: "aaaa", version: "4" }));
  assert.equal(kept(), "aaaa");
});

function inNamespace(namespace: string, name: string, size: string): KubeObject {
  const { metadata } = pod(name, { version: size });
  return { metadata: { ...metadata, namespace }, size };
}

Deno.test("ObjectCache keeps in part what there is no room for, and reports what becomes so", () => {
  const { store, changes, kept } = openStore({
    ...{ kind: "shares", maxPerNamespace: 4, maxTotal: 6, consequence: "", reduce: () => "-" },
    weightOf: (value) => value === "-" ? 0 : value.length,
  });
  for (const size of ["xx", "yyy", "z"]) store.apply(inNamespace("first", size, size));
  assert.equal(kept(), "xx - z");
  for (const size of ["ppp", "q"]) assert.equal(store.apply(inNamespace("second", size, size)), `second/${size}`);
  assert.equal(kept(), "xx - z ppp -", "nobody gives way to one with more");
  store.apply(inNamespace("third", "a", "a"));
  assert.equal(kept(), "- - z ppp - a", "what gives way is kept in part");
  assert.deepEqual(changes.slice(-2), [
    { kind: "apply", key: "first/xx", value: "-", previous: "xx" },
    { kind: "apply", key: "third/a", value: "a" },
  ]);
  store.apply(inNamespace("second", "ppp", "ppppp"));
  assert.equal(kept(), "- - z - - a", "so is what grows beyond the share");
  store.apply(inNamespace("second", "q", "qqqq"));
  assert.equal(kept(), "- - z - qqqq a", "which leaves the room to others");
  store.delete(inNamespace("first", "yyy", ""));
  store.keepOnly(new Set(["first/z", "second/ppp"]));
  assert.equal(kept(), "z -");
});

Deno.test("ObjectCache keeps no more than the share of all namespaces together", () => {
  const { store, kept } = openShares();
  for (const size of ["333", "22", "4444", "1"]) store.apply(inNamespace(`ns-${size}`, "a", size));
  assert.equal(kept(), "333 22 1");
  store.keepOnly(new Set(["ns-1/a"]));
  store.apply(inNamespace("ns-4444", "a", "4444"));
  assert.equal(kept(), "1 4444");
});

Deno.test("ObjectCache: namespaces that have filled the share of all make room for one with less, down to as much as it has", () => {
  const { store, kept } = openShares();
  for (const name of ["x", "y", "z"]) store.apply(inNamespace("first", name, name));
  for (const name of ["p", "q", "r"]) store.apply(inNamespace("second", name, name));
  assert.equal(kept(), "x y z p q r");
  assert.equal(store.apply(inNamespace("third", "a", "a")), "third/a");
  assert.equal(kept(), "y z p q r a", "what came first of the first of the two greatest has gone");
  assert.equal(store.apply(inNamespace("third", "b", "b")), "third/b");
  assert.equal(kept(), "y z q r a b");
  assert.equal(store.apply(inNamespace("third", "c", "c")), undefined, "all have the same now");
  store.apply(inNamespace("first", "x", "x"));
  assert.equal(kept(), "y z q r a b", "and nobody takes it back");
  assert.equal(store.apply(inNamespace("third", "b", "bb")), undefined, "nor does one that grows");
  assert.equal(kept(), "y z q r a");
});

Deno.test("ObjectCache: a namespace that cannot give up what came first keeps no other one from giving", () => {
  const { store, kept, warned } = openShares();
  store.apply(inNamespace("one", "x", "xxx"));
  for (const name of ["p", "q", "r"]) store.apply(inNamespace("second", name, name));
  assert.equal(store.apply(inNamespace("third", "a", "a")), "third/a");
  assert.equal(kept(), "xxx q r a");
  assert.deepEqual(warned, ["second"], "who loses something is logged");
  store.apply(inNamespace("third", "b", "b"));
  store.keepOnly(new Set(["one/x", "second/q", "second/r", "third/a"]));
  assert.equal(store.apply(inNamespace("third", "c", "ccc")), undefined);
  assert.deepEqual(warned.slice(1), ["third", "third"], "and again after a list");
});
