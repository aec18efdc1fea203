// Figures of other software from the benchmark protocol, for the rows that have no measurement of it beside them. Measured
// 2026-11-21 on two shared cores with the control plane and the registry of these benchmarks.

/** By measure. MTO is the Multiarch Tuning Operator 1.3.4 (6f393b04), noe its main branch of 2026. */
export const DOCUMENTED = {
  burstTotal: "MTO 13.3–14.1 s, noe 48.7 s",
  burstGateP50: "MTO 5.7–6.2 s",
  requestsForColdIndex: "MTO 4, noe 6",
  inspectionsOfOneImage: "MTO 7",
  requestsUnder429: "MTO 10.8",
  secondsUnder429: "MTO 14.0",
  misplacedUnder500: "MTO 50 of 50 in 3 s",
  idleMemory: "MTO 107 a process, noe 87",
  cpuPerPod: "MTO 2.4",
  webhookAlone: "MTO 2 040–2 750, noe 10",
} as const;
