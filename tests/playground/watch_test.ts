import assert from "node:assert/strict";
import { type JsonObject, numberAtPath, textAtPath, valueAtPath } from "../../playground/json_path.ts";
import { ObjectStore } from "../../playground/store.ts";
import { impatientClock, makeCluster, podBody, serveCluster } from "./make.ts";

const PODS = "/api/v1/namespaces/default/pods";
const MERGE = "application/merge-patch+json";

function summary(event: JsonObject | undefined): string {
  return `${textAtPath(event, "type") ?? "END"} ${textAtPath(event, "object", "metadata", "name") ?? ""}`.trim();
}

Deno.test("watch continues after a resourceVersion and follows writes", async () => {
  await using api = await serveCluster();
  const { body } = await api.send("POST", PODS, { body: podBody("a") });
  await api.send("POST", PODS, { body: podBody("b") });
  const version = textAtPath(body, "metadata", "resourceVersion") ?? "";
  await using watch = await api.watch(`${PODS}?watch=true&resourceVersion=${version}`);
  assert.equal(summary(await watch.next()), "ADDED b");
  await api.send("PATCH", `${PODS}/a`, { type: MERGE, body: { metadata: { labels: { x: "y" } } } });
  assert.equal(summary(await watch.next()), "MODIFIED a");
  await api.send("DELETE", `${PODS}/b`);
  const deleted = await watch.next();
  assert.equal(summary(deleted), "DELETED b");
  assert.equal(textAtPath(deleted, "object", "metadata", "resourceVersion"), String(api.cluster.store.version));
});

Deno.test("watch without a resourceVersion begins with what is there", async () => {
  await using api = await serveCluster();
  await api.send("POST", PODS, { body: podBody("a") });
  await using watch = await api.watch("/api/v1/pods?watch=1");
  assert.equal(summary(await watch.next()), "ADDED a");
});

Deno.test("watch sends objects that enter or leave its selection as ADDED and DELETED", async () => {
  await using api = await serveCluster();
  await using watch = await api.watch(`${PODS}?watch=true&labelSelector=gate%3Dgated`);
  await api.send("POST", PODS, { body: podBody("a") });
  const label = (gate: string) =>
    api.send("PATCH", `${PODS}/a`, { type: MERGE, body: { metadata: { labels: { gate } } } });
  await label("gated");
  await label("removed");
  assert.equal(summary(await watch.next()), "ADDED a");
  const left = await watch.next();
  assert.equal(summary(left), "DELETED a");
  assert.equal(textAtPath(left, "object", "metadata", "labels", "gate"), "gated");
  assert.equal(textAtPath(left, "object", "metadata", "resourceVersion"), String(api.cluster.store.version));
});

Deno.test("watch answers a resourceVersion from before the history with 410 Expired and ends", async () => {
  await using api = await serveCluster(await makeCluster({ store: new ObjectStore({ historyLimit: 1 }) }));
  await api.send("POST", PODS, { body: podBody("a") });
  await using watch = await api.watch(`${PODS}?watch=true&resourceVersion=1`);
  const event = await watch.next();
  assert.deepEqual([textAtPath(event, "type"), numberAtPath(event, "object", "code")], ["ERROR", 410]);
  assert.equal(textAtPath(event, "object", "reason"), "Expired");
  assert.equal(await watch.next(), undefined);
});

Deno.test("watch ends at its timeout after a bookmark", async () => {
  await using api = await serveCluster(await makeCluster({ clock: impatientClock }));
  await using watch = await api.watch(`${PODS}?watch=true&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=1`);
  const bookmark = await watch.next();
  assert.equal(textAtPath(bookmark, "type"), "BOOKMARK");
  assert.equal(textAtPath(bookmark, "object", "metadata", "resourceVersion"), String(api.cluster.store.version));
  assert.equal(await watch.next(), undefined);
});

Deno.test("watch with sendInitialEvents marks the end of the present state", async () => {
  await using api = await serveCluster();
  await api.send("POST", PODS, { body: podBody("a") });
  await using watch = await api.watch(`${PODS}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true`);
  assert.equal(summary(await watch.next()), "ADDED a");
  const end = await watch.next();
  assert.equal(valueAtPath(end, "object", "metadata", "annotations", "k8s.io/initial-events-end"), "true");
});
