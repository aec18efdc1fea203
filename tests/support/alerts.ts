// The alerts of the manifests, as data.
import * as z from "zod";
import { parse } from "yaml";

const RULES = z.object({
  spec: z.object({
    groups: z.tuple([z.object({
      rules: z.array(z.object({
        alert: z.string(),
        expr: z.string(),
        for: z.string().regex(/^\d+m$/),
        labels: z.object({ severity: z.enum(["critical", "warning", "info"]) }),
        annotations: z.object({ summary: z.string().min(1), description: z.string().min(1), runbook_url: z.string() }),
      })),
    })]),
  }),
});

export type Alert = z.infer<typeof RULES>["spec"]["groups"][0]["rules"][number];

export interface AlertGroup {
  readonly alerts: readonly Alert[];
  /** The file of this repository in which each of them has its section, named after it in lower case. */
  readonly runbooksFile: string;
}

function read(file: string, runbooksFile: string): AlertGroup {
  const text = Deno.readTextFileSync(new URL(`../../manifests/${file}`, import.meta.url));
  return { alerts: RULES.parse(parse(text)).spec.groups[0].rules, runbooksFile };
}

export function readAlertGroups(): Readonly<Record<"archway" | "imageBuilds", AlertGroup>> {
  return {
    archway: read("monitoring/prometheus_rule.yaml", "manifests/monitoring/runbooks.md"),
    imageBuilds: read("components/image-builds-alerts/alerts.yaml", "docs/image-builds.md"),
  };
}
