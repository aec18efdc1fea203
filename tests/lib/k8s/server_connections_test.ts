import assert from "node:assert/strict";
import type { ClusterAccess } from "../../../lib/k8s/cluster_access.ts";
import { ServerConnections } from "../../../lib/k8s/server_connections.ts";
import { issueSelfSigned } from "../tls/self_signed.ts";
import { until } from "../../support/until.ts";

const certificate = await issueSelfSigned({ names: [{ type: "dns", value: "kubernetes.default" }] });
const plain = await issueSelfSigned({ names: [{ type: "dns", value: "kubernetes.default" }], isCa: false });

const WAYS: readonly (readonly [how: string, access: Partial<ClusterAccess>, shown: typeof certificate])[] = [
  ["unverified", { skipsTlsVerify: true }, certificate],
  ["by another name", { serverName: "kubernetes.default" }, plain],
  ["pinned, by another name", { serverName: "kubernetes.default" }, certificate],
];

for (const [how, way, { pem: cert, key }] of WAYS) {
  Deno.test(`ServerConnections streams as it comes, and ends with its signal: ${how}`, async () => {
    let isCancelled = false;
    let push = (_text: string): void => {};
    const onRequest = (): Response =>
      new Response(
        new ReadableStream<Uint8Array>({
          start: (controller) => {
            push = (text) => controller.enqueue(new TextEncoder().encode(text));
            push("first");
          },
          cancel: () => {
            isCancelled = true;
          },
        }),
      );
    await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, cert, key, onListen: () => {} }, onRequest);
    const access: ClusterAccess = {
      baseUrl: `https://127.0.0.1:${server.addr.port}`,
      credentials: () => Promise.reject(new Error("not asked")),
      discardCredentials: () => {},
      ...way,
    };
    await using connections = new ServerConnections(access);
    const leaving = new AbortController();
    const request = { method: "GET", headers: {}, signal: leaving.signal };
    const answer = await connections.fetch("/watch", request, { tls: { caCerts: [cert] }, nowMs: Date.now() });
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    assert.equal((await reader?.read())?.value, "first");
    push("second");
    assert.equal((await reader?.read())?.value, "second");
    const next = reader?.read();
    leaving.abort();
    await assert.rejects(async () => await next);
    await until("the server sees the request cancelled", () => isCancelled);
  });
}

Deno.test("ServerConnections connects anew after a request without an answer, and a running one ends as it would", async () => {
  const ports: number[] = [];
  const released = Promise.withResolvers<void>();
  const onRequest = async (
    request: Request,
    { remoteAddr }: Deno.ServeHandlerInfo<Deno.NetAddr>,
  ): Promise<Response> => {
    ports.push(remoteAddr.port);
    if (!request.url.endsWith("/now")) await released.promise;
    return new Response("hello");
  };
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, onRequest);
  const tls = { caCerts: [] };
  await using connections = new ServerConnections({
    baseUrl: `http://127.0.0.1:${server.addr.port}`,
    credentials: () => Promise.reject(new Error("not asked")),
    discardCredentials: () => {},
  });
  const send = async (path: string, signal = new AbortController().signal): Promise<string> => {
    const answer = await connections.fetch(path, { method: "GET", headers: {}, signal }, { tls, nowMs: Date.now() });
    return await answer.text();
  };
  const leaving = new AbortController();
  const [running, silent] = [send("/later"), send("/silent", leaving.signal)];
  await until("both requests", () => ports.length === 2);
  await send("/now");
  await send("/now");
  leaving.abort(new Error("enough"));
  await assert.rejects(silent, /enough/);
  await send("/now");
  released.resolve();
  assert.equal(await running, "hello");
  assert.equal(new Set(ports).size, 4);
  assert.equal(ports[2], ports[3]);
});
