// Every row of the test catalogues, as data: those of the MTO, of managed upgrades, of image builds and of unusual pods.
import { DV } from "./catalogue/derived.ts";
import { O, P } from "./catalogue/image_builds.ts";
import { HELPERS, INSPECTION } from "./catalogue/inspection.ts";
import { OPERATOR } from "./catalogue/operator.ts";
import { Q } from "./catalogue/odd_pods.ts";
import { MD, PM } from "./catalogue/pod_model.ts";
import { E2E, M5, PR } from "./catalogue/pod_walk.ts";
import { M, N } from "./catalogue/upgrades.ts";

export type Area = "placement" | "inspection" | "operator" | "enoexec" | "upgrades" | "image builds";

export interface Row {
  /** As in the catalogue: `PM-01`, or a bare number for the operator document. */
  readonly id: string;
  readonly title: string;
  readonly area: Area;
  /** Table it stands in: the id's prefix, or `operator`. */
  readonly group: string;
}

/** Rows of the operator document that need ENOEXEC monitoring, both ends included. */
const ENOEXEC: readonly (readonly [number, number])[] = [
  [117, 123],
  [141, 174],
  [192, 204],
  [225, 230],
  [232, 232],
];
const OPERATOR_GROUPS = ["UT", "AP", "operator"];

function areaOf(group: string, number: number): Area {
  if (group === "operator" && ENOEXEC.some(([from, to]) => number >= from && number <= to)) return "enoexec";
  if (["M", "N"].includes(group)) return "upgrades";
  if (["O", "P"].includes(group)) return "image builds";
  if (group === "MD" && number >= 34) return "enoexec";
  if (OPERATOR_GROUPS.includes(group)) return "operator";
  if (["AU", "RF", "MF"].includes(group) || (group === "DV" && number >= 80 && number <= 127)) return "inspection";
  return "placement";
}

function parseRow(line: string): Row {
  const [, id = "", title = ""] = /^(\S+) (.+)$/.exec(line) ?? [];
  const group = id.includes("-") ? id.slice(0, id.lastIndexOf("-")) : "operator";
  return { id, title, group, area: areaOf(group, Number(id.slice(id.lastIndexOf("-") + 1))) };
}

export const ROWS: readonly Row[] = [MD, PM, PR, INSPECTION, HELPERS, E2E, DV, M5, OPERATOR, M, N, O, P, Q]
  .flatMap((text) => text.trim().split("\n"))
  .map(parseRow);
