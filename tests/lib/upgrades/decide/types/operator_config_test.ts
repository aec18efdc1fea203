import assert from "node:assert/strict";
import { decodeOperatorConfig } from "../../../../../lib/upgrades/decide/types/operator_config.ts";
import { makeConfig } from "../make_plan.ts";

function problemsOf(tree: unknown): readonly string[] {
  const reading = decodeOperatorConfig(tree);
  return reading.kind === "unparsable" ? reading.problems : [];
}

const VALID_SCALES: readonly unknown[] = [
  undefined,
  { extraMachinePools: ["gpu-*", "infra"] },
  { extraMachinePools: [] },
  { extraMachinePools: ["infra"] },
  { extraMachinePools: ["pool-[ab]"] },
  { extraMachinePools: ["pool-?"] },
  { extraMachinePools: null },
];

Deno.test("M-260 M-263 decodeOperatorConfig() takes no pools, names and well-formed patterns", () => {
  for (const scale of VALID_SCALES) assert.deepEqual(problemsOf({ scale }), [], JSON.stringify(scale));
});

Deno.test("M-183 M-261 decodeOperatorConfig() refuses a time for capacity that is not above 0", () => {
  for (const timeOut of [0, -1]) {
    assert.deepEqual(problemsOf({ scale: { timeOut } }), ["scale.timeOut must be above 0"]);
  }
});

Deno.test("M-262 M-263 decodeOperatorConfig() names a malformed pattern among others", () => {
  assert.deepEqual(problemsOf({ scale: { extraMachinePools: ["infra", "gpu-["] } }), [
    'scale.extraMachinePools.1 "gpu-[" is not a valid pattern',
  ]);
});

Deno.test("N-027 M-185 decodeOperatorConfig() gives what is absent its documented default", () => {
  const config = makeConfig(null);
  assert.deepEqual(
    [
      config.maintenance.controlPlaneMinutes,
      config.scale.timeoutMinutes,
      config.upgradeWindow.timeoutMinutes,
      config.upgradeWindow.delayTriggerMinutes,
      config.nodeDrain.timeoutMinutes,
      config.nodeDrain.expectedMinutes,
      config.configManager.watchIntervalMinutes,
      config.dependencies.timeoutSeconds,
      config.configManager.source,
      config.upgradeType,
    ],
    [90, 30, 120, 30, 45, 8, 60, 10, "none", "ARO"],
  );
  assert.deepEqual(makeConfig({ scale: null, maintenance: { ignoredAlerts: null } }), config);
});

Deno.test("N-028 decodeOperatorConfig() tells all problems together", () => {
  assert.deepEqual(
    problemsOf({
      configManager: { source: "OCM", ocmBaseUrl: "nowhere", watchInterval: 0 },
      nodeDrain: { timeOut: "soon", ignoredNamespacePatterns: ["("] },
      extDependencyAvailabilityChecks: { http: { timeout: 61, urls: ["ftp://a"] } },
      featureGate: [],
    }),
    [
      "configManager.watchInterval must be above 0",
      "nodeDrain.timeOut is not a number",
      'nodeDrain.ignoredNamespacePatterns.0 "(" is not a valid regular expression',
      "extDependencyAvailabilityChecks.http.timeout must be from 1 to 60",
      "extDependencyAvailabilityChecks.http.urls.0 is not an http or https URL",
      "featureGate is not a map",
      "configManager.ocmBaseUrl is not an http or https URL; source OCM needs one",
    ],
  );
  assert.deepEqual(problemsOf("text"), ["config.yaml is not a map"]);
  assert.match(
    problemsOf({ configManager: { source: "local", localConfigName: "x" } })[0] ?? "",
    /must be managed-upgrade-config/,
  );
});

Deno.test("M-360 decodeOperatorConfig() takes the source whatever its case; another is no source, with a warning", () => {
  const sourceOf = (configManager: unknown): string => makeConfig({ configManager }).configManager.source;
  assert.equal(sourceOf({ source: "ocm", ocmBaseUrl: "https://api.openshift.com" }), "OCM");
  assert.equal(sourceOf({ source: "LOCAL" }), "LOCAL");
  assert.equal(sourceOf(undefined), "none");
  const other = decodeOperatorConfig({ configManager: { source: "GIT" } });
  assert.equal(other.kind === "parsed" ? other.config.configManager.source : "", "none");
  assert.match(other.kind === "parsed" ? other.warnings.join() : "", /"GIT" is not one of OCM, LOCAL/);
});

Deno.test("decodeOperatorConfig() reads the gates, and leaves unknown keys alone", () => {
  const { featureGates } = makeConfig({ featureGate: { enabled: ["PreHealthCheck", "Other"] }, unknown: { key: 1 } });
  assert.deepEqual([...featureGates], ["PreHealthCheck"]);
});
