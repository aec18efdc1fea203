// OpenShift's own definitions and the suites of its API, from its Go module at one version: nothing of them is kept here.
import assert from "node:assert/strict";
import { parse } from "yaml";
import { textAtPath } from "../../../playground/json_path.ts";
import { type ClusterAccess, listAt, read } from "./cluster_access.ts";
import { waitUntil } from "./wait.ts";
import { runCommand } from "../../support/commands.ts";

const MODULE = "github.com/openshift/api@v0.0.0-20260420151639-34e60874783e";
const SUM = "h1:ENxXUo0uksvseiBAoOcL9wdEWtueEpu84RE8Hm0q3uY=";

const MACHINE_CONFIG = "machineconfiguration/v1/zz_generated.crd-manifests/0000_80_machine-config_01_";
const MACHINE = "machine/v1beta1/zz_generated.crd-manifests/0000_10_machine-api_01_";
const CLUSTER_VERSION = "config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_";

/** Where the definitions lie in the module, by the plural of their kind. */
const FILES = {
  machineosconfigs: `${MACHINE_CONFIG}machineosconfigs.crd.yaml`,
  machineosbuilds: `${MACHINE_CONFIG}machineosbuilds.crd.yaml`,
  machineconfigpools: `${MACHINE_CONFIG}machineconfigpools-Default.crd.yaml`,
  machineconfigs: `${MACHINE_CONFIG}machineconfigs.crd.yaml`,
  controllerconfigs: `${MACHINE_CONFIG}controllerconfigs-Default.crd.yaml`,
  machinesets: `${MACHINE}machinesets-Default.crd.yaml`,
  machines: `${MACHINE}machines-Default.crd.yaml`,
  clusterversions: `${CLUSTER_VERSION}clusterversions-Default.crd.yaml`,
  images: "config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_images.crd.yaml",
  clusteroperators:
    "config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusteroperators.crd.yaml",
} as const;

export type OpenShiftKind = keyof typeof FILES;

let folder: Promise<string> | undefined;

export function openShiftModule(): Promise<string> {
  return folder ??= download();
}

async function download(): Promise<string> {
  // A folder without a go.mod: nothing else is resolved.
  const cwd = Deno.env.get("TMPDIR") ?? "/tmp";
  const { Dir, Sum } = JSON.parse(await runCommand("go", ["mod", "download", "-json", MODULE], { cwd }));
  assert.equal(Sum, SUM);
  return Dir;
}

export async function readDefinition(kind: OpenShiftKind): Promise<unknown> {
  return parse(await Deno.readTextFile(`${await openShiftModule()}/${FILES[kind]}`));
}

export function pathOfKind(kind: OpenShiftKind): string {
  const [group, version] = FILES[kind].split("/");
  return `/apis/${group}.openshift.io/${version}/${kind}`;
}

export async function applyDefinitions(cluster: ClusterAccess, kinds: readonly OpenShiftKind[]): Promise<void> {
  const items = await Promise.all(kinds.map(readDefinition));
  await cluster.apply(items);
  for (const kind of kinds) {
    await waitUntil(
      `${kind} to be served`,
      () => cluster.exists(pathOfKind(kind)),
    );
  }
}

export interface SuiteCase {
  readonly name: string;
  readonly initial: unknown;
  /** Absent: the case is about the creation of `initial`. */
  readonly updated?: unknown;
  readonly expected?: unknown;
  readonly expectedError: string | undefined;
  readonly expectedStatusError: string | undefined;
  /** Operations on the definition for the time in which `initial` is created. */
  readonly definitionPatches: readonly unknown[];
}

/** The cases of a kind's suite that hold without a feature gate. */
export async function readSuite(kind: "machineosconfigs" | "machineosbuilds"): Promise<readonly SuiteCase[]> {
  const path = `machineconfiguration/v1/tests/${kind}.machineconfiguration.openshift.io/AAA_ungated.yaml`;
  const suite: unknown = parse(await Deno.readTextFile(`${await openShiftModule()}/${path}`));
  return [...listAt(suite, "tests", "onCreate"), ...listAt(suite, "tests", "onUpdate")].map((one) => ({
    name: String(read(one, "name")),
    initial: parsed(one, "initial"),
    updated: parsed(one, "updated"),
    expected: parsed(one, "expected"),
    definitionPatches: listAt(one, "initialCRDPatches"),
    expectedError: textAtPath(one, "expectedError"),
    expectedStatusError: textAtPath(one, "expectedStatusError"),
  }));
}

function parsed(one: unknown, member: string): unknown {
  const text = textAtPath(one, member);
  return text === undefined ? undefined : parse(text);
}
