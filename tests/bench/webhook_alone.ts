// B1 beside a reference: the same load on the webhook of Archway and on that of `--reference-webhook`, in turn. Against its
// floor the webhook is measured by `deno task bench`, which needs no cluster.
import { WebhookPath } from "../../lib/names.ts";
import type { Bench } from "./bench.ts";
import { startArchwayContender } from "./contender.ts";
import { DOCUMENTED } from "./documented.ts";
import { type Load, sendLoad } from "./load.ts";
import { sampleReview } from "./sample.ts";
import { Samples } from "./statistics.ts";
import type { Row } from "./table.ts";

/** Measures nothing, and gives no rows, without a reference webhook. */
export async function benchWebhookAlone(bench: Bench): Promise<readonly Row[]> {
  const { bed, options: { referenceWebhook, rounds, loadMs } } = bench;
  if (referenceWebhook === undefined) return [];
  await using contender = await startArchwayContender(bed);
  const { archway } = contender;
  const load = { body: JSON.stringify(sampleReview()), connections: 16, durationMs: loadMs };
  const targets: Readonly<Record<string, Load>> = {
    archway: { ...load, port: archway.webhookPort, path: WebhookPath.gatePod, caPem: archway.caPem },
    reference: {
      ...load,
      port: Number(referenceWebhook.url.port),
      path: `${referenceWebhook.url.pathname}${referenceWebhook.url.search}`,
      caPem: await Deno.readTextFile(referenceWebhook.caFile),
    },
  };
  for (const target of Object.values(targets)) await sendLoad(target); // to warm up
  const samples = new Samples();
  for (let round = 0; round < rounds; round++) {
    for (const [name, target] of Object.entries(targets)) {
      const result = await sendLoad(target);
      if (result.failures > 0) {
        throw new Error(`Cannot measure the ${name} webhook: ${result.failures} answers failed.`);
      }
      for (const [key, value] of Object.entries(result)) samples.add(`${name} ${key}`, value);
    }
  }
  bench.keep("webhookAlone", samples);
  const row = (measure: string, key: keyof Awaited<ReturnType<typeof sendLoad>>): Row => ({
    measure: `B1 webhook alone, 16 connections, ${measure}`,
    archway: samples.median(`archway ${key}`),
    reference: samples.median(`reference ${key}`),
    target: { kind: "none" },
  });
  return [
    { ...row("requests a second", "requestsPerSecond"), documented: DOCUMENTED.webhookAlone },
    row("p50 ms", "p50"),
    row("p99 ms", "p99"),
  ];
}
