// The mutating webhook that keeps the machine config operator's own builder at 0 replicas, whatever is written. The
// configuration of the webhook limits it to that one Deployment.
import { Hono } from "hono";
import { BUILDER_HOLD_PATH } from "../lib/builds/decide/names.ts";
import { objectAt, textAt } from "../lib/json.ts";
import type { LoadLimit } from "../lib/server/load_limit.ts";
import { allowedReview } from "./admission.ts";
import { answering } from "./review_body.ts";

const NO_REPLICAS = JSON.stringify([{ op: "add", path: "/spec/replicas", value: 0 }]);

export function holdBuilder(limit: LoadLimit): Hono {
  const app = new Hono();
  app.post(
    BUILDER_HOLD_PATH,
    answering(limit, (body) => {
      const uid = textAt(objectAt(body, "request"), "uid");
      return Promise.resolve(uid === "" ? undefined : allowedReview(uid, NO_REPLICAS));
    }),
  );
  return app;
}
