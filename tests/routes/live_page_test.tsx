import assert from "node:assert/strict";
import { Hono } from "hono";
import { openHttpListener } from "../../lib/server/http_listener.ts";
import { livePage } from "../../routes/dashboard/page.tsx";

Deno.test("livePage() streams its middle when it changes, and ends with the listener", async () => {
  let says = "first";
  const app = new Hono();
  app.get("/", livePage(() => ({ title: "t", heading: "h", corner: "", main: <p>{says}</p> })));
  const listener = await openHttpListener({ host: "127.0.0.1", port: 0, handler: app.fetch });
  const response = await fetch(`http://127.0.0.1:${listener.port}/?live`);
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  assert.ok(response.body !== null);
  const events = response.body.pipeThrough(new TextDecoderStream()).getReader();
  assert.equal((await events.read()).value, "retry: 100\n\n");
  assert.equal((await events.read()).value, "data: <p>first</p>\n\n");
  says = "second\nline";
  assert.equal((await events.read()).value, "data: <p>second\ndata: line</p>\n\n");
  await listener.close(0);
  await assert.rejects(async () => {
    const { done } = await events.read();
    if (done) throw new Error("ended");
  });
});
