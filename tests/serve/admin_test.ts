import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Registry } from "prom-client";
import { type Admin, openAdmin } from "../../serve/admin.ts";
import { until } from "../support/until.ts";

function openBench(beforeScrape: () => void = () => {}): Promise<Admin> {
  return openAdmin({ host: "127.0.0.1", port: 0 }, {
    registry: new Registry(),
    beforeScrape,
    ready: [],
    pages: { "/page": (context) => context.text("pods") },
  });
}

/** Connections that send the beginning of a head, and those of them that are open. */
async function openHalfRequests(port: number, count: number, addresses: number): Promise<ReadonlySet<Socket>> {
  const open = new Set<Socket>();
  for (let number = 0; number < count; number++) {
    const localAddress = `127.0.0.${2 + number % addresses}`;
    const socket = connect({ port, host: "127.0.0.1", localAddress });
    socket.on("error", () => {});
    await once(socket, "connect");
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    socket.write("GET /metrics HTTP/1.1\r\nx: ");
  }
  return open;
}

async function answerTo(port: number, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return `${response.status} ${await response.text()} ${response.headers.get("connection")}`;
}

Deno.test("openAdmin() answers health, metrics and a page to loopback clients, one answer a connection", async () => {
  await using admin = await openBench();
  assert.equal(await answerTo(admin.port, "/healthz"), "200 ok\n close");
  assert.match(await answerTo(admin.port, "/metrics"), /^200/);
  assert.equal(await answerTo(admin.port, "/page"), "200 pods close");
  assert.match(await answerTo(admin.port, "/elsewhere"), /^404/);
});

Deno.test("openAdmin() works on one of the requests that come in one packet, and closes their connection", async () => {
  let scrapes = 0;
  await using admin = await openBench(() => scrapes++);
  const socket = connect({ port: admin.port, host: "127.0.0.1" });
  socket.on("error", () => {});
  const closed = once(socket.resume(), "close");
  socket.write("GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n".repeat(400));
  await closed;
  assert.equal(scrapes, 1);
});

Deno.test("openAdmin() keeps 16 half requests of an address and 64 in all, answers a probe, and closes them after 5 s", async () => {
  await using admin = await openBench();
  const ofOne = await openHalfRequests(admin.port, 200, 1);
  await until("16 of one address", () => ofOne.size === 16);
  const ofMany = await openHalfRequests(admin.port, 400, 20);
  await until("64 in all", () => ofOne.size + ofMany.size <= 64);
  assert.match(await answerTo(admin.port, "/healthz"), /^200/);
  await until("closed", () => ofOne.size + ofMany.size === 0);
});

Deno.test("openAdmin() closes a connection whose head is larger than 8 KiB", async () => {
  await using admin = await openBench();
  const [socket] = await openHalfRequests(admin.port, 1, 1);
  assert.ok(socket !== undefined);
  const closed = once(socket, "close");
  for (let chunk = 0; chunk < 9; chunk++) socket.write("y".repeat(1024));
  await closed;
});
