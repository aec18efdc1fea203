// Looks at an upgrade until it is over, at the places where others read what an operator does.
import { Upgrades } from "../../../lib/upgrades/names.ts";
import { readAuditLog } from "../../cluster/support/audit_log.ts";
import { type ClusterAccess, listAt, read } from "../../cluster/support/cluster_access.ts";
import { CLUSTER_VERSION, MACHINE_SETS, PLANS } from "../../cluster/support/simulated_openshift.ts";
import { pause } from "../../cluster/support/wait.ts";
import type { Conversation, Metric, Silence } from "./conversation.ts";

const LOOK_MS = 200;
const PLAN = `${PLANS}/${Upgrades.config}`;
const EVENTS = `/api/v1/namespaces/${Upgrades.namespace}/events`;
/** What an upgrade changes, beside its own plan. */
const WRITTEN = ["clusterversions", "machinesets", "machines", "nodes", "pods"];
const READING = ["get", "list", "watch"];
const METRIC = /^((?:upgradeoperator|managed_upgrade|upgrade_notification)\w*)\{(.*)\} (\S+)$/;
/** A value after this one is a time (2001-09-09). */
const TIME = 1_000_000_000;

type Seen = Pick<Conversation, "phases" | "clusterVersions" | "machineSets">;

export interface Bed {
  readonly cluster: ClusterAccess;
  silences(): Promise<readonly unknown[]>;
  readonly metrics: readonly string[];
}

/** Calls `onSilence` with each silence when it is seen first. */
export async function observe(
  bed: Bed,
  onSilence: (comment: string) => void,
): Promise<Seen & Pick<Conversation, "silences">> {
  const seen = { phases: [] as string[], clusterVersions: [] as Json[], machineSets: [] as Json[] };
  const silences = new Map<string, Silence>();
  while (!await isOver(bed)) {
    const phase = read(await readPlan(bed.cluster), "status", "history", 0, "phase");
    if (phase !== undefined) keep(seen.phases, String(phase));
    keep(seen.clusterVersions, jsonOf(read(await bed.cluster.get(CLUSTER_VERSION), "spec")));
    for (const set of await bed.cluster.list(MACHINE_SETS)) {
      if (String(read(set, "metadata", "name")).endsWith("-upgrade")) keep(seen.machineSets, machineSetOf(set));
    }
    for (const raw of await bed.silences()) {
      const silence = silenceOf(raw);
      const id = String(read(raw, "id"));
      const before = silences.get(id);
      if (before === undefined) onSilence(silence.comment);
      const isEnded = read(raw, "status", "state") === "expired";
      silences.set(id, { ...before ?? silence, isEnded });
    }
    await pause(LOOK_MS);
  }
  return { ...seen, silences: [...silences.values()] };
}

type Json = Record<string, unknown>;

function jsonOf(value: unknown): Json {
  return Object(value);
}

/** Each state once. */
function keep<T>(kept: T[], value: T): void {
  if (!kept.some((one) => JSON.stringify(one) === JSON.stringify(value))) kept.push(value);
}

async function readPlan(cluster: ClusterAccess): Promise<unknown> {
  return (await cluster.request("GET", PLAN)).body;
}

/** When its result is among its metrics, which is the last that either of the two does. */
async function isOver({ metrics }: Bed): Promise<boolean> {
  return (await readMetrics(metrics)).some(({ name }) => name === "upgradeoperator_upgrade_result");
}

function machineSetOf(set: unknown): Json {
  const { labels, annotations = {} } = jsonOf(read(set, "metadata"));
  return { name: read(set, "metadata", "name"), labels, annotations, spec: read(set, "spec") };
}

function silenceOf(raw: unknown): Silence {
  const textOf = (name: string): string => String(read(raw, name));
  const minutes = Math.round((Date.parse(textOf("endsAt")) - Date.parse(textOf("startsAt"))) / 60_000);
  const matchers = listAt(raw, "matchers").map((one) => ({
    name: String(read(one, "name")),
    value: String(read(one, "value")),
    isRegex: read(one, "isRegex") === true,
  }));
  return { createdBy: textOf("createdBy"), comment: textOf("comment"), matchers, minutes, isEnded: false };
}

export async function readMetrics(urls: readonly string[]): Promise<readonly Metric[]> {
  const texts = await Promise.all(urls.map(async (url) => {
    const response = await fetch(url).catch(() => undefined);
    return await response?.text() ?? "";
  }));
  return texts.join("\n").split("\n").flatMap((line) => {
    const [, name = "", labels = "", value = ""] = METRIC.exec(line) ?? [];
    if (name === "") return [];
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = "", text = ""]) => [key, text]);
    const labelled: Record<string, string> = Object.fromEntries(pairs.toSorted());
    return [{ name, labels: labelled, value: Number(value) > TIME ? "time" as const : Number(value) }];
  }).toSorted((one, other) => JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
}

/** What is left of it when it is over. */
export async function readEnd(
  { cluster, metrics }: Bed,
  account: string,
): Promise<Pick<Conversation, "plan" | "history" | "steps" | "writes" | "events" | "metrics">> {
  const plan = await readPlan(cluster);
  const { conditions, ...history } = jsonOf(read(plan, "status", "history", 0));
  const steps = [conditions ?? []].flat().map((one) => ({
    type: String(read(one, "type")),
    status: String(read(one, "status")),
    reason: String(read(one, "reason")),
    message: String(read(one, "message")),
  }));
  const writes = (await readAuditLog(cluster.auditLogFile ?? "")).filter(({ user, verb, resource, status }) =>
    user === account && !READING.includes(verb) && WRITTEN.includes(resource) && status < 300
  ).map(({ verb, resource, subresource, name }) =>
    `${verb} ${[resource, subresource].filter(Boolean).join("/")} ${name}`
  );
  const events = (await cluster.list(EVENTS)).filter((event) =>
    read(event, "involvedObject", "kind") === "UpgradeConfig"
  );
  return {
    plan: jsonOf(read(plan, "spec")),
    history,
    steps,
    writes: writes.filter((write, at) => write !== writes[at - 1]),
    events: [...new Set(events.map((event) => `${read(event, "type")} ${read(event, "reason")}`))].toSorted(),
    metrics: [...await readMetrics(metrics)],
  };
}
