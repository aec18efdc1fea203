// A server under test in a process of its own: `server.ts echo|gate|warm CERT KEY [ANSWER_BYTES]`. Prints its port.
// `echo` is the floor: Hono on the same listener, which parses the review and answers "allowed". `gate` and `warm` are
// Archway's own route, with the decision it takes for an unknown and for a known image; `unlimited` is `gate` without a
// limit of load, and `closed` refuses everything.
import type { ImageUse, InspectedImage } from "../../lib/oci/types.ts";
import { Hono } from "hono";
import { openHttpsListener } from "../../lib/server/https_listener.ts";
import { type LoadLimit } from "../../lib/server/load_limit.ts";
import { allowedReview } from "../../routes/admission.ts";
import { gatePod } from "../../routes/gate_pod.ts";
import { makeGateDeps } from "../routes/gate_deps.ts";

const [kind = "echo", certFile = "", keyFile = "", answerBytes = "0"] = Deno.args;

/** How much is taken at a time, where it is not what the service takes. */
const LIMITS: Readonly<Record<string, LoadLimit>> = {
  unlimited: { enter: () => () => {} },
  closed: { enter: () => undefined },
};

function echo(): Hono {
  const padding = "p".repeat(Number(answerBytes));
  const app = new Hono();
  app.post("/add-pod-scheduling-gate", async (context) => {
    const review = await context.req.json();
    return context.json({ ...allowedReview(review.request.uid, ""), ...(padding === "" ? {} : { padding }) });
  });
  return app;
}

function archway(): Hono {
  const digest = `sha256:${"a".repeat(64)}`;
  const facts = (images: readonly ImageUse[]): readonly InspectedImage[] =>
    images.map(({ image }) => ({
      image,
      inspection: {
        kind: "platforms",
        digest,
        mediaType: "application/vnd.oci.image.index.v1+json",
        platforms: [{ os: "linux", architecture: "amd64" }, { os: "linux", architecture: "arm64" }],
        depth: "index",
        findings: [],
      },
    }));
  const limit = LIMITS[kind];
  const app = new Hono();
  app.post(
    "/add-pod-scheduling-gate",
    gatePod(makeGateDeps({
      ...(limit === undefined ? {} : { limit }),
      recall: (_pod, images) => kind === "warm" ? { images: facts(images), isAging: false } : undefined,
    })),
  );
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
