// Upgrades the same scripted cluster twice: by the Managed Upgrade Operator, and by Archway as it is installed. Writes the record.
// ../README.md says how.
import { parseArgs } from "node:util";
import { read } from "../../cluster/support/cluster_access.ts";
import { findFreePort } from "../../cluster/support/ports.ts";
import { TO } from "../../cluster/support/simulated_openshift.ts";
import { PLAN_WEBHOOK, UPGRADE_ACCOUNT, UpgradeService } from "../../cluster/support/upgrade_service.ts";
import { addPolicy } from "../../lib/upgrades/outside/ocm_double.ts";
import { runCommand } from "../../support/commands.ts";
import { type Conversation, hashOfProgram, type UpgradeRecord } from "./conversation.ts";
import { type Monitoring, startMonitoring } from "./monitoring.ts";
import { observe, readEnd } from "./observe.ts";
import { OPERATOR_ACCOUNT, startOperator, STATE_METRICS } from "./operator.ts";

type Player = "operator" | "archway";

const SETTINGS = {
  upgradeType: "OSD",
  // After the plan has been made it is not looked for again while the upgrade runs.
  configManager: { source: "OCM", watchInterval: 60 },
  maintenance: {
    controlPlaneTime: 90,
    ignoredAlerts: { controlPlaneCriticals: ["etcdMembersDown", "ClusterOperatorDown"] },
  },
  scale: { timeOut: 30 },
  upgradeWindow: { delayTrigger: 30, timeOut: 120 },
  nodeDrain: { timeOut: 45, expectedNodeDrainTime: 8 },
  healthCheck: { ignoredCriticals: ["DNSErrors05MinSRE"], ignoredNamespaces: ["openshift-logging"] },
  featureGate: { enabled: ["ServiceLogNotification"] },
};

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${new Date().toISOString().slice(11, 19)} ${line}\n`));
}

/** What is told to OCM, as it came. */
function listen(bed: UpgradeService): Conversation["notifications"] {
  const heard: Conversation["notifications"] = [];
  const { manager } = bed.surroundings;
  manager.intercept = (request) => {
    const path = `${request.method} ${new URL(request.url).pathname}`;
    if (request.method === "GET") return undefined;
    const at = heard.push({ path, body: {} }) - 1;
    void request.clone().json().then((body) => void (heard[at] = { path, body }));
    // The original's entries name another member than those of the double's own checks.
    return request.method === "POST" ? Response.json({}, { status: 201 }) : undefined;
  };
  return heard;
}

/** Starts the one that upgrades; returns where its metrics are. */
async function start(
  player: Player,
  { bed, program, stack }: {
    readonly bed: UpgradeService;
    readonly program: string;
    readonly stack: AsyncDisposableStack;
  },
): Promise<{ readonly monitoring: Monitoring; readonly metrics: readonly string[] }> {
  if (player === "archway") {
    const monitoring = stack.use(await startMonitoring(bed.cluster, []));
    const { adminUrl } = await bed.startReplica("one");
    return { monitoring, metrics: [`${adminUrl}/metrics`] };
  }
  const [metrics, probe] = [`127.0.0.1:${findFreePort()}`, `127.0.0.1:${findFreePort()}`];
  const monitoring = stack.use(await startMonitoring(bed.cluster, [metrics, STATE_METRICS]));
  // It has no webhook of its own.
  await bed.cluster.delete(PLAN_WEBHOOK);
  const directory = await Deno.makeTempDir({ prefix: "archway-muo-" });
  say(`${directory}/managed-upgrade-operator.log`);
  const hosts = `127.0.0.1 localhost\n${bed.surroundings.hosts}${monitoring.hosts}`;
  stack.use(await startOperator(bed.cluster, { program, directory, hosts, metrics, probe }));
  return { monitoring, metrics: [`http://${metrics}/metrics`, `http://${STATE_METRICS}/metrics`] };
}

async function converse(player: Player, program: string): Promise<Conversation & { readonly kubernetes: string }> {
  await using bed = await UpgradeService.open({ pools: { master: 1, worker: 2 } });
  await using stack = new AsyncDisposableStack();
  const { manager } = bed.surroundings;
  addPolicy(manager, "policy-1", {
    at: new Date(Date.now() - 60_000).toISOString().replace(/\.\d{3}Z$/, "Z"),
    version: TO,
  });
  const notifications = listen(bed);
  await bed.configure(
    JSON.stringify({ ...SETTINGS, configManager: { ...SETTINGS.configManager, ocmBaseUrl: manager.origin } }),
  );
  // Workers are not done before the window for them is there.
  bed.openshift.holdNodes();
  const { monitoring, metrics } = await start(player, { bed, program, stack });
  say(`${player}: the cluster is there`);
  const place = { cluster: bed.cluster, silences: monitoring.silences, metrics };
  const seen = await observe(place, (comment) => {
    say(comment);
    if (comment.includes("worker node")) bed.openshift.letNodesGo();
  });
  const account = player === "operator" ? OPERATOR_ACCOUNT : UPGRADE_ACCOUNT;
  const kubernetes = String(read(await bed.cluster.get("/version"), "gitVersion"));
  return { ...seen, ...await readEnd(place, account), notifications, kubernetes };
}

async function ask(copy: string): Promise<UpgradeRecord> {
  const program = `${copy}/managed-upgrade-operator`;
  const { kubernetes, ...operator } = await converse("operator", program);
  const { kubernetes: _, ...archway } = await converse("archway", program);
  return {
    original: {
      repository: "github.com/openshift/managed-upgrade-operator",
      commit: (await runCommand("git", ["-C", copy, "rev-parse", "HEAD"])).trim(),
    },
    program: { path: "tests/oracles/upgrade", sha256: await hashOfProgram() },
    kubernetes,
    recorded: new Date().toISOString().slice(0, 10),
    operator,
    archway,
  };
}

if (import.meta.main) {
  const { copy, record } = parseArgs({ options: { copy: { type: "string" }, record: { type: "boolean" } } }).values;
  if (copy === undefined) throw new Error("--copy DIR is needed: tests/oracles/README.md");
  const text = `${JSON.stringify(await ask(copy), undefined, 2)}\n`;
  await Deno.writeTextFile(record ? new URL("../records/upgrade.json", import.meta.url) : "/dev/stdout", text);
}
