// A client of the webhook port that is no API server.
import { request } from "node:https";
import { NAMESPACE } from "./service_bed.ts";

export interface WebhookTarget {
  readonly port: number;
  readonly path: string;
  /** PEM. */
  readonly ca: string;
}

export interface ClientIdentity {
  readonly cert: string;
  readonly key: string;
}

export function askWebhook(target: WebhookTarget, identity?: ClientIdentity): Promise<number | "refused"> {
  return new Promise((resolve) => {
    const options = {
      ...{ ...target, ...identity, host: "127.0.0.1", servername: `archway-webhook.${NAMESPACE}.svc` },
      ...{ method: "POST", agent: false, headers: { "content-type": "application/json" } },
    };
    const asked = request(options, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
    asked.on("error", () => resolve("refused"));
    asked.end("{}");
  });
}
