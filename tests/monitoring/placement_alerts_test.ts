import { type Hour, type Series, testHours } from "./alert_hours.ts";

/** A replica that leads, gates and has gated pods in its watch. */
const GATED: Series = {
  'up{job="archway-metrics"}': "1x60",
  "archway_leader": "1x60",
  "archway_gating": "1x60",
  "mto_ppo_pods_gated": "5x60",
};
const place = 'archway_decisions_total{kind="place"}';
const audited = 'archway_decisions_total{kind="audited"}';
const retry = 'archway_decisions_total{kind="retry"}';

const HOURS: readonly Hour[] = [
  {
    title: "alerts on placement: gated pods of which none is decided fire",
    series: { ...GATED, [place]: "0x60", [audited]: "0x60" },
    fires: { 59: ["ArchwayPodsStayGated"] },
  },
  {
    title: "alerts on placement: gated pods of which none is decided fire while pods are audited",
    series: { ...GATED, [place]: "0x60", [audited]: "0+3x60" },
    fires: { 59: ["ArchwayPodsStayGated"] },
  },
  {
    title: "alerts on placement: gated pods that are decided, or tried again, fire none",
    series: { ...GATED, [place]: "0+1x30 30x30", [retry]: "0x30 0+1x30", [audited]: "0x60" },
    fires: { 20: [], 59: [] },
  },
  {
    title: "alerts on placement: decisions that are missing while no pod is gated fire none",
    series: { ...GATED, mto_ppo_pods_gated: "0x60", [place]: "0x60", [audited]: "0+3x60" },
    fires: { 59: [] },
  },
];

testHours(/^(?!ExecFormat|ArchwayTaints|ArchwayUpgrade)/, HOURS);
