// A server under test in a process of its own: `server.ts echo|gate CERT KEY [PATCH]`. Prints its port. `echo` is the floor: Hono on
// the same listener, which parses the review and answers "allowed", with the patch. `gate` is Archway's own route, with no image known.
import { Hono } from "hono";
import { openHttpsListener } from "../../lib/server/https_listener.ts";
import { allowedReview } from "../../routes/admission.ts";
import { gatePod } from "../../routes/gate_pod.ts";
import { makeGateDeps } from "../routes/gate_deps.ts";

const [kind = "echo", certFile = "", keyFile = "", patch = ""] = Deno.args;

function echo(): Hono {
  const app = new Hono();
  app.post("/add-pod-scheduling-gate", async (context) => {
    const review = await context.req.json();
    return context.json(allowedReview(review.request.uid, patch));
  });
  return app;
}

function archway(): Hono {
  const app = new Hono();
  app.post("/add-pod-scheduling-gate", gatePod(makeGateDeps()));
  return app;
}

const app = kind === "echo" ? echo() : archway();
const certificate = { cert: Deno.readTextFileSync(certFile), key: Deno.readTextFileSync(keyFile) };
const listener = await openHttpsListener({
  host: "127.0.0.1",
  port: 0,
  certificate,
  handler: (request) => app.fetch(request),
});
Deno.stdout.writeSync(new TextEncoder().encode(`${listener.port}\n`));
